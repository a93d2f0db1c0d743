// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { VerifierError } from "../../lib/server/errors.js";
import { FakeSession } from "../fakes/host.js";
import { fakeConnection, recorded } from "../fakes/server.js";
import { FakeTrackers } from "../fakes/trackers.js";
import { sessionRig } from "./session_rig.js";

const UPDATE = "verifier_tracker_update";

/** @param {number} [version] */
async function tracked(version = 0) {
  const server = new FakeTrackers();
  const session = new FakeSession({ version });
  session.startTurn();
  session.user("Fix it.");
  const rig = sessionRig(server.connection, { session });
  await rig.call("verifier_tracker_start", {});
  return { server, rig };
}

describe("verifier_tracker_update", () => {
  test("adds a step and gives its score, the advice and the length", async () => {
    const { server, rig } = await tracked();
    const first = await rig.call(UPDATE, { step: "looked" });
    assert.deepEqual(
      [first.value.step, first.value.length, first.value.score, first.value.unscored, first.value.advice],
      [1, 1, 0.1, null, null],
    );
    const second = await rig.call(UPDATE, { text: "edited", expected_length: 1 });
    assert.match(
      second.text,
      /^Progress after step 2: 0\.20 of 1\.\nThe curve is rising: go on\.\n2 steps so far in tracker dsh-[0-9a-f]{40}\./,
    );
    assert.deepEqual(server.curves, [["looked", "edited"]]);
    const steps = server.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/steps"));
    assert.deepEqual(steps.map(({ body }) => body), [{ step: "looked" }, {
      step: "edited",
      expectedLength: 1,
    }]);
    assert.ok(steps.every(({ options }) => /^dsh-[0-9a-f]{64}$/.test(options.idempotencyKey)));
  });

  test("without a tracker or a step there is an error that says what to do, and nothing is sent", async () => {
    const server = new FakeTrackers();
    const rig = sessionRig(server.connection);
    assert.match(
      (await rig.call(UPDATE, { step: "x" })).text,
      /no tracker yet: call verifier_tracker_start first/,
    );
    await rig.call("verifier_tracker_start", { task: "t" });
    const before = server.seen.length;
    assert.match((await rig.call(UPDATE, {})).text, /\/step: must be given/);
    assert.match((await rig.call(UPDATE, { step: " " })).text, /must not be blank/);
    assert.match((await rig.call(UPDATE, { step: "a", text: "b" })).text, /both mean the same/);
    assert.equal(server.seen.length, before);
  });

  test("a restart of the host between updates leaves the curve complete and nothing doubled", async () => {
    for (const version of [0, 4]) {
      const { server, rig } = await tracked(version);
      await rig.call(UPDATE, { step: "one" });
      const again = sessionRig(server.connection, { session: rig.session.resume() });
      const { value } = await again.call(UPDATE, { step: "two" });
      assert.deepEqual([value.step, value.restored], [2, 0]);
      assert.deepEqual(server.curves, [["one", "two"]]);
    }
  });

  test("a server that lost its data gets everything again, in order", async () => {
    const { server, rig } = await tracked();
    for (const step of ["one", "two", "one"]) await rig.call(UPDATE, { step });
    server.trackers.clear();
    const { value, text } = await rig.call(UPDATE, { step: "three" });
    assert.deepEqual([value.step, value.restored], [4, 3]);
    assert.match(text, /4 steps so far in tracker dsh-[0-9a-f]{40}; 3 were sent to the server again\./);
    assert.deepEqual(server.curves, [["one", "two", "one", "three"]]);
  });

  test("sending again that is cut short says how far it came, and goes on at the next call without doubling", async () => {
    const { server, rig } = await tracked();
    for (const step of ["one", "two", "three"]) await rig.call(UPDATE, { step });
    server.trackers.clear();
    server.next = [/** @type {any} */ (undefined), "lose"];
    const { isError, text } = await rig.call(UPDATE, { step: "four" });
    assert.ok(isError);
    assert.match(
      text,
      /^Error: deadline_exceeded: The server lacked earlier steps .* has 1 of 3; the next call goes on\./,
    );
    assert.match(text, /The step is kept and goes to the server with the next update\./);
    const { value } = await rig.call(UPDATE, { step: "five" });
    assert.deepEqual([value.step, value.restored], [5, 2]);
    assert.deepEqual(server.curves, [["one", "two", "three", "four", "five"]]);
  });

  test("a step that found no server is sent before the next one", async () => {
    const { server, rig } = await tracked();
    await rig.call(UPDATE, { step: "one" });
    server.next = ["refuse"];
    const { text } = await rig.call(UPDATE, { step: "two" });
    assert.match(text, /^Error: server_unreachable: No server answers\. The step is kept/);
    const { value } = await rig.call(UPDATE, { step: "three" });
    assert.deepEqual([value.step, value.restored], [3, 1]);
    assert.deepEqual(server.curves, [["one", "two", "three"]]);
  });

  test("a step that the server has beyond the log's keeps none of the log's from being sent", async () => {
    const { server, rig } = await tracked();
    await rig.call(UPDATE, { step: "one" });
    server.next = ["break", "refuse"];
    assert.match((await rig.call(UPDATE, { step: "broken" })).text, /^Error: internal: /);
    assert.match((await rig.call(UPDATE, { step: "two" })).text, /The step is kept/);
    const { value } = await rig.call(UPDATE, { step: "three" });
    assert.equal(value.restored, 1);
    assert.deepEqual(server.curves, [["one", "broken", "two", "three"]]);
  });

  test("a step that the server refused is none", async () => {
    const { server, rig } = await tracked();
    const { text } = await rig.call(UPDATE, { step: "one", expectedLength: 7 });
    assert.match(text, /^Error: length_conflict: The tracker has another length\.$/);
    await rig.call(UPDATE, { step: "two" });
    assert.deepEqual(server.curves, [["two"]]);
  });

  test("a branch gets a tracker of its own with its parent's steps, and the parent's stays as it is", async () => {
    for (const version of [0, 4]) {
      const { server, rig } = await tracked(version);
      await rig.call(UPDATE, { step: "one" });
      const branch = sessionRig(server.connection, { session: rig.session.fork("branch") });
      const { value } = await branch.call(UPDATE, { step: "in the branch" });
      await rig.call(UPDATE, { step: "in the parent" });
      assert.deepEqual([value.step, value.restored], [2, 1]);
      assert.deepEqual(server.curves, [["one", "in the parent"], ["one", "in the branch"]]);
      const bodies = [...server.trackers.values()].map(({ body }) => body);
      assert.deepEqual(bodies[1], bodies[0]);
    }
  });

  test("a step whose answer was lost is not doubled by its repetition, and one that never arrived is sent", async () => {
    const { server, rig } = await tracked();
    server.next = ["lose", "refuse"];
    assert.ok((await rig.call(UPDATE, { step: "one", expectedLength: 0 })).isError);
    assert.ok((await rig.call(UPDATE, { step: "one", expectedLength: 0 })).isError);
    const { value } = await rig.call(UPDATE, { step: "one", expectedLength: 0 });
    assert.deepEqual([value.step, value.score], [1, 0.1]);
    assert.deepEqual(server.curves, [["one"]]);
  });

  test("a step without a score says so, is scored by its repetition, and stays one step", async () => {
    const { server, rig } = await tracked();
    server.next = ["unscored"];
    const first = await rig.call(UPDATE, { step: "one" });
    assert.deepEqual([first.value.score, first.value.unscored], [null, { reason: "timeout", detail: null }]);
    assert.match(
      first.text,
      /^Not scored: step 1 is kept, but has no score \(timeout\)\.\nCall verifier_tracker_update with/,
    );
    const second = await rig.call(UPDATE, { step: "one" });
    assert.deepEqual([second.value.step, second.value.score], [1, 0.1]);
    const third = await rig.call(UPDATE, { step: "one" });
    assert.deepEqual(third.value.step, 2);
    assert.deepEqual(server.curves, [["one", "one"]]);
  });

  test("parallel calls of one answer keep the order of the calls", async () => {
    const { server, rig } = await tracked();
    const ids = ["one", "two"].map((step) => rig.begin(UPDATE, { step }));
    assert.equal(rig.tools.get(UPDATE).isConcurrencySafe({}), false);
    await rig.call(UPDATE, { step: "one" }, { id: String(ids[0]) });
    await rig.call(UPDATE, { step: "two" }, { id: String(ids[1]) });
    assert.deepEqual(server.curves, [["one", "two"]]);
  });

  test("calls from the agent's programs are steps like others", async () => {
    for (const version of [0, 4]) {
      const { server, rig } = await tracked(version);
      rig.session.call("r", "run_code", {});
      for (const step of ["one", "two"]) {
        await rig.call(UPDATE, { step }, { nested: rig.session.dispatch("r", UPDATE, { step }) });
      }
      rig.session.result("r", "done");
      server.trackers.clear();
      await rig.call(UPDATE, { step: "three" });
      assert.deepEqual(server.curves, [["one", "two", "three"]]);
    }
  });

  test("ids that a model uses again are different steps", async () => {
    const { server, rig } = await tracked();
    for (const step of ["one", "two"]) {
      await rig.call(UPDATE, { step }, { id: rig.begin(UPDATE, { step }, "call_0") });
    }
    assert.deepEqual(server.curves, [["one", "two"]]);
  });

  test("a tracker that can't be had back is an error that says how to go on", async () => {
    const { rig } = await tracked();
    rig.deps.connection = fakeConnection({
      [`POST /v1/trackers`]: new VerifierError("idempotency_conflict", "the tracker id was deleted", {
        status: 409,
      }),
    });
    const { text } = await rig.call(UPDATE, { step: "one" });
    assert.match(
      text,
      /^Error: idempotency_conflict: .*start a new one with verifier_tracker_start\. the tracker id was deleted/,
    );
  });

  test("a real server's answer is read", async () => {
    const { rig } = await tracked();
    const answer = recorded("tracker_step");
    const tracker = recorded("tracker");
    rig.deps.connection = /** @type {any} */ ({
      get: () => Promise.resolve({ value: tracker }),
      post: () => Promise.resolve({ value: answer }),
    });
    const { value, isError, text } = await rig.call(UPDATE, { step: "one" });
    assert.ok(!isError, text);
    assert.equal(value.score, answer.step.score);
    const result = await rig.call("verifier_tracker_result", {});
    assert.equal(result.value.steps.length, tracker.length);
  });

  test("a cancelled call ends with aborted", async () => {
    const { rig } = await tracked();
    const controller = new AbortController();
    controller.abort({ kind: "user" });
    assert.match(
      (await rig.call(UPDATE, { step: "x" }, { signal: controller.signal })).text,
      /^Error: aborted/,
    );
  });
});
