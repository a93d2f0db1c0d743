// @ts-check
/**
 * A local server that lives as long as the host does: started when a tool finds nobody at the loopback address, ended
 * when the plugin is. It ends by itself when its standard input closes, so that not even a killed host leaves one behind.
 *
 * @module
 */
import { spawn as spawnProcess } from "node:child_process";
import { parseServerUrl } from "../config/values.js";
import { VerifierError } from "./errors.js";
import { endProcess } from "./processes.js";
import { serverDirectory } from "./server_directory.js";
import { createTransport, TransportError } from "./transport.js";

/** @typedef {import("../config/values.js").ServerUrl} ServerUrl */
/** @typedef {import("../config/resolve.js").Settings} Settings */
/** @typedef {import("node:child_process").ChildProcess} ChildProcess */
/** @typedef {(command: string, args: string[], options: import("node:child_process").SpawnOptions) => ChildProcess} Spawn */
/** @typedef {{ info(text: string): void, warn(text: string): void }} Log */
/** @typedef {{ child: ChildProcess, words: string[], ended: string | null }} Running */
/** @typedef {{ users: Set<object>, running: Running | null, starting: Promise<void> | null, ending: Promise<void> }} Place */

/** The runtime is fetched once by npx and then kept in its cache. */
const COMMAND = "npx";
const ARGUMENTS = Object.freeze(["-y", "deno@2.9.6", "task", "serve", "--stop-with-stdin"]);
/** Lines of the server's standard error that a failure quotes. */
const LAST_WORDS = 15;

/**
 * Servers by address. Rows that started one or waited for it share it, and the last of them to leave ends it.
 *
 * @type {Map<string, Place>}
 */
const places = new Map();

/**
 * @param {object} options
 * @param {() => Settings} options.settings Asked at every start: `url`, `serverDirectory`.
 * @param {Log} options.log
 * @param {Spawn} [options.spawn]
 * @param {(child: ChildProcess) => Promise<void>} [options.end] Ends a server that was started.
 * @param {number} [options.waitMs] How long a caller waits for a start.
 * @param {number} [options.giveUpMs] How long a start may take in all. The first one fetches the runtime, which on a slow
 *   line outlasts a caller's patience; cut off each time, it would never be there.
 * @param {number} [options.pollMs] Pause between two looks at whether it answers.
 * @returns {{ ensure(signal: AbortSignal): Promise<void>, stop(): Promise<void> }} `ensure` resolves once a server answers
 *   at the address, whoever started it; concurrent callers share one start, and an abort ends a caller's wait only. `stop`
 *   ends the server unless somebody else in this process uses it.
 */
