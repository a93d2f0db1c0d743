// @ts-check
/**
 * Workflow results that the host shows only in part. The log holds a result as the model reads it, cut at the tool's
 * `maxResultChars` (50,000 by default) or moved into a file, and a group of long candidates is soon longer than that. The
 * host's `tools/result` event carries the whole value; it is kept here until the turn's end, in memory only: after a restart
 * the log is all there is, and the cut is told.
 *
 * @module
 */
import { isFields, textOf } from "../host/events.js";

/** Results of one session that are kept, the newest. */
const MOST_KEPT = 4;

/** Values by call, of each session. @type {WeakMap<object, Map<string, unknown>>} */
const kept = new WeakMap();

/** What marks a result that isn't shown whole. */
const CUT =
  /\n\u2026 \[truncated: \d+ more characters\]\s*$|\(Omitted \d+ bytes\. Full formatted result stored at: /;

/**
 * Keeps the value of a workflow's result that isn't shown whole. Never throws.
 * @param {unknown} exec @param {unknown} result
 */
export function keepResult(exec, result) {
  if (!isFields(exec) || !isFields(result) || result.isError === true) return;
  const { agent, callId } = exec;
  const session = isFields(agent) ? agent.session : undefined;
  const value = isFields(result.value) ? result.value.result : undefined;
  if (typeof session !== "object" || session === null || typeof callId !== "string" || !isFields(value)) {
    return;
  }
  if (!CUT.test(textOf(result.content))) return;
  const own = kept.get(session) ?? new Map();
  kept.set(session, own);
  own.delete(callId);
  own.set(callId, value);
  if (own.size > MOST_KEPT) own.delete(own.keys().next().value);
}

/**
 * The whole value of a result that the log shows in part.
 *
 * @param {object} session
 * @param {string} callId
 * @param {string} shown What the log has of it, without the host's own first lines.
 * @returns {unknown} Undefined when it isn't known.
 */
export function wholeResult(session, callId, shown) {
  const value = kept.get(session)?.get(callId);
  // Models do use an id again; what the log shows tells whose value this is.
  return value !== undefined && JSON.stringify(value, null, 2).startsWith(shown.slice(0, 200))
    ? value
    : undefined;
}
