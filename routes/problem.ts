/**
 * Every failure as one RFC 9457 problem document: the only place that turns an error into a response.
 *
 * @module
 */
import { AssayError, type AssayErrorOptions, type ErrorCode, type FieldError } from "../verifier/errors.ts";
import { JudgeError } from "../verifier/judges/judge.ts";
import { redact } from "../verifier/redaction/redact.ts";
import type { Plan } from "../verifier/types.ts";
import { StoreError } from "../store/store.ts";

/** The body of every answer that isn't a success. */
export interface ProblemDocument {
  /** Where the code is explained: a reference into the server's own docs page. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  readonly plan?: Plan;
  /** With `length_conflict`: the tracker's length. */
  readonly length?: number;
  /** Id of the decision that tells what was judged before the failure. */
  readonly decision?: string;
}

/** One line per code, for `title` and for the docs page. */
export const PROBLEM_TITLES: Readonly<Record<ErrorCode, string>> = {
  invalid_json: "The body is not JSON",
  invalid_request: "The request is not valid",
  unauthorized: "A valid bearer token is needed",
  forbidden: "Not allowed",
  not_found: "No such thing",
  method_not_allowed: "The method is not allowed here",
  length_conflict: "The tracker has another length than expected",
  idempotency_conflict: "The idempotency key was used for another request",
  body_too_large: "The body is too large",
  unsupported_media_type: "The media type is not supported",
  over_budget: "The request would exceed its budget",
  not_replayable: "The decision cannot be derived again",
  channel_unavailable: "The judge cannot give the demanded channel",
  nothing_scored: "Nothing could be scored",
  judge_failed: "The judge failed",
  judge_unauthorized: "The judge refused the server's key",
  rate_limited: "The judge is rate limited",
  budget_exhausted: "The token's daily budget is spent",
  store_unavailable: "The store cannot be reached",
  deadline_exceeded: "The deadline passed",
  internal: "The server failed",
};

/** An `AssayError` that also sets response headers (`Allow`, `WWW-Authenticate`). */
export class HttpError extends AssayError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail: string,
    options: AssayErrorOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, detail, options);
    this.headers = options.headers ?? {};
  }
}

/**
 * Any thrown value as an `AssayError`. What wasn't thrown on purpose becomes `internal` with a message that says
 * nothing of the inside; the caller logs the original.
 */
export function toAssayError(error: unknown): AssayError {
  if (error instanceof AssayError) return error;
  if (error instanceof JudgeError) {
    const code = error.reason === "unauthorized"
      ? "judge_unauthorized"
      : error.reason === "rate_limited"
      ? "rate_limited"
      : error.reason === "timeout"
      ? "deadline_exceeded"
      : "judge_failed";
    const options: AssayErrorOptions = error.retryAfterMs === null
      ? { cause: error }
      : { cause: error, retryAfterSeconds: Math.ceil(error.retryAfterMs / 1000) };
    return new AssayError(code, error.message, options);
  }
  if (error instanceof StoreError) {
    return new AssayError(
      "store_unavailable",
      "The store could not be reached; nothing was lost. Try again.",
      {
        cause: error,
        retryAfterSeconds: 1,
      },
    );
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new AssayError("deadline_exceeded", "The request's deadline passed.", { cause: error });
  }
  return new AssayError(
    "internal",
    "The server failed in a way it was not built for. The log has the cause under this request's X-Request-Id.",
    { cause: error },
  );
}

/** The problem document of an error, without what looks like a secret. */
export function problemDocument(error: AssayError): ProblemDocument {
  // Our own texts name headers and variables as one would a secret; everything else may quote a caller or a judge.
  const clean = error instanceof HttpError ? (text: string) => text : redact;
  return {
    type: `/docs#problem-${error.code}`,
    title: PROBLEM_TITLES[error.code],
    status: error.status,
    code: error.code,
    detail: clean(error.message),
    ...(error.errors.length > 0 ? { errors: error.errors.map((field) => cleanField(field, clean)) } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    ...(error.plan === undefined ? {} : { plan: error.plan }),
    ...(error.length === undefined ? {} : { length: error.length }),
    ...(error.decision === undefined ? {} : { decision: error.decision }),
  };
}

function cleanField({ path, message, value }: FieldError, clean: (text: string) => string): FieldError {
  // A field that isn't known has whatever name the caller gave it.
  const cleaned = { path: clean(path), message: clean(message) };
  return value === undefined || /\/api_?key$/i.test(path) ? cleaned : { ...cleaned, value: clean(value) };
}

/** The response of an error. `extra` members are added to the document, and `status` overrides the code's own. */
export function problemResponse(
  error: AssayError,
  options: { readonly status?: number; readonly extra?: Readonly<Record<string, unknown>> } = {},
): Response {
  const document = problemDocument(error);
  const status = options.status ?? document.status;
  const headers = new Headers({ "content-type": "application/problem+json", "cache-control": "no-store" });
  if (error instanceof HttpError) {
    for (const [name, value] of Object.entries(error.headers)) headers.set(name, value);
  }
  if (error.retryAfterSeconds !== undefined) headers.set("retry-after", String(error.retryAfterSeconds));
  return new Response(JSON.stringify({ ...document, status, ...options.extra }), { status, headers });
}
