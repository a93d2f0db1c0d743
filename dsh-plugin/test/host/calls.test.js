// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { allCalls, toolCalls } from "../../lib/host/calls.js";
import { FakeSession } from "../fakes/host.js";

test("calls have their arguments, their place and the results that name them, in every format", () => {
  for (const version of [0, 1, 2, 3, 4]) {
    const session = new FakeSession({ version });
    session.startTurn();
    session.agent("", [{ id: "a", name: "bash", args: { command: "one" } }, {
      id: "b",
      name: "bash",
      args: "{broken",
    }]);
    const first = session.call("a", "bash", { command: "one" });
    session.call("b", "bash", "{broken");
    session.result("b", "no such thing", { isError: true });
    const result = session.result("a", "fine");
    const calls = toolCalls(session.log);
    assert.equal(calls.length, 2);
    assert.deepEqual(calls[0], {
      callId: "a",
      name: "bash",
      arguments: { command: "one" },
      rawArguments: '{"command":"one"}',
      turn: 1,
      step: 1,
      seq: first.seq,
      occurrence: 0,
      result: {
        seq: result.seq,
        isError: false,
        text: "fine",
        content: [{ type: "text", text: "fine" }],
      },
      nested: [],
    });
    assert.deepEqual(
      [
        calls[1]?.arguments,
        calls[1]?.rawArguments,
        calls[1]?.result?.isError,
        calls[1]?.result?.text,
      ],
      [null, "{broken", true, "no such thing"],
    );
  }
});

test("an id that is used again is another call; results go to the call they cite, else to the newest", () => {
  const session = new FakeSession();
  session.startTurn();
  session.call("x", "bash", { n: 1 });
  session.result("x", "first");
  const second = session.call("x", "bash", { n: 2 });
  session.result("x", "second", { more: { sourceEventSeqs: [] } });
  session.call("x", "bash", { n: 3 });
  session.result("x", "late, of the second", {
    more: { sourceEventSeqs: [second.seq] },
  });
  assert.deepEqual(
    toolCalls(session.log).map((
      { arguments: args, occurrence, result },
    ) => [args?.n, occurrence, result?.text]),
    [[1, 0, "first"], [2, 1, "second"], [3, 2, undefined]],
  );
});

test("calls of the agent's programs stand in their call, in order of their start, and have results of their own", () => {
  for (const version of [0, 4]) {
    const session = new FakeSession({ version });
    session.startTurn();
    session.call("r", "run_code", { code: "…" });
    const one = session.dispatch("r", "verifier_tracker_update", {
      step: "one",
    });
    const two = session.dispatch("r", "bash", { command: "two" });
    session.dispatched(two, "2", { isError: true });
    session.dispatched(one, "1");
    session.result("r", "done");
    const [root] = toolCalls(session.log);
    assert.deepEqual(
      root?.nested.map(({ callId, name, arguments: args, turn, result }) => [
        callId,
        name,
        args,
        turn,
        result?.isError,
        result?.text,
      ]),
      [
        [one, "verifier_tracker_update", { step: "one" }, 1, false, "1"],
        [two, "bash", { command: "two" }, 1, true, "2"],
      ],
    );
    assert.deepEqual(allCalls(session.log).map(({ callId }) => callId), [
      "r",
      one,
      two,
    ]);
  }
});

test("an id that a later program uses again keeps the two programs' calls apart", () => {
  const session = new FakeSession();
  session.call("r", "run_code", {});
  session.append("tool/code-dispatch-start", {
    rootCallId: "r",
    subCallId: "r:code:1",
    name: "a",
    arguments: {},
  });
  session.result("r", "done");
  session.call("r", "run_code", {});
  session.append("tool/code-dispatch-start", {
    rootCallId: "r",
    subCallId: "r:code:1",
    name: "b",
    arguments: {},
  });
  assert.deepEqual(
    toolCalls(session.log).map(({ nested }) => nested.map(({ name, occurrence }) => [name, occurrence])),
    [
      [["a", 0]],
      [["b", 1]],
    ],
  );
});

test("a running or interrupted call has no result, and a lost call is told by its message once it has one", () => {
  const session = new FakeSession({ version: 4 });
  session.startTurn();
  session.agent("", [{ id: "lost", name: "bash", args: { command: "ls" } }, {
    id: "never",
    name: "bash",
    args: {},
  }]);
  session.result("lost", "files");
  session.call("running", "bash", {});
  session.result("nobody", "an orphan");
  assert.deepEqual(
    toolCalls(session.log).map((
      { callId, arguments: args, result },
    ) => [callId, args, result?.text]),
    [
      ["lost", { command: "ls" }, "files"],
      ["running", {}, undefined],
    ],
  );
});

test("a result that was shortened later is still what the call gave", () => {
  const session = new FakeSession();
  session.call("a", "bash", {});
  const long = session.result("a", "the long output");
  session.result("a", "[pruned]", {
    more: { surfaceOp: { op: "replace", start: long.seq, end: long.seq } },
  });
  assert.equal(toolCalls(session.log)[0]?.result?.text, "the long output");
});

test("events of any shape are read without an error", () => {
  const odd = [null, 7, "x", [], {}, { message: 7 }, {
    message: { content: "text" },
  }, { callId: 7, name: {}, arguments: 7n }];
  for (
    const type of [
      "tool/call",
      "tool/result",
      "assistant/message",
      "tool/code-dispatch",
      "user/message",
    ]
  ) {
    for (const data of odd) {
      if (
        type === "tool/call" && data !== null && typeof data === "object" &&
        "callId" in data
      ) continue;
      assert.ok(Array.isArray(toolCalls([{ type, seq: 0, data }])));
    }
  }
});

test("a result whose citation is no list finds its call by the id", () => {
  const session = new FakeSession({ version: 3 });
  session.startTurn();
  session.call("a", "bash", { command: "one" });
  const result = session.result("a", "fine");
  const log = session.log.map((event) =>
    event.seq === result.seq ? { ...event, sourceEventSeqs: /** @type {any} */ ("none") } : event
  );
  assert.equal(toolCalls(log)[0]?.result?.text, "fine");
});
