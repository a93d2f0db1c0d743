// @ts-check
/**
 * `verifier_tracker_result`: the curve of the session's tracker.
 *
 * @module
 */
import { array, integer, nullable, number, object, optional, string } from "./output.js";
import { parameters } from "./parameters.js";
import { list, oneLine, show } from "./render.js";
import { curveLines } from "./track.js";

const NAME = "verifier_tracker_result";

const output = object({
  tracker: string("Its id at the server."),
  task: string(),
  length: integer(),
  steps: array(object({
    step: integer("1-based."),
    score: nullable(number()),
    standardError: nullable(number()),
    unscored: nullable(object({ reason: string(), detail: nullable(string()) })),
    characters: integer(),
    createdAt: string(),
  })),
  advice: optional(string("rising, plateau, falling or done.")),
  restored: integer("Steps that had to be sent again."),
  warnings: array(string()),
});

/** @type {import("./register.js").ToolSpec} */
const tool = {
  name: NAME,
  description: "The progress curve of this session's tracker.",
  parameters: parameters([]),
  output,
  concurrencySafe: false,
  // Loaded by the first call, so that a host starts faster.
  run: async (args, exec, deps) =>
    await (await import("./tracker_result_run.js")).readTracker(args, exec, deps),
  title: () => "Read the tracker",
  headline: ({ length, steps }) => `${length} steps, last ${show(steps.at(-1)?.score)}`,
  render(_args, { tracker, task, length, steps, advice, restored, warnings }) {
    if (length === 0) return `No step yet: call verifier_tracker_update after each step of: ${oneLine(task)}`;
    const last = steps.at(-1);
    const missing = steps.filter((/** @type {any} */ { score }) => score === null).length;
    return [
      `Progress after step ${last.step}: ${show(last.score)} of 1${
        typeof advice === "string" ? `; the curve says: ${advice}` : ""
      }.`,
      ...curveLines(
        steps.map((/** @type {any} */ each) => ({ ...each, unscored: each.score === null ? 1 : 0 })),
      ),
      `Tracker ${tracker}.`,
      ...(missing === 0 ? [] : [`${missing} of ${length} steps have no score.`]),
      ...(restored === 0 ? [] : [`${restored} steps were sent to the server again.`]),
      ...list(warnings, (/** @type {string} */ warning) => `Warning: ${oneLine(warning)}`, 8),
    ].join("\n");
  },
};

/** The tool. */
export const spec = () => tool;
