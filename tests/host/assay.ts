/**
 * The server behind the plugin: the real one from this checkout, or one that fails in a given way.
 *
 * @module
 */
import { root } from "./host.ts";

/** A running server. */
export interface AssayServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Asks it with its token, if it has one. @returns the JSON body */
  // deno-lint-ignore no-explicit-any
  get(path: string): Promise<any>;
  stop(): Promise<void>;
}

/** Options of {@link startAssay}. */
export interface AssayOptions {
  /** Default any. */
  readonly port?: number;
  /** `memory` (default) or the path of a database. */
  readonly store?: string;
  /** Configuration document; default: the judge `evidence`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The token that callers need. */
  readonly token?: string;
}

/** Starts `assay serve` from this checkout and waits for its address. */
export async function startAssay(options: AssayOptions = {}): Promise<AssayServer> {
  const { store = "memory", token } = options;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "cli/main.ts",
      "serve",
      "--port",
      String(options.port ?? 0),
      "--store",
      store,
    ],
    cwd: root,
    clearEnv: true,
    env: {
      ...inherited("PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME"),
      NO_COLOR: "1",
      ...(token === undefined ? {} : { ASSAY_TOKEN: token }),
      ...(options.config === undefined ? {} : { ASSAY_CONFIG_JSON: JSON.stringify(options.config) }),
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let said = "";
  const address = Promise.withResolvers<string>();
  const collect = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      said += text;
      const url = said.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
      if (url !== undefined) address.resolve(url);
    }
  };
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const ended = child.status.then((status) => {
    address.reject(new Error(`the server ended with ${status.code} before it said where it is:\n${said}`));
  });
  const url = await address.promise;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      try {
        child.kill("SIGTERM");
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // it has ended by itself
      }
      await Promise.all([ended, collected]);
    })();
    return stopped;
  };
  return {
    url,
    port: Number(new URL(url).port),
    stop,
    async get(path) {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(url + path, { headers });
      if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
      return await response.json();
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** How a server fails. */
export type Fault = "hang" | "unauthorized" | "internal" | "garbage";

/** A server that fails. */
export interface FaultyServer extends AsyncDisposable {
  readonly url: string;
  /** Method and path of what it was asked. */
  readonly asked: readonly string[];
  /** Resolves at the first request. */
  readonly called: Promise<void>;
  /** Resolves when a caller has gone away before its answer. */
  readonly hungUp: Promise<void>;
}

/** Starts a server that answers everything with one fault. */
export function startFaulty(fault: Fault): FaultyServer {
  const asked: string[] = [];
  const called = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  const closing = new AbortController();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    called.resolve();
    await request.body?.cancel();
    if (fault === "hang") {
      // Deno tells a handler reliably of a caller who leaves only through the response's stream.
      const left = new AbortController();
      const body = new ReadableStream({
        start: (controller) =>
          closing.signal.addEventListener("abort", () => controller.close(), { signal: left.signal }),
        cancel: () => {
          left.abort();
          hungUp.resolve();
        },
      });
      return new Response(body, { headers: { "content-type": "application/json" } });
    }
    if (fault === "garbage") {
      return new Response("<html>a proxy's page</html>", { headers: { "content-type": "text/html" } });
    }
    const [status, code] = fault === "unauthorized" ? [401, "unauthorized"] : [500, "internal"];
    const problem = { type: "about:blank", title: "No", status, code, detail: "the test says so" };
    return Response.json(problem, { status, headers: { "content-type": "application/problem+json" } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    asked,
    called: called.promise,
    hungUp: hungUp.promise,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await server.shutdown();
    },
  };
}

/** Those of these variables that are set. */
export function inherited(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}
