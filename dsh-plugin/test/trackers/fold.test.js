// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { foldTracker, ownCall, stepIdentity } from "../../lib/trackers/fold.js";
import { sessionKey, stepKey, trackerId } from "../../lib/trackers/key.js";
import { UNSCORED_MARK } from "../../lib/trackers/names.js";
import { FakeSession } from "../fakes/host.js";

/** @param {FakeSession} session */
const steps = (session) =>
  foldTracker(session.log)?.steps.map(({ step, identity }) => [step, identity.callId]);

/** @param {number} [version] */
function started(version = 0) {
  const session = new FakeSession({ version });
  session.startTurn();
  session.user("Fix it.");
  session.tool("s", "verifier_tracker_start", { task: "Fix it.", criteria: "coding" }, "started");
  return session;
}

test("the newest start that succeeded and the updates after it are the tracker, in every format", () => {
  for (const version of [0, 1, 2, 3, 4]) {
    const session = new FakeSession({ version });
    assert.equal(foldTracker(session.log), null);
    session.tool("u0", "verifier_tracker_update", { step: "before any start" }, "refused", { isError: true });
    session.tool("s1", "verifier_tracker_start", { task: "one" }, "started");
    session.tool("u1", "verifier_tracker_update", { step: "of the first" }, "0.1");
    session.tool("s2", "verifier_tracker_start", { task: "two" }, "started");
    session.tool("u2", "verifier_tracker_update", { step: "a" }, "0.2");
    session.tool("b", "bash", { command: "ls" }, "files");
    session.tool("u3", "verifier_tracker_update", { step: { text: "b" } }, "0.3");
    session.tool("s3", "verifier_tracker_start", {}, "no task", { isError: true });
    const state = foldTracker(session.log);
    assert.deepEqual([state?.start, state?.arguments], [{ callId: "s2", occurrence: 0 }, { task: "two" }]);
    assert.deepEqual(steps(session), [["a", "u2"], [{ text: "b" }, "u3"]]);
  }
});

test("a step that didn't get through stays in the tracker, one that was refused doesn't", () => {
  const session = started();
  const failures = {
    "u1": "Error: server_unreachable: No server answers at http://127.0.0.1:1.",
    "u2": "Error: invalid_request: An argument is wrong (/step: must not be blank)",
    "u3": "Error: length_conflict: The tracker has 7 steps.",
    "u4": "Error: deadline_exceeded: The deadline passed. The step is kept",
    "u5": "Error: TimeoutReason: TOOL_TIMEOUT after 2000ms",
    "u6": "Error: The user denied this call.",
    "u7": "Error: internal: The server failed.",
    "u8": "The tool call was interrupted after it was recorded, but no result was durably recorded.",
    "u9": "The tool call was interrupted before the Harness recorded it as started.",
  };
  for (const [id, text] of Object.entries(failures)) {
    session.tool(id, "verifier_tracker_update", { step: `step of ${id}` }, text, { isError: true });
  }
  session.call("u10", "verifier_tracker_update", { step: "killed" });
  session.tool("u11", "verifier_tracker_update", { step: "scored" }, "0.5");
  assert.deepEqual(steps(session)?.map(([, id]) => id), ["u1", "u4", "u5", "u8", "u10", "u11"]);
});

test("the same text right after a failure is its retry and keeps the first try's identity", () => {
  for (const text of ["Error: aborted: The call was cancelled.", "Error: length_conflict: …"]) {
    const session = started();
    session.tool("u1", "verifier_tracker_update", { step: "a" }, text, { isError: true });
    const failed = foldTracker(session.log);
    assert.ok(failed);
    const own = { callId: "new", occurrence: 0 };
    assert.deepEqual(stepIdentity(failed, "a", own), {
      identity: { callId: "u1", occurrence: 0 },
      isRetry: true,
    });
    assert.deepEqual(stepIdentity(failed, "b", own), { identity: own, isRetry: false });
    session.tool("u2", "verifier_tracker_update", { step: "a" }, text, { isError: true });
    session.tool("u3", "verifier_tracker_update", { step: "a" }, "0.5");
    session.tool("u4", "verifier_tracker_update", { step: "b" }, "0.6");
    session.tool("u5", "verifier_tracker_update", { step: "a" }, "0.7");
    assert.deepEqual(steps(session), [["a", "u1"], ["b", "u4"], ["a", "u5"]]);
  }
});

