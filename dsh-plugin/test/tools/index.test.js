// @ts-check
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import * as plugin from "../../index.js";
import { fakeExecution, fakeTools } from "../fakes/deps.js";
import { schemaViolations, valueViolations } from "../fakes/host_schema.js";
import { recorded } from "../fakes/server.js";

/** The part of the host that the row uses. */
function fakeHost() {
  const tools = fakeTools();
  /** @type {(() => unknown)[]} */
  const disposers = [];
  return {
    tools,
    root: {},
    logger: { info() {}, warn() {} },
    inject() {},
    on() {},
    get: () => undefined,
    effect(/** @type {() => () => unknown} */ run) {
      disposers.push(run());
    },
    async dispose() {
      for (const dispose of disposers) await dispose();
    },
  };
}

describe("the row assay", () => {
  test("asks only for the service that every profile has", () => {
    assert.equal(plugin.name, "assay");
    assert.deepEqual(plugin.inject, ["tools"]);
    assert.equal(typeof plugin.Config["~standard"].validate, "function");
  });

  test("registers every tool with schemas the host accepts", async () => {
    const host = fakeHost();
    plugin.apply(host, undefined);
    const names = [...host.tools.registered.keys()];
    assert.deepEqual(names, [
      "verifier_compare",
      "verifier_select",
      "verifier_track",
      "verifier_session",
      "verifier_current_session",
      "verifier_best_of_n",
      "verifier_tracker_start",
      "verifier_tracker_update",
      "verifier_tracker_result",
      "verifier_status",
    ]);
    for (const tool of host.tools.registered.values()) {
      assert.deepEqual(schemaViolations(tool.parameters), [], tool.name);
      assert.deepEqual(schemaViolations(tool.output.schema), [], tool.name);
      assert.ok(Number.isFinite(tool.timeoutMs) && tool.timeoutMs > 0, tool.name);
      assert.equal(tool.isConcurrencySafe({}), !tool.name.startsWith("verifier_tracker_"), tool.name);
    }
    await host.dispose();
  });

  test("an unloaded row asks nobody any more", async () => {
    const host = fakeHost();
    plugin.apply(host, { url: "http://127.0.0.1:1" });
    await host.dispose();
    const compare = host.tools.registered.get("verifier_compare");
    await assert.rejects(compare.execute({ task: "t", a: "x", b: "y" }, fakeExecution()), {
      code: "aborted",
    });
  });

  test("status tells why a local server didn't start", async () => {
    const host = fakeHost();
    plugin.apply(host, { url: "http://127.0.0.1:1", autostart: true, serverDirectory: "/nowhere/at/all" });
    const status = host.tools.registered.get("verifier_status");
    const value = await status.execute({}, fakeExecution());
    assert.deepEqual(valueViolations(status.output.schema, value), []);
    assert.equal(value.reachable, false);
    assert.equal(value.autostart.state, "failed");
    assert.match(value.autostart.detail, /\/nowhere\/at\/all/);
    await host.dispose();
  });

  test("a name that another plugin has costs that tool alone, and status tells", async () => {
    const host = fakeHost();
    host.tools.register({ name: "verifier_compare" });
    plugin.apply(host, { url: "http://127.0.0.1:1" });
    assert.equal(host.tools.registered.size, 10);
    const value = await host.tools.registered.get("verifier_status").execute({}, fakeExecution());
    assert.match(value.problems.join(), /verifier_compare/);
    await host.dispose();
  });

  test("declares parameters that let the calls of older plugins and objects through", () => {
    const host = fakeHost();
    plugin.apply(host, undefined);
    const partial = [{ id: "c", name: "C", description: "d" }, "plain", { description: "d" }];
    /** @type {[string, Record<string, unknown>][]} */
    const calls = [
      ["compare", {
        problem: "p",
        traceA: "a",
        traceB: "b",
        criteria: "coding",
        evaluations: 2,
        onError: "raise",
      }],
      ["compare", {
        problem: "p",
        candidate_a: "a",
        candidate_b: "b",
        criteria: partial,
        review_stage: "proposal",
      }],
      ["compare", {
        task: "p",
        a: { steps: ["x"] },
        b: "b",
        criteria: { Right: "d" },
        judge: ["one", "two"],
      }],
      ["select", {
        problem: "p",
        candidates: ["a", { messages: [] }],
        judge: { profile: "one", effort: "low" },
        seed: 1,
      }],
      ["track", {
        problem: "p",
        steps: ["a", { text: "b" }],
        checkpointSteps: [1, 2],
        model: "m",
        backend: "auto",
      }],
      ["best_of_n", {
        task: "p",
        n: 3,
        repeats: 2,
        generator: { profile: "one", maxTokens: 100 },
        context: "c",
      }],
      ["current_session", { from_seq: 1, redact_patterns: ["x"], max_chars: 1000, repeats: 2 }],
      ["session", { problem: "p", checkpointSteps: [1], evaluations: 1 }],
      ["tracker_start", { problem: "p", evaluations: 1 }],
      ["tracker_update", { step: "s", model: "m" }],
      ["tracker_result", {}],
      ["status", {}],
    ];
    for (const [name, args] of calls) {
      const { parameters } = host.tools.registered.get(`verifier_${name}`);
      assert.deepEqual(valueViolations(parameters, args), [], name);
    }
  });

  test("costs a model little: all schemas together are under 2,500 tokens", () => {
    const host = fakeHost();
    plugin.apply(host, undefined);
    const faces = [...host.tools.registered.values()].map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
    assert.ok(JSON.stringify(faces).length / 4 < 2500);
  });

  test("a wrong row configuration is refused by name before anything is registered", () => {
    const host = fakeHost();
    assert.throws(() => plugin.apply(host, { tiemoutMs: 5 }), { message: /tiemoutMs.*timeoutMs/ });
    assert.equal(host.tools.registered.size, 0);
  });

  test("a call goes over HTTP to the configured server with the token and a key that a retry repeats", async () => {
    /** @type {any[]} */
    const seen = [];
    const server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk) => text += chunk).on("end", () => {
        seen.push({ url: request.url, headers: request.headers, body: JSON.parse(text) });
        response.setHeader("content-type", "application/json").end(JSON.stringify(recorded("compare")));
      });
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    const host = fakeHost();
    plugin.apply(host, { url: `http://127.0.0.1:${port}`, token: "secret" });
    const compare = host.tools.registered.get("verifier_compare");
    const args = { problem: "t", traceA: "x", traceB: "y" };
    try {
      for (const _ of [1, 2]) {
        const value = await compare.execute(args, fakeExecution());
        assert.deepEqual(valueViolations(compare.output.schema, value), []);
      }
    } finally {
      await host.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(() => resolve(undefined)));
    }
    assert.equal(seen[0].url, "/v1/compare");
    assert.equal(seen[0].headers.authorization, "Bearer secret");
    assert.match(seen[0].headers["idempotency-key"], /^dsh-[0-9a-f]{64}$/);
    assert.equal(seen[1].headers["idempotency-key"], seen[0].headers["idempotency-key"]);
    assert.equal(seen[0].body.task, "t");
  });

  test("cancelling a call closes its request at the server", async () => {
    /** @type {(value?: unknown) => void} */
    let closed = () => {};
    const gone = new Promise((resolve) => closed = resolve);
    /** @type {(value?: unknown) => void} */
    let arrived = () => {};
    const asked = new Promise((resolve) => arrived = resolve);
    const server = createServer((request, response) => {
      response.on("close", closed);
      request.resume().on("end", arrived);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    const host = fakeHost();
    plugin.apply(host, { url: `http://127.0.0.1:${port}` });
    const controller = new AbortController();
    const running = host.tools.registered.get("verifier_compare").execute(
      { task: "t", a: "x", b: "y" },
      fakeExecution({ signal: controller.signal }),
    );
    try {
      await asked;
      controller.abort({ kind: "disposed" });
      await assert.rejects(running, { code: "aborted" });
      await gone;
    } finally {
      await host.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(() => resolve(undefined)));
    }
  });

  test("status works without a server, and says what to do", async () => {
    const host = fakeHost();
    // A port of the reserved range, where nobody listens.
    plugin.apply(host, { url: "http://127.0.0.1:1" });
    const status = host.tools.registered.get("verifier_status");
    const value = await status.execute({}, fakeExecution());
    assert.deepEqual(valueViolations(status.output.schema, value), []);
    assert.equal(value.reachable, false);
    assert.equal(value.code, "server_unreachable");
    const compare = host.tools.registered.get("verifier_compare");
    await assert.rejects(compare.execute({ task: "t", a: "x", b: "y" }, fakeExecution()), {
      message: /^server_unreachable: .*127\.0\.0\.1:1/,
    });
    await host.dispose();
  });
});
