// @ts-check
/**
 * The one error of this package. Its message is what a model or a user reads, so it says what was wrong, where, with
 * which value or which likely name, and when another try makes sense.
 *
 * @module
 */

/**
 * @typedef {object} FieldError
 * @property {string} path JSON pointer into the request, `""` for the whole of it.
 * @property {string} message What the field must be.
 * @property {unknown} [value] The value found, when it may be shown.
 */

/**
 * @typedef {object} VerifierErrorOptions
 * @property {number | null} [status] HTTP status, null when no answer came.
 * @property {readonly FieldError[]} [errors]
 * @property {number} [retryAfterSeconds]
 * @property {unknown} [plan] What the refused request would have cost.
 * @property {string} [stage] Which part of a longer run failed.
 * @property {number} [length] With `length_conflict`: the tracker's length.
 * @property {string} [decision] Id of the decision that tells what was judged before the failure.
 * @property {unknown} [cause]
 */

/** Characters of a message, so that a server's long list of issues can't fill a model's context. */
const MAX_MESSAGE = 4000;
/** Characters of a quoted value. */
const MAX_VALUE = 120;

/**
 * A failure of the verifier: the server's problem document, or what kept us from getting an answer.
 *
 * Codes made here, beside the server's own: `server_unreachable`, `deadline_exceeded`, `aborted`, `bad_answer`,
 * `invalid_request`.
 */
export class VerifierError extends Error {
  /**
   * @param {string} code A stable word, e.g. `over_budget`.
   * @param {string} detail One or more sentences.
   * @param {VerifierErrorOptions} [options]
   */
  constructor(code, detail, options = {}) {
    super(
      message(code, detail, options),
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = "VerifierError";
    /** @type {string} */
    this.code = code;
    /** @type {string} The sentences alone, without code and fields. */
    this.detail = detail;
    /** @type {number | null} */
    this.status = options.status ?? null;
    /** @type {readonly FieldError[] | undefined} */
    this.errors = options.errors;
    /** @type {number | undefined} */
    this.retryAfterSeconds = options.retryAfterSeconds;
    /** @type {unknown} */
    this.plan = options.plan;
    /** @type {string | undefined} */
    this.stage = options.stage;
    /** @type {number | undefined} */
    this.length = options.length;
    /** @type {string | undefined} */
    this.decision = options.decision;
  }
}

/**
 * Any thrown value as a `VerifierError`. The host aborts with plain objects (`{ kind: "disposed" }`), so nothing is
 * assumed about the value.
 *
 * @param {unknown} error
 * @returns {VerifierError}
 */
export function toVerifierError(error) {
  if (error instanceof VerifierError) return error;
  if (error instanceof Error) {
    if (error.name === "AbortError") {
      return new VerifierError("aborted", "The call was cancelled.", {
        cause: error,
      });
    }
    if (error.name === "TimeoutError") {
      return new VerifierError("deadline_exceeded", "The deadline passed.", {
        cause: error,
      });
    }
    return new VerifierError(
      "internal",
      `The plugin failed: ${error.message}`,
      { cause: error },
    );
  }
  return new VerifierError(
    "internal",
    `The plugin failed: ${quoteValue(error)}`,
    { cause: error },
  );
}

/**
 * A value as it stands in a message: JSON, shortened.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function quoteValue(value) {
  /** @type {string | undefined} */
  let text;
  try {
    text = JSON.stringify(value);
  } catch { /* Cyclic or a BigInt: said by its string below. */ }
  text ??= String(value);
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`;
}

/** @param {string} code @param {string} detail @param {VerifierErrorOptions} options @returns {string} */
function message(code, detail, options) {
  let text = `${code}: ${detail}`;
  // The server's sentence quotes its first field, and often that is all there is: nothing is said twice.
  const fields = (options.errors ?? []).filter(({ path, message }) =>
    !detail.includes(`${path}: ${message}`)
  );
  if (fields.length > 0) text += ` (${fields.map(fieldText).join("; ")})`;
  if (options.retryAfterSeconds !== undefined) {
    text += ` Try again in ${options.retryAfterSeconds} s.`;
  }
  return text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE)}…`;
}

/** @param {FieldError} field @returns {string} */
function fieldText({ path, message, value }) {
  const shown = value === undefined ? "" : `; value: ${quoteValue(value)}`;
  return `${path === "" ? "the whole request" : path}: ${message}${shown}`;
}

/**
 * The known name that an unknown one was most likely meant to be.
 *
 * @param {string} name The unknown name.
 * @param {Iterable<string>} known
 * @returns {string | null} Null when nothing is near enough to be worth suggesting.
 */
export function nearestName(name, known) {
  const wanted = plain(name);
  let best = null;
  let least = Math.max(2, Math.ceil(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const cost = distance(wanted, plain(candidate), least);
    if (cost < least) [best, least] = [candidate, cost];
  }
  return best;
}

/**
 * `unknown name` as a clause for a message: `; did you mean "threshold"?`, or nothing.
 *
 * @param {string} name
 * @param {Iterable<string>} known
 * @returns {string}
 */
export function didYouMean(name, known) {
  const near = nearestName(name, known);
  return near === null ? "" : `; did you mean "${near}"?`;
}

/** Case and word marks don't count: `max_gates` is as near as `maxGates`. @param {string} name @returns {string} */
function plain(name) {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/**
 * Edits between two short strings; gives up above `limit`.
 *
 * @param {string} a
 * @param {string} b
 * @param {number} limit
 * @returns {number}
 */
function distance(a, b, limit) {
  if (Math.abs(a.length - b.length) >= limit || a.length > 100) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? limit;
}
