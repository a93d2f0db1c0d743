// @ts-check
/**
 * The review of a candidate group: two candidates are compared, three and more are ranked. The server judges them whole;
 * what is too long for its judge it refuses, and that is told.
 *
 * @module
 */
import { isFields } from "../host/events.js";
import { judgeFields, redactField } from "./acceptance.js";
import { compareFeedback, selectFeedback } from "./feedback.js";
import { fingerprint } from "./fingerprint.js";

/** @typedef {import("./envelopes.js").Envelope} Envelope */
/** @typedef {import("./types.js").Fields} Fields */
/** @typedef {import("./types.js").RoutingSettings} RoutingSettings */
/** @typedef {import("./types.js").Review} Review */
/** @typedef {import("./types.js").Steer} Steer */

/** Both orders of a pair, so that a judge's liking for one place cancels out. */
const COMPARE_REPEATS = 2;
/** The rubric for work that nobody has carried out yet. */
export const PROPOSAL_RUBRIC = "proposal";

/**
 * @param {Envelope} envelope
 * @param {object} given
 * @param {RoutingSettings} given.settings
 * @param {string} given.task
 * @param {string | null} given.context What was said before the task.
 * @param {unknown} given.criteria Of finished work; proposals have a rubric of their own.
 * @param {readonly string[]} given.images Data URLs that belong to the task.
 * @returns {Review}
 */
export function candidatesReview(envelope, { settings, task, context: before, criteria: forWork, images }) {
  const { candidates, scope, stage } = envelope;
  const criteria = stage === "proposal" ? PROPOSAL_RUBRIC : forWork;
  const trajectories = candidates.map(({ id, content }) => ({ id, text: content.toWellFormed() }));
  const [a, b] = trajectories;
  const pair = trajectories.length === 2;
  const context = [before, scope].filter((part) => part !== null).join("\n\n");
  const purpose = pair ? "compare" : "select";
  const repeats = pair ? Math.max(COMPARE_REPEATS, evened(settings.evaluations)) : settings.evaluations;
  return {
    purpose,
    fingerprint: fingerprint(purpose, {
      stage,
      contents: candidates.map(({ content }) => content),
      scope,
      task,
      criteria,
      judge: settings.judge ?? null,
    }),
    path: `/v1/${purpose}`,
    body: {
      task,
      ...(context === "" ? {} : { context }),
      ...(pair ? { a, b } : { candidates: trajectories }),
      criteria,
      repeats,
      ...judgeFields(settings),
      ...redactField(settings),
      ...(images.length === 0 ? {} : { images }),
    },
    read: pair ? readCompare : readSelect,
    steer: (value) => candidatesFeedback(envelope, value, settings),
  };
}

/**
 * @param {Envelope} envelope
 * @param {unknown} value What the review's `read` gave.
 * @param {RoutingSettings} settings
 * @returns {Steer}
 */
export function candidatesFeedback(envelope, value, settings) {
  const feedback = envelope.candidates.length === 2
    ? compareFeedback(envelope, /** @type {import("./feedback.js").CompareAnswer} */ (value))
    : selectFeedback(envelope, /** @type {import("./feedback.js").SelectAnswer} */ (value));
  const length = envelope.candidates.reduce((sum, { content }) => sum + content.length, 0);
  if (length <= settings.maxCharacters) return feedback;
  const note = `(The candidates have ${length} characters together, more than maxCharacters ` +
    `${settings.maxCharacters}; they were judged whole.)`;
  return {
    ...feedback,
    text: feedback.text.length + note.length < 4000 ? `${feedback.text}\n${note}` : feedback.text,
  };
}

/** An even number of looks at a pair: one odd one would count one order twice. @param {number} repeats @returns {number} */
function evened(repeats) {
  return repeats + repeats % 2;
}

/** @param {unknown} value @returns {{ value: unknown, outcome: Fields }} */
function readCompare(value) {
  const answer = isFields(value) ? value : {};
  const { winner, rewardA, rewardB, margin, standardError, identical, criteria, judge, unscored } = answer;
  const good = (winner === "A" || winner === "B" || winner === "tie") && isScore(rewardA) &&
    isScore(rewardB) && isScore(margin) && isScore(standardError) &&
    typeof identical === "boolean" && Array.isArray(criteria) && isFields(judge) &&
    typeof unscored === "number";
  if (!good) throw new TypeError(`the server's answer has no verdict at /winner (value: ${String(winner)})`);
  return { value, outcome: { winner, rewardA, rewardB, identical } };
}

/** @param {unknown} value @returns {{ value: unknown, outcome: Fields, open?: { code: string, message: string } }} */
function readSelect(value) {
  const answer = isFields(value) ? value : {};
  const { best, ranking, judge, unscored } = answer;
  if (!Array.isArray(ranking) || ranking.length === 0 || !isFields(judge) || typeof unscored !== "number") {
    throw new TypeError("the server's answer has no ranking at /ranking");
  }
  if (typeof best !== "number") {
    const open = {
      code: "nothing_scored",
      message: "no pair of candidates got a score, so there is no ranking",
    };
    return { value: null, outcome: { best: null }, open };
  }
  return { value, outcome: { best } };
}

/** @param {unknown} value @returns {boolean} */
function isScore(value) {
  return value === null || typeof value === "number";
}
