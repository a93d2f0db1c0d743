// @ts-check
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { createAutostart } from "../../lib/server/autostart.js";
import { VerifierError } from "../../lib/server/errors.js";
import { endProcess } from "../../lib/server/processes.js";
import { serverDirectory } from "../../lib/server/server_directory.js";

/** @typedef {import("node:child_process").ChildProcess} ChildProcess */

/** A child process as far as it is looked at. */
class FakeChild extends EventEmitter {
  pid = 4_000_000;
  /** @type {number | null} */
  exitCode = null;
  /** @type {NodeJS.Signals | null} */
  signalCode = null;
  stdin = new PassThrough();
  stderr = new PassThrough();
  unref() {}
  /** @param {number} code */
  exit(code) {
    if (this.exitCode !== null) return;
    this.exitCode = code;
    this.emit("exit", code, null);
  }
  get asChild() {
    return /** @type {ChildProcess} */ (/** @type {unknown} */ (this));
  }
}

/** @param {string} [name] @returns {{ path: string, remove: () => void }} */
function folder(name) {
  const path = mkdtempSync(join(tmpdir(), "assay-autostart-"));
  if (name !== undefined) {
    writeFileSync(join(path, "deno.json"), JSON.stringify({ name }));
  }
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

/** A free port of this machine. @returns {Promise<number>} */
function freePort() {
  const server = http.createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/**
 * An autostart whose "process" is a server in this one.
 *
 * @param {{ behaviour?: "serves" | "dies" | "hangs" | "missing", url?: string, waitMs?: number, token?: string | null }} [options]
 */
async function setUp({ behaviour = "serves", url, waitMs = 5000, token = null } = {}) {
  const port = await freePort();
  const place = folder("assay");
  /** @type {{ command: string, args: string[], options: any, child: FakeChild }[]} */
  const spawned = [];
  /** @type {http.Server[]} */
  const servers = [];
  /** @type {string[]} */
  const said = [];
  let ended = 0;
  const settings = {
    url: url ?? `http://127.0.0.1:${port}`,
    serverDirectory: place.path,
    token,
  };
  const autostart = createAutostart({
    settings: () => settings,
    log: { info: (text) => said.push(text), warn: (text) => said.push(text) },
    spawn(command, args, options) {
      const child = new FakeChild();
      spawned.push({ command, args, options, child });
      if (behaviour === "serves") {
        const server = http.createServer((_, response) => response.writeHead(200).end("{}"));
        server.listen(
          Number(options.env?.["ASSAY_PORT"]),
          options.env?.["ASSAY_HOST"],
        );
        servers.push(server);
      }
      if (behaviour === "dies") {
        child.stderr.write("Downloading\nerror: the store ");
        child.stderr.write("is locked\n\n");
        setTimeout(() => child.exit(1), 10);
      }
      if (behaviour === "missing") {
        setTimeout(() => child.emit("error", new Error("spawn npx ENOENT")), 1);
      }
      return child.asChild;
    },
    end(child) {
      ended++;
      /** @type {FakeChild} */ (/** @type {unknown} */ (child)).exit(0);
      return Promise.resolve();
    },
    waitMs,
    giveUpMs: 100,
    pollMs: 5,
  });
  const tearDown = async () => {
    await autostart.stop();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    place.remove();
  };
  return {
    autostart,
    spawned,
    said,
    settings,
    place,
    servers,
    ended: () => ended,
    tearDown,
  };
}

/** @param {Promise<unknown>} promise @returns {Promise<VerifierError>} */
async function failureOf(promise) {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof VerifierError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "it must have failed" });
}

const never = new AbortController().signal;

