// @ts-check
/**
 * A local server that lives as long as the host does: started when a tool finds nobody at the loopback address, ended
 * when the plugin is. It ends by itself when its standard input closes, so that not even a killed host leaves one behind.
 *
 * @module
 */
import { spawn as spawnProcess } from "node:child_process";
import { parseServerUrl } from "../config/url.js";
import { VerifierError } from "./errors.js";
import { endProcess } from "./processes.js";
import { serverDirectory } from "./server_directory.js";
import { createTransport, TransportError } from "./transport.js";

/** @typedef {import("../config/url.js").ServerUrl} ServerUrl */
/** @typedef {import("../config/resolve.js").Settings} Settings */
/** @typedef {import("node:child_process").ChildProcess} ChildProcess */
/** @typedef {(command: string, args: string[], options: import("node:child_process").SpawnOptions) => ChildProcess} Spawn */
/** @typedef {{ info(text: string): void, warn(text: string): void }} Log */
/** @typedef {{ base: string, child: ChildProcess, words: string[], ended: string | null }} Running */

/** The runtime is fetched once by npx and then kept in its cache. */
const COMMAND = "npx";
const ARGUMENTS = Object.freeze([
  "-y",
  "deno@2.9.6",
  "task",
  "serve",
  "--stop-with-stdin",
]);
/** Lines of the server's standard error that a failure quotes. */
const LAST_WORDS = 15;

/**
 * @param {object} options
 * @param {() => Settings} options.settings Asked at every start: `url`, `serverDirectory`.
 * @param {Log} options.log
 * @param {Spawn} [options.spawn]
 * @param {(child: ChildProcess) => Promise<void>} [options.end] Ends a server that was started.
 * @param {number} [options.deadlineMs] How long a start may take, fetching the runtime included.
 * @param {number} [options.pollMs] Pause between two looks at whether it answers.
 * @returns {{ ensure(signal: AbortSignal): Promise<void>, stop(): Promise<void> }} `ensure` resolves once a server answers
 *   at the address, whoever started it; concurrent callers share one start, and an abort ends a caller's wait only.
 */
