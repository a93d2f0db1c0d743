// @ts-check
/**
 * Notices: what a user should know of a turn that wasn't judged. They never send the agent back to work.
 *
 * The host runs another step for whatever waits in an agent's inbox when its turn stops, so a notice doesn't go through
 * the inbox then: it is appended to the log, where the user reads it as one line of the conversation. While a step runs,
 * a message in the log would come between a call and its result; there the inbox is right, and costs no step, as the
 * results of a step's calls always lead to another one. Whoever runs the host without a page reads the notice on standard
 * error; standard output stays the answer's alone.
 *
 * @module
 */
import process from "node:process";
import { liveEvents, ownEvents } from "../host/events.js";
import { pluginMessage } from "../host/messages.js";
import { toVerifierError } from "../server/errors.js";
import { noticesOf } from "./steers.js";

/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {{ warn(text: string): void }} Log */
/** @typedef {{ text: string, summary: string, reason: string }} Notice `reason`: a short code; said once a session. */

/**
 * @typedef {object} NotifiedAgent
 * @property {HostSession & { append?: (type: string, data: unknown, options: unknown) => unknown }} session
 * @property {(message: unknown) => void} [inject]
 */

/**
 * Reasons told by this process. What counts is the log; this is for a host whose log can't be written.
 * @type {WeakMap<object, Set<string>>}
 */
const told = new WeakMap();

/**
 * Leaves a notice in a session, unless it has had one for that reason.
 *
 * @param {NotifiedAgent} agent
 * @param {Notice} notice
 * @param {{ log?: Log | undefined, print?: ((line: string) => void) | undefined }} [options] `print`: default standard error.
 * @returns {boolean} Whether it was new. Never throws.
 */
export function notify(
  agent,
  { text, summary, reason },
  { log, print = printError } = {},
) {
  const { session } = agent;
  const reasons = told.get(session) ?? new Set();
  told.set(session, reasons);
  try {
    if (reasons.has(reason) || noticesOf(ownEvents(session)).has(reason)) {
      return false;
    }
    leave(
      agent,
      pluginMessage(session, {
        text,
        summary,
        fields: { purpose: "notice", reason },
      }),
    );
  } catch (error) {
    log?.warn(
      `assay gate: a notice could not be left in the session's log: ${toVerifierError(error).message}`,
    );
  }
  reasons.add(reason);
  log?.warn(`assay gate: ${summary}: ${text}`);
  print(`dsh-assay: ${text.replace(/\s+/g, " ").trim()}\n`);
  return true;
}

/**
 * A turn without a verdict.
 * @param {string} code A stable word: one notice a session for each. @param {string} reason @returns {Notice}
 */
export function openNotice(code, reason) {
  return {
    text: `The gate let a turn end without a verdict (${code}): ${sentence(reason)} ` +
      "Its work was not verified. This note is for the user; nothing is to be done about it.",
    summary: `Not verified: ${code}`,
    reason: `open:${code}`,
  };
}

/**
 * A verdict that the user should know something about.
 * @param {string} warning @returns {Notice}
 */
export function warningNotice(warning) {
  const what = sentence(warning);
  return {
    text: `The gate judged a turn with a reservation: ${what} ` +
      "This note is for the user; nothing is to be done about it.",
    summary: `With a reservation: ${what}`,
    reason: `warning:${what.slice(0, 80)}`,
  };
}

/** On one line, bounded, with a full stop. @param {string} text @returns {string} */
function sentence(text) {
  const line = text.replace(/\s+/g, " ").trim().slice(0, 600).toWellFormed();
  return /[.!?\u3002]$/.test(line) ? line : `${line}.`;
}

/** @param {NotifiedAgent} agent @param {unknown} message */
function leave(agent, message) {
  const { session } = agent;
  const step = liveEvents(session).findLast(({ type }) => type === "step/start" || type === "step/end");
  if (step?.type === "step/start") {
    if (typeof agent.inject !== "function") {
      throw new TypeError("the host's agent has no inject()");
    }
    agent.inject(message);
  } else {
    if (typeof session.append !== "function") {
      throw new TypeError("the host's session has no append()");
    }
    session.append("user/message", message, { surfaceOp: "append" });
  }
}

/** @param {string} line */
function printError(line) {
  try {
    process.stderr.write(line);
  } catch { /* Nobody reads it: there is no other way to say so. */ }
}