describe("autostart", () => {
  test("starts one server for callers at the same time, at the address's host and port", async () => {
    const { autostart, spawned, settings, place, tearDown } = await setUp();
    await Promise.all([
      autostart.ensure(never),
      autostart.ensure(never),
      autostart.ensure(never),
    ]);
    assert.equal(spawned.length, 1);
    const { command, args, options } = /** @type {typeof spawned[0]} */ (spawned[0]);
    assert.deepEqual([command, ...args], [
      "npx",
      "-y",
      "deno@2.9.6",
      "task",
      "serve",
      "--stop-with-stdin",
    ]);
    assert.equal(options.cwd, place.path);
    assert.equal(options.env.ASSAY_HOST, "127.0.0.1");
    assert.equal(options.env.ASSAY_PORT, new URL(settings.url).port);
    assert.equal(options.stdio[0], "pipe");
    await autostart.ensure(never);
    assert.equal(spawned.length, 1);
    await tearDown();
  });

  test("starts none where one answers already", async () => {
    const { autostart, spawned, settings, tearDown } = await setUp();
    const server = http.createServer((_, response) => response.writeHead(200).end("{}"));
    await new Promise((resolve) =>
      server.listen(
        Number(new URL(settings.url).port),
        "127.0.0.1",
        () => resolve(undefined),
      )
    );
    await autostart.ensure(never);
    assert.deepEqual(spawned, []);
    server.closeAllConnections();
    server.close();
    await tearDown();
  });

  test("ends the server on stop, and starts no other afterwards", async () => {
    const { autostart, spawned, ended, tearDown } = await setUp();
    await autostart.ensure(never);
    await autostart.stop();
    assert.equal(ended(), 1);
    assert.equal((await failureOf(autostart.ensure(never))).code, "aborted");
    assert.equal(spawned.length, 1);
    await tearDown();
  });

  test("lets a server go on for as long as another row uses it", async () => {
    const { autostart, spawned, settings, ended, tearDown } = await setUp();
    const other = createAutostart({ settings: () => settings, log: { info: () => {}, warn: () => {} } });
    await Promise.all([autostart.ensure(never), other.ensure(never)]);
    await other.stop();
    assert.deepEqual([spawned.length, ended()], [1, 0]);
    await autostart.stop();
    assert.equal(ended(), 1);
    await tearDown();
  });

  test("ends the server at an address that the settings have left", async () => {
    const { autostart, spawned, settings, ended, tearDown } = await setUp();
    await autostart.ensure(never);
    settings.url = `http://127.0.0.1:${await freePort()}`;
    await autostart.ensure(never);
    assert.deepEqual([spawned.length, ended()], [2, 1]);
    await tearDown();
  });

  test("tells the last words of a server that ended at once, and tries again on the next call", async () => {
    const { autostart, spawned, tearDown } = await setUp({ behaviour: "dies" });
    const error = await failureOf(autostart.ensure(never));
    assert.equal(error.code, "server_unreachable");
    assert.match(error.message, /ended \(exit code 1\) before it answered/);
    assert.match(error.message, /Downloading\nerror: the store is locked$/);
    await failureOf(autostart.ensure(never));
    assert.equal(spawned.length, 2);
    await tearDown();
  });

  test("doesn't mind that its server ended when another host's has the port by then", async () => {
    const { autostart, settings, spawned, servers, tearDown } = await setUp({ behaviour: "hangs" });
    const other = http.createServer((request, response) => {
      const child = spawned[0]?.child;
      if (child?.exitCode === 1) return response.writeHead(200).end("{}");
      child?.exit(1);
      request.socket.destroy();
    });
    servers.push(other);
    other.listen(Number(new URL(settings.url).port), "127.0.0.1");
    await autostart.ensure(never);
    assert.equal(spawned.length, 1);
    await tearDown();
  });

  test("says when there is no npx", async () => {
    const { autostart, tearDown } = await setUp({ behaviour: "missing" });
    assert.match(
      (await failureOf(autostart.ensure(never))).message,
      /npx: spawn npx ENOENT/,
    );
    await tearDown();
  });

  test("gives up at its deadline and ends what it started", async () => {
    const { autostart, ended, tearDown } = await setUp({ behaviour: "hangs" });
    const error = await failureOf(autostart.ensure(never));
    assert.match(
      error.message,
      /didn't answer at http:\/\/127\.0\.0\.1:\d+ within 0\.1 s/,
    );
    assert.match(error.message, /wrote nothing/);
    assert.equal(ended(), 1);
    await tearDown();
  });

  test("goes on with a start that outlasts a caller's patience, and says so", async () => {
    const { autostart, spawned, ended, tearDown } = await setUp({ behaviour: "hangs", waitMs: 10 });
    for (let tries = 0; tries < 2; tries++) {
      const error = await failureOf(autostart.ensure(never));
      assert.match(
        error.message,
        /is still starting after 0\.01 s; the first start fetches the runtime\. Try again/,
      );
    }
    assert.deepEqual([spawned.length, ended()], [1, 0]);
    await tearDown();
    assert.equal(ended(), 1);
  });

  test("asks for the token that will be sent, and for none where there is none", async () => {
    for (const token of ["s3cret", null]) {
      const { autostart, spawned, tearDown } = await setUp({ token });
      await autostart.ensure(never);
      assert.equal(spawned[0]?.options.env.ASSAY_TOKEN, token ?? undefined);
      await tearDown();
    }
  });

  test("lets one caller leave while the start goes on for another", async () => {
    const { autostart, spawned, tearDown } = await setUp();
    const leaving = new AbortController();
    const first = failureOf(autostart.ensure(leaving.signal));
    const second = autostart.ensure(never);
    leaving.abort({ kind: "disposed" });
    assert.equal((await first).code, "aborted");
    await second;
    assert.equal(spawned.length, 1);
    await tearDown();
  });

  test("is refused for another machine and for https", async () => {
    for (
      const url of [
        "http://judge.example:8787",
        "https://127.0.0.1:8787",
        "http://10.0.0.1",
      ]
    ) {
      const { autostart, spawned, tearDown } = await setUp({ url });
      const error = await failureOf(autostart.ensure(never));
      assert.match(
        error.message,
        /autostart only starts a server at an http address of this machine/,
      );
      assert.deepEqual(spawned, []);
      await tearDown();
    }
  });
});

