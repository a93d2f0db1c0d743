// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { object, string } from "../../lib/tools/output.js";
import { buy, deadlines, idempotencyKey } from "../../lib/tools/call.js";
import { registerTool, toolDefinitions } from "../../lib/tools/register.js";
import { VerifierError } from "../../lib/server/errors.js";
import { fakeDeps, fakeExecution, fakeTools } from "../fakes/deps.js";
import { fakeConnection, problem } from "../fakes/server.js";

/** @type {import("../../lib/tools/register.js").ToolSpec} */
const ECHO = {
  name: "verifier_echo",
  aliases: [{ name: "verifier_repeat", description: "Same as verifier_echo." }],
  description: "Says it again.",
  parameters: { type: "object", properties: { task: { type: "string" } } },
  accepts: ["seed"],
  output: object({ said: string() }),
  concurrencySafe: true,
  renames: [["/trajectory", "/task"]],
  title: (args) => `Echo ${args["task"]}`,
  work: () =>
    Promise.resolve({
      run: (args, exec, deps) => buy(deps, exec, "/v1/echo", { task: args["task"] }).then((value) => value),
      render: (args, value) => `${args["task"]} -> ${value.said}`,
      headline: (value) => `Said ${value.said}`,
    }),
};

/** @param {unknown} answer @param {object} [options] */
function echo(answer, options) {
  const connection = fakeConnection({ "POST /v1/echo": answer });
  const deps = fakeDeps(connection, options);
  const [tool, alias] = /** @type {[any, any]} */ (toolDefinitions(deps, ECHO));
  return { connection, deps, tool, alias };
}

describe("registerTool", () => {
  test("registers the tool and its alias, the alias without repeating the parameters", () => {
    const tools = fakeTools();
    registerTool({ tools }, fakeDeps(fakeConnection({})), ECHO);
    assert.deepEqual([...tools.registered.keys()], [
      "verifier_echo",
      "verifier_repeat",
    ]);
    assert.deepEqual(tools.registered.get("verifier_repeat").parameters, {
      type: "object",
      properties: {},
    });
    assert.equal(
      tools.registered.get("verifier_repeat").output.schema,
      ECHO.output,
    );
  });

  test("the alias does the same, with the same spellings", async () => {
    const { alias } = echo({ said: "x" });
    assert.deepEqual(await alias.execute({ problem: "t" }, fakeExecution()), {
      said: "x",
    });
  });

  test("a call gives the declared part of the answer, and text from it", async () => {
    const { tool } = echo({ said: "x", more: 1 });
    const value = await tool.execute({ problem: "t" }, fakeExecution());
    assert.deepEqual(value, { said: "x" });
    assert.deepEqual(tool.output.render({ problem: "t" }, value), [{
      type: "text",
      text: "t -> x",
    }]);
    const meta = tool.output.presentationMeta({ problem: "t" }, value);
    assert.deepEqual(tool.presentCall({ problem: "t" }), {
      card: "generic",
      title: "Echo t",
      kind: "other",
    });
    assert.deepEqual(
      tool.presentResult({}, { isError: false, content: [], meta }),
      { card: "generic", title: "Said x" },
    );
    assert.equal(
      tool.presentResult({}, { isError: true, content: [], meta }),
      undefined,
    );
    assert.equal(tool.presentCall({ nonsense: 1 }), undefined);
    assert.equal(tool.isConcurrencySafe({}), true);
  });

  test("a card's title stays short and on one line", async () => {
    const { tool } = echo({ said: `${"long ".repeat(100)}\nend` });
    const meta = tool.output.presentationMeta(
      { task: "t" },
      await tool.execute({ task: "t" }, fakeExecution()),
    );
    assert.match(meta.headline, /^Said long [^\n]{0,120}…$/);
  });

  test("an unknown argument is answered with the declared names alone", async () => {
    const { tool } = echo({ said: "x" });
    await assert.rejects(tool.execute({ sede: 1 }, fakeExecution()), {
      message: /did you mean "seed"\? \(it takes task\)/,
    });
  });

  test("a missing field of the answer is an error that names it", async () => {
    const { tool } = echo({ more: 1 });
    await assert.rejects(tool.execute({ task: "t" }, fakeExecution()), {
      message: /^bad_answer: .*\/said/,
    });
  });

  test("an answer that is no object is a bad answer", async () => {
    for (const answer of [null, [], "text"]) {
      const { tool } = echo(() => answer);
      await assert.rejects(tool.execute({ task: "t" }, fakeExecution()), { code: "bad_answer" });
    }
  });

  test("the server's error comes with its code, the caller's name of the field, and what to do", async () => {
    const error = problem("over_budget", 422, "/trajectory: must be cheaper", {
      errors: [{
        path: "/trajectory",
        message: "must be cheaper",
        value: "12",
      }],
      plan: { calls: 12 },
    });
    const { tool } = echo(error);
    await assert.rejects(tool.execute({ problem: "t" }, fakeExecution()), {
      code: "over_budget",
      message: /^over_budget: \/problem: must be cheaper\. It would take 12 calls\. Raise budget/,
    });
  });

  test("a rubric that is refused although the call gave none says where it is from", async () => {
    const { tool } = echo(
      problem("invalid_request", 422, "/criteria: has no criteria", {
        errors: [{ path: "/criteria", message: "has no criteria" }],
      }),
    );
    await assert.rejects(tool.execute({ task: "hi" }, fakeExecution()), {
      message:
        /^invalid_request: \/criteria: has no criteria\. This call gave no criteria: .*\.assay\/criteria\.md/,
    });
  });

  test("a server that isn't there says how to get one", async () => {
    const { VerifierError } = await import("../../lib/server/errors.js");
    const { tool } = echo(
      new VerifierError(
        "server_unreachable",
        "Nothing listens at http://127.0.0.1:8787.",
      ),
    );
    await assert.rejects(tool.execute({ task: "t" }, fakeExecution()), {
      message: /^server_unreachable: .*deno task serve/,
    });
  });

  test("calls that fail with the same error each say once what to do", async () => {
    const shared = new VerifierError("server_unreachable", "Nobody answers.");
    const { tool } = echo(shared);
    const told = [];
    for (let i = 0; i < 2; i++) {
      told.push(
        await tool.execute({ task: "x" }, fakeExecution()).catch((/** @type {Error} */ e) => e.message),
      );
    }
    assert.equal(told[1], told[0]);
    assert.match(told[0], /deno task serve/);
    assert.equal(shared.message, "server_unreachable: Nobody answers.");
  });

  test("a call that is cancelled ends as aborted, whatever the reason is", async () => {
    const controller = new AbortController();
    const { tool } = echo(() => new Promise(() => {}));
    const running = tool.execute(
      { task: "t" },
      fakeExecution({ signal: controller.signal }),
    );
    controller.abort({ kind: "disposed" });
    await assert.rejects(running, { code: "aborted" });
    await assert.rejects(
      tool.execute({ task: "t" }, fakeExecution({ signal: controller.signal })),
      { code: "aborted" },
    );
  });

  test("a fault of the plugin is an error with a code too", async () => {
    const { tool } = echo(() => {
      throw new TypeError("boom");
    });
    await assert.rejects(tool.execute({ task: "t" }, fakeExecution()), {
      message: /^internal: .*boom/,
    });
  });
});