test("a step that found no score may be tried again and stays one step; the same text after a score is a new one", () => {
  const session = started();
  session.tool("u1", "verifier_tracker_update", { step: "a" }, `${UNSCORED_MARK} timeout`);
  assert.deepEqual(steps(session), [["a", "u1"]]);
  session.tool("u2", "verifier_tracker_update", { step: "a" }, `${UNSCORED_MARK} timeout`);
  session.tool("u3", "verifier_tracker_update", { step: "a" }, "Progress 0.4");
  assert.deepEqual(steps(session), [["a", "u1"]]);
  session.tool("u4", "verifier_tracker_update", { step: "a" }, "Progress 0.5");
  assert.deepEqual(steps(session), [["a", "u1"], ["a", "u4"]]);
});

test("an update that was cut off by a crash is one step together with its repetition", () => {
  const session = started();
  session.call("u1", "verifier_tracker_update", { step: "a" });
  const again = session.resume();
  again.tool("u2", "verifier_tracker_update", { step: "a" }, "0.3");
  assert.deepEqual(steps(again), [["a", "u1"]]);
});

test("only what began before the asking call counts, so parallel calls come in their order", () => {
  const session = started();
  session.call("u1", "verifier_tracker_update", { step: "a" });
  session.call("u2", "verifier_tracker_update", { step: "b" });
  const first = ownCall(session.log, "u1", "verifier_tracker_update");
  assert.deepEqual(foldTracker(session.log, first)?.steps, []);
  session.result("u1", "0.1");
  const second = ownCall(session.log, "u2", "verifier_tracker_update");
  assert.deepEqual(foldTracker(session.log, second)?.steps.map(({ step }) => step), ["a"]);
  assert.equal(ownCall(session.log, "u2", "verifier_tracker_start"), null);
});

test("calls from the agent's programs count, with the id of their own", () => {
  for (const version of [0, 4]) {
    const session = new FakeSession({ version });
    session.call("r", "run_code", {});
    session.dispatched(session.dispatch("r", "verifier_tracker_start", { task: "t" }), "started");
    const one = session.dispatch("r", "verifier_tracker_update", { step: "a" });
    session.dispatched(one, "0.1");
    const two = session.dispatch("r", "verifier_tracker_update", { step: "b" });
    session.dispatched(two, "no", { isError: true });
    session.result("r", "done");
    assert.deepEqual(steps(session), [["a", one]]);
  }
});

test("ids that a model uses again name different steps and trackers", () => {
  const session = new FakeSession();
  for (const task of ["one", "two"]) {
    session.tool("call_0", "verifier_tracker_start", { task }, "started");
    session.tool("call_1", "verifier_tracker_update", { step: "a" }, "0.1");
    session.tool("call_1", "verifier_tracker_update", { step: "b" }, "0.2");
  }
  const state = foldTracker(session.log);
  assert.deepEqual(state?.start, { callId: "call_0", occurrence: 1 });
  assert.deepEqual(state?.steps.map(({ identity }) => identity.occurrence), [2, 3]);
});

test("a fork has its parent's tracker under a name of its own", () => {
  const session = started(4);
  session.tool("u1", "verifier_tracker_update", { step: "a" }, "0.1");
  const child = session.fork("child");
  child.tool("u2", "verifier_tracker_update", { step: "b" }, "0.2");
  assert.deepEqual(steps(child), [["a", "u1"], ["b", "u2"]]);
  const { start } = /** @type {any} */ (foldTracker(child.log));
  assert.notEqual(trackerId("child", start), trackerId("session-1", start));
});

test("names are the server's kind of name, the same in every process, and different for different calls", () => {
  const start = { callId: "call_0", occurrence: 0 };
  assert.equal(trackerId("session-1", start), "dsh-2e796473bb6c5b34add6fede297839c60c9725ff");
  assert.match(trackerId("a session with / any ü name", start), /^[a-z0-9][a-z0-9_-]{7,63}$/);
  assert.equal(sessionKey(new FakeSession().resume()), sessionKey(new FakeSession()));
  assert.notEqual(
    sessionKey(new FakeSession({ createdAt: 1 })),
    sessionKey(new FakeSession({ createdAt: 2 })),
  );
  const names = [
    trackerId("session-1", start),
    trackerId("session-2", start),
    trackerId("session-1", { ...start, occurrence: 1 }),
    trackerId("session-1", { ...start, callId: "call_1" }),
    stepKey("session-1", start),
    stepKey("session-1", { ...start, occurrence: 1 }),
  ];
  assert.equal(new Set(names).size, names.length);
});
