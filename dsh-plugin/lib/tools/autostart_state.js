// @ts-check
/**
 * What became of starting a local server, for `verifier_status`.
 *
 * @module
 */

/**
 * @typedef {object} AutostartState
 * @property {"idle" | "starting" | "answering" | "failed"} state `idle`: nothing had to be started so far.
 * @property {string | null} detail Why it failed.
 */

/**
 * An autostart that remembers how its last start ended.
 *
 * @param {{ ensure(signal: AbortSignal): Promise<void>, stop(): Promise<void> }} autostart
 * @returns {{ ensure(signal: AbortSignal): Promise<void>, stop(): Promise<void>, state(): AutostartState }}
 */
export function watchAutostart(autostart) {
  /** @type {AutostartState} */
  let last = { state: "idle", detail: null };
  return {
    async ensure(signal) {
      last = { state: "starting", detail: null };
      try {
        await autostart.ensure(signal);
        last = { state: "answering", detail: null };
      } catch (error) {
        last = {
          state: "failed",
          detail: error instanceof Error ? error.message : String(error),
        };
        throw error;
      }
    },
    stop: () => autostart.stop(),
    state: () => last,
  };
}
