// @ts-check
/**
 * The messages that this plugin puts into a session, and how they are told apart afterwards.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { sourceOf } from "./events.js";

/** @typedef {import("./events.js").HostEvent} HostEvent */
/** @typedef {import("./events.js").HostSession} HostSession */

/** Whom our messages come from: the plugin's name up to format 3, the kind of the source from format 4 on. */
export const PLUGIN = "assay-verify-gate";

/** The host's bound for the one line that stands for a notice. */
const LONGEST_SUMMARY = 120;

/**
 * A message to the agent, complete and frozen, as `agent.steer` takes it. Format 4 refuses the kind `plugin`; there the
 * source has a kind of its own.
 *
 * @param {HostSession} session
 * @param {{ text: string, summary: string, fields?: Readonly<Record<string, unknown>> }} message `summary` is shortened
 * to the host's 120 characters; `fields` are JSON values that stand in the source as well, for reading them back later.
 */
export function pluginMessage(session, { text, summary, fields = {} }) {
  const shown = { ...fields, form: "notice", summary: oneLine(summary) };
  const source = session.header.version >= 4
    ? { kind: PLUGIN, ...shown }
    : { kind: "plugin", plugin: PLUGIN, ...shown };
  return Object.freeze({
    id: randomUUID(),
    role: "user",
    content: Object.freeze([
      Object.freeze({ type: "text", text: text.toWellFormed() }),
    ]),
    source: Object.freeze(source),
  });
}

/**
 * Whether this plugin wrote a message, in any format.
 * @param {HostEvent} event
 * @returns {boolean}
 */
export function isOwnMessage(event) {
  const source = sourceOf(event);
  if (source === null) return false;
  return source.kind === PLUGIN ||
    (source.kind === "plugin" && source.plugin === PLUGIN);
}

/** @param {string} text @returns {string} */
function oneLine(text) {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= LONGEST_SUMMARY) return line.toWellFormed();
  // A cut between the halves of a character leaves one half, which goes as well.
  return `${line.slice(0, LONGEST_SUMMARY - 1).replace(/[\ud800-\udbff]$/, "")}…`.toWellFormed();
}
