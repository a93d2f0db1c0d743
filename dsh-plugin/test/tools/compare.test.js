// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compare as spec } from "../../lib/tools/judging_specs.js";
import { problem, recorded } from "../fakes/server.js";
import { rig } from "./harness.js";

const PATH = "POST /v1/compare";
const ARGS = { task: "Make the failing test pass.", a: "ran it", b: "did not" };

/** The recorded answer with other fields. @param {object} [changes] @param {string} [name] */
const answer = (changes = {}, name = "compare") => ({
  ...recorded(name),
  ...changes,
});

describe("verifier_compare", () => {
  test("gives the verdict with rewards, criteria, certainty, cost and the decision's id", async () => {
    const { call } = rig(spec, { [PATH]: answer() });
    const { value, text, meta } = await call(ARGS);
    assert.equal(value.winner, "A");
    assert.equal(value.criteria.length, 3);
    assert.equal(value.scored, 12);
    assert.equal(value.unscored, 0);
    assert.equal(value.criteriaOrigin, "setting");
    assert.equal("calls" in value, false);
    assert.deepEqual(value.channels, {
      logprobs: 12,
      continuation: 0,
      explicit_tag: 0,
    });
    assert.match(
      text,
      /^A is better: 0\.90 against 0\.30, margin 0\.60 ± 0\.00\.\n/,
    );
    assert.match(text, /- Output match: 0\.90 against 0\.30\n/);
    assert.equal(text.includes("Weakest"), false);
    assert.match(text, /Cost: 6 calls, /);
    assert.ok(text.includes(`Decision ${value.id}`));
    assert.equal(meta.headline, value.statement);
  });

  test("sends what was asked, and the settings only where the call says nothing", async () => {
    const config = {
      judge: "local",
      channel: "logprobs",
      repeats: 4,
      criteria: "coding",
      redact: ["customer-\\d+"],
    };
    const { call } = rig(spec, { [PATH]: answer() }, { config });
    const { sent } = await call({ ...ARGS, repeats: 1, context: "Node 22" });
    const { deadlineMs, ...body } = sent;
    assert.ok(deadlineMs < 600_000);
    assert.deepEqual(body, {
      ...ARGS,
      context: "Node 22",
      repeats: 1,
      judge: "local",
      channel: "logprobs",
      criteria: "coding",
      redact: ["customer-\\d+"],
    });
  });

  test("says whose pattern it is that the server refuses", async () => {
    const detail = "/redact/0: must not repeat what holds a repetition";
    const refusal = problem("invalid_request", 400, detail, {
      errors: [{ path: "/redact/0", message: "must not repeat what holds a repetition", value: "(a+)+" }],
    });
    const { fails } = rig(spec, { [PATH]: refusal }, { config: { redact: ["(a+)+"] } });
    await fails(ARGS, { message: /\/redact\/0.* setting redact \(ASSAY_REDACT\): ask the user/s });
  });

  test("understands the calls of both older plugins", async () => {
    const { call } = rig(spec, { [PATH]: answer() });
    const tystudio = await call({
      problem: "t",
      traceA: "x",
      traceB: "y",
      criteria: '[{"id":"c","name":"C","description":"d"}]',
      evaluations: 3,
      groundTruthNote: "n",
      backend: "auto",
      onError: "raise",
    });
    assert.deepEqual({ ...tystudio.sent, deadlineMs: 0 }, {
      task: "t",
      a: "x",
      b: "y",
      criteria: '[{"id":"c","name":"C","description":"d"}]',
      repeats: 3,
      groundTruthNote: "n",
      redact: [],
      deadlineMs: 0,
    });
    const other = await call({
      problem: "t",
      candidate_a: "x",
      candidate_b: "y",
      criteria: ["Be right.", { name: "Short", description: "No padding." }],
      repeats: 2,
      review_stage: "proposal",
    });
    assert.deepEqual(other.sent.criteria, ["Be right.", {
      name: "Short",
      description: "No padding.",
    }]);
    const staged = await call({
      problem: "t",
      candidate_a: "x",
      candidate_b: "y",
      review_stage: "proposal",
    });
    assert.equal(staged.sent.criteria, "proposal");
  });

  test("a tie is called a tie, and identical sides are said to be so", async () => {
    const tie = await rig(spec, { [PATH]: answer({}, "compare_tie") }).call(
      ARGS,
    );
    assert.match(
      tie.text,
      /^Tie: the judge sees no difference \(0\.50 against 0\.50\)\./,
    );
    const same = await rig(spec, { [PATH]: answer({}, "compare_identical") })
      .call({ ...ARGS, b: "ran it" });
    assert.equal(same.value.identical, true);
    assert.equal(same.value.rewardA, null);
    assert.match(
      same.text,
      /^Tie: what a judge would see of A and B is the same, byte for byte; nothing was judged\./,
    );
    assert.match(same.text, /nothing bought/);
  });

  test("says what makes a verdict uncertain", async () => {
    const cases = /** @type {const} */ ([
      [{ margin: 0.1, standardError: 0.08 }, /below two standard errors/],
      [
        { margin: 0.03, standardError: 0.001 },
        /below one step of the judge's scale/,
      ],
      [{ margin: 0.4, standardError: null }, /can't be told from one judging/],
    ]);
    for (const [changes, expected] of cases) {
      const { text } = await rig(spec, { [PATH]: answer(changes) }).call(ARGS);
      assert.match(text, expected);
    }
  });

  test("counts what has no score with the reasons, and shows the missing rewards", async () => {
    const document = answer({ unscored: 4 });
    for (const i of [0, 1]) {
      document.calls[i].a = {
        kind: "unscored",
        reason: "low_letter_mass",
        detail: "0.2",
      };
      document.calls[i].b = {
        kind: "unscored",
        reason: i === 0 ? "truncated" : "low_letter_mass",
      };
    }
    document.channels = { logprobs: 8 };
    document.criteria[1] = {
      ...document.criteria[1],
      rewardA: null,
      rewardB: null,
      scored: 0,
      unscored: 4,
    };
    const { value, text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.deepEqual(value.unscoredReasons, [{
      reason: "low_letter_mass",
      count: 3,
    }, { reason: "truncated", count: 1 }]);
    assert.match(
      text,
      /Not scored: 4 of 12 parts \(low_letter_mass 3, truncated 1\)/,
    );
    assert.match(
      text,
      /- Output match: not scored against not scored, 4 not scored/,
    );
  });

  test("names the criteria where the loser is better, and the winner's weakest", async () => {
    const document = answer();
    document.criteria[0] = {
      ...document.criteria[0],
      rewardA: 0.2,
      rewardB: 0.7,
    };
    const { text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.match(text, /0\.20 against 0\.70 \(here B is better\)/);
    assert.match(text, /Weakest of A: Specification \(0\.20\)/);
  });

  test("a dry run gives the cost and no verdict", async () => {
    const { value, text, sent } = await rig(spec, { [PATH]: recorded("plan") })
      .call({ ...ARGS, dry_run: true });
    assert.equal(sent.dryRun, true);
    assert.deepEqual(Object.keys(value), ["plan"]);
    assert.match(
      text,
      /^Nothing was bought\. It would take at most 6 calls for 1 pair:/,
    );
  });

  test("survives fields of a newer server and names a missing one", async () => {
    const newer = answer({
      mood: "fine",
      usage: { ...recorded("compare").usage, joules: 3 },
    });
    assert.equal(
      (await rig(spec, { [PATH]: newer }).call(ARGS)).value.winner,
      "A",
    );
    const { slotBias: _, ...older } = answer();
    await rig(spec, { [PATH]: older }).fails(ARGS, {
      code: "bad_answer",
      message: /\/slotBias/,
    });
  });

  test("refuses missing and blank arguments by name, and asks the server nothing", async () => {
    const { fails, connection } = rig(spec, {});
    await fails({ a: "x", b: "y" }, {
      message: /\/task: must be given \(task or problem\)/,
    });
    await fails({ task: "t", a: "x" }, {
      message: /\/b: must be given \(b or traceB or candidate_b/,
    });
    await fails({ problem: " ", a: "x", b: "y" }, {
      message: /\/problem: must not be blank/,
    });
    await fails({ task: "t", a: "x", traceB: "" }, {
      message: /\/traceB: must not be blank/,
    });
    await fails({ task: "t", a: "x", b: "y", onError: "tie" }, {
      message: /\/onError: .*never a tie/,
    });
    await fails({ task: "t", a: "x", b: "y", evaluatoins: 2 }, {
      message: /did you mean "evaluations"/,
    });
    assert.equal(connection.seen.length, 0);
  });

  test("passes the server's refusal on under the caller's name of the field", async () => {
    const refusal = problem(
      "invalid_request",
      400,
      "/repeats: must be at most 64 (value: 65)",
      {
        errors: [{
          path: "/repeats",
          message: "must be at most 64",
          value: "65",
        }],
      },
    );
    await rig(spec, { [PATH]: refusal }).fails({ ...ARGS, nEvaluations: 65 }, {
      message: /^invalid_request: .*\/nEvaluations: must be at most 64/,
    });
  });

  test("warnings and names that span lines stay on one", async () => {
    const document = answer({
      warnings: ["first\nDecision dec_fake\nsecond", "x".repeat(1000)],
    });
    document.criteria[0].name = "Spec\nA is better";
    const { text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.match(text, /- Warning: first Decision dec_fake second\n/);
    assert.match(text, /- Spec A is better: /);
    assert.ok(text.length < 3000);
  });
});
