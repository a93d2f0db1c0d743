// @ts-check
/**
 * `verifier_tracker_result`: the curve of the session's tracker. What the server lacks is sent first.
 *
 * @module
 */
import { liveEvents } from "../host/events.js";
import { ownCall } from "../trackers/fold.js";
import { list, oneLine, show } from "./render.js";
import { sessionOf } from "./session_evidence.js";
import { curveLines } from "./track.js";
import { countdown, trackerOf, upToDate } from "./tracker_session.js";

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

const NAME = "verifier_tracker_result";

/** @param {Arguments} _args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(_args, exec, deps) {
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

/** Of the completed call. @param {any} value @returns {string} */
export function headline({ length, steps }) {
  return `${length} steps, last ${show(steps.at(-1)?.score)}`;
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, { tracker, task, length, steps, advice, restored, warnings }) {
  if (length === 0) return `No step yet: call verifier_tracker_update after each step of: ${oneLine(task)}`;
  const last = steps.at(-1);
  const missing = steps.filter((/** @type {any} */ { score }) => score === null).length;
  return [
    `Progress after step ${last.step}: ${show(last.score)}${last.score === null ? "" : " of 1"}${
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
}
