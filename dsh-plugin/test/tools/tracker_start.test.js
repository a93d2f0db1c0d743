// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { trackerId } from "../../lib/trackers/key.js";
import { FakeSession } from "../fakes/host.js";
import { FakeTrackers } from "../fakes/trackers.js";
import { sessionRig } from "./session_rig.js";

const IMAGE = { attachmentId: "sha256:1", mediaType: "image/png", bytes: 3 };
const IMAGES = { "sha256:1": { data: new Uint8Array([1, 2, 3]), mediaType: "image/png" } };

/** @param {any} [options] */
function started(options = {}) {
  const server = new FakeTrackers();
  const session = new FakeSession();
  session.startTurn();
  session.user("Fix it.", { images: options.images ?? [] });
  return { server, session, rig: sessionRig(server.connection, { session, ...options }) };
}

describe("verifier_tracker_start", () => {
  test("makes a tracker for the user's task under a name that follows from the session and the call", async () => {
    const { server, rig } = started();
    const { value, text } = await rig.call("verifier_tracker_start", { evaluations: 1 });
    assert.deepEqual(value, {
      tracker: trackerId("session-1@0", { callId: "call-1", occurrence: 0 }),
      task: "Fix it.",
      length: 0,
      criteriaOrigin: "setting",
      warnings: [],
    });
    assert.match(
      text,
      /^Tracking: Fix it\.\nTracker dsh-[0-9a-f]{40}\.\nRubric from the setting\. After each step call verifier_tracker_update/,
    );
    const { body } = server.seen[0] ?? {};
    assert.deepEqual(body, {
      id: value.tracker,
      task: "Fix it.",
      criteria: "general",
      repeats: 1,
      redact: [],
      promptCharacters: 200000,
      deadlineMs: 595000,
    });
  });

  test("takes the call's task, rubric and judge, and remembers the rubric when it is told to", async () => {
    const { server, rig } = started();
    await rig.call("verifier_tracker_start", {
      problem: "Another task.",
      criteria: { Works: "It works." },
      judge: "deepseek",
      remember_criteria: true,
    });
    await rig.call("verifier_tracker_start", {});
    assert.deepEqual(server.seen.map(({ body }) => [body.task, body.criteria, body.judge]), [
      ["Another task.", { Works: "It works." }, "deepseek"],
      ["Fix it.", { Works: "It works." }, undefined],
    ]);
  });

  test("without a task in the arguments or the session there is an error that names it", async () => {
    const server = new FakeTrackers();
    const rig = sessionRig(server.connection);
    const { text } = await rig.call("verifier_tracker_start", {});
    assert.match(text, /^Error: invalid_request: .*\/task: must be given \(task or problem\)/);
    assert.match((await rig.call("verifier_tracker_start", { task: " " })).text, /must not be blank/);
    assert.deepEqual(server.seen, []);
  });

  test("the task's images go along unless the judge reads none or the user wants none sent", async () => {
    const options = { images: [IMAGE], context: { images: IMAGES } };
    const seeing = started(options);
    await seeing.rig.call("verifier_tracker_start", {});
    assert.deepEqual(seeing.server.seen[0]?.body.images, ["data:image/png;base64,AQID"]);
    const blind = started(options);
    blind.server.blind = true;
    const { value } = await blind.rig.call("verifier_tracker_start", {});
    assert.deepEqual(value.warnings, ["1 image of the session wasn't shown: the judge can't read images"]);
    assert.equal(blind.server.trackers.size, 1);
    const off = started({ ...options, config: { sendImages: false } });
    await off.rig.call("verifier_tracker_start", {});
    assert.equal(off.server.seen[0]?.body.images, undefined);
  });

  test("a start that is repeated under the same call gives the same tracker", async () => {
    const { server, session, rig } = started();
    const id = rig.begin("verifier_tracker_start", {});
    const first = await rig.call("verifier_tracker_start", {}, { id });
    session.log.pop();
    const second = await rig.call("verifier_tracker_start", {}, { id });
    assert.deepEqual(second.value, first.value);
    assert.equal(server.trackers.size, 1);
  });
});
