// @ts-check
/**
 * The connection to the server, loaded by the first call: a host starts faster without, and most sessions never ask.
 *
 * @module
 */

import { VerifierError } from "../server/errors.js";

/** @typedef {import("./register.js").Connection} Connection */

/**
 * What became of starting a local server, for `verifier_status`.
 *
 * @typedef {object} AutostartState
 * @property {"idle" | "starting" | "answering" | "failed"} state `idle`: nothing had to be started so far.
 * @property {string | null} detail Why it failed.
 */

/**
 * @param {object} options
 * @param {() => Readonly<Record<string, any>>} options.settings
 * @param {{ info(text: string): void, warn(text: string): void }} options.log
 * @returns {{ connection: Connection, state: () => AutostartState, close: () => Promise<void> }} `close` ends a local
 *   server that was started
 */
export function lazyServer({ settings, log }) {
  /** @type {AutostartState} */
  let state = { state: "idle", detail: null };
  /** @type {Promise<Awaited<ReturnType<typeof open>>> | null} */
  let opened = null;

  async function open() {
    const [{ createAutostart }, { createConnection }] = await Promise.all([
      import("../server/autostart.js"),
      import("../server/connection.js"),
    ]);
    const autostart = createAutostart({ settings, log });
    /** @param {AbortSignal} signal */
    const ensure = async (signal) => {
      state = { state: "starting", detail: null };
      try {
        await autostart.ensure(signal);
        state = { state: "answering", detail: null };
      } catch (error) {
        state = {
          state: "failed",
          detail: error instanceof Error ? error.message : String(error),
        };
        throw error;
      }
    };
    return {
      autostart,
      connection: createConnection({ settings, autostart: { ensure } }),
    };
  }

  let closed = false;
  const loaded = () => {
    if (closed) throw new VerifierError("aborted", "The plugin was unloaded.");
    return opened ??= open();
  };
  return {
    connection: {
      post: async (path, body, options) => (await loaded()).connection.post(path, body, options),
      get: async (path, options) => (await loaded()).connection.get(path, options),
      remove: async (path, options) => (await loaded()).connection.remove(path, options),
    },
    state: () => state,
    async close() {
      closed = true;
      if (opened === null) return;
      const { autostart, connection } = await opened;
      connection.close();
      await autostart.stop();
    },
  };
}
