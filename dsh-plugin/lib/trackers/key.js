// @ts-check
/**
 * The names under which the server knows a session's tracker and its steps. They follow from the session and its calls
 * alone, so that every host process, before and after a restart, comes to the same ones.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** @typedef {import("./fold.js").CallIdentity} CallIdentity */

/**
 * What stands for a session in these names. Hosts number sessions that other plugins make (`session-1`), so the id alone
 * might be another host's as well.
 *
 * @param {import("../host/events.js").HostSession} session
 * @returns {string}
 */
export function sessionKey({ id, header }) {
  return header.createdAt === undefined ? id : `${id}@${header.createdAt}`;
}

/**
 * The server's id of the tracker that a call started. A branch of the session has another one, with steps of its own.
 *
 * @param {string} session from {@linkcode sessionKey}
 * @param {CallIdentity} start
 * @returns {string} as `POST /v1/trackers` takes it: `[a-z0-9][a-z0-9_-]{7,63}`
 */
export function trackerId(session, { callId, occurrence }) {
  return `dsh-${digest(["tracker", session, callId, occurrence]).slice(0, 40)}`;
}

/**
 * The `Idempotency-Key` of a step.
 *
 * @param {string} session from {@linkcode sessionKey}
 * @param {CallIdentity} step
 * @returns {string}
 */
export function stepKey(session, { callId, occurrence }) {
  return `dsh-${digest(["step", session, callId, occurrence])}`;
}

/**
 * How the server's tracker shows the key of a step.
 *
 * @param {string} session from {@linkcode sessionKey}
 * @param {CallIdentity} step
 * @returns {string} 64 hexadecimal digits
 */
export function keyHash(session, step) {
  return createHash("sha256").update(stepKey(session, step)).digest("hex");
}

/** @param {readonly unknown[]} parts @returns {string} */
function digest(parts) {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
