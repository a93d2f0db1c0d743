// @ts-check
/**
 * A session's log as the verifier's server takes it: JSON lines, the header first. It is read from the host's store
 * after a flush; where there is no store, or it lags behind, from memory.
 *
 * What no judge ever sees stays here: the deltas of streams, the system prompt and the tools' schemas, the texts of
 * plugins, results' data for the user interface. Their events keep their number and kind, so that the server can
 * count, and can tell a gap from what was left out.
 *
 * @module
 */
import { VerifierError } from "../server/errors.js";
import { throwIfAborted, untilAborted } from "./abort.js";
import { dataOf, isFields, liveEvents, sourceOf } from "./events.js";

/** @typedef {import("./events.js").HostEvent} HostEvent */
/** @typedef {import("./events.js").HostHeader} HostHeader */
/** @typedef {import("./events.js").HostSession} HostSession */
/** @typedef {import("./events.js").Fields} Fields */

/**
 * The part of the host's context that is used here.
 * @typedef {{ get(name: string): any }} HostContext
 */

/**
 * @typedef {object} SessionLog
 * @property {string} text JSON lines, as `log` of `POST /v1/session`.
 * @property {number} version Format, 0 to 4.
 * @property {string} id
 * @property {readonly HostEvent[]} events All of them, whole.
 * @property {boolean} flushed Whether this is what the host has stored; else it comes from memory.
 * @property {string | null} fallback Why the stored log wasn't used, when there is one.
 */

/** Events that one read of a handle asks for. */
const PAGE = 5000;

/** Event types whose data the server reads; of the others it counts the number, and knows the place on the surface. */
const READ =
  /^(?:(?:turn|step)\/.*|tool\/(?:call|result|(?:code|ptc)-dispatch(?:-start)?)|(?:user|assistant)\/message|session\/end-seed)$/;

/**
 * The log of a session up to now.
 *
 * @param {HostContext} ctx
 * @param {HostSession} session
 * @param {{ signal?: AbortSignal | undefined }} [options]
 * @returns {Promise<SessionLog>}
 * @throws {VerifierError} `aborted`, or `invalid_request` when the host gives the log in no known way
 */
export async function sessionLog(ctx, session, { signal } = {}) {
  const { header, events, flushed, fallback } = await readLog(ctx, session, signal);
  throwIfAborted(signal);
  const lines = [{ type: "session", ...header }, ...events.map(slim)];
  return {
    text: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`,
    version: header.version,
    id: header.id,
    events,
    flushed,
    fallback,
  };
}

/**
 * @typedef {object} Read
 * @property {HostHeader} header
 * @property {readonly HostEvent[]} events
 * @property {boolean} flushed
 * @property {string | null} fallback
 */

/**
 * @param {HostContext} ctx @param {HostSession} session @param {AbortSignal | undefined} signal
 * @returns {Promise<Read>}
 */
async function readLog(ctx, session, signal) {
  const persistence = ctx.get("sessionPersistence");
  const sessions = ctx.get("sessions");
  /** @param {string | null} fallback @returns {Read} */
  const live = (fallback) => ({
    header: session.header,
    events: liveEvents(session),
    flushed: false,
    fallback,
  });
  if (persistence === undefined || sessions === undefined) return live(null);
  const { length } = liveEvents(session);
  try {
    const durable = await untilAborted(() => sessions.flush(session), signal);
    if (durable !== true) return live(null);
    const stored = await readStored(persistence, session, length, signal);
    if (stored.events.length >= length) return { ...stored, flushed: true, fallback: null };
    return live(`it ends after ${stored.events.length} of ${length} events`);
  } catch (error) {
    throwIfAborted(signal);
    // The log in memory is as complete; that the store failed is said and decides nothing.
    return live(error instanceof Error ? error.message : String(error));
  }
}

/**
 * @param {any} persistence @param {HostSession} session @param {number} length Events that were flushed.
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<{ header: HostHeader, events: readonly HostEvent[] }>}
 */
async function readStored(persistence, session, length, signal) {
  const { id } = session;
  if (typeof persistence.readFrom === "function") {
    const { meta, events } = await untilAborted(() => persistence.readFrom(id, 0, signal), signal);
    return { header: meta, events };
  }
  if (typeof persistence.open !== "function") {
    throw new VerifierError("invalid_request", "The host's store has neither readFrom() nor open().");
  }
  const handle = await untilAborted(() => persistence.open(id, "read", { signal }), signal);
  try {
    /** @type {HostEvent[]} */
    const events = [];
    while (events.length < length) {
      const page = await untilAborted(() => handle.read(events.length, PAGE, { signal }), signal);
      if (page.events.length === 0) break;
      events.push(...page.events);
    }
    return { header: handle.header ?? session.header, events };
  } finally {
    await handle.close();
  }
}

/**
 * An event without what the server's reader has no use for.
 * @param {HostEvent} event @returns {Fields}
 */
function slim(event) {
  const { type, seq, surfaceOp, sourceEventSeqs, ignorable } = event;
  const data = dataOf(event);
  /** @type {Record<string, unknown>} */
  const kept = {
    type,
    seq,
    ...(ignorable === undefined ? {} : { ignorable }),
    ...(surfaceOp === undefined ? {} : { surfaceOp }),
    // Of a model's message these are its chunks, in hundreds.
    ...(sourceEventSeqs === undefined || type === "assistant/message" ? {} : { sourceEventSeqs }),
  };
  if (!READ.test(type)) return kept;
  const source = sourceOf(event);
  if (source !== null && source.kind !== "user") {
    const { kind, plugin, form } = source;
    return {
      ...kept,
      data: {
        role: "user",
        content: [],
        source: { kind, ...(plugin === undefined ? {} : { plugin, form }) },
      },
    };
  }
  if (type === "tool/result") {
    const { meta: _, ...rest } = data;
    return { ...kept, data: rest };
  }
  if (type === "assistant/message") {
    const { stream: _, usage: __, message, ...rest } = data;
    return { ...kept, data: { ...rest, message: withoutReasoning(message) } };
  }
  return { ...kept, data };
}

/** Reasoning stays as an empty block: it is counted. @param {unknown} message @returns {unknown} */
function withoutReasoning(message) {
  if (!isFields(message) || !Array.isArray(message.content)) return message;
  const content = message.content.map((block) =>
    isFields(block) && block.type === "reasoning" ? { type: "reasoning" } : block
  );
  return { ...message, content };
}