describe("the server's folder", () => {
  test("is the setting's, else the packed one, else the checkout around the package", () => {
    const [configured, checkout] = [folder("assay"), folder("assay")];
    const packageDirectory = join(checkout.path, "dsh-plugin");
    mkdirSync(join(packageDirectory, "server"), { recursive: true });
    assert.equal(
      serverDirectory(configured.path, { packageDirectory }),
      configured.path,
    );
    assert.equal(serverDirectory(null, { packageDirectory }), checkout.path);
    writeFileSync(
      join(packageDirectory, "server", "deno.json"),
      '{"name":"assay"}',
    );
    assert.equal(
      serverDirectory(null, { packageDirectory }),
      join(packageDirectory, "server"),
    );
    configured.remove();
    checkout.remove();
  });

  test("is a copy when it lies below a node_modules, where Deno can't run it, made once for each state", () => {
    const place = folder();
    const packed = join(place.path, "node_modules", "dsh-assay", "server");
    const copyTo = join(place.path, "home", "assay");
    mkdirSync(packed, { recursive: true });
    writeFileSync(join(packed, "deno.json"), '{"name":"assay"}');
    writeFileSync(join(packed, "packed.json"), '{"digest":"0123456789abcdef"}');
    const packageDirectory = join(packed, "..");
    const copy = serverDirectory(null, { packageDirectory, copyTo });
    assert.equal(copy, join(copyTo, "server-0123456789abcdef"));
    assert.equal(serverDirectory(null, { packageDirectory, copyTo }), copy);
    assert.equal(serverDirectory(packed, { copyTo }), copy);
    assert.deepEqual(readdirSync(copyTo), ["server-0123456789abcdef"]);
    assert.deepEqual(readdirSync(copy).sort(), ["deno.json", "packed.json"]);
    place.remove();
  });

  test("has to be a server of ours", () => {
    const [other, nothing] = [folder("other"), folder()];
    assert.throws(
      () => serverDirectory(other.path),
      /serverDirectory must be a folder of the Assay server.*value: "/,
    );
    assert.throws(
      () => serverDirectory(null, { packageDirectory: join(nothing.path, "dsh-plugin") }),
      /set serverDirectory .*ASSAY_HOME/,
    );
    other.remove();
    nothing.remove();
  });
});

describe("ending a process", () => {
  /** @param {FakeChild} child @param {(signal: string) => void} react */
  async function end(child, react) {
    /** @type {string[]} */
    const signals = [];
    await endProcess(child.asChild, {
      graceMs: 5,
      kill: (pid, signal) => {
        assert.equal(pid, child.pid);
        signals.push(signal);
        react(signal);
      },
    });
    return signals;
  }

  test("closes its input and needs no more for one that listens", async () => {
    const child = new FakeChild();
    child.stdin.on("finish", () => child.exit(0));
    assert.deepEqual(await end(child, () => {}), []);
  });

  test("asks, then kills", async () => {
    const polite = new FakeChild();
    assert.deepEqual(await end(polite, () => polite.exit(143)), ["SIGTERM"]);
    const deaf = new FakeChild();
    assert.deepEqual(
      await end(deaf, (signal) => signal === "SIGKILL" && deaf.exit(137)),
      ["SIGTERM", "SIGKILL"],
    );
  });

  test("leaves one alone that has ended, whose pid may be another's by now", async () => {
    const gone = new FakeChild();
    gone.exit(0);
    assert.deepEqual(await end(gone, () => {}), []);
  });
});
