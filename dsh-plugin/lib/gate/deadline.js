// @ts-check
/**
 * The whole time that a turn may wait for the gate: one deadline over everything, joined with the host's own signal.
 *
 * @module
 */
import { toVerifierError, VerifierError } from "../server/errors.js";

/**
 * @typedef {object} Deadline
 * @property {AbortSignal} signal Fires when the host calls the turn off or the time is over.
 * @property {() => number} remaining Milliseconds, at least 0.
 * @property {() => "aborted" | "deadline_exceeded" | null} ended Why the signal fired.
 * @property {<T>(work: () => Promise<T>) => Promise<T>} bound What the work gives; `aborted` or `deadline_exceeded` as
 *   soon as the signal fires, whatever the work is waiting for.
 * @property {() => void} close Stops the clock.
 */

/**
 * @param {AbortSignal | undefined} host
 * @param {number} totalMs
 * @returns {Deadline}
 */
export function startDeadline(host, totalMs) {
  const controller = new AbortController();
  const end = performance.now() + totalMs;
  /** @type {"aborted" | "deadline_exceeded" | null} */
  let ended = null;
  /** @param {"aborted" | "deadline_exceeded"} why */
  const stop = (why) => {
    ended ??= why;
    controller.abort({ kind: why });
  };
  const onAbort = () => stop("aborted");
  const timer = setTimeout(() => stop("deadline_exceeded"), totalMs);
  if (host?.aborted === true) onAbort();
  host?.addEventListener("abort", onAbort, { once: true });
  const error = () =>
    ended === "deadline_exceeded"
      ? new VerifierError(
        "deadline_exceeded",
        `The turn waited ${totalMs} ms, which is all it may (totalMs).`,
      )
      : new VerifierError("aborted", "The turn was called off.");
  return {
    signal: controller.signal,
    remaining: () => Math.max(0, Math.floor(end - performance.now())),
    ended: () => ended,
    async bound(work) {
      if (ended !== null) throw error();
      /** @type {() => void} */
      let forget = () => {};
      const fired = new Promise((_, reject) => {
        const onEnd = () => reject(error());
        controller.signal.addEventListener("abort", onEnd, { once: true });
        forget = () => controller.signal.removeEventListener("abort", onEnd);
      });
      try {
        return await /** @type {Promise<any>} */ (Promise.race([
          work(),
          fired,
        ]));
      } catch (thrown) {
        // What fails because the signal fired failed for that reason.
        throw ended === null ? toVerifierError(thrown) : error();
      } finally {
        forget();
      }
    },
    close() {
      clearTimeout(timer);
      host?.removeEventListener("abort", onAbort);
    },
  };
}
