// @ts-check
/**
 * The tracker of a session, told by its log alone: nothing is kept in memory, so a restart loses nothing and a branch
 * of the session has its parent's steps.
 *
 * The newest `verifier_tracker_start` that succeeded begins a tracker, and the `verifier_tracker_update` calls after it
 * are its steps, in the order in which they began. A step that didn't reach the server, or whose answer was lost, is one
 * as well: the work was done, and it is sent before the next one. One that was refused is none. The same text again,
 * right after it failed or found no score, is another try of the same step and has the first try's identity, so that
 * nothing is doubled. Calls from the agent's programs count like any other.
 *
 * @module
 */
import { allCalls } from "../host/calls.js";
import { START, UNSCORED_MARK, UPDATE } from "./names.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/events.js").Fields} Fields */
/** @typedef {import("../host/calls.js").ToolCall} ToolCall */

/**
 * Codes of failures that say nothing against the step: it wasn't delivered, or nobody knows whether it was. `internal`
 * isn't among them, as a step that breaks the server would stand in the way of all later ones.
 */
const UNDELIVERED = new Set([
  "aborted",
  "bad_answer",
  "budget_exhausted",
  "deadline_exceeded",
  "forbidden",
  "judge_failed",
  "judge_unauthorized",
  "rate_limited",
  "server_unreachable",
  "store_unavailable",
  "unauthorized",
]);
/** The same where the host speaks: its own deadline passed, or it was stopped in the middle. */
const CUT_OFF = /TOOL_TIMEOUT|was interrupted after it was recorded/;

/**
 * Whether an update that failed with this code leaves its step in the tracker.
 *
 * @param {string} code
 * @returns {boolean}
 */
export function keepsStep(code) {
  return UNDELIVERED.has(code);
}

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
 * @property {TrackedStep[]} steps All but the refused ones.
 * @property {TrackedStep | null} retried The last try when it may be repeated: it failed, or found no score. It is the
 * last of `steps` as well, unless it was refused.
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
    if (isKept(call) && steps.at(-1) !== tried) steps.push(tried);
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

/** @param {ToolCall} call @returns {boolean} */
function isKept({ result }) {
  if (result === null || !result.isError || CUT_OFF.test(result.text)) return true;
  return keepsStep(/^Error: ([a-z_]+): /.exec(result.text)?.[1] ?? "");
}

/** @param {unknown} a @param {unknown} b @returns {boolean} */
function sameStep(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