describe("deadlines", () => {
  test("the server gives up first, then the plugin, then the host", async () => {
    for (const timeoutMs of [1000, 30_000, 600_000]) {
      const { server, own } = deadlines(timeoutMs);
      assert.ok(
        server < own && own === timeoutMs,
        String(timeoutMs),
      );
      assert.ok(Number.isInteger(server));
    }
    const { connection, tool } = echo({ said: "x" }, {
      config: { timeoutMs: 20_000 },
    });
    await tool.execute({ task: "t" }, fakeExecution());
    assert.equal(connection.seen[0]?.body.deadlineMs, 18_000);
    assert.equal(connection.seen[0]?.options.timeoutMs, 20_000);
    assert.equal(tool.timeoutMs, 25_000);
  });
});

describe("idempotencyKey", () => {
  test("is the same for a retried call, and another for another call, body or session", () => {
    const body = { task: "t" };
    const key = idempotencyKey(fakeExecution(), "/v1/echo", body);
    assert.match(key, /^[\x21-\x7e]{1,255}$/);
    assert.equal(
      idempotencyKey(fakeExecution(), "/v1/echo", { task: "t" }),
      key,
    );
    const others = [
      idempotencyKey(fakeExecution({ callId: "call-2" }), "/v1/echo", body),
      idempotencyKey(fakeExecution(), "/v1/other", body),
      idempotencyKey(fakeExecution(), "/v1/echo", { task: "u" }),
      idempotencyKey(
        fakeExecution({ session: { id: "ses-2" } }),
        "/v1/echo",
        body,
      ),
    ];
    assert.equal(new Set([key, ...others]).size, 5);
  });

  test("never repeats without a session to tell calls apart by", () => {
    const exec = { callId: "call-1", signal: new AbortController().signal };
    assert.notEqual(
      idempotencyKey(exec, "/v1/echo", {}),
      idempotencyKey(exec, "/v1/echo", {}),
    );
  });
});
