// @ts-check
/**
 * The server's review ledger: what automatic reviews of a session may buy is asked there before, and told there after,
 * so that limits hold over restarts and the same evidence isn't paid twice.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { isFields } from "../host/events.js";
import { quoteValue, VerifierError } from "../server/errors.js";

/** @typedef {import("../server/connection.js").Connection} Connection */
/** @typedef {import("../server/connection.js").RequestOptions} RequestOptions */
/** @typedef {import("../host/events.js").Fields} Fields */

/** A review of the same evidence, under way or settled. @typedef {{ id: string, state: string, outcome: Fields | null }} StoredReview */

/**
 * `reason`: `reviewed`, `in_flight`, `task_reviews`, `task_calls`, `session_reviews` or `session_calls`.
 * @typedef {{ granted: true, id: string } | { granted: false, reason: string, review: StoredReview | null }} Reservation
 */

/** What buys nothing is answered in milliseconds; who waits longer waits for a server that is gone. */
export const LEDGER_TIMEOUT_MS = 10_000;

/** Codes of failures with which a request never reached a judge. @type {ReadonlySet<string>} */
export const BOUGHT_NOTHING = new Set([
  "invalid_json",
  "invalid_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "method_not_allowed",
  "body_too_large",
  "unsupported_media_type",
  "over_budget",
  "budget_exhausted",
  "rate_limited",
]);

/** Bytes of an outcome that the ledger keeps. */
const MAXIMUM_OUTCOME = 8000;

/**
 * Asks whether a review may be bought, and holds its calls.
 *
 * @param {Pick<Connection, "post">} connection
 * @param {Fields} request Body of `POST /v1/reviews`.
 * @param {RequestOptions} [options]
 * @returns {Promise<Reservation>}
 * @throws {VerifierError}
 */
export async function reserve(connection, request, options = {}) {
  const { value } = await connection.post("/v1/reviews", request, options);
  if (
    isFields(value) && value.granted === true && typeof value.id === "string" &&
    value.id !== ""
  ) {
    return { granted: true, id: value.id };
  }
  if (
    isFields(value) && value.granted === false &&
    typeof value.reason === "string"
  ) {
    const { review } = value;
    return {
      granted: false,
      reason: value.reason,
      review: isFields(review)
        ? {
          id: String(review.id),
          state: String(review.state),
          outcome: isFields(review.outcome) ? review.outcome : null,
        }
        : null,
    };
  }
  throw new VerifierError(
    "bad_answer",
    `The server's ledger answered with neither a grant nor a refusal: ${quoteValue(value)}`,
  );
}

/**
 * Tells what became of a review.
 *
 * @param {Pick<Connection, "post">} connection
 * @param {string} id
 * @param {{ state: "done" | "failed" | "abandoned", calls: number, outcome?: Fields }} entry
 * @param {RequestOptions} [options]
 * @returns {Promise<void>}
 * @throws {VerifierError}
 */
export async function settle(connection, id, entry, options = {}) {
  const body = entry.outcome === undefined ? entry : { ...entry, outcome: boundOutcome(entry.outcome) };
  await connection.post(
    `/v1/reviews/${encodeURIComponent(id)}/settle`,
    body,
    // Settling twice the same way is settling once.
    { ...options, repeatable: true },
  );
}

/**
 * An outcome that the ledger takes: texts within it are cut until all of it fits.
 *
 * @param {Fields} outcome
 * @returns {Fields}
 */
export function boundOutcome(outcome) {
  for (let longest = 4000; longest >= 1; longest = Math.floor(longest / 2)) {
    const cut = /** @type {Fields} */ (JSON.parse(JSON.stringify(outcome, (_, value) =>
      typeof value === "string" ? value.slice(0, longest).toWellFormed() : value)));
    if (Buffer.byteLength(JSON.stringify(cut)) <= MAXIMUM_OUTCOME) {
      return cut;
    }
  }
  return {};
}
