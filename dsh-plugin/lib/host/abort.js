// @ts-check
/**
 * Cancellation as this host does it: `signal.reason` is a plain object such as `{ kind: "disposed" }`, so it is never
 * thrown on, and services that take no signal are not waited for once it fired.
 *
 * @module
 */
import { VerifierError } from "../server/errors.js";

/**
 * @param {AbortSignal | undefined} signal
 * @throws {VerifierError} `aborted`
 */
export function throwIfAborted(signal) {
  if (signal?.aborted === true) throw abortedError(signal);
}

/**
 * What a promise gives, or `aborted` as soon as the signal fires. What fails because of the abort is `aborted` too.
 *
 * @template T
 * @param {() => T | PromiseLike<T>} work
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<T>}
 * @throws {VerifierError} `aborted`; else whatever `work` throws
 */
export async function untilAborted(work, signal) {
  throwIfAborted(signal);
  if (signal === undefined) return await work();
  /** @type {() => void} */
  let forget = () => {};
  const fired = new Promise((_, reject) => {
    const onAbort = () => reject(abortedError(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    forget = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await /** @type {Promise<T>} */ (Promise.race([work(), fired]));
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  } finally {
    forget();
  }
}

/** @param {AbortSignal} signal @returns {VerifierError} */
function abortedError(signal) {
  return new VerifierError("aborted", "The call was cancelled.", { cause: signal.reason });
}
