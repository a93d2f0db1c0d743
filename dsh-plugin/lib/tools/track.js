// @ts-check
/**
 * `verifier_track`: how far the work had come after each step.
 *
 * @module
 */
import { buy } from "./call.js";
import { boolean, nullable, number, optional, string } from "./output.js";
import {
  parameters,
  readCriteria,
  readShared,
  readTrajectory,
  required,
  requiredText,
  TEXT_OR_OBJECT,
  UNDECLARED,
} from "./parameters.js";
import { footer, list, planText, show, showWithError } from "./render.js";
import { curve, isPlan, requireLists, resultOrPlan, scoredParts, shared, tally } from "./results.js";
import { rubricOf } from "./rubric_of.js";

/** A loss between two checkpoints that is worth a line. */
const FALL = 0.1;

const output = resultOrPlan({
  ...shared,
  causal: boolean(),
  curve,
  final: nullable(number()),
  advice: optional(string("rising, plateau, falling or done.")),
});

/** @type {import("./register.js").ToolSpec} */
const tool = {
  name: "verifier_track",
  description: "Progress of finished work at checkpoints along its steps. Steps are 1-based.",
  parameters: parameters([
    "task",
    "context",
    "criteria",
    "repeats",
    "judge",
    "images",
    "dryRun",
  ], {
    steps: {
      type: "array",
      items: TEXT_OR_OBJECT,
      description: "Required. What was done, step by step.",
    },
    checkpoints: {
      type: "array",
      items: { type: "integer" },
      description: "Steps to score; default up to 12 evenly.",
    },
    causal: {
      type: "boolean",
      description: "Later steps stay unseen; dearer.",
    },
  }),
  accepts: [...UNDECLARED, "reviewStage"],
  output,
  concurrencySafe: true,
  renames: [["/trajectory/steps", "/steps"], ["/trajectory", "/steps"], [
    "/judge/profile",
    "/judge",
  ]],
  async run(args, exec, deps) {
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
  },
  title: ({ steps }) => Array.isArray(steps) ? `Track progress over ${steps.length} steps` : "Track progress",
  headline: (value) => isPlan(value) ? `Track: ${value.plan.calls} calls` : value.statement,
  render(_args, value) {
    if (isPlan(value)) return planText(value.plan);
    return [value.statement, ...curveLines(value.curve), ...footer(value)].join(
      "\n",
    );
  },
};

/** The tool. */
export const spec = () => tool;

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
