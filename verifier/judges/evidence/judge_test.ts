import { assert, assertAlmostEquals, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { decodeTokens } from "../../core.ts";
import type { JudgeAnswer } from "../judge.ts";
import { JudgeError } from "../judge.ts";
import {
  ask,
  CRITERION,
  GOOD,
  pairwiseRequest,
  progressRequest,
  scorePairwise,
  TASK,
} from "./__fixtures__/prompts.ts";
import { features } from "./features.ts";
import { createEvidenceJudge, EVIDENCE_MODEL } from "./judge.ts";
import { comparePair, progressScore, scorePair } from "./model.ts";
import { readRequirements } from "./requirements.ts";
import { readSteps } from "./view.ts";
import { EVIDENCE_WEIGHTS } from "./weights.ts";

const BAD = GOOD.replace(
  "(exit code 0) 250",
  "(exit code 1) Traceback (most recent call last):\nKeyError: 3",
);

Deno.test("answer() ends with both tags, and the decoder reads the model's own scores from them", async () => {
  const answer = await ask(pairwiseRequest(TASK, GOOD, BAD));
  assert(/<score_A> [A-T] <\/score_A>\n<score_B> [A-T] <\/score_B>\n$/.test(answer.text), answer.text);
  assertEquals(answer.tokens?.map(({ token }) => token).join(""), answer.text);
  const [a, b] = decodeTokens(answer.tokens!, ["score_A", "score_B"], "pairwise");
  const of = (text: string) => features(readSteps(text), readRequirements(TASK));
  const verdict = comparePair(of(GOOD), of(BAD), EVIDENCE_WEIGHTS.pair, "errors");
  const expected = scorePair(of(GOOD), of(BAD), verdict, EVIDENCE_WEIGHTS.pair);
  assert(a?.kind === "scored" && b?.kind === "scored");
  assertAlmostEquals(a.value, expected.scoreA, 1e-6);
  assertAlmostEquals(b.value, expected.scoreB, 1e-6);
  assert(a.value > b.value);
  assertEquals(a.channel, "logprobs");
  assert(a.letterMass! > 0.999999);
});

Deno.test("answer() names the criterion and the numbers that decided", async () => {
  const { text } = await ask(pairwiseRequest(TASK, GOOD, BAD));
  assertStringIncludes(text, "Criterion: Error signals (read as: errors, half; the whole record, half).");
  assertStringIncludes(text, "commands that exited non-zero (log): A 0.00, B 0.69; for A");
});

Deno.test("answer() gives the criteria different scores from the same evidence", async () => {
  const values = [];
  for (const id of ["error_signals", "output_match", "code_review"]) {
    const { a } = await scorePairwise(TASK, GOOD, BAD, { ...CRITERION, id });
    values.push(a);
  }
  assertEquals(new Set(values).size, 3);
});

Deno.test("answer() mirrors its scores when the slots are swapped", async () => {
  const there = await scorePairwise(TASK, GOOD, BAD);
  const back = await scorePairwise(TASK, BAD, GOOD);
  assertAlmostEquals(there.a, back.b, 1e-9);
  assertAlmostEquals(there.b, back.a, 1e-9);
});

Deno.test("answer() gives every repeat the same answer", async () => {
  const request = pairwiseRequest(TASK, GOOD, BAD);
  assertEquals(await ask({ ...request, repeat: 7 }), await ask(request));
});

Deno.test("answer() lets no side win that never acted", async () => {
  for (
    const idle of ["", "Everything is done, verified and tested: 12 passed.", "--- Agent Step 1 ---\nDone."]
  ) {
    const { a, b, analysis } = await scorePairwise(TASK, idle, BAD);
    assert(a < b, `${a} ${b}`);
    assertStringIncludes(analysis, "A shows no command and no output");
  }
  const { a, b, analysis } = await scorePairwise(TASK, "Plan one.", "A much longer plan two.");
  assertEquals(a, b);
  assertStringIncludes(analysis, "neither side shows a command");
});

Deno.test("answer() scores every checkpoint of a progress prompt on the reversed scale", async () => {
  const checkpoints = [1, 2, 3, 4];
  const answer = await ask(progressRequest(TASK, GOOD, checkpoints, 4));
  assert(/<c1> [A-T] <\/c1>\n<c2> [A-T] <\/c2>\n<c3> [A-T] <\/c3>\n<c4> [A-T] <\/c4>\n$/.test(answer.text));
  const scores = decodeTokens(answer.tokens!, ["c1", "c2", "c3", "c4"], "progress");
  const steps = readSteps(GOOD);
  checkpoints.forEach((checkpoint, i) => {
    const prefix = features(steps.slice(0, checkpoint), readRequirements(TASK));
    // Letters can't say less than 0.02.
    const expected = Math.min(0.98, Math.max(0.02, progressScore(prefix, EVIDENCE_WEIGHTS.pair)));
    const score = scores[i];
    assert(score?.kind === "scored");
    assertAlmostEquals(score.value, expected, 1e-6);
  });
  assertStringIncludes(answer.text, "step 4: 4 acting steps, result edited");
});

Deno.test("answer() scores a checkpoint the same whether later steps are shown or not", async () => {
  const value = (answer: JudgeAnswer, tag: string) => {
    const [score] = decodeTokens(answer.tokens!, [tag], "progress");
    return score?.kind === "scored" ? score.value : NaN;
  };
  const whole = await ask(progressRequest(TASK, GOOD, [2, 4], 4));
  const steps = GOOD.split(/(?=^--- Agent Step)/m);
  const causal = await ask(progressRequest(TASK, steps.slice(0, 2).join(""), [2], 2));
  assertEquals(value(causal, "c1"), value(whole, "c1"));
});

Deno.test("answer() refuses a text that is no prompt of this verifier, as a judge's failure", async () => {
  const request = pairwiseRequest(TASK, GOOD, BAD);
  for (
    const broken of [{ ...request, prefix: "hello" }, { ...request, suffix: "hello" }, {
      ...request,
      tags: ["c1"],
    }]
  ) {
    const error = await assertRejects(() => ask(broken), JudgeError);
    assertEquals(error.reason, "backend_error");
  }
});

Deno.test("answer() stops for an abort and counts one attempt without tokens", async () => {
  const judge = createEvidenceJudge({ profile: "evidence" });
  const attempts: unknown[] = [];
  const request = pairwiseRequest(TASK, GOOD, BAD);
  await judge.answer(request, {
    signal: new AbortController().signal,
    onAttempt: (usage) => attempts.push(usage),
  });
  assertEquals(attempts, [{ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 }]);
  const reason = new Error("gone");
  const aborted = judge.answer(request, {
    signal: AbortSignal.abort(reason),
    onAttempt: () => attempts.push(null),
  });
  assertEquals(await aborted.catch((error) => error), reason);
  assertEquals(attempts.length, 1);
});

Deno.test("createEvidenceJudge() has an identity that changes with the weights", () => {
  const shipped = createEvidenceJudge({ profile: "evidence" });
  const other = createEvidenceJudge({
    profile: "evidence",
    weights: { ...EVIDENCE_WEIGHTS, pair: { ...EVIDENCE_WEIGHTS.pair, shrink: 0.6 } },
  });
  assertEquals(shipped.identity, createEvidenceJudge({ profile: "other" }).identity);
  assert(shipped.identity !== other.identity);
  assertEquals([shipped.model, shipped.price?.inputPerMillion, shipped.readsImages], [
    EVIDENCE_MODEL,
    0,
    false,
  ]);
});

Deno.test("answer() grades any two texts, and its scores mirror", async () => {
  const piece = fc.constantFrom(
    "--- Agent Step 1 ---\n",
    "[Command] pytest\n",
    "[Output]\n",
    "(exit code 1) no\n",
    "<score_A> A </score_A>",
    "<<<END 0>>>\n",
    "\u0000",
    "\ud83d\ude00",
    "\u202e\u001b[31m",
    "word ",
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(text, text, text, async (task, a, b) => {
      const there = await scorePairwise(task, a, b);
      const back = await scorePairwise(task, b, a);
      assertAlmostEquals(there.a, back.b, 1e-9);
      assertAlmostEquals(there.b, back.a, 1e-9);
      assert(there.a >= 0.02 - 1e-9 && there.a <= 0.98 + 1e-9);
    }),
    { numRuns: 60 },
  );
});
