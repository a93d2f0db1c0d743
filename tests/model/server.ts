/**
 * Runs llama-server on a free loopback port, behind a proxy that notes every request.
 *
 * @module
 */
import { freePort } from "../free_port.ts";
import type { ModelFiles } from "./setup.ts";

/** One request that a judge sent, and what came back. */
export interface Exchange {
  readonly path: string;
  // deno-lint-ignore no-explicit-any -- bodies are looked into freely by the checks
  readonly body: any;
  status: number;
  /** What was answered, as text; grows while a stream runs. */
  answer: string;
  /** Chunks of the answer as they came. */
  chunks: number;
}

/** A running model. */
export interface RunningModel {
  /** Base URL for a profile, through the noting proxy. */
  readonly baseUrl: string;
  /** Everything that went through the proxy, in order. */
  readonly exchanges: Exchange[];
  /** Whether a request is being computed right now. */
  isBusy(): Promise<boolean>;
  /** Milliseconds until the model could answer. */
  readonly loadedMs: number;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 180_000;

/** Starts the model. @throws {Error} with llama-server's output when it doesn't get ready */
export async function startModel(files: ModelFiles): Promise<RunningModel> {
  const port = freePort();
  const started = performance.now();
  // One thread: its threads wait by spinning, and two of them on two busy cores can stall for minutes.
  const child = new Deno.Command(files.server, {
    args: [
      ...[
        "-m",
        files.weights,
        "--host",
        "127.0.0.1",
        "--port",
        String(port),
        "-t",
        "1",
        "-np",
        "1",
        "-c",
        "8192",
      ],
      ...["--slots", "--no-webui", "--seed", "7"],
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let printed = "";
  const drain = async (stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      printed = (printed + text).slice(-20_000);
    }
  };
  const drained = Promise.all([drain(child.stdout), drain(child.stderr)]);
  let ended = false;
  const status = child.status.finally(() => ended = true);
  const origin = `http://127.0.0.1:${port}`;

  const end = async () => {
    if (!ended) child.kill("SIGKILL");
    await Promise.all([status, drained]);
  };
  for (;;) {
    if (ended || performance.now() - started > READY_WITHIN_MS) {
      await end();
      throw new Error(`llama-server did not get ready:\n${printed}`);
    }
    const ready = await fetch(`${origin}/health`).then(async (response) => {
      await response.body?.cancel();
      return response.ok;
    }, () => false);
    if (ready) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  const exchanges: Exchange[] = [];
  const proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const text = await request.text();
    const exchange: Exchange = { path: pathname, body: parse(text), status: 0, answer: "", chunks: 0 };
    exchanges.push(exchange);
    const response = await fetch(origin + pathname, {
      method: request.method,
      headers: { "content-type": "application/json" },
      ...(text === "" ? {} : { body: text }),
      // A judge that hangs up must be felt by the model.
      signal: request.signal,
    }).catch(() => null);
    if (response === null) return new Response(null, { status: 502 });
    exchange.status = response.status;
    const decoder = new TextDecoder();
    const noted = response.body?.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          exchange.answer += decoder.decode(chunk, { stream: true });
          exchange.chunks++;
          controller.enqueue(chunk);
        },
      }),
    ) ?? null;
    const type = response.headers.get("content-type") ?? "application/json";
    return new Response(noted, { status: response.status, headers: { "content-type": type } });
  });

  return {
    baseUrl: `http://127.0.0.1:${proxy.addr.port}/v1`,
    exchanges,
    loadedMs: performance.now() - started,
    async isBusy() {
      const slots = await (await fetch(`${origin}/slots`)).json();
      return slots.some((slot: { is_processing: boolean }) => slot.is_processing);
    },
    async stop() {
      await end();
      await proxy.shutdown();
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
