import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { AnswerUsage, Price } from "./judges/judge.ts";
import { addUsage, costUsd, noUsage, UsageMeter } from "./usage.ts";

const PRICE: Price = { inputPerMillion: 1, cachedInputPerMillion: 0.1, outputPerMillion: 4 };
const FREE: Price = { inputPerMillion: 0, cachedInputPerMillion: 0, outputPerMillion: 0 };
const used = (fields: Partial<AnswerUsage> = {}): AnswerUsage => ({
  inputTokens: 1000,
  cachedInputTokens: 400,
  outputTokens: 100,
  reasoningTokens: 60,
  ...fields,
});

const NOTHING = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 };

Deno.test("costUsd() prices uncached, cached and output tokens each at its rate, reasoning only once", () => {
  assertAlmostEquals(costUsd(used(), PRICE)!, (600 * 1 + 400 * 0.1 + 100 * 4) / 1e6, 1e-15);
});

Deno.test("costUsd() is null when the price or a count it depends on is unknown", () => {
  assertEquals(costUsd(used(), null), null);
  assertEquals(costUsd(null, PRICE), null);
  assertEquals(costUsd(used({ inputTokens: null }), PRICE), null);
  assertEquals(costUsd(used({ outputTokens: null }), PRICE), null);
  assertEquals(costUsd(used({ cachedInputTokens: null }), PRICE), null);
  assert(costUsd(used({ cachedInputTokens: null }), { ...PRICE, cachedInputPerMillion: 1 }) !== null);
  assert(costUsd(used({ reasoningTokens: null }), PRICE) !== null);
});

Deno.test("costUsd() of a free judge is 0 whatever is known of its tokens", () => {
  assertEquals(costUsd(null, FREE), 0);
  assertEquals(costUsd(used({ inputTokens: null, outputTokens: null }), FREE), 0);
});

Deno.test("costUsd() never goes below zero and never below what the same call costs with everything cached", () => {
  const tokens = fc.nat({ max: 10_000_000 });
  fc.assert(fc.property(tokens, tokens, tokens, (inputTokens, cachedInputTokens, outputTokens) => {
    const cost = costUsd(used({ inputTokens, cachedInputTokens, outputTokens }), PRICE)!;
    const least = costUsd(used({ inputTokens, cachedInputTokens: inputTokens, outputTokens }), PRICE)!;
    assert(cost >= least && least >= 0);
  }));
});

Deno.test("UsageMeter counts failed attempts, and one unknown attempt makes the money unknown for good", () => {
  const meter = new UsageMeter(PRICE);
  assertEquals(meter.total(), noUsage());
  meter.call();
  meter.attempt(used({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 }));
  meter.attempt(used());
  meter.ended();
  meter.hit();
  const before = meter.total();
  assertEquals(
    [before.calls, before.attempts, before.cacheHits, before.inputTokens, before.reasoningTokens],
    [1, 2, 1, 1000, 60],
  );
  assertAlmostEquals(before.usd!, 0.00104);
  meter.attempt(null);
  meter.attempt(used());
  assertEquals([meter.total().attempts, meter.total().inputTokens, meter.total().usd], [4, 2000, null]);
  assertAlmostEquals(before.usd!, 0.00104, 1e-12, "a total is a copy");
});

Deno.test("UsageMeter without a price knows no money, and with cache hits alone costs nothing", () => {
  const meter = new UsageMeter(null);
  meter.hit();
  assertEquals(meter.total().usd, 0);
  meter.attempt(used());
  assertEquals(meter.total().usd, null);
});

Deno.test("addUsage() adds every field and keeps unknown money unknown", () => {
  const one = {
    ...noUsage(),
    calls: 1,
    attempts: 2,
    cacheHits: 3,
    inputTokens: 4,
    cachedInputTokens: 5,
    outputTokens: 6,
    reasoningTokens: 7,
    usd: 8,
  };
  assertEquals(addUsage(one, one), {
    calls: 2,
    attempts: 4,
    cacheHits: 6,
    inputTokens: 8,
    cachedInputTokens: 10,
    outputTokens: 12,
    reasoningTokens: 14,
    usd: 16,
  });
  assertEquals(addUsage(one, { ...one, usd: null }).usd, null);
});

Deno.test("a call that is still open counts as an attempt of unknown cost, but free where the judge is", () => {
  const price = (rate: number) => ({
    inputPerMillion: rate,
    cachedInputPerMillion: rate,
    outputPerMillion: rate,
  });
  for (const [rate, usd] of [[1, null], [0, 0]] as const) {
    const meter = new UsageMeter(price(rate));
    meter.call();
    assertEquals([meter.total().calls, meter.total().attempts, meter.total().usd], [1, 1, usd]);
    meter.attempt(NOTHING);
    meter.ended();
    assertEquals([meter.total().attempts, meter.total().usd], [1, 0]);
  }
});