export function createAutostart(
  {
    settings,
    log,
    spawn = spawnProcess,
    end = endProcess,
    deadlineMs = 60_000,
    pollMs = 100,
  },
) {
  const transport = createTransport();
  /** @type {Running | null} */
  let running = null;
  /** @type {{ base: string, done: Promise<void> } | null} */
  let starting = null;
  const stopping = new AbortController();

  function throwIfStopped() {
    if (stopping.signal.aborted) {
      throw new VerifierError("aborted", "The plugin was unloaded.");
    }
  }

  /** @param {ServerUrl} url */
  async function start(url) {
    if (await answers(url)) return;
    // Ours may still be there although it doesn't answer, or it listens where the address used to be.
    await endRunning();
    throwIfStopped();
    const server = launch(url);
    running = server;
    const until = Date.now() + deadlineMs;
    while (!await answers(url)) {
      if (server.ended !== null) {
        throw failed(
          server,
          `The local server ended (${server.ended}) before it answered`,
        );
      }
      if (stopping.signal.aborted) {
        throw new VerifierError("aborted", "The plugin was unloaded.");
      }
      if (Date.now() > until) {
        await endRunning();
        throw failed(
          server,
          `The local server didn't answer at ${url.base} within ${deadlineMs / 1000} s`,
        );
      }
      await pause(pollMs);
    }
    log.info(`assay: a local server answers at ${url.base}`);
  }

  /** @param {ServerUrl} url @returns {Running} */
  function launch(url) {
    const cwd = serverDirectory(settings()["serverDirectory"]);
    log.info(`assay: starting a server at ${url.base} from ${cwd}`);
    const windows = process.platform === "win32";
    const child = spawn(COMMAND, [...ARGUMENTS], {
      cwd,
      env: {
        ...process.env,
        ASSAY_HOST: url.hostname,
        ASSAY_PORT: String(url.port),
      },
      stdio: ["pipe", "ignore", "pipe"],
      // A process group of its own, so that npx, deno and the server can be ended together.
      detached: !windows,
      shell: windows,
      windowsHide: true,
    });
    /** @type {Running} */
    const server = { base: url.base, child, words: [], ended: null };
    child.on(
      "error",
      (error) => server.ended ??= `${COMMAND}: ${error.message}`,
    );
    child.on(
      "exit",
      (code, signal) => server.ended ??= signal === null ? `exit code ${code}` : `signal ${signal}`,
    );
    // A pipe that breaks because the server is gone is told by the exit.
    child.stdin?.on("error", () => {});
    let rest = "";
    child.stderr?.setEncoding("utf8").on(
      "data",
      (/** @type {string} */ text) => {
        const lines = (rest + text).split(/\r?\n/);
        rest = (lines.pop() ?? "").slice(-1000);
        server.words.push(
          ...lines.filter((line) => line.trim() !== "").map((line) => line.slice(0, 300)),
        );
        server.words.splice(0, Math.max(0, server.words.length - LAST_WORDS));
      },
    );
    // None of this keeps the host from leaving.
    child.unref();
    for (const stream of [child.stdin, child.stderr]) {
      if (
        stream !== null && "unref" in stream &&
        typeof stream.unref === "function"
      ) stream.unref();
    }
    return server;
  }

  async function endRunning() {
    const server = running;
    running = null;
    if (server !== null && server.ended === null) await end(server.child);
  }

  /** @param {ServerUrl} url @returns {Promise<boolean>} */
  async function answers(url) {
    const signal = AbortSignal.any([
      AbortSignal.timeout(2000),
      stopping.signal,
    ]);
    const path = `${new URL(url.base).pathname.replace(/\/$/, "")}/healthz`;
    try {
      return (await transport.send({
        url,
        method: "GET",
        path,
        headers: {},
        body: null,
        signal,
      })).status === 200;
    } catch (error) {
      if (error instanceof TransportError) return false;
      throw error;
    }
  }

  return {
    async ensure(signal) {
      const url = parseServerUrl(settings()["url"]);
      if (typeof url === "string") {
        throw new VerifierError("invalid_request", `The setting url ${url}.`);
      }
      if (!url.loopback || url.secure) {
        throw new VerifierError(
          "server_unreachable",
          `Nothing answers at ${url.base}, and autostart only starts a server at an http address of this machine, such as http://127.0.0.1:8787.`,
        );
      }
      if (stopping.signal.aborted) {
        throw new VerifierError("aborted", "The plugin was unloaded.");
      }
      if (starting?.base !== url.base) {
        // One start after the other when the address changed meanwhile; each tells its own callers how it went.
        const before = starting?.done.catch(() => {}) ?? Promise.resolve();
        const done = before.then(() => start(url)).finally(() => {
          if (starting?.done === done) starting = null;
        });
        starting = { base: url.base, done };
      }
      await abortable(
        /** @type {{ done: Promise<void> }} */ (starting).done,
        signal,
      );
    },
    async stop() {
      stopping.abort();
      transport.close();
      await starting?.done.catch(() => {});
      await endRunning();
    },
  };
}

/** @param {Running} server @param {string} what @returns {VerifierError} */
function failed(server, what) {
  const words = server.words.length === 0
    ? "It wrote nothing to standard error."
    : `Its last words:\n${server.words.join("\n")}`;
  return new VerifierError("server_unreachable", `${what}. ${words}`);
}

/** @param {number} milliseconds @returns {Promise<void>} */
function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * Waits for something that goes on for others when this waiter leaves.
 *
 * @param {Promise<void>} promise
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function abortable(promise, signal) {
  return new Promise((resolve, reject) => {
    const leave = () =>
      reject(
        new VerifierError(
          "aborted",
          "The call was cancelled while the local server started.",
        ),
      );
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