export function createAutostart(
  {
    settings,
    log,
    spawn = spawnProcess,
    end = endProcess,
    waitMs = 60_000,
    giveUpMs = 600_000,
    pollMs = 100,
  },
) {
  const transport = createTransport();
  /** Stands for this user of the servers. */
  const me = {};
  let stopped = false;

  /** @param {ServerUrl} url @param {Place} place */
  async function start(url, place) {
    await place.ending;
    if (await answers(url)) return;
    // Ours may still be there although it doesn't answer.
    await endRunning(place);
    if (place.users.size === 0) throw unloaded();
    const server = launch(url);
    place.running = server;
    const until = Date.now() + giveUpMs;
    while (!await answers(url)) {
      if (server.ended !== null) {
        // Another host's server was faster at the port, and answers since.
        if (await answers(url)) break;
        throw failed(server, `The local server ended (${server.ended}) before it answered`);
      }
      if (place.users.size === 0) throw unloaded();
      if (Date.now() > until) {
        await endRunning(place);
        throw failed(server, `The local server didn't answer at ${url.base} within ${giveUpMs / 1000} s`);
      }
      await pause(pollMs);
    }
    log.info(`assay: a local server answers at ${url.base}`);
  }

  /** @param {ServerUrl} url @returns {Running} */
  function launch(url) {
    const { serverDirectory: configured, token } = settings();
    const cwd = serverDirectory(configured);
    log.info(`assay: starting a server at ${url.base} from ${cwd}`);
    const windows = process.platform === "win32";
    const child = spawn(COMMAND, [...ARGUMENTS], {
      cwd,
      // It asks for the token that we are going to send, or for none, whatever the environment says.
      env: {
        ...process.env,
        ASSAY_HOST: url.hostname,
        ASSAY_PORT: String(url.port),
        ASSAY_TOKEN: token ?? undefined,
      },
      stdio: ["pipe", "ignore", "pipe"],
      // A process group of its own, so that npx, deno and the server can be ended together.
      detached: !windows,
      shell: windows,
      windowsHide: true,
    });
    return watched(child);
  }

  /** @param {Place} place */
  async function endRunning(place) {
    const server = place.running;
    place.running = null;
    if (server !== null && server.ended === null) await end(server.child);
  }

  /** @param {Place} place @returns {Promise<void>} */
  async function leave(place) {
    if (!place.users.delete(me) || place.users.size > 0) return;
    const finish = async () => {
      await place.starting?.catch(() => {});
      // Somebody may have come while the start was ending.
      if (place.users.size === 0) await endRunning(place);
    };
    await (place.ending = finish());
  }

  /** @param {ServerUrl} url @returns {Promise<boolean>} */
  async function answers(url) {
    const path = `${new URL(url.base).pathname.replace(/\/$/, "")}/healthz`;
    const signal = AbortSignal.timeout(2000);
    try {
      return (await transport.send({ url, method: "GET", path, headers: {}, body: null, signal })).status ===
        200;
    } catch (error) {
      if (error instanceof TransportError) return false;
      throw error;
    }
  }

  return {
    async ensure(signal) {
      if (stopped) throw unloaded();
      const url = localUrl(settings()["url"]);
      /** @type {Place} */
      const place = places.get(url.base) ??
        { users: new Set(), running: null, starting: null, ending: Promise.resolve() };
      places.set(url.base, place);
      place.users.add(me);
      // A server at an address that the settings have left is nobody's any more.
      for (const other of places.values()) if (other !== place) void leave(other);
      place.starting ??= start(url, place).finally(() => place.starting = null);
      await patiently(place.starting, signal, waitMs, () => stillStarting(place.running, url, waitMs));
    },
    async stop() {
      stopped = true;
      await Promise.all([...places.values()].map(leave));
      transport.close();
    },
  };
}

/** @param {unknown} address The setting `url`. @returns {ServerUrl} Throws when no server may be started there. */
function localUrl(address) {
  const url = parseServerUrl(address);
  if (typeof url === "string") throw new VerifierError("invalid_request", `The setting url ${url}.`);
  if (url.loopback && !url.secure) return url;
  throw new VerifierError(
    "server_unreachable",
    `Nothing answers at ${url.base}, and autostart only starts a server at an http address of this machine, such as http://127.0.0.1:8787.`,
  );
}

/** A child whose end and last words are kept, and which doesn't keep this process running. @param {ChildProcess} child @returns {Running} */
function watched(child) {
  /** @type {Running} */
  const server = { child, words: [], ended: null };
  child.on("error", (error) => server.ended ??= `${COMMAND}: ${error.message}`);
  child.on(
    "exit",
    (code, signal) => server.ended ??= signal === null ? `exit code ${code}` : `signal ${signal}`,
  );
  // A pipe that breaks because the server is gone is told by the exit.
  child.stdin?.on("error", () => {});
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = (lines.pop() ?? "").slice(-1000);
    server.words.push(...lines.filter((line) => line.trim() !== "").map((line) => line.slice(0, 300)));
    server.words.splice(0, Math.max(0, server.words.length - LAST_WORDS));
  });
  child.unref();
  for (const stream of [child.stdin, child.stderr]) {
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
  return server;
}

/** @returns {VerifierError} */
function unloaded() {
  return new VerifierError("aborted", "The plugin was unloaded.");
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

/** @param {Running | null} server @param {ServerUrl} url @param {number} waited @returns {VerifierError} */
function stillStarting(server, url, waited) {
  const what = `The local server at ${url.base} is still starting after ${
    waited / 1000
  } s; the first start fetches the runtime. Try again`;
  return server === null ? new VerifierError("server_unreachable", `${what}.`) : failed(server, what);
}

/**
 * Waits for something that goes on for others when this waiter leaves.
 *
 * @param {Promise<void>} promise
 * @param {AbortSignal} signal
 * @param {number} waitMs
 * @param {() => VerifierError} late
 * @returns {Promise<void>}
 */
function patiently(promise, signal, waitMs, late) {
  return new Promise((resolve, reject) => {
    const leave = () =>
      reject(new VerifierError("aborted", "The call was cancelled while the local server started."));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    const timer = setTimeout(() => reject(late()), waitMs);
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    });
  });
}
