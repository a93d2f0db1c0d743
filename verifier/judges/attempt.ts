/**
 * One HTTP attempt at a judge: a POST with a deadline and a size limit, redirects refused, errors with status and a
 * short redacted body.
 *
 * Why not the `openai` package: it retries and times out by itself, parses bodies without a size limit and wraps every
 * stream chunk, so each of the guarantees here would have to work around it.
 *
 * @module
 */
import { redact } from "../redaction/redact.ts";
import { type AnswerUsage, JudgeError } from "./judge.ts";
import { retryAfterMs, type Timing } from "./retry.ts";

/** Why an attempt failed. */
export type AttemptFailure =
  | "http" // a status other than 2xx
  | "network" // no connection, or it broke, or the answer was cut off
  | "timeout" // the attempt's own time ran out
  | "protocol" // a 2xx answer that isn't one
  | "too_large" // more bytes than allowed
  | "refused"; // content filter before the model answered

/** A failed attempt. The message is redacted. */
export class AttemptError extends Error {
  override readonly name = "AttemptError";
  readonly failure: AttemptFailure;
  /** HTTP status, or the one that an error inside a 2xx answer names; `null` without one. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** Body of the error as text, redacted, at most 4,096 characters: what capability learning reads. */
  readonly body: string;
  /** What the attempt cost, as far as known: an answer that was refused with a 3xx or 4xx costs nothing. */
  readonly usage: AnswerUsage | null;

  constructor(
    failure: AttemptFailure,
    message: string,
    options: {
      status?: number | null;
      retryAfterMs?: number | null;
      body?: string;
      usage?: AnswerUsage | null;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.status = options.status ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.body = options.body ?? "";
    this.usage = options.usage ?? null;
  }

  /** 408, 409, 429, 5xx, network errors and timeouts; nothing else gets better by asking again. */
  get retryable(): boolean {
    if (this.failure === "network" || this.failure === "timeout") return true;
    const status = this.status;
    return this.failure === "http" && status !== null &&
      (status === 408 || status === 409 || status === 429 ||
        (status >= 500 && status <= 599 && status !== 501));
  }

  /** The error that leaves the judge. */
  toJudgeError(): JudgeError {
    const reason = this.failure === "timeout" || this.status === 408
      ? "timeout"
      : this.failure === "refused"
      ? "refused"
      : this.status === 401 || this.status === 402 || this.status === 403 || isKeyError(this)
      ? "unauthorized"
      : this.status === 429
      ? "rate_limited"
      : "backend_error";
    return new JudgeError(reason, this.message, {
      ...(this.status === null ? {} : { status: this.status }),
      ...(this.retryAfterMs === null ? {} : { retryAfterMs: this.retryAfterMs }),
    });
  }
}

/** Google answers 400 to a wrong key. */
function isKeyError(error: AttemptError): boolean {
  return error.status === 400 && /api_key_invalid|api key not valid/i.test(error.body);
}

/** Nothing was generated, so nothing was billed. */
export const NO_USAGE: AnswerUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** Characters of an error's body that people see. */
const SHOWN_BODY = 400;
/** Characters of an error's body that are kept for learning. */
const KEPT_BODY = 4096;
/** Bytes of an error's body that are read at all. */
const READ_ERROR_BYTES = 64 * 1024;

/** One POST. */
export interface Exchange {
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Longest time without an answer, or without anything new in a stream. */
  readonly timeoutMs: number;
  /** Longest time in all. */
  readonly remainingMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
  /** Exact values that no message may hold. */
  readonly secrets: readonly string[];
  readonly timing: Timing;
}

/**
 * Sends one request and reads the answer with `read`.
 *
 * @param read gets the 2xx response, and `progress` to call when a stream has brought something new (a stream that
 * still brings tokens is not hanging); whatever it throws other than an `AttemptError` is a broken connection
 * @throws {AttemptError} for a failure; the signal's reason for an abort
 */
export async function exchange<T>(
  options: Exchange,
  read: (response: Response, progress: () => void) => Promise<T>,
): Promise<T> {
  const { signal, timeoutMs, remainingMs, timing } = options;
  signal.throwIfAborted();
  const controller = new AbortController();
  let timedOut = false;
  let finished = false;
  const started = timing.now();
  let heard = started;
  const stop = (): void => controller.abort(signal.reason);
  // One timer that looks again when it fires: setting one per token would cost more than the tokens.
  const look = (): void => {
    const left = Math.min(heard + timeoutMs, started + remainingMs) - timing.now();
    if (left > 0) {
      callOff = timing.after(left, look);
      return;
    }
    timedOut = true;
    controller.abort(new DOMException("the attempt's time ran out", "TimeoutError"));
  };
  let callOff = timing.after(Math.min(timeoutMs, remainingMs), look);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const response = await options.fetch(options.url, {
      method: "POST",
      headers: options.headers,
      body: options.body,
      redirect: "manual",
      signal: controller.signal,
    });
    if (!response.ok) throw await failureOf(response, options);
    const value = await read(response, () => {
      heard = timing.now();
    });
    finished = true;
    return value;
  } catch (error) {
    signal.throwIfAborted();
    if (timedOut) {
      throw new AttemptError(
        "timeout",
        `The judge did not answer within ${Math.round(Math.min(timeoutMs, remainingMs))} ms.`,
      );
    }
    if (error instanceof AttemptError) throw error;
    const text = error instanceof Error ? error.message : String(error);
    throw new AttemptError("network", `Cannot reach the judge: ${shown(text, options.secrets)}`);
  } finally {
    callOff();
    signal.removeEventListener("abort", stop);
    // Whatever of the answer wasn't read (an oversized body, an error in a stream) is not worth its connection.
    if (!finished) controller.abort();
  }
}

