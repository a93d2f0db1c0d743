// @ts-check
/**
 * `verifier_tracker_start`: begins to follow the session's work step by step.
 *
 * @module
 */
import { START } from "../trackers/names.js";
import { array, integer, object, string } from "./output.js";
import { parameters } from "./parameters.js";
import { list, oneLine } from "./render.js";

const output = object({
  tracker: string("Its id at the server."),
  task: string(),
  length: integer(),
  criteriaOrigin: string("Where the rubric came from: argument, session, workspace or setting."),
  warnings: array(string()),
});

/** @type {import("./register.js").ToolSpec} */
const tool = {
  name: START,
  description:
    "Begins to track this session's progress. Then call verifier_tracker_update after each step of the work. " +
    "Starting again begins anew.",
  parameters: parameters(["context", "criteria", "repeats", "judge"], {
    task: { type: "string", description: "Default: what the user asked." },
    rememberCriteria: { type: "boolean", description: "Keep criteria for this session." },
  }),
  accepts: [
    "groundTruthNote",
    "model",
    "channel",
    "seed",
    "images",
    "reviewStage",
    "remember_criteria",
    "backend",
    "onError",
  ],
  output,
  concurrencySafe: false,
  renames: [["/judge/profile", "/judge"]],
  // Loaded by the first call, so that a host starts faster.
  run: async (args, exec, deps) =>
    await (await import("./tracker_start_run.js")).startTracker(args, exec, deps),
  title: () => "Start tracking progress",
  headline: () => "Tracking progress",
  render: (_args, { tracker, task, criteriaOrigin, warnings }) =>
    [
      `Tracking: ${oneLine(task)}`,
      `Tracker ${tracker}.`,
      `Rubric from the ${criteriaOrigin}. After each step call verifier_tracker_update with step: what was done and what ` +
      "was observed, with the outputs that prove it.",
      ...list(warnings, (/** @type {string} */ warning) => `Warning: ${oneLine(warning)}`, 8),
    ].join("\n"),
};

/** The tool. */
export const spec = () => tool;
