// @ts-check
/**
 * What an answer of the server means: its JSON, or the failure that its problem document tells.
 *
 * @module
 */
import { quoteValue, VerifierError } from "./errors.js";

/** Characters of a stray answer that are quoted. */
const QUOTED = 200;

/**
 * @param {import("./transport.js").Answer} answer
 * @param {string} base The server's address, for messages.
 * @param {(text: string) => string} [hide] Takes out of a failure's text what nobody may read: whoever answers there may
 *   be an echo that sends the token back.
 * @returns {{ value: any, status: number, headers: Record<string, string> }}
 */
export function answerValue({ status, headers, text: sent }, base, hide = (text) => text) {
  if (status >= 300 && status < 400) {
    const location = headers["location"];
    const target = location === undefined ? "" : ` to ${quoteValue(hide(location))}`;
    throw new VerifierError(
      "bad_answer",
      `${base} redirects${target}; redirects are not followed: set url to the final address.`,
      {
        status,
      },
    );
  }
  const succeeded = status >= 200 && status < 300;
  const text = succeeded ? sent : hide(sent);
  const value = text === "" ? null : parsed(text, status, base, hide);
  if (succeeded) return { value, status, headers };
  throw problem(value, { status, headers, text }, base);
}

/** @param {string} text @param {number} status @param {string} base @param {(text: string) => string} hide @returns {unknown} */
function parsed(text, status, base, hide) {
  try {
    return JSON.parse(text);
  } catch {
    throw new VerifierError(
      "bad_answer",
      `${base} answered ${status} with something that isn't JSON, so it may not be an Assay server: ${
        excerpt(hide(text))
      }`,
      // Without the parser's own error, which quotes the text as well.
      { status },
    );
  }
}

/**
 * @param {unknown} value
 * @param {import("./transport.js").Answer} answer
 * @param {string} base
 * @returns {VerifierError}
 */
function problem(value, { status, headers, text }, base) {
  const document = typeof value === "object" && value !== null
    ? /** @type {Record<string, unknown>} */ (value)
    : {};
  const { code, detail, title, errors, plan, stage, length, decision } = document;
  if (typeof code !== "string") {
    return new VerifierError(
      "bad_answer",
      `${base} answered ${status} without a problem document: ${excerpt(text)}`,
      { status },
    );
  }
  const sentence = typeof detail === "string"
    ? detail
    : typeof title === "string"
    ? title
    : "The server said no more.";
  const retryAfterSeconds = retryAfter(
    document["retryAfterSeconds"],
    headers["retry-after"],
  );
  return new VerifierError(code, sentence, {
    status,
    ...(Array.isArray(errors) ? { errors: errors.flatMap(fieldError) } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(plan === undefined ? {} : { plan }),
    ...(typeof stage === "string" ? { stage } : {}),
    ...(typeof length === "number" ? { length } : {}),
    ...(typeof decision === "string" ? { decision } : {}),
  });
}

/** @param {unknown} entry @returns {import("./errors.js").FieldError[]} */
function fieldError(entry) {
  if (typeof entry !== "object" || entry === null) return [];
  const { path, message, value } = /** @type {Record<string, unknown>} */ (entry);
  if (typeof path !== "string" || typeof message !== "string") return [];
  return [{ path, message, ...(value === undefined ? {} : { value }) }];
}

/**
 * Seconds from the document, else from the header, which may be a date as well.
 *
 * @param {unknown} seconds
 * @param {string | undefined} header
 * @returns {number | undefined}
 */
function retryAfter(seconds, header) {
  if (typeof seconds === "number" && seconds >= 0) return seconds;
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

/** @param {string} text @returns {string} */
function excerpt(text) {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? "(an empty body)" : quoteValue(line.slice(0, QUOTED));
}
