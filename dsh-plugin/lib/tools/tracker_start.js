// @ts-check
/**
 * `verifier_tracker_start`: begins to follow the session's work step by step.
 *
 * @module
 */
import { currentTask } from "../host/task.js";
import { liveEvents } from "../host/events.js";
import { identityOf, ownCall, START } from "../trackers/fold.js";
import { sessionKey, trackerId } from "../trackers/key.js";
import { array, integer, object, string } from "./output.js";
import { parameters, requiredText } from "./parameters.js";
import { list, oneLine } from "./render.js";
import { checkRemember } from "./session.js";
import { sessionOf } from "./session_evidence.js";
import { startBody } from "./tracker_session.js";
import { deadlines } from "./call.js";

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
  async run(args, exec, deps) {
    const session = sessionOf(exec, START);
    checkRemember(args);
    const events = liveEvents(session);
    const task = args["task"] === undefined ? currentTask(events)?.text : requiredText(args, "task");
    if (task === undefined) requiredText({}, "task");
    const { body, rubric, images } = await startBody(deps, exec, { ...args, task }, events);
    const callId = exec.callId ?? `start-${events.length}`;
    const own = ownCall(events, callId, START);
    const id = trackerId(sessionKey(session), own === null ? { callId, occurrence: 0 } : identityOf(own));
    const { own: timeoutMs } = deadlines(/** @type {number} */ (deps.settings.get()["timeoutMs"]));
    const { answer, warnings } = await images((shown) =>
      deps.connection.post("/v1/trackers", { id, ...body, ...shown }, { signal: exec.signal, timeoutMs })
    );
    return {
      tracker: answer.value.id,
      task,
      length: answer.value.length,
      criteriaOrigin: rubric.origin,
      warnings: [
        ...(rubric.warning === undefined ? [] : [rubric.warning]),
        ...warnings,
        ...answer.value.warnings,
      ],
    };
  },
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
