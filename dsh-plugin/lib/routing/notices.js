// @ts-check
/**
 * What a person is told when an automatic review did not happen. The turn is never held up by that.
 *
 * @module
 */
import { cut, oneLine } from "./quote.js";

/** @typedef {import("./types.js").Notice} Notice */

const LONGEST_NOTICE = 1500;

/** What a spent budget is called in the settings. @type {Readonly<Record<string, string>>} */
const BUDGETS = {
  task_reviews: "the reviews of this task (reviewsPerTask)",
  task_calls: "the judge calls of this task (callsPerTask)",
  session_reviews: "the reviews of this session (reviewsPerSession)",
  session_calls: "the judge calls of this session (callsPerSession)",
};

/**
 * @param {string} what The review, e.g. `the candidate group "g1"`.
 * @param {string} code
 * @param {string} message
 * @returns {Notice}
 */
export function failedNotice(what, code, message) {
  return {
    text: cut(
      `Assay could not review ${what}: ${
        oneLine(message, LONGEST_NOTICE - 300).replace(/(?<![.!?…])$/, ".")
      } ` +
        "The work goes on as if there had been no review.",
      LONGEST_NOTICE,
    ),
    summary: `Assay: no review of ${what} (${code})`,
    reason: `routing:${code}`,
  };
}

/**
 * @param {string} what
 * @param {string} reason As the ledger gives it.
 * @returns {Notice}
 */
export function spentNotice(what, reason) {
  const budget = BUDGETS[reason] ?? `the budget ${oneLine(reason, 60)}`;
  return {
    text:
      `Assay did not review ${what}: ${budget} are used up. Later reviews under this budget are not bought either; ` +
      "raise the setting to have more.",
    summary: `Assay: review budget used up (${oneLine(reason, 60)})`,
    reason: `routing:budget:${reason}`,
  };
}

/**
 * @param {import("./envelopes.js").Fault} fault
 * @returns {Notice}
 */
export function faultNotice({ seq, message }) {
  return {
    text: cut(
      `Assay did not compare a workflow's candidates: ${oneLine(message, LONGEST_NOTICE - 100)}.`,
      LONGEST_NOTICE,
    ),
    summary: "Assay: a candidate envelope can't be read",
    reason: `routing:envelope:${seq}`,
  };
}
