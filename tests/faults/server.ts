/**
 * A real server under test: `deno serve main.ts` on a Deno KV file, which can be killed and started again on the same file.
 *
 * @module
 */
import { freePort } from "../runtimes/server.ts";

const ROOT = new URL("../../", import.meta.url);
/** Starting a server takes this long at most. */
const START_LIMIT_MS = 120_000;

/** What a server is started with. */
export interface FaultSettings {
  readonly judges: Readonly<Record<string, unknown>>;
  readonly defaultJudge?: string;
  readonly tokens?: readonly unknown[];
  readonly variables?: Readonly<Record<string, string>>;
  /** Path of the Deno KV file. */
  readonly store: string;
}

/** A running server. */
export interface FaultServer {
  readonly origin: string;
  /** Everything it wrote to stdout and stderr so far. */
  output(): string;
  /** Ends it at once, as a crash would (SIGKILL), and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts a server and waits until it is healthy. */
export async function startServer(settings: FaultSettings): Promise<FaultServer> {
  const { judges, defaultJudge = "stub", tokens = [], variables = {}, store } = settings;
  const port = freePort();
  const document = { defaultJudge, judges, server: { tokens }, store: { kind: "deno-kv", path: store } };
  const child = new Deno.Command(Deno.execPath(), {
    args: ["serve", "-A", "--no-check", "--host", "127.0.0.1", "--port", String(port), "main.ts"],
    env: {
      ...variables,
      ASSAY_CONFIG_JSON: JSON.stringify(document),
      ASSAY_DELIMITER_SECRET: "the same after every start",
    },
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const collected = Promise.all([child.stdout, child.stderr].map(async (stream) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) output += text;
  }));
  let ended = false;
  const status = child.status.then(() => ended = true);
  const server: FaultServer = {
    origin: `http://127.0.0.1:${port}`,
    output: () => output,
    kill: async () => {
      if (!ended) child.kill("SIGKILL");
      await status;
      await collected;
    },
  };
  const limit = Date.now() + START_LIMIT_MS;
  for (;;) {
    const healthy = await fetch(`${server.origin}/healthz`).then(async (response) => {
      await response.body?.cancel();
      return response.ok;
    }, () => false);
    if (healthy) return server;
    if (ended || Date.now() > limit) {
      await server.kill();
      throw new Error(`the server ${ended ? "ended" : "did not start"}:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A server over a new store, ended and removed when the test is over. */
export async function withServer(
  settings: Omit<FaultSettings, "store">,
  test: (server: FaultServer, again: () => Promise<FaultServer>, store: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "assay-faults-" });
  const store = `${directory}/store.sqlite3`;
  const all: FaultServer[] = [];
  const start = async () => {
    const server = await startServer({ ...settings, store });
    all.push(server);
    return server;
  };
  try {
    await test(await start(), start, store);
  } finally {
    for (const server of all) await server.kill();
    await Deno.remove(directory, { recursive: true });
  }
}

/** An answer as text and, where it is one, as JSON. */
export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** Sends a request. A server that doesn't answer at all fails the test after a minute. */
export async function ask(
  server: FaultServer,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Told> {
  const init = body === undefined ? { headers } : {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(server.origin + path, { ...init, signal: AbortSignal.timeout(60_000) });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}
