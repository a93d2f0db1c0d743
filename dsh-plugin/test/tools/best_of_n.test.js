// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bestOfN as spec } from "../../lib/tools/judging_specs.js";
import { problem, recorded } from "../fakes/server.js";
import { rig } from "./harness.js";

const PATH = "POST /v1/best-of-n";
const ARGS = { prompt: "One shell command for distinct lines." };

describe("verifier_best_of_n", () => {
  test("gives the whole winning draft, its measure, and what became of the others", async () => {
    const { value, text } = await rig(spec, { [PATH]: recorded("best_of_n") })
      .call(ARGS);
    assert.equal(value.best, 0);
    assert.equal(value.draft, recorded("best_of_n").drafts[0].text);
    assert.deepEqual(value.drafts[2], {
      index: 2,
      characters: null,
      finishReason: "stop",
      failure: { reason: "empty", detail: "the model answered nothing" },
    });
    assert.equal(value.acceptance.decision, "accept");
    assert.match(
      text,
      /^Draft 0 is the best of 2 usable drafts with 97 %\. It is good enough: 0\.90 of at least 0\.65\./,
    );
    assert.match(
      text,
      /- draft 1 was cut at the token limit and judged as it is\n/,
    );
    assert.match(text, /- draft 2 failed: empty, the model answered nothing\n/);
    assert.ok(text.endsWith(`\n\n${value.draft}`));
  });

  test("a draft of any length is bounded with a notice", async () => {
    const document = recorded("best_of_n");
    document.drafts[0].text = "é".repeat(150_000);
    const { value } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.ok(value.draft.length < 100_200);
    assert.match(
      value.draft,
      /\[… cut after 100000 of 150000 characters; decision dec_\w+ has the whole draft\]$/,
    );
  });

  test("work that isn't good enough, or can't be measured, is said to be so", async () => {
    const document = recorded("best_of_n");
    const weak = {
      id: "feasibility",
      name: "Feasibility",
      score: 0.4,
      floor: 0.65,
      analysis: "The flag\ndoesn't exist.",
    };
    Object.assign(document.acceptance, {
      decision: "steer",
      score: 0.5,
      failing: [weak],
    });
    const { text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.match(text, /It isn't good enough: 0\.50, 0\.65 is needed\./);
    assert.match(
      text,
      /below its floor: Feasibility 0\.40 of 0\.65; the judge: The flag doesn't exist\./,
    );
    Object.assign(document.acceptance, {
      decision: "open",
      score: null,
      failing: [],
      reason: "no score",
      code: "unscored",
    });
    assert.match(
      (await rig(spec, { [PATH]: document }).call(ARGS)).text,
      /can't be told: no score\./,
    );
  });

  test("takes task for prompt, and keeps the proposals' rubric unless one was asked for", async () => {
    const { call } = rig(spec, { [PATH]: recorded("best_of_n") }, {
      config: { criteria: "coding" },
    });
    const { sent } = await call({
      task: "write",
      n: 2,
      generator: "local",
      evaluations: 1,
      context: "facts",
    });
    assert.deepEqual({ ...sent, deadlineMs: 0 }, {
      prompt: "write",
      criteria: "proposal",
      n: 2,
      generator: "local",
      repeats: 1,
      context: "facts",
      deadlineMs: 0,
    });
    assert.equal(
      (await call({ prompt: "write", criteria: "writing" })).sent.criteria,
      "writing",
    );
  });

  test("a server without a model that writes says how to get one", async () => {
    const refusal = problem(
      "invalid_request",
      400,
      "/generator: must be a model that can write: evidence is of kind evidence",
      {
        errors: [{
          path: "/generator",
          message: "must be a model that can write",
        }],
      },
    );
    await rig(spec, { [PATH]: refusal }).fails(ARGS, {
      message: /^invalid_request: .*\/generator.*openai-compatible or gemini.*ASSAY_JUDGE_BASE_URL/s,
    });
  });

  test("a missing prompt names its spellings; the server's /prompt is the caller's task", async () => {
    await rig(spec, {}).fails({ n: 3 }, {
      message: /\/prompt: must be given \(prompt or task or problem\)/,
    });
    const refusal = problem(
      "invalid_request",
      400,
      "/prompt: must be shorter",
      {
        errors: [{ path: "/prompt", message: "must be shorter" }],
      },
    );
    await rig(spec, { [PATH]: refusal }).fails({ task: "x" }, {
      message: /\/task: must be shorter/,
    });
  });
});
