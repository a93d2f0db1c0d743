// @ts-check
/**
 * The tracker of a session, told by its log alone: nothing is kept in memory, so a restart loses nothing and a branch
 * of the session has its parent's steps.
 *
 * The newest `verifier_tracker_start` that succeeded begins a tracker, and the `verifier_tracker_update` calls after it
 * are its steps, in the order in which they began. A call that failed is no step. The same text again, right after it
 * failed or found no score, is another try of the same step: it has the first try's identity, so that a step that the
 * server did store is never doubled. Calls from the agent's programs count like any other.
 *
 * @module
 */
import { allCalls } from "../host/calls.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/events.js").Fields} Fields */
/** @typedef {import("../host/calls.js").ToolCall} ToolCall */

export const START = "verifier_tracker_start";
export const UPDATE = "verifier_tracker_update";

/**
 * How the text of an update without a score begins. It is read back from the log, so it must not change.
 */
export const UNSCORED_MARK = "Not scored:";

/**
 * Which call this is, for ever: its id, and how many calls of the log had the same id before.
 * @typedef {object} CallIdentity
 * @property {string} callId
 * @property {number} occurrence
 */

/**
 * @typedef {object} TrackedStep
 * @property {CallIdentity} identity Of the step's first try.
 * @property {unknown} step The text, or an object with `text` and `images`, as the call gave it.
 */

/**
 * @typedef {object} TrackerState
 * @property {CallIdentity} start
 * @property {Fields} arguments Of the start.
 * @property {number} seq Of the start.
 * @property {TrackedStep[]} steps Those that succeeded.
 * @property {TrackedStep | null} retried The last try when it may be repeated: it failed, or found no score. In the
 * second case it is the last of `steps` as well.
 */

/**
 * The tracker that a session's log tells of.
 *
 * @param {readonly HostEvent[]} events with what a fork inherited
 * @param {ToolCall | null} [before] Only what began before this call counts: the call that asks.
 * @returns {TrackerState | null} Null when none was started.
 */
export function foldTracker(events, before = null) {
  const calls = allCalls(events).filter(({ seq }) => before === null || seq < before.seq);
  const at = calls.findLastIndex((call) => call.name === START && succeeded(call));
  const start = calls[at];
  if (start === undefined) return null;
  /** @type {TrackedStep[]} */
  const steps = [];
  /** @type {TrackedStep | null} */
  let retried = null;
  for (const call of calls.slice(at + 1)) {
    const step = stepOf(call.arguments);
    if (call.name !== UPDATE || step === undefined) continue;
    const isRetry = retried !== null && sameStep(retried.step, step);
    /** @type {TrackedStep} */
    const tried = isRetry && retried !== null ? retried : { identity: identityOf(call), step };
    if (succeeded(call) && steps.at(-1) !== tried) steps.push(tried);
    retried = succeeded(call) && call.result?.text.startsWith(UNSCORED_MARK) !== true ? null : tried;
  }
  return { start: identityOf(start), arguments: start.arguments ?? {}, seq: start.seq, steps, retried };
}

/**
 * The identity that a new step has: of the try that it repeats, else of its own call.
 *
 * @param {TrackerState} state
 * @param {unknown} step
 * @param {CallIdentity} own
 * @returns {{ identity: CallIdentity, isRetry: boolean }}
 */
export function stepIdentity({ retried }, step, own) {
  return retried !== null && sameStep(retried.step, step)
    ? { identity: retried.identity, isRetry: true }
    : { identity: own, isRetry: false };
}

/**
 * The call that is being executed: the newest one of its id and name in the log.
 *
 * @param {readonly HostEvent[]} events
 * @param {string} callId
 * @param {string} name
 * @returns {ToolCall | null} Null when the host didn't log it.
 */
export function ownCall(events, callId, name) {
  return allCalls(events).findLast((call) => call.callId === callId && call.name === name) ?? null;
}

/** @param {CallIdentity} call @returns {CallIdentity} */
export function identityOf({ callId, occurrence }) {
  return { callId, occurrence };
}

/** @param {Fields | null} args @returns {unknown} */
function stepOf(args) {
  return args?.step ?? args?.text ?? undefined;
}

/** @param {ToolCall} call @returns {boolean} */
function succeeded({ result }) {
  return result !== null && !result.isError;
}

/** @param {unknown} a @param {unknown} b @returns {boolean} */
function sameStep(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
