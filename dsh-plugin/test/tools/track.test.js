// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { track as spec } from "../../lib/tools/judging_specs.js";
import { problem, recorded } from "../fakes/server.js";
import { rig } from "./harness.js";

const PATH = "POST /v1/track";
const ARGS = { task: "Fix it.", steps: ["looked", "edited", "tested"] };

describe("verifier_track", () => {
  test("gives the curve, the end and the advice", async () => {
    const { value, text } = await rig(spec, { [PATH]: recorded("track") }).call(
      ARGS,
    );
    assert.deepEqual(
      value.curve.map((/** @type {any} */ point) => point.step),
      [1, 2, 3],
    );
    assert.match(
      text,
      /^Progress at the end: 0\.90 ± 0\.00 of 1; the curve says: /,
    );
    assert.match(text, /- after step 1: 0\.20/);
    assert.equal(text.includes("Largest fall"), false);
  });

  test("names the largest fall", async () => {
    const document = recorded("track");
    document.curve[1].score = 0.95;
    document.curve[2].score = 0.4;
    document.final = 0.4;
    const { text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.match(text, /Largest fall: 0\.55 between step 2 and step 3\./);
  });

  test("an end without a score is said, with the last one known", async () => {
    const document = recorded("track");
    document.curve[2] = {
      step: 3,
      score: null,
      standardError: null,
      scored: 0,
      unscored: 2,
    };
    Object.assign(document, { final: null, advice: null, unscored: 2 });
    document.unscoredParts = [{ step: 3, repeat: 0, reason: "timeout" }, {
      step: 3,
      repeat: 1,
      reason: "timeout",
    }];
    const { value, text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.equal(value.final, null);
    assert.match(
      text,
      /^Progress at the end can't be told, as step 3 has no score; after step 2 it was 0\.50\./,
    );
    assert.match(text, /- after step 3: not scored\n/);
    assert.match(text, /\(timeout 2\)/);
  });

  test("sends steps and checkpoints in either spelling", async () => {
    const { call } = rig(spec, { [PATH]: recorded("track") });
    const { sent } = await call({
      problem: "t",
      steps: ["a", "b"],
      checkpointSteps: [1, 2],
      evaluations: 1,
      causal: true,
    });
    assert.deepEqual({ ...sent, deadlineMs: 0 }, {
      task: "t",
      trajectory: { steps: ["a", "b"] },
      criteria: "general",
      checkpoints: [1, 2],
      repeats: 1,
      causal: true,
      redact: [],
      deadlineMs: 0,
    });
    const whole = await call({
      task: "t",
      trajectory: { messages: [{ role: "user", content: "x" }] },
    });
    assert.deepEqual(whole.sent.trajectory, {
      messages: [{ role: "user", content: "x" }],
    });
  });

  test("a blank step is an error that names it", async () => {
    const { fails } = rig(spec, {});
    await fails({ task: "t", steps: ["a", "", "c"] }, {
      message: /\/steps\/1: must not be blank/,
    });
    await fails({ task: "t", steps: [] }, {
      message: /\/steps: must have at least one step/,
    });
  });

  test("the server's names become the caller's", async () => {
    const refusal = problem(
      "invalid_request",
      400,
      "/checkpoints/0: must be from 1 to 3; /trajectory/steps/1 is odd",
      {
        errors: [{
          path: "/checkpoints/0",
          message: "must be from 1 to 3",
          value: "9",
        }],
      },
    );
    await rig(spec, { [PATH]: refusal }).fails({
      ...ARGS,
      checkpointSteps: [9],
    }, {
      message: /\/checkpointSteps\/0: must be from 1 to 3; \/steps\/1 is odd$/,
    });
  });
});
