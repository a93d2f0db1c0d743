// @ts-check
/**
 * What this process already knows of a session's reviews, so that a settled one costs no request at every stop. Only a
 * shortcut: what counts is the server's ledger.
 *
 * @module
 */

/** @typedef {"done" | number} State `done`, or the turn in which a review failed. */
/** @typedef {{ reviews: Map<string, State>, told: Set<string> }} Known */

/** @type {WeakMap<object, Known>} */
const sessions = new WeakMap();

/** @param {object} session @returns {Known} */
function of(session) {
  const found = sessions.get(session);
  if (found !== undefined) return found;
  const fresh = { reviews: new Map(), told: new Set() };
  sessions.set(session, fresh);
  return fresh;
}

/**
 * @param {object} session
 * @param {string} fingerprint
 * @returns {State | undefined}
 */
export function known(session, fingerprint) {
  return of(session).reviews.get(fingerprint);
}

/**
 * @param {object} session
 * @param {string} fingerprint
 * @param {State} state
 */
export function remember(session, fingerprint, state) {
  of(session).reviews.set(fingerprint, state);
}

/**
 * Whether something is said for the first time in this session and process.
 *
 * @param {object} session
 * @param {string} reason
 * @returns {boolean}
 */
export function firstTime(session, reason) {
  const { told } = of(session);
  if (told.has(reason)) return false;
  told.add(reason);
  return true;
}
