import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { fakeJudge } from "../tests/verbs/fake_judge.ts";
import { AssayError } from "./errors.ts";
import {
  BYTES_PER_TOKEN,
  checkBudget,
  checkContext,
  DEFAULT_OUTPUT_TOKENS,
  estimateTokens,
  planCalls,
} from "./plan.ts";

const bytes = (tokens: number): number => Math.floor(tokens * BYTES_PER_TOKEN) - 1;
const PREFIX = { prefixBytes: bytes(1000), suffixBytes: [bytes(100), bytes(100), bytes(100)], images: 0 };

Deno.test("planCalls() counts a prefix once as fresh and then as cached", () => {
  const plan = planCalls(fakeJudge(), 1, [PREFIX, PREFIX]);
  assertEquals({ ...plan, usd: 0 }, {
    pairs: 1,
    calls: 6,
    inputTokens: 6600,
    cachedInputTokens: 4000,
    outputTokens: 600,
    usd: 0,
  });
  assertAlmostEquals(plan.usd!, (2600 * 1 + 4000 * 0.1 + 600 * 2) / 1e6);
});

Deno.test("planCalls() promises no cache to a judge that warms none, and no money without a price", () => {
  const plan = planCalls(fakeJudge({ warmsPrefix: false, price: null, expectedOutputTokens: null }), 1, [
    PREFIX,
  ]);
  assertEquals([plan.cachedInputTokens, plan.usd, plan.outputTokens], [0, null, 3 * DEFAULT_OUTPUT_TOKENS]);
});

Deno.test("planCalls() of nothing is nothing", () => {
  assertEquals(planCalls(fakeJudge(), 0, []), {
    pairs: 0,
    calls: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    usd: 0,
  });
});

Deno.test("checkBudget() lets a plan through that is exactly on its limits", () => {
  const plan = planCalls(fakeJudge(), 1, [PREFIX]);
  const tokens = plan.inputTokens + plan.outputTokens;
  checkBudget(plan, undefined);
  checkBudget(plan, { calls: plan.calls, tokens, usd: plan.usd! });
  for (const budget of [{ calls: plan.calls - 1 }, { tokens: tokens - 1 }, { usd: plan.usd! * 0.99 }]) {
    assertEquals(assertThrows(() => checkBudget(plan, budget), AssayError).plan, plan);
  }
});

Deno.test("checkContext() refuses what surely doesn't fit, with the counts", () => {
  checkContext(fakeJudge({ contextTokens: 100 }), 400, 0, "/a", "a");
  checkContext(fakeJudge(), 1e9, 0, "/a", "a");
  const error = assertThrows(
    () => checkContext(fakeJudge({ contextTokens: 100 }), 404, 0, "/a", "a and b"),
    AssayError,
    "at least 101 tokens",
  );
  assertEquals(error.errors[0]?.path, "/a");
});

Deno.test("estimateTokens() rounds up", () => assertEquals([estimateTokens(0), estimateTokens(1)], [0, 1]));
