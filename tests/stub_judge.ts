/**
 * A model server for tests and benchmarks: OpenAI chat completions on 127.0.0.1, answering as a script says.
 *
 * ```ts ignore
 * await using stub = startStubJudge(smart());                  // grades by "quality=0.8" in the trajectories
 * await using stub = startStubJudge(letters({ score_A: "B", score_B: "K" }));   // always the same answer
 * await using stub = startStubJudge([rateLimit({ "retry-after": "0" }), smart()]); // one by one, the last stays
 * await using stub = startStubJudge((call) => call.index % 2 ? failure(500) : smart());
 * const config = stub.profile({ retries: 0 });                 // a judge profile that points at it
 * stub.calls; stub.inFlight; stub.mostInFlight; stub.aborted;  // what it saw
 * ```
 *
 * @module
 */
import { completion, events, INSTANT } from "./stub_replies.ts";
import { failure, smart } from "./stub_answers.ts";
import type { StubAnswer, StubCall, StubRaw, StubReply, StubRule, StubScript } from "./stub_replies.ts";

export * from "./stub_answers.ts";
export type * from "./stub_replies.ts";

/** A running stub. */
export interface StubJudge extends AsyncDisposable {
  /** Base URL with `/v1`. */
  readonly url: string;
  readonly port: number;
  readonly calls: readonly StubCall[];
  readonly inFlight: number;
  readonly mostInFlight: number;
  /** Requests whose client went away before the answer was out. */
  readonly aborted: number;
  /** Answers from now on by another script. */
  play(script: StubScript): void;
  /** Resolves when `condition` holds; it is looked at after every event. For tests that must wait without sleeping. */
  until(condition: (stub: StubJudge) => boolean): Promise<void>;
  /** An `openai-compatible` judge profile for the configuration that points here. */
  profile(overrides?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  close(): Promise<void>;
}

/** Options of {@link startStubJudge}. */
export interface StubOptions {
  /** How many calls are kept for looking at; default all. 0 for benchmarks that run for minutes. */
  readonly remember?: number;
}

/** Starts a stub on a free port of 127.0.0.1. Close it (or use `await using`). */
export function startStubJudge(script: StubScript = smart(), options: StubOptions = {}): StubJudge {
  const { remember = Infinity } = options;
  let current = script;
  let played = 0;
  let arrived = 0;
  const calls: StubCall[] = [];
  const state = { inFlight: 0, mostInFlight: 0, aborted: 0 };
  const closing = new AbortController();
  const waiting = new Set<() => void>();
  const changed = (): void => waiting.forEach((look) => look());

  async function handle(request: Request): Promise<Response> {
    state.mostInFlight = Math.max(state.mostInFlight, ++state.inFlight);
    let over = false;
    const finish = (aborted: boolean): void => {
      if (over) return;
      over = true;
      state.inFlight--;
      if (aborted) state.aborted++;
      changed();
    };
    const call = readCall(arrived++, request, await request.text().catch(() => ""));
    if (calls.length < remember) calls.push(call);
    changed();
    let reply: StubReply | StubRule | Promise<StubReply> = Array.isArray(current)
      ? current[Math.min(played++, current.length - 1)] ?? failure(500)
      : current as StubRule | StubReply;
    while (typeof reply === "function") reply = reply(call);
    if (!(reply instanceof Promise) && isWhole(reply, call) && delayOf(reply) === 0) {
      finish(false);
      return whole(reply, call);
    }

    // Only here, as watching the connection costs more than an immediate answer. The signal also fires after a
    // complete answer in some versions of Deno; `finish` counts the first event only.
    const gone = new AbortController();
    request.signal.addEventListener("abort", () => {
      finish(true);
      gone.abort();
    }, { once: true });
    closing.signal.addEventListener("abort", () => gone.abort(), { once: true, signal: gone.signal });
    if (closing.signal.aborted) gone.abort();
    reply = await reply;
    if (delayOf(reply) > 0) await pause(delayOf(reply), gone.signal);
    if (reply.kind === "hang") await aborted(gone.signal);
    if (gone.signal.aborted || reply.kind === "hang") {
      finish(true);
      return new Response(null, { status: 503 });
    }
    if (isWhole(reply, call)) {
      finish(false);
      return whole(reply, call);
    }
    return streamed(reply, call, gone.signal, finish);
  }

  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: internal },
    handle,
  );
  const stub: StubJudge = {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    port: server.addr.port,
    calls,
    get inFlight() {
      return state.inFlight;
    },
    get mostInFlight() {
      return state.mostInFlight;
    },
    get aborted() {
      return state.aborted;
    },
    play(next) {
      current = next;
      played = 0;
    },
    until(condition) {
      return new Promise((resolve) => {
        const look = (): void => {
          if (!condition(stub)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
    profile: (overrides = {}) => ({
      kind: "openai-compatible",
      family: "generic",
      baseUrl: stub.url,
      model: "stub",
      ...overrides,
    }),
    async close() {
      closing.abort();
      await server.shutdown();
    },
    [Symbol.asyncDispose]: () => stub.close(),
  };
  return stub;
}

function internal(error: unknown): Response {
  return new Response(`stub failed: ${error}`, { status: 500 });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

function readCall(index: number, request: Request, text: string): StubCall {
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(text);
  } catch {
    // A test looks at `calls`; what isn't JSON shows there as an empty body.
  }
  const messages = Array.isArray(body.messages) ? body.messages as { role: string; content: unknown }[] : [];
  const last = messages.at(-1);
  const prompt = textOf(messages.find((message) => message.role === "user")?.content);
  return {
    index,
    path: new URL(request.url).pathname,
    headers: Object.fromEntries(request.headers),
    body,
    prompt,
    continues: last?.role === "assistant" ? textOf(last.content) : null,
    tags: tagsOf(prompt),
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown }) => typeof part.text === "string" ? part.text : "").join("");
}

function tagsOf(prompt: string): readonly string[] {
  const checkpoints = [...prompt.matchAll(/^Checkpoint (\d+): after step \d+$/gm)].map((match) =>
    `c${match[1]}`
  );
  return checkpoints.length > 0 ? checkpoints : ["score_A", "score_B"];
}

const encoder = new TextEncoder();

/** Whether a reply goes out in one piece. */
function isWhole(reply: StubReply, call: StubCall): reply is StubAnswer | StubRaw {
  if (reply.kind === "answer") return call.body.stream !== true;
  return reply.kind === "raw" && reply.chunks.length <= 1 && (reply.then ?? "end") === "end";
}

function delayOf(reply: StubReply): number {
  return reply.kind === "answer" ? reply.delayMs ?? 0 : 0;
}

function whole(reply: StubAnswer | StubRaw, call: StubCall): Response {
  if (reply.kind === "answer") {
    return new Response(INSTANT.get(reply) ?? JSON.stringify(completion(reply, call)), {
      headers: { "content-type": "application/json" },
    });
  }
  const bodiless = reply.status === 204 || reply.status === 304;
  return new Response(bodiless ? null : reply.chunks[0] as BodyInit ?? "", {
    status: reply.status,
    headers: { ...reply.headers },
  });
}

function streamed(
  reply: StubAnswer | StubRaw,
  call: StubCall,
  gone: AbortSignal,
  finish: (aborted: boolean) => void,
): Response {
  const raw: StubRaw = reply.kind === "raw" ? reply : {
    kind: "raw",
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    chunks: events(reply, call),
  };
  const { then = "end" } = raw;
  let next = 0;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = raw.chunks[next++];
      if (chunk !== undefined) {
        // A turn of the event loop between chunks keeps them apart on the wire.
        await new Promise((resolve) => setTimeout(resolve, 0));
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
        return;
      }
      if (then === "hang") await aborted(gone);
      finish(then === "hang");
      if (then === "reset") controller.error(new Error("reset by the script"));
      else {
        try {
          controller.close();
        } catch {
          // The client has already cancelled the stream.
        }
      }
    },
    cancel: () => finish(true),
  });
  return new Response(stream, { status: raw.status, headers: { ...raw.headers } });
}
