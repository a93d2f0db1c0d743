// @ts-check
/**
 * Events of the host's sessions, whichever host it is: what the live log holds, what of it is the session's own, and
 * who said what. Hosts up to 0.1.1 have `session.events`, later ones `session.snapshotEvents()`; the log's format is
 * 0 to 4. Nothing here trusts a shape: a field that isn't what it should be counts as absent.
 *
 * @module
 */
import { VerifierError } from "../server/errors.js";

/**
 * One event of a session's log.
 * @typedef {object} HostEvent
 * @property {string} type
 * @property {number} seq 0-based, contiguous.
 * @property {number} [time] Unix milliseconds.
 * @property {unknown} data
 * @property {unknown} [surfaceOp] `"append"`, or an object for a replacement.
 * @property {readonly number[]} [sourceEventSeqs]
 * @property {boolean} [ignorable] Whether a reader that doesn't know the type may skip it.
 */

/**
 * First line of a log.
 * @typedef {object} HostHeader
 * @property {number} version Format, 0 to 4.
 * @property {string} id
 * @property {number} [createdAt] Unix milliseconds; stays when the session is resumed.
 * @property {string} [cwd]
 * @property {number} [delegationDepth] Above 0 for subagents.
 * @property {string} [origin]
 * @property {string} [parentSession]
 * @property {number} [seedLength] Inherited events (formats 0 and 1).
 * @property {boolean} [isSeeded] Whether events were inherited (formats 2 and up).
 */

/**
 * @typedef {object} HostSession
 * @property {string} id
 * @property {HostHeader} header
 * @property {readonly HostEvent[] | undefined} [events] Up to host 0.1.1.
 * @property {(() => readonly HostEvent[]) | undefined} [snapshotEvents] Later hosts.
 */

/** @typedef {Readonly<Record<string, unknown>>} Fields */

/**
 * Whether a value is a JSON object.
 * @param {unknown} value
 * @returns {value is Fields}
 */
export function isFields(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * An event's data, `{}` when it has none.
 * @param {HostEvent} event
 * @returns {Fields}
 */
export function dataOf(event) {
  return isFields(event.data) ? event.data : {};
}

/**
 * The log so far, oldest first.
 *
 * @param {HostSession} session
 * @returns {readonly HostEvent[]}
 * @throws {VerifierError} `invalid_request` when the host's session gives its events in no known way
 */
export function liveEvents(session) {
  const events = typeof session?.snapshotEvents === "function" ? session.snapshotEvents() : session?.events;
  if (Array.isArray(events)) return events;
  throw new VerifierError(
    "invalid_request",
    "The host's session has neither snapshotEvents() nor events, so its log can't be read. This plugin knows hosts 0.1.0 to 0.1.6.",
  );
}

/**
 * The first sequence number that is the session's own; what comes before was inherited from the session it was forked
 * from. A session that was only resumed inherits nothing: its end-of-seed marks carry no `inherited`.
 *
 * @param {HostSession} session
 * @param {readonly HostEvent[]} events
 * @returns {number}
 */
export function firstOwnSeq(session, events) {
  const { seedLength } = session.header;
  const first = Number.isSafeInteger(seedLength) ? Number(seedLength) : 0;
  const mark = events.findLast((event) =>
    event.type === "session/end-seed" && dataOf(event).inherited === true
  );
  return mark === undefined ? first : Math.max(first, mark.seq + 1);
}

/**
 * What isn't inherited from the session this one was forked from.
 *
 * @param {HostSession} session
 * @param {readonly HostEvent[]} [events] Default: the live log.
 * @returns {readonly HostEvent[]}
 */
export function ownEvents(session, events = liveEvents(session)) {
  const from = firstOwnSeq(session, events);
  return from === 0 ? events : events.filter(({ seq }) => seq >= from);
}

/**
 * The number of the newest turn that began; null before the first.
 * @param {readonly HostEvent[]} events
 * @returns {number | null}
 */
export function newestTurn(events) {
  const start = events.findLast(({ type }) => type === "turn/start");
  const turn = start === undefined ? undefined : dataOf(start).turn;
  return typeof turn === "number" ? turn : null;
}

/**
 * The events of one turn, from its start to its end, or to the log's end while it runs. Of two turns with the same
 * number (a fork counts on) the newer one.
 *
 * @param {readonly HostEvent[]} events
 * @param {number} turn
 * @returns {readonly HostEvent[]}
 */
export function turnEvents(events, turn) {
  const start = events.findLastIndex((event) => event.type === "turn/start" && dataOf(event).turn === turn);
  if (start === -1) return [];
  const end = events.findIndex((event, i) => i > start && event.type === "turn/end");
  return events.slice(start, end === -1 ? undefined : end + 1);
}

/**
 * Who a message came from: `user`, `plugin`, …; null for what is no user-role message.
 * @param {HostEvent} event
 * @returns {Fields | null}
 */
export function sourceOf(event) {
  if (event.type !== "user/message") return null;
  const { source } = dataOf(event);
  return isFields(source) ? source : {};
}

/**
 * Whether a person wrote this. Steering, notices, runtime context and summaries of the history are user-role messages
 * as well, and are not meant here.
 *
 * @param {HostEvent} event
 * @returns {boolean}
 */
export function isUserMessage(event) {
  return sourceOf(event)?.kind === "user";
}

/**
 * The text of a user-role message; `""` for other events.
 * @param {HostEvent} event
 * @returns {string}
 */
export function userText(event) {
  return event.type === "user/message" ? textOf(dataOf(event).content) : "";
}

/**
 * The text of an agent's message, without its reasoning; `""` for other events.
 * @param {HostEvent} event
 * @returns {string}
 */
export function assistantText(event) {
  if (event.type !== "assistant/message") return "";
  const { message } = dataOf(event);
  return isFields(message) ? textOf(message.content) : "";
}

/**
 * The objects among content blocks.
 * @param {unknown} content
 * @returns {readonly Fields[]}
 */
export function blocksOf(content) {
  return Array.isArray(content) ? content.filter(isFields) : [];
}

/**
 * The text of content blocks, one line break between two; images, reasoning and calls have none.
 *
 * @param {unknown} content A string, or content blocks.
 * @returns {string}
 */
export function textOf(content) {
  if (typeof content === "string") return content;
  return blocksOf(content).filter(({ type, text }) => type === "text" && typeof text === "string")
    .map(({ text }) => String(text)).join("\n");
}