async function failureOf(response: Response, options: Exchange): Promise<AttemptError> {
  const { status } = response;
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    return new AttemptError(
      "http",
      `The judge answered with a redirect (${status}), which is not followed.`,
      {
        status,
        usage: NO_USAGE,
      },
    );
  }
  let body = "";
  try {
    body = await readText(response, READ_ERROR_BYTES, false);
  } catch {
    // The status is the news; a body that breaks off adds nothing to it.
  }
  return httpFailure(status, body, options.secrets, retryAfterMs(response.headers, options.timing.now()));
}

/** The failure for a status and a body; also for an error object inside a 2xx answer. */
export function httpFailure(
  status: number,
  body: string,
  secrets: readonly string[],
  wait: number | null,
  usage: AnswerUsage | null = status < 500 ? NO_USAGE : null,
): AttemptError {
  const safe = redact(body, secrets);
  const filtered = status === 400 && /content_filter|content_policy|"?data_inspection_failed/i.test(safe);
  return new AttemptError(
    filtered ? "refused" : "http",
    `The judge answered ${status}: ${shorten(safe) || "(empty body)"}`,
    { status, retryAfterMs: wait, body: safe.slice(0, KEPT_BODY), usage },
  );
}

/** Text as an error shows it: redacted, one line, at most 400 characters. */
export function shown(text: string, secrets: readonly string[]): string {
  return shorten(redact(text, secrets));
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > SHOWN_BODY ? line.slice(0, SHOWN_BODY).toWellFormed() + "…" : line;
}

/**
 * A body as text, counted while it is read.
 *
 * @param strict whether more than `limit` bytes are an error (else the text is cut there)
 * @throws {AttemptError} `too_large`
 */
export async function readText(response: Response, limit: number, strict = true): Promise<string> {
  const declared = response.headers.get("content-length");
  // A declared, uncompressed length bounds the body, so the runtime's own reader (the fast one) is safe.
  if (
    declared !== null && /^\d{1,15}$/.test(declared) && Number(declared) <= limit &&
    !response.headers.has("content-encoding")
  ) {
    return await response.text();
  }
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of limitedChunks(response, limit, strict)) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * The body's chunks until `limit` bytes.
 *
 * @param strict whether a longer body is an error (else it just ends)
 * @throws {AttemptError} `too_large`
 */
export async function* limitedChunks(
  response: Response,
  limit: number,
  strict = true,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  let total = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      total += value.byteLength;
      if (total <= limit) {
        yield value;
        continue;
      }
      if (strict) throw new AttemptError("too_large", `The judge's answer is longer than ${limit} bytes.`);
      yield value.subarray(0, value.byteLength - (total - limit));
      return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
