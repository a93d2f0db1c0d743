// @ts-check
/**
 * `verifier_tracker_update`: appends one step and scores the work up to it, from the steps up to it alone.
 *
 * @module
 */
import { UNSCORED_MARK, UPDATE } from "../trackers/names.js";
import { array, integer, nullable, number, object, optional, string } from "./output.js";
import { parameters } from "./parameters.js";
import { countOf, list, oneLine, showWithError, usageText } from "./render.js";
import { channels, judge, usage } from "./results.js";

const output = object({
  tracker: string("Its id at the server."),
  step: integer("1-based."),
  length: integer(),
  score: nullable(number()),
  standardError: nullable(number()),
  unscored: nullable(object({ reason: string(), detail: nullable(string()) })),
  advice: optional(string("rising, plateau, falling or done.")),
  restored: integer("Earlier steps that had to be sent again."),
  shortened: object({ steps: integer(), leftOut: integer(), characters: integer() }),
  decision: nullable(string()),
  judge: nullable(judge),
  channels,
  usage,
  warnings: array(string()),
});

/** What an advice means for whoever works. @type {Readonly<Record<string, string>>} */
const MEANING = {
  rising: "rising: go on.",
  plateau: "plateau: the last steps brought nothing; try another way.",
  falling: "falling: the last steps made it worse; look at what changed.",
  done: "done: it looks finished; prove it and end.",
};

/** @type {import("./register.js").ToolSpec} */
const tool = {
  name: UPDATE,
  description: "Adds one step to the session's tracker and scores the work so far. One call per step.",
  parameters: parameters([], {
    step: { type: "string", description: "Required. What was done and observed, with the outputs." },
    expectedLength: { type: "integer", description: "Steps before this one, to notice a lost one." },
  }),
  accepts: ["text"],
  output,
  // Steps have an order: calls of one answer run one after the other.
  concurrencySafe: false,
  renames: [["/step/text", "/step"]],
  // Loaded by the first call, so that a host starts faster.
  run: async (args, exec, deps) =>
    await (await import("./tracker_update_run.js")).updateTracker(args, exec, deps),
  title: () => "Add a step to the tracker",
  headline: ({ step, score, standardError }) => `Step ${step}: ${showWithError(score, standardError)}`,
  render(_args, value) {
    const { tracker, step, length, score, standardError, unscored, advice, restored, warnings } = value;
    const head = score === null
      ? [
        `${UNSCORED_MARK} step ${step} is kept, but has no score (${oneLine(unscored.reason, 40)}${
          unscored.detail === null ? "" : `: ${oneLine(unscored.detail)}`
        }).`,
        "Call verifier_tracker_update with exactly the same step to have it scored again; it stays one step. Or go on.",
      ]
      : [`Progress after step ${step}: ${showWithError(score, standardError)} of 1.`];
    return [
      ...head,
      ...(typeof advice === "string" ? [`The curve is ${MEANING[advice] ?? `${oneLine(advice, 40)}.`}`] : []),
      `${countOf(length, "step")} so far in tracker ${tracker}${
        restored === 0 ? "" : `; ${restored} were sent to the server again`
      }.`,
      `Cost: ${usageText(value.usage)}.`,
      ...list(warnings, (/** @type {string} */ warning) => `Warning: ${oneLine(warning)}`, 8),
    ].join("\n");
  },
};

/** The tool. */
export const spec = () => tool;
