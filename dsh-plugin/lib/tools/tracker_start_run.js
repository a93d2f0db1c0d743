// @ts-check
/**
 * What `verifier_tracker_start` does: makes the tracker at the server, under the name that follows from this call.
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
import { sessionOf } from "./session_evidence.js";
import { checkRemember } from "./session_run.js";
import { startBody } from "./tracker_session.js";

/**
 * @param {import("./parameters.js").Arguments} args
 * @param {import("./register.js").Execution} exec
 * @param {import("./register.js").Deps} deps
 */
export async function startTracker(args, exec, deps) {
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
}
