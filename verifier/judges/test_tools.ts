/**
 * What the judges' tests share: a clock that only `sleep` moves, a fetch that answers from a list, requests.
 *
 * @module
 */
import type { JudgeContext, JudgeRequest } from "./judge.ts";
import type { Timing } from "./retry.ts";

/** A clock that stands still except while something sleeps; `slept` lists the waits in milliseconds. */
export function fakeTiming(
  start = Date.UTC(2026, 11, 1),
): Timing & { readonly slept: number[]; advance(ms: number): void } {
  let now = start;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    random: () => 0.5,
    sleep: (ms, signal) => {
      signal.throwIfAborted();
      slept.push(ms);
      now += ms;
      return Promise.resolve();
    },
    after: (ms, run) => {
      const timer = setTimeout(() => {
        now += ms;
        run();
      }, ms);
      return () => clearTimeout(timer);
    },
    advance: (ms) => {
      now += ms;
    },
  };
}

/** What a fake fetch was given. */
export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A fetch that gives the replies one by one (the last stays) and lists what was sent. */
export function fakeFetch(
  ...replies: readonly (Response | Error | ((sent: Sent) => Response | Promise<Response>))[]
): typeof fetch & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const fake = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const one: Sent = {
      url: String(input),
      init,
      headers: new Headers(init.headers),
      body: JSON.parse(String(init.body ?? "{}")),
    };
    sent.push(one);
    const reply = replies[Math.min(sent.length, replies.length) - 1];
    if (reply instanceof Error) throw reply;
    if (reply instanceof Response) return reply.clone();
    if (reply === undefined) throw new Error("no reply left");
    return await reply(one);
  };
  return Object.assign(fake, { sent });
}

/** A JSON response. */
export function json(body: unknown, init: ResponseInit = {}): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { ...init, headers: { "content-type": "application/json", ...init.headers } });
}

/** A whole chat answer. */
export function chat(content: string | null, fields: Record<string, unknown> = {}): Response {
  return json({
    model: "served",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop", ...fields }],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  });
}

/** A request with these fields changed. */
export function request(fields: Partial<JudgeRequest> = {}): JudgeRequest {
  return {
    prefix: "prefix ",
    suffix: "suffix",
    images: [],
    tags: ["score_A", "score_B"],
    repeat: 0,
    maxTokens: null,
    ...fields,
  };
}

/** A context that lists its attempts and 429s. */
export function context(
  signal: AbortSignal = new AbortController().signal,
): JudgeContext & { readonly attempts: unknown[]; readonly limits: unknown[] } {
  const attempts: unknown[] = [];
  const limits: unknown[] = [];
  return {
    signal,
    attempts,
    limits,
    onAttempt: (usage) => attempts.push(usage),
    onRateLimited: (ms) => limits.push(ms),
  };
}
