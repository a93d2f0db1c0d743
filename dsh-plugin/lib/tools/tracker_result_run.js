// @ts-check
/**
 * What `verifier_tracker_result` does: sends what the server lacks, and reads the tracker.
 *
 * @module
 */
import { liveEvents } from "../host/events.js";
import { ownCall } from "../trackers/fold.js";
import { sessionOf } from "./session_evidence.js";
import { countdown, trackerOf, upToDate } from "./tracker_session.js";

const NAME = "verifier_tracker_result";

/**
 * @param {import("./parameters.js").Arguments} _args
 * @param {import("./register.js").Execution} exec
 * @param {import("./register.js").Deps} deps
 */
export async function readTracker(_args, exec, deps) {
  const session = sessionOf(exec, NAME);
  const call = exec.callId === undefined ? null : ownCall(liveEvents(session), exec.callId, NAME);
  const state = trackerOf(session, call);
  const { tracker, restored, warnings } = await upToDate(deps, exec, session, state, countdown(deps));
  return {
    tracker: tracker.id,
    task: tracker.task,
    length: tracker.length,
    steps: tracker.steps.map((
      /** @type {any} */ { index, state: stepState, unscored, score, ...rest },
    ) => ({
      ...rest,
      step: index,
      score,
      unscored: score === null
        ? { reason: unscored?.reason ?? stepState, detail: unscored?.detail ?? null }
        : null,
    })),
    advice: tracker.advice,
    restored,
    warnings: [...warnings, ...tracker.warnings],
  };
}
