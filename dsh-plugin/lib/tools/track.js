// @ts-check
/**
 * `verifier_track`: how far the work had come after each step.
 *
 * @module
 */
import { buy } from "./call.js";
import { readCriteria, readShared, readTrajectory, required, requiredText } from "./parameters.js";
import { footer, list, planText, show, showWithError } from "./render.js";
import { isPlan, requireLists, scoredParts, tally } from "./results.js";
import { rubricOf } from "./rubric_of.js";

/** A loss between two checkpoints that is worth a line. */
const FALL = 0.1;

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

/** @param {Arguments} args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(args, exec, deps) {
  const task = requiredText(args, "task");
  const trajectory = readTrajectory(required(args, "steps"), "steps");
  const fields = readShared(args, deps.settings.get());
  const rubric = await rubricOf(deps, exec, readCriteria(args));
  const answer = /** @type {any} */ (await buy(deps, exec, "/v1/track", {
    ...fields,
    task,
    criteria: rubric.criteria,
    trajectory,
    ...(args["checkpoints"] === undefined ? {} : { checkpoints: args["checkpoints"] }),
    ...(args["causal"] === undefined ? {} : { causal: args["causal"] }),
  }));
  if (isPlan(answer)) return answer;
  requireLists(answer, ["curve", "unscoredParts"]);
  return {
    ...answer,
    statement: progressStatement(answer),
    criteriaOrigin: rubric.origin,
    scored: scoredParts(answer),
    unscoredReasons: tally(
      answer.unscoredParts.map((/** @type {any} */ part) => part.reason),
    ),
  };
}

/** Of the completed call. @param {any} value @returns {string} */
export function headline(value) {
  return isPlan(value) ? `Track: ${value.plan.calls} calls` : value.statement;
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, value) {
  if (isPlan(value)) return planText(value.plan);
  return [value.statement, ...curveLines(value.curve), ...footer(value)].join(
    "\n",
  );
}

/**
 * Progress in one sentence.
 *
 * @param {any} answer with `final`, `advice` and `curve` @returns {string}
 */
export function progressStatement({ final, advice, curve }) {
  const last = curve.at(-1);
  if (final === null) {
    const known = curve.findLast((/** @type {any} */ point) => point.score !== null);
    return known === undefined
      ? "Progress can't be told: nothing was scored."
      : `Progress at the end can't be told, as step ${last.step} has no score; after step ${known.step} it was ${
        show(known.score)
      }.`;
  }
  const trend = typeof advice === "string" ? `; the curve says: ${advice}` : "";
  return `Progress at the end: ${showWithError(final, last?.standardError)} of 1${trend}.`;
}

/**
 * The curve, a line per checkpoint, and where it fell most.
 *
 * @param {readonly any[]} points @returns {string[]}
 */
export function curveLines(points) {
  const lines = list(
    points,
    ({ step, score, standardError, unscored }) =>
      `after step ${step}: ${showWithError(score, standardError)}${
        unscored > 0 && score !== null ? ` (${unscored} not scored)` : ""
      }`,
    30,
  );
  const known = points.filter(({ score }) => score !== null);
  let worst = null;
  for (const [i, point] of known.entries()) {
    const before = known[i - 1];
    if (before === undefined) continue;
    const loss = before.score - point.score;
    if (loss >= FALL && (worst === null || loss > worst.loss)) {
      worst = { loss, before, point };
    }
  }
  if (worst === null) return lines;
  return [
    ...lines,
    `Largest fall: ${show(worst.loss)} between step ${worst.before.step} and step ${worst.point.step}.`,
  ];
}
