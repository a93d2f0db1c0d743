// @ts-check
/**
 * What this plugin has already said in a session, read from its log, so that neither a restart nor a second process can
 * make it say the same again, or steer without end.
 *
 * @module
 */
import { blocksOf, dataOf, isFields, turnEvents } from "../host/events.js";
import { isOwnMessage, pluginMessage } from "../host/messages.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {import("../host/events.js").Fields} Fields */

/**
 * Own messages among events, each once: a steer stands in the log when it is queued and again when it is read.
 *
 * @param {readonly HostEvent[]} events
 * @returns {Fields[]} Their sources.
 */
function ownSources(events) {
  /** @type {Map<unknown, Fields>} */
  const found = new Map();
  for (const event of events) {
    const messages = event.type === "agent/inbox/spliced"
      ? blocksOf(dataOf(event).inserted)
      : event.type === "user/message"
      ? [dataOf(event)]
      : [];
    for (const message of messages) {
      if (
        isFields(message.source) &&
        isOwnMessage({ ...event, type: "user/message", data: message })
      ) {
        found.set(message.id, message.source);
      }
    }
  }
  return [...found.values()];
}

/** What isn't marked as a notice counts as a steer: a steer too few is better than a loop. @param {Fields} source */
const isSteer = (source) => source.purpose !== "notice";

/** Fingerprints of routed reviews have their purpose in front; the gate's own have none. */
const ROUTED = /^[a-z]+:/;

/**
 * The steers of one turn.
 *
 * @param {readonly HostEvent[]} own The session's own events: a fork doesn't inherit what its origin was told.
 * @param {number} turn
 * @returns {{ gate: number, routed: number, fingerprints: ReadonlySet<string> }} Those of the final gate, those of
 * automatic reviews, and the fingerprints of the evidence that they were about.
 */
export function steersOf(own, turn) {
  const told = turnEvents(own, turn);
  // A log without this turn's start would count none for ever: then what was said since the newest start counts.
  const start = Math.max(0, own.findLastIndex(({ type }) => type === "turn/start"));
  const steers = ownSources(told.length > 0 ? told : own.slice(start)).filter(isSteer).map((
    { fingerprint },
  ) => typeof fingerprint === "string" ? fingerprint : "");
  const routed = steers.filter((fingerprint) => ROUTED.test(fingerprint)).length;
  return { gate: steers.length - routed, routed, fingerprints: new Set(steers) };
}

/**
 * Reasons of the notices that a session has had.
 * @param {readonly HostEvent[]} own
 * @returns {ReadonlySet<string>}
 */
export function noticesOf(own) {
  return new Set(
    ownSources(own).flatMap((source) =>
      !isSteer(source) && typeof source.reason === "string" ? [source.reason] : []
    ),
  );
}

/**
 * Sends the agent back to work: the turn goes on with one more step. The one place of this plugin that does.
 *
 * @param {{ session: HostSession, steer(message: unknown): void }} agent
 * @param {{ text: string, summary: string, fingerprint?: string | undefined }} steer
 */
export function steer(agent, { text, summary, fingerprint }) {
  const fields = {
    purpose: "steer",
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
  agent.steer(pluginMessage(agent.session, { text, summary, fields }));
}

/**
 * Whether something waits for an agent's next step, so that its turn doesn't end.
 * @param {{ inbox?: { readonly nextStep?: readonly unknown[] } }} agent
 * @returns {boolean}
 */
export function hasMail({ inbox }) {
  return (inbox?.nextStep?.length ?? 0) > 0;
}
