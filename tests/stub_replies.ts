/**
 * What the stub judge can be told to reply, and how that looks on the wire.
 *
 * @module
 */

/** One request as the stub received it. */
export interface StubCall {
  /** 0-based, in order of arrival. */
  readonly index: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body; `{}` when it isn't JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Text of the user message. */
  readonly prompt: string;
  /** Text of a last assistant message that asks to be continued, else `null`. */
  readonly continues: string | null;
  /** Tags that the prompt asks for: `score_A` and `score_B`, or `c1` …; guessed from the prompt. */
  readonly tags: readonly string[];
}

/** One token with alternatives; anything goes, also what is wrong. */
export type StubToken = Readonly<Record<string, unknown>>;

/** An answer of the model. */
export interface StubAnswer {
  readonly kind: "answer";
  /** `null` is sent as `null`. */
  readonly text: string | null;
  /** Sent as `logprobs.content`; `null`: `logprobs: null`; `undefined`: the field is missing. */
  readonly tokens?: readonly StubToken[] | null;
  readonly finishReason?: string | null;
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly model?: string;
  /** `null`: no usage; default 100 in (60 cached) and as many out as there are tokens. */
  readonly usage?: Readonly<Record<string, unknown>> | null;
  /** Milliseconds before the answer starts. Only for tests of concurrency that check order, not time. */
  readonly delayMs?: number;
  /** How a streamed answer looks. */
  readonly stream?: {
    readonly usageFirst?: boolean;
    readonly noDone?: boolean;
    readonly lineEnd?: "\n" | "\r\n" | "\r";
    readonly keepAlive?: boolean;
    /** Bytes per chunk; default: one event per chunk. Splits characters and line ends. */
    readonly chunkBytes?: number;
  };
}

/** Bytes exactly as given. */
export interface StubRaw {
  readonly kind: "raw";
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks: readonly (string | Uint8Array)[];
  /** After the chunks: end properly (default), break the connection, or never end. */
  readonly then?: "end" | "reset" | "hang";
}

/** Never answers; the connection stays open until the client goes or the stub is closed. */
export interface StubHang {
  readonly kind: "hang";
}

export type StubReply = StubAnswer | StubRaw | StubHang;
/** Decides on a reply. */
export type StubRule = (call: StubCall) => StubReply | StubRule | Promise<StubReply>;
/** A rule, a fixed reply, or a list that is gone through once; its last entry stays. */
export type StubScript = StubRule | StubReply | readonly (StubRule | StubReply)[];

const encoder = new TextEncoder();

/** Bodies made beforehand, by their answer. */
export const INSTANT: WeakMap<object, Uint8Array<ArrayBuffer>> = new WeakMap();

function usageOf(reply: StubAnswer): Readonly<Record<string, unknown>> | null {
  if (reply.usage !== undefined) return reply.usage;
  const completion_tokens = reply.tokens?.length ?? 10;
  return {
    prompt_tokens: 100,
    completion_tokens,
    total_tokens: 100 + completion_tokens,
    prompt_tokens_details: { cached_tokens: 60 },
  };
}

/** The body of a whole answer. */
export function completion(reply: StubAnswer, call: StubCall): unknown {
  const usage = usageOf(reply);
  return {
    id: "chatcmpl-stub",
    object: "chat.completion",
    created: 0,
    model: reply.model ?? call.body.model ?? "stub",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: reply.text,
        ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
        ...(reply.refusal === undefined ? {} : { refusal: reply.refusal }),
      },
      ...(reply.tokens === undefined
        ? {}
        : { logprobs: reply.tokens === null ? null : { content: reply.tokens } }),
      finish_reason: reply.finishReason === undefined ? "stop" : reply.finishReason,
    }],
    ...(usage === null ? {} : { usage }),
  };
}

/** Streamed events of an answer, one string each, or cut into pieces of `chunkBytes`. */
export function events(reply: StubAnswer, call: StubCall): readonly (string | Uint8Array)[] {
  const { usageFirst = false, noDone = false, lineEnd = "\n", keepAlive = false, chunkBytes } =
    reply.stream ?? {};
  const chunk = (fields: unknown): string =>
    `data: ${
      JSON.stringify({
        id: "chatcmpl-stub",
        object: "chat.completion.chunk",
        model: reply.model ?? call.body.model ?? "stub",
        ...fields as object,
      })
    }`;
  const choice = (
    delta: unknown,
    tokens?: readonly StubToken[] | null,
    finish_reason: string | null = null,
  ): string =>
    chunk({
      choices: [{
        index: 0,
        delta,
        ...(tokens === undefined ? {} : { logprobs: tokens === null ? null : { content: tokens } }),
        finish_reason,
      }],
    });
  const lines: string[] = [];
  const usage = usageOf(reply);
  const asked = (call.body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
  const usageLine = usage !== null && asked ? chunk({ choices: [], usage }) : null;
  if (keepAlive) lines.push(": keep-alive");
  if (usageFirst && usageLine !== null) lines.push(usageLine);
  lines.push(choice({ role: "assistant", content: "" }));
  for (const part of pieces(reply.reasoning ?? "")) lines.push(choice({ reasoning_content: part }));
  if (keepAlive) lines.push(": keep-alive");
  if (reply.refusal !== undefined) lines.push(choice({ refusal: reply.refusal }));
  if (reply.tokens && reply.tokens.length > 0) {
    for (const token of reply.tokens) lines.push(choice({ content: String(token.token ?? "") }, [token]));
  } else {
    for (const part of pieces(reply.text ?? "")) lines.push(choice({ content: part }, reply.tokens));
  }
  const finish = reply.finishReason === undefined ? "stop" : reply.finishReason;
  if (finish !== null) lines.push(choice({}, undefined, finish));
  if (!usageFirst && usageLine !== null) lines.push(usageLine);
  if (!noDone) lines.push("data: [DONE]");
  const texts = lines.map((line) => line + lineEnd + lineEnd);
  if (chunkBytes === undefined) return texts;
  const bytes = encoder.encode(texts.join(""));
  const cut: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) cut.push(bytes.slice(at, at + chunkBytes));
  return cut;
}

function pieces(text: string): readonly string[] {
  return text.match(/[^]{1,7}/gu) ?? [];
}
