/**
 * The one error type that verbs throw on purpose. Routes turn it into a problem document, the command line into a
 * message and an exit code.
 *
 * @module
 */
import type { Plan } from "./types.ts";

/** Stable codes and the HTTP status each one answers with. */
export const ERROR_STATUS = {
  invalid_json: 400,
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  length_conflict: 409,
  idempotency_conflict: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  over_budget: 422,
  channel_unavailable: 422,
  not_replayable: 422,
  nothing_scored: 502,
  judge_failed: 502,
  judge_unauthorized: 502,
  rate_limited: 429,
  budget_exhausted: 429,
  store_unavailable: 503,
  deadline_exceeded: 504,
  internal: 500,
} as const;

/** One stable code of a problem document. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** One faulty field: `path` is a JSON pointer into the request, `value` is shortened. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
  readonly value?: string;
}

/** What an `AssayError` may carry beside its code and its message. */
export interface AssayErrorOptions {
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  readonly plan?: Plan;
  /** With `length_conflict`: the length there is. */
  readonly length?: number;
  readonly cause?: unknown;
}

/** A failure with a stable code. The message is safe to show: it never holds a secret. */
export class AssayError extends Error {
  override readonly name = "AssayError";
  readonly code: ErrorCode;
  readonly errors: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;
  readonly plan: Plan | undefined;
  readonly length: number | undefined;
  /** Id of the decision that tells what was judged before the failure; set where one was stored. */
  decision: string | undefined;

  constructor(code: ErrorCode, detail: string, options: AssayErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.plan = options.plan;
    this.length = options.length;
  }

  /** HTTP status of this code. */
  get status(): number {
    return ERROR_STATUS[this.code];
  }

  /** A 400 for one field: names the field and the value. */
  static field(path: string, message: string, value?: unknown): AssayError {
    const shown = value === undefined ? undefined : showValue(value);
    const error: FieldError = shown === undefined ? { path, message } : { path, message, value: shown };
    return new AssayError(
      "invalid_request",
      `${path || "/"}: ${message}${shown === undefined ? "" : ` (value: ${shown})`}`,
      {
        errors: [error],
      },
    );
  }
}

/** A value as shown in an error: JSON, at most 80 characters, control and bidirectional characters escaped. */
export function showValue(value: unknown): string {
  let text: string;
  try {
    text = typeof value === "number" || typeof value === "bigint"
      ? String(value)
      : JSON.stringify(value) ?? String(value);
  } catch {
    text = String(value);
  }
  if (text.length > 80) text = text.slice(0, 77).toWellFormed() + "...";
  return text.replace(
    // deno-lint-ignore no-control-regex
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}
