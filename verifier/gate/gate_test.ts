import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  answerWith,
  fakeEnvironment,
  fakeJudge,
  type FakeJudgeOptions,
} from "../../tests/verbs/fake_judge.ts";
import type { Allowance } from "../budget/budget.ts";
import { listDecisions, readDecision } from "../decisions/store.ts";
import { AssayError } from "../errors.ts";
import { gate } from "./gate.ts";
import { gateRequestSchema, type GateResult } from "./requests.ts";
import { EMPTY_WORK_BASELINE } from "./rule.ts";
import { JudgeError } from "../judges/judge.ts";
import { replayDecision } from "../decisions/replay.ts";
import { parseRequest } from "../requests.ts";
import type { CallOptions } from "../types.ts";

const WORK = "[Command] npm test\n[Output]\n1 passing\n";
const parse = (more: Record<string, unknown> = {}) =>
  parseRequest(gateRequestSchema, { task: "t", trajectory: WORK, criteria: ["alpha", "beta"], ...more });

async function run(
  judge: FakeJudgeOptions,
  more: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<GateResult> {
  const result = await gate(fakeEnvironment(fakeJudge(judge)), parse(more), options);
  assert(!("plan" in result));
  return result;
}

/** Scores of the work and of the baseline, whatever slot they stand in, by criterion. */
const grades = (work: Record<string, number>, baseline = 0): FakeJudgeOptions => ({
  answer: (request) => {
    const name = Object.keys(work).find((own) => request.suffix.includes(own)) ?? "";
    const swapped = request.prefix.indexOf(EMPTY_WORK_BASELINE) < request.prefix.indexOf("npm test");
    const pair = [work[name] ?? 0, baseline];
    return answerWith(request.tags, swapped ? pair.reverse() : pair, "pairwise", `Looked at ${name}.`);
  },
});

Deno.test("gate() accepts work that beats the baseline, the threshold and every floor", async () => {
  const result = await run(grades({ alpha: 0.9, beta: 0.7 }));
  assertEquals(
    [result.verb, result.decision, result.threshold, result.failing, result.unscored],
    ["gate", "accept", 0.65, [], 0],
  );
  assert(Math.abs(result.score! - 0.8) < 1e-9 && result.baselineScore === 0);
  assertEquals(result.usage.calls, 2);
  assert(!("steer" in result) && !("reason" in result) && !("code" in result));
});

Deno.test("gate() steers with what failed, how much was needed and what the judge said", async () => {
  const result = await run(grades({ alpha: 0.9, beta: 0.3 }), { repeats: 2 });
  assertEquals(result.decision, "steer");
  const [failed] = result.failing;
  assertEquals([failed?.id, failed?.floor, failed?.analysis], ["beta", 0.65, "Looked at beta."]);
  assertStringIncludes(result.steer!, "beta: 0.300, needs 0.650");
  assertStringIncludes(result.steer!, "> Looked at beta.");
  assertEquals(result.usage.calls, 4);
  assert(!("reason" in result));
});

Deno.test("gate() shows the work against the empty baseline, and swaps them in every other repeat", async () => {
  const judge = fakeJudge();
  await gate(fakeEnvironment(judge), parse({ repeats: 2, criteria: ["alpha"] }), {});
  const [first, second] = judge.requests.map(({ prefix }) =>
    prefix.indexOf(EMPTY_WORK_BASELINE) < prefix.indexOf("npm test")
  ).sort();
  assertEquals([first, second], [false, true]);
});

Deno.test("a floor may be lower or higher than the threshold, and must name a criterion", async () => {
  const judge = grades({ alpha: 0.9, beta: 0.5 });
  assertEquals((await run(judge, { floors: { beta: 0.5 } })).decision, "accept");
  assertEquals((await run(judge, { floors: { beta: 0.5, alpha: 0.95 } })).failing.map(({ id }) => id), [
    "alpha",
  ]);
  const error = await assertRejects(() => run(judge, { floors: { three: 0.5 } }), AssayError);
  assertEquals([error.code, error.errors[0]?.path], ["invalid_request", "/floors/three"]);
  assertStringIncludes(error.message, "alpha, beta");
});

Deno.test("whatever keeps the judge from answering leaves the gate open, with the reason", async () => {
  const fails = (reason: ConstructorParameters<typeof JudgeError>[0]): FakeJudgeOptions => ({
    answer: () => {
      throw new JudgeError(reason, `because of ${reason}`);
    },
  });
  const cases = [
    [fails("unauthorized"), "judge_unauthorized"],
    [fails("backend_error"), "judge_failed"],
    [fails("rate_limited"), "judge_failed"],
    [fails("timeout"), "deadline_exceeded"],
    [fails("refused"), "nothing_scored"],
    [{ answer: () => ({ ...answerWith([], []), text: "no idea", tokens: null }) }, "nothing_scored"],
    [{
      answer: () => {
        throw new Error("a bug in the judge");
      },
    }, "judge_failed"],
  ] satisfies [FakeJudgeOptions, string][];
  for (const [judge, code] of cases) {
    const result = await run(judge, { repeats: 2 });
    assertEquals([result.decision, result.code, result.score, result.failing], ["open", code, null, []]);
    assert(result.reason !== undefined && result.reason.length > 20);
    assert(!("steer" in result));
    assertEquals(result.unscored, 8);
  }
});

Deno.test("one call without a score leaves the gate open instead of steering, and lets the others accept", async () => {
  const broken = (scores: Record<string, number>): FakeJudgeOptions => {
    const { answer } = grades(scores);
    let calls = 0;
    return {
      concurrency: 1,
      answer: (request, context) => {
        if (++calls === 2) throw new JudgeError("backend_error", "500");
        return answer!(request, context);
      },
    };
  };
  const low = await run(broken({ alpha: 0.1, beta: 0.1 }), { repeats: 2 });
  assertEquals([low.decision, low.code], ["open", "unscored"]);
  assertStringIncludes(low.reason!, "2 of 8 scores are missing");
  assertStringIncludes(low.reason!, "backend_error");
  const high = await run(broken({ alpha: 0.9, beta: 0.9 }), { repeats: 2 });
  assertEquals([high.decision, high.unscored], ["accept", 2]);
  // Here a whole criterion has none.
  const missing = await run(broken({ alpha: 0.9, beta: 0.9 }), { repeats: 1 });
  assertEquals([missing.decision, missing.score], ["open", null]);
});

Deno.test("a budget, a day's budget, a context window and a store that fail leave the gate open, and buy nothing", async () => {
  const judge = fakeJudge({ contextTokens: 2000 });
  const open = async (more: Record<string, unknown>, options: CallOptions = {}) => {
    const result = await gate(fakeEnvironment(judge), parse(more), options);
    assert(!("plan" in result));
    assertEquals([result.decision, result.usage.calls, result.score], ["open", 0, null]);
    assertEquals(result.criteria.map(({ score }) => score), [null, null]);
    return result.code;
  };
  const refusing = (error: Error): Allowance => ({ reserve: () => Promise.reject(error), meter: () => {} });
  assertEquals(await open({ budget: { calls: 1 } }), "over_budget");
  assertEquals(await open({ trajectory: "word ".repeat(10_000) }), "context_too_long");
  assertEquals(
    await open({}, { allowance: refusing(new AssayError("budget_exhausted", "none left")) }),
    "budget_exhausted",
  );
  const { StoreError } = await import("../../store/store.ts");
  assertEquals(await open({}, { allowance: refusing(new StoreError("gone")) }), "store_unavailable");
  assertEquals(judge.requests.length, 0);
});

Deno.test("an abort and a deadline leave the gate open", async () => {
  const controller = new AbortController();
  const hang: FakeJudgeOptions = {
    answer: (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  };
  const aborted = run(
    {
      answer: (request, context) => {
        controller.abort();
        return hang.answer!(request, context);
      },
    },
    {},
    { signal: controller.signal },
  );
  assertEquals([(await aborted).decision, (await aborted).code], ["open", "aborted"]);
  assertEquals((await run({}, {}, { signal: AbortSignal.abort() })).code, "aborted");
  const late = await run(hang, { deadlineMs: 1 });
  assertEquals([late.decision, late.code], ["open", "deadline_exceeded"]);
});

Deno.test("a rubric that can't be read is replaced by coding, and its floors are not used", async () => {
  for (
    const criteria of ["codng", "# Only a title\n", "./rubric.md", "## Criteria\n### Empty\n", "{not json"]
  ) {
    const result = await run({}, { criteria, floors: { mine: 0.1 } });
    assertEquals(result.criteria.map(({ id }) => id), ["specification", "output_match", "error_signals"]);
    assert(result.warnings.some((warning) => warning.includes("coding is used instead")), criteria);
    assert(result.warnings.some((warning) => warning.startsWith("/floors/mine")));
  }
});

Deno.test("what the caller must change is an error, and buys nothing", async () => {
  const judge = fakeJudge();
  const cases: readonly [Record<string, unknown>, string][] = [
    [{ task: " " }, "/task"],
    [{ trajectory: "\n" }, "/trajectory"],
    [{ threshold: 1.5 }, "/threshold"],
    [{ threshold: "high" }, "/threshold"],
    [{ floors: { alpha: -1 } }, "/floors/alpha"],
    [{ floor: 1 }, "/floor"],
    [{ images: ["https://example.com/a.png"] }, "/images"],
    [{ a: "x" }, "/a"],
  ];
  for (const [more, path] of cases) {
    const error = await assertRejects(
      async () => await gate(fakeEnvironment(judge), parse(more)),
      AssayError,
    );
    assertEquals([error.code, error.errors[0]?.path], ["invalid_request", path], JSON.stringify(more));
  }
  assertEquals(judge.requests.length, 0);
});

Deno.test("a dry run of a gate plans criteria x repeats calls and buys nothing", async () => {
  const judge = fakeJudge();
  const result = await gate(fakeEnvironment(judge), parse({ dryRun: true, repeats: 3 }));
  assert("plan" in result);
  assertEquals([result.plan.pairs, result.plan.calls, judge.requests.length], [1, 6, 0]);
});

Deno.test("a gate's decision is stored and derived again, accepted, steered or open", async () => {
  const answers: readonly [FakeJudgeOptions, string][] = [
    [grades({ alpha: 0.9, beta: 0.9 }), "accept"],
    [grades({ alpha: 0.9, beta: 0.2 }), "steer"],
    [{
      answer: () => {
        throw new JudgeError("unauthorized", "401");
      },
    }, "open"],
  ];
  for (const [judge, decision] of answers) {
    const environment = fakeEnvironment(fakeJudge(judge));
    const result = await gate(environment, parse({ repeats: 2, floors: { beta: 0.5 } }));
    assert(!("plan" in result));
    assertEquals(result.decision, decision);
    const { decisions } = await listDecisions(environment.store, { limit: 5 });
    assertEquals(decisions.map(({ id, verb }) => [id, verb]), [[result.id, "gate"]]);
    const replayed = replayDecision(await readDecision(environment.store, result.id));
    assertEquals([replayed.equal, replayed.scope, replayed.differences], [true, "verdict", []]);
  }
});

Deno.test("the embedded judge says that it is a weak gate", async () => {
  const result = await run({ kind: "evidence" });
  assert(result.warnings.some((warning) => warning.includes("weak gate")));
});
