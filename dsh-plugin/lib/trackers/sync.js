// @ts-check
/**
 * Brings the server's tracker up to what the session's log tells: makes it where it is missing and sends the steps that
 * it lacks, each with its own key, in order. So a branch of a session gets its parent's curve, and a server that lost
 * its data gets everything again.
 *
 * @module
 */
import { VerifierError } from "../server/errors.js";
import { keyHash, stepKey, trackerId } from "./key.js";

/** @typedef {import("./fold.js").TrackerState} TrackerState */
/** @typedef {import("./fold.js").TrackedStep} TrackedStep */
/** @typedef {import("../tools/register.js").Connection} Connection */

/**
 * @typedef {object} SyncOptions
 * @property {AbortSignal | undefined} [signal]
 * @property {() => number} remaining Milliseconds until the whole call's deadline.
 */

/** @typedef {(body: Readonly<Record<string, unknown>>) => Promise<unknown>} Post */

/**
 * @param {Connection} connection
 * @param {string} sessionKey as `key.js` gives it
 * @param {TrackerState} state
 * @param {readonly TrackedStep[]} steps Those of the state that the server must have, without one that is yet to come.
 * @param {(post: Post) => Promise<readonly string[]>} make Posts the start's body, which has no id; called only when the
 * tracker is missing. Gives warnings.
 * @param {SyncOptions} options
 * @returns {Promise<{ id: string, tracker: any, restored: number, warnings: readonly string[] }>} `tracker`: as
 * `GET /v1/trackers/{id}` gives it; `restored`: steps that were sent again.
 * @throws {VerifierError} which says how many steps could be sent again when that was cut short
 */
export async function syncTracker(connection, sessionKey, state, steps, make, { signal, remaining }) {
  const id = trackerId(sessionKey, state.start);
  const path = `/v1/trackers/${id}`;
  const options = () => ({ signal, timeoutMs: Math.max(1, remaining()) });
  let tracker = await readTracker(connection, path, options());
  /** @type {readonly string[]} */
  let warnings = [];
  if (tracker === null) {
    warnings = await make((body) =>
      connection.post("/v1/trackers", { id, ...body }, { ...options(), repeatable: true })
    ).catch(gone);
  }
  // By their keys, not by their number: the server may have one that the log doesn't count, as it failed after storing it.
  const known = new Set(keyHashes(tracker));
  const missing = steps.filter(({ identity }) => !known.has(keyHash(sessionKey, identity)));
  if (tracker !== null && missing.length === 0) return { id, tracker, restored: 0, warnings };
  for (const [i, { identity, step }] of missing.entries()) {
    try {
      await connection.post(`${path}/steps`, { step }, {
        ...options(),
        idempotencyKey: stepKey(sessionKey, identity),
      });
    } catch (error) {
      if (!(error instanceof VerifierError)) throw error;
      throw cutShort(error, steps.length - missing.length + i, steps.length);
    }
  }
  tracker = await readTracker(connection, path, options());
  if (tracker === null) {
    throw new VerifierError("not_found", `The server has no tracker ${id}, though it was just made.`);
  }
  return { id, tracker, restored: missing.length, warnings };
}

/** @param {any} tracker As `GET /v1/trackers/{id}` gives it; null without one. @returns {unknown[]} @throws {VerifierError} `bad_answer` */
function keyHashes(tracker) {
  if (tracker === null) return [];
  if (!Array.isArray(tracker.steps)) {
    throw new VerifierError("bad_answer", "The server's answer has no list of the tracker's steps.", {
      errors: [{ path: "/steps", message: "must be a list", value: tracker.steps }],
    });
  }
  return tracker.steps.map((/** @type {any} */ step) => step?.keyHash);
}

/** @param {Connection} connection @param {string} path @param {Readonly<Record<string, unknown>>} options @returns {Promise<any>} */
async function readTracker(connection, path, options) {
  try {
    return (await connection.get(path, options)).value;
  } catch (error) {
    if (error instanceof VerifierError && error.code === "not_found") return null;
    throw error;
  }
}

/** @param {VerifierError} error @param {number} sent @param {number} of @returns {VerifierError} */
function cutShort(error, sent, of) {
  const { status, errors, retryAfterSeconds } = error;
  return new VerifierError(
    error.code,
    `The server lacked earlier steps of the tracker, and now has ${sent} of ${of}; the next call goes on. ${error.detail}`,
    {
      status,
      ...(errors === undefined ? {} : { errors }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      cause: error,
    },
  );
}

/** The id can't be had again: someone deleted the tracker at the server, or made it with another token. @param {unknown} error @returns {never} */
function gone(error) {
  if (!(error instanceof VerifierError) || error.code !== "idempotency_conflict") throw error;
  throw new VerifierError(
    error.code,
    `The server doesn't give this session's tracker back; start a new one with verifier_tracker_start. ${error.detail}`,
    { status: error.status, cause: error },
  );
}
