// @ts-check
/**
 * `verifier_tracker_start`: begins to follow the session's work step by step: makes the tracker at the server, under the name that follows from
 * this call.
 *
 * @module
 */
import { liveEvents } from "../host/events.js";
import { currentTask } from "../host/task.js";
import { identityOf, ownCall } from "../trackers/fold.js";
import { sessionKey, trackerId } from "../trackers/key.js";
import { START } from "../trackers/names.js";
import { deadlines } from "./call.js";
import { requiredText } from "./parameters.js";
import { list, oneLine } from "./render.js";
import { checkRemember } from "./session.js";
import { sessionOf } from "./session_evidence.js";
import { startBody } from "./tracker_session.js";

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

/** @param {Arguments} args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(args, exec, deps) {
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
    deps.connection.post("/v1/trackers", { id, ...body, ...shown }, {
      signal: exec.signal,
      timeoutMs,
      repeatable: true,
    })
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
}

/** Of the completed call. @returns {string} */
export function headline() {
  return "Tracking progress";
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, { tracker, task, criteriaOrigin, warnings }) {
  return [
    `Tracking: ${oneLine(task)}`,
    `Tracker ${tracker}.`,
    `Rubric from the ${criteriaOrigin}. After each step call verifier_tracker_update with step: what was done and what ` +
    "was observed, with the outputs that prove it.",
    ...list(warnings, (/** @type {string} */ warning) => `Warning: ${oneLine(warning)}`, 8),
  ].join("\n");
}
