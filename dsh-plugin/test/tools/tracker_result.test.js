// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeTrackers } from "../fakes/trackers.js";
import { sessionRig } from "./session_rig.js";

const RESULT = "verifier_tracker_result";

async function tracked() {
  const server = new FakeTrackers();
  const rig = sessionRig(server.connection);
  await rig.call("verifier_tracker_start", { task: "Fix it." });
  return { server, rig };
}

describe("verifier_tracker_result", () => {
  test("gives every step with its score or the reason for having none", async () => {
    const { server, rig } = await tracked();
    await rig.call("verifier_tracker_update", { step: "one" });
    server.next = ["unscored"];
    await rig.call("verifier_tracker_update", { step: "two" });
    await rig.call("verifier_tracker_update", { step: "three" });
    const { value, text } = await rig.call(RESULT, {});
    assert.deepEqual(
      value.steps.map((/** @type {any} */ each) => [each.step, each.score, each.unscored?.reason]),
      [[1, 0.1, undefined], [2, null, "timeout"], [3, 0.3, undefined]],
    );
    assert.deepEqual([value.length, value.restored, value.advice], [3, 0, "rising"]);
    assert.match(
      text,
      /^Progress after step 3: 0\.30 of 1; the curve says: rising\.\n- after step 1: 0\.10\n/,
    );
    assert.match(text, /- after step 2: not scored\n/);
    assert.match(text, /1 of 3 steps have no score\./);
  });

  test("a tracker without steps says what to do, and without a tracker there is an error", async () => {
    const { rig } = await tracked();
    assert.match(
      (await rig.call(RESULT, {})).text,
      /^No step yet: call verifier_tracker_update after each step of: Fix it\./,
    );
    const none = sessionRig(new FakeTrackers().connection);
    assert.match((await none.call(RESULT, {})).text, /call verifier_tracker_start first/);
  });

  test("a server that lost its data has the curve again afterwards, also of a branch that only reads", async () => {
    const { server, rig } = await tracked();
    for (const step of ["one", "two"]) await rig.call("verifier_tracker_update", { step });
    server.trackers.clear();
    const { value, text } = await rig.call(RESULT, {});
    assert.deepEqual([value.length, value.restored], [2, 2]);
    assert.match(text, /2 steps were sent to the server again\./);
    const branch = sessionRig(server.connection, { session: rig.session.fork("branch") });
    assert.equal((await branch.call(RESULT, {})).value.length, 2);
    assert.deepEqual(server.curves, [["one", "two"], ["one", "two"]]);
  });
});
