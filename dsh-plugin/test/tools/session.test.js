// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { VerifierError } from "../../lib/server/errors.js";
import { FakeSession } from "../fakes/host.js";
import { fakeConnection, recorded } from "../fakes/server.js";
import { sessionRig } from "./session_rig.js";

const PATH = "POST /v1/session";
const IMAGE = { attachmentId: "sha256:1", mediaType: "image/png", bytes: 3 };
const IMAGES = { "sha256:1": { data: new Uint8Array([1, 2, 3]), mediaType: "image/png" } };

/** @param {readonly any[]} [images] */
function worked(images = []) {
  const session = new FakeSession();
  session.startTurn();
  session.user("Fix it.", { images });
  session.tool("a", "bash", { command: "ls" }, "files");
  return session;
}

/** @param {Record<string, unknown>} answers @param {any} [options] */
function rigOf(answers, options = {}) {
  const connection = fakeConnection(answers);
  return { connection, rig: sessionRig(connection, { session: worked(), ...options }) };
}

describe("verifier_session", () => {
  test("judges the session's own log and gives its progress", async () => {
    const { connection, rig } = rigOf({ [PATH]: recorded("session_progress") });
    const { value, text } = await rig.call("verifier_session", { checkpoints: [1, 2], evaluations: 1 });
    assert.equal(value.mode, "progress");
    assert.equal(value.acceptance, null);
    assert.equal(value.stored, true);
    assert.match(text, /^Progress at the end: 0\.\d\d/);
    assert.match(text, /Evidence: 3 steps, events 8 to 25\./);
    const { body } = connection.seen[0] ?? {};
    const lines = body.log.trim().split("\n").map((/** @type {string} */ line) => JSON.parse(line));
    assert.deepEqual([lines[0].type, lines[0].id], ["session", "session-1"]);
    assert.equal(lines.at(-1).type, "tool/call");
    assert.deepEqual(
      [body.mode, body.criteria, body.repeats, body.checkpoints, body.maxCharacters, body.redact],
      ["progress", "general", 1, [1, 2], 200000, []],
    );
    for (const absent of ["task", "range", "images", "threshold", "causal"]) {
      assert.ok(!(absent in body), absent);
    }
  });

  test("its alias asks for acceptance, and both take either mode", async () => {
    const { connection, rig } = rigOf({ [PATH]: recorded("session_acceptance") });
    const { value, text } = await rig.call("verifier_current_session", {});
    assert.equal(value.progress, null);
    assert.equal(value.acceptance.decision, "accept");
    assert.match(
      text,
      /^Accepted: 0\.98, at least 0\.65 was needed\.\nHaving done nothing scores 0\.\d\d\.\n- Task/,
    );
    await rig.call("verifier_session", { mode: "acceptance" });
    await rig.call("verifier_current_session", { mode: "progress" });
    await rig.call("verifier_session", {});
    assert.deepEqual(connection.seen.map(({ body }) => body.mode), [
      "acceptance",
      "acceptance",
      "progress",
      "progress",
    ]);
  });

  test("a verdict that isn't accepted names what is too weak, an open one is no fail", async () => {
    const steer = recorded("session_acceptance");
    const [first] = steer.acceptance.criteria;
    Object.assign(first, { score: 0.3 });
    Object.assign(steer.acceptance, {
      decision: "steer",
      score: 0.5,
      failing: [{ id: first.id, name: first.name, score: 0.3, floor: 0.65, analysis: "No test was\nrun." }],
      steer: "…",
    });
    const one = await rigOf({ [PATH]: steer }).rig.call("verifier_current_session", {});
    assert.match(
      one.text,
      /^Not accepted: 0\.50, at least 0\.65 is needed; too weak: Task requirement match\./,
    );
    assert.match(one.text, /- Task requirement match: 0\.30 \(below 0\.65\); the judge: No test was run\./);
    for (
      const [score, why]
        of /** @type {const} */ ([[0.5, "the mean is too low"], [0.9, "it doesn't beat having done nothing"]])
    ) {
      Object.assign(steer.acceptance, { score, failing: [] });
      const { text } = await rigOf({ [PATH]: steer }).rig.call("verifier_current_session", {});
      assert.ok(text.startsWith(`Not accepted: ${score.toFixed(2)}, at least 0.65 is needed; ${why}.`), text);
    }
    const open = recorded("session_acceptance");
    Object.assign(open.acceptance, {
      decision: "open",
      score: null,
      reason: "the judge timed out",
      code: "judge_failed",
    });
    const { value, text } = await rigOf({ [PATH]: open }).rig.call("verifier_current_session", {});
    assert.equal(value.acceptance.score, null);
    assert.match(text, /^Undecided, which is no fail: the judge timed out\./);
  });

  test("other plugins' spellings, the settings and the session's rubric reach the server", async () => {
    const { connection, rig } = rigOf({ [PATH]: recorded("session_progress") }, {
      config: { redact: ["secret-\\d+"], maxCharacters: 5000, repeats: 3, judge: "deepseek" },
    });
    await rig.call("verifier_session", {
      problem: "Another task.",
      from_seq: 1,
      to_seq: 9,
      redact_patterns: ["x+"],
      max_chars: 9000,
      include_assistant_text: true,
      criteria: "debug",
      remember_criteria: true,
    });
    const { body } = connection.seen[0] ?? {};
    assert.deepEqual(
      [body.task, body.range, body.redact, body.maxCharacters, body.repeats, body.judge, body.criteria],
      ["Another task.", { from: 1, to: 9 }, ["secret-\\d+", "x+"], 9000, 3, "deepseek", "debug"],
    );
    const { value } = await rig.call("verifier_session", {});
    assert.deepEqual([connection.seen[1]?.body.criteria, value.criteriaOrigin], ["debug", "session"]);
  });

  test("arguments that can't be honoured are refused by name", async () => {
    const { rig } = rigOf({ [PATH]: recorded("session_progress") });
    for (
      const [args, pattern] of /** @type {const} */ ([
        [{ remember_criteria: true }, /rememberCriteria: must be given together with the criteria/],
        [{ include_assistant_text: false }, /include_assistant_text: must be left out/],
        [{ redact: "x" }, /redact: must be an array/],
        [{ onError: "tie" }, /onError/],
        [{ modes: "progress" }, /modes.*mode/],
      ])
    ) {
      const { isError, text } = await rig.call("verifier_session", args);
      assert.ok(isError);
      assert.match(text, pattern);
    }
    const exec = { signal: new AbortController().signal, callId: "x", name: "verifier_session" };
    await assert.rejects(rig.tools.get("verifier_session").execute({}, exec), /this call has no agent/);
  });

  test("the session's own images go along, without those outside the range", async () => {
    const { connection, rig } = rigOf({ [PATH]: recorded("session_progress") }, {
      session: worked([IMAGE]),
      context: { images: IMAGES },
    });
    await rig.call("verifier_session", {});
    await rig.call("verifier_session", { from: 5 });
    await rig.call("verifier_session", { images: ["https://example.com/a.png"] });
    assert.deepEqual(connection.seen.map(({ body }) => body.images), [
      ["data:image/png;base64,AQID"],
      undefined,
      ["https://example.com/a.png"],
    ]);
  });

  test("with sendImages off no image is even read", async () => {
    const { connection, rig } = rigOf({ [PATH]: recorded("session_progress") }, {
      session: worked([IMAGE]),
      context: { images: IMAGES },
      config: { sendImages: false },
    });
    await rig.call("verifier_session", {});
    assert.equal(connection.seen[0]?.body.images, undefined);
    assert.equal(rig.deps.ctx.seen.images, 0);
  });

  test("a judge that reads no images is asked again without them, and the answer says so", async () => {
    const { connection, rig } = rigOf({
      [PATH]: (/** @type {any} */ { body }) => {
        if (body.images === undefined) return recorded("session_progress");
        throw new VerifierError("invalid_request", "The request is wrong.", {
          status: 400,
          errors: [{ path: "/images", message: "must have no images, as judge evidence can't read them" }],
        });
      },
    }, { session: worked([IMAGE, { ...IMAGE, attachmentId: "gone" }]), context: { images: IMAGES } });
    const { value, text } = await rig.call("verifier_session", {});
    assert.equal(connection.seen.length, 2);
    assert.notEqual(connection.seen[0]?.options.idempotencyKey, connection.seen[1]?.options.idempotencyKey);
    assert.deepEqual(value.warnings.slice(0, 2), [
      "not shown: image gone: the attachment is missing from the store",
      "1 image of the session wasn't shown: the judge can't read images",
    ]);
    assert.match(text, /Warning: 1 image of the session wasn't shown/);
    const own = await rig.call("verifier_session", { images: ["https://example.com/a.png"] });
    assert.match(own.text, /^Error: invalid_request: .*images/);
    rig.deps.connection = fakeConnection({
      [PATH]: new VerifierError("invalid_request", "The request is wrong.", {
        status: 400,
        errors: [{ path: "/images", message: "must have at most 16 items" }],
      }),
    });
    assert.match((await rig.call("verifier_session", {})).text, /^Error: invalid_request: .*at most 16/);
  });

  test("a log that isn't the stored one is said", async () => {
    const { rig } = rigOf({ [PATH]: recorded("session_progress") }, {
      context: { flush: new Error("disk full") },
    });
    const { value } = await rig.call("verifier_session", {});
    assert.equal(value.stored, false);
    assert.equal(value.warnings[0], "the host's stored log wasn't used: disk full");
  });

  test("a dry run gives the plan", async () => {
    const { value, text } = await rigOf({ [PATH]: recorded("plan") }).rig.call("verifier_session", {
      dry_run: true,
    });
    assert.ok(value.plan.calls > 0);
    assert.match(text, /^Nothing was bought\./);
  });

  test("a failure is an error of the tool and never a score", async () => {
    const { rig } = rigOf({
      [PATH]: new VerifierError("judge_failed", "The judge is down.", { status: 502 }),
    });
    const { isError, text } = await rig.call("verifier_session", {});
    assert.ok(isError);
    assert.match(text, /^Error: judge_failed: The judge is down\./);
  });
});
