// @ts-check
/**
 * `verifier_compare`: which of two pieces of work is better.
 *
 * @module
 */
import { buy } from "./call.js";
import { readCriteria, readShared, readTrajectory, required, requiredText } from "./parameters.js";
import { footer, list, oneLine, planText, show, showWithError } from "./render.js";
import { isPlan, requireLists, scoredParts, tally } from "./results.js";
import { rubricOf } from "./rubric_of.js";

/** A margin below one step of the judge's scale of 20 letters is small. */
const STEP = 1 / 19;

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

/** @param {Arguments} args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(args, exec, deps) {
  const task = requiredText(args, "task");
  const a = readTrajectory(required(args, "a"), "a");
  const b = readTrajectory(required(args, "b"), "b");
  const fields = readShared(args, deps.settings.get());
  const rubric = await rubricOf(deps, exec, readCriteria(args));
  const answer = /** @type {any} */ (await buy(deps, exec, "/v1/compare", {
    ...fields,
    task,
    criteria: rubric.criteria,
    a,
    b,
  }));
  if (isPlan(answer)) return answer;
  requireLists(answer, ["calls", "criteria"]);
  const reasons = answer.calls.flatMap((/** @type {any} */ call) =>
    [call.a, call.b].flatMap((side) => side.kind === "unscored" ? [side.reason] : [])
  );
  return {
    ...answer,
    statement: statement(answer),
    criteriaOrigin: rubric.origin,
    scored: scoredParts(answer),
    unscoredReasons: tally(reasons),
  };
}

/** Of the completed call. @param {any} value @returns {string} */
export function headline(value) {
  return isPlan(value) ? `Compare: ${value.plan.calls} calls` : value.statement;
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, value) {
  if (isPlan(value)) return planText(value.plan);
  return [
    value.statement,
    ...(value.identical ? [] : [
      "Criteria (A against B):",
      ...list(
        value.criteria,
        (/** @type {any} */ row) => criterionLine(row, value.winner),
      ),
      ...weakest(value),
    ]),
    ...footer(value),
  ].join("\n");
}

/**
 * The verdict in one or two sentences. A tie is called a tie, and what can't be told apart is said to be so.
 *
 * @param {any} answer @returns {string}
 */
function statement(
  { winner, rewardA, rewardB, margin, standardError, identical },
) {
  if (identical) {
    return "Tie: what a judge would see of A and B is the same, byte for byte; nothing was judged.";
  }
  if (winner === "tie") {
    return `Tie: the judge sees no difference (${show(rewardA)} against ${show(rewardB)}).`;
  }
  const [own, other] = winner === "A" ? [rewardA, rewardB] : [rewardB, rewardA];
  const size = margin === null ? null : Math.abs(margin);
  const head = `${winner} is better: ${show(own)} against ${show(other)}, margin ${
    showWithError(size, standardError)
  }.`;
  return `${head}${doubt(size, standardError)}`;
}

/** What speaks against relying on a margin. @param {number | null} size @param {number | null} error @returns {string} */
function doubt(size, error) {
  if (size === null) return " The margin can't be told.";
  if (error !== null && size < 2 * error) {
    return " Not certain: the margin is below two standard errors; more repeats would tell.";
  }
  if (size < STEP) {
    return " Not certain: the margin is below one step of the judge's scale.";
  }
  return error === null ? " How certain this is can't be told from one judging per criterion." : "";
}

/** @param {any} row @param {string} winner @returns {string} */
function criterionLine({ name, rewardA, rewardB, unscored }, winner) {
  const missing = unscored > 0 ? `, ${unscored} not scored` : "";
  const against = rewardA === null || rewardB === null
    ? ""
    : winner === "A" && rewardB > rewardA
    ? " (here B is better)"
    : winner === "B" && rewardA > rewardB
    ? " (here A is better)"
    : "";
  return `${oneLine(name, 80)}: ${show(rewardA)} against ${show(rewardB)}${missing}${against}`;
}

/** The winner's lowest criterion, where one is lower: there it could still be better. @param {any} value @returns {string[]} */
function weakest({ winner, criteria }) {
  if (winner === "tie") return [];
  const side = winner === "A" ? "rewardA" : "rewardB";
  const rows = criteria.filter((/** @type {any} */ row) => row[side] !== null)
    .toSorted((/** @type {any} */ one, /** @type {any} */ other) => one[side] - other[side]);
  const [lowest, highest] = [rows[0], rows.at(-1)];
  if (lowest === undefined || show(lowest[side]) === show(highest[side])) return [];
  return [`Weakest of ${winner}: ${oneLine(lowest.name, 80)} (${show(lowest[side])}).`];
}
