import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AssayError } from "../errors.ts";
import {
  type Pair,
  pivotPairs,
  ringPairs,
  roundRobinPairs,
  shuffledIndices,
  upstreamPivotRound,
  upstreamPivots,
  upstreamRing,
  upstreamRings,
  upstreamStandings,
} from "./schedule.ts";

/** Slot A minus slot B, worst candidate. */
function imbalance(count: number, pairs: readonly Pair[]): number {
  const balance = new Array<number>(count).fill(0);
  for (const [a, b] of pairs) {
    balance[a]!++;
    balance[b]!--;
  }
  return Math.max(0, ...balance.map(Math.abs));
}

const unordered = (pairs: readonly Pair[]) =>
  new Set(pairs.map(([a, b]) => `${Math.min(a, b)},${Math.max(a, b)}`));

Deno.test("ringPairs() is a closed cycle from three candidates on, one pair for two, none below", () => {
  assertEquals(ringPairs(0, 7), []);
  assertEquals(ringPairs(1, 7), []);
  assertEquals(ringPairs(2, 7).length, 1);
  assertEquals(ringPairs(3, 0), [[0, 2], [2, 1], [1, 0]]);
  const ring = ringPairs(1000, 7);
  assertEquals(new Set(ring.map(([a]) => a)).size, 1000);
  assertEquals(new Set(ring.map(([, b]) => b)).size, 1000);
});

Deno.test("pivotPairs() completes a ring: no pair twice in either direction, slots balanced within 1", () => {
  const seeds = fc.integer({ min: -(2 ** 53), max: 2 ** 53 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 30 }), fc.integer({ min: 0, max: 5 }), seeds, (count, k, seed) => {
      const ring = ringPairs(count, seed);
      const pivots = shuffledIndices(count, seed).slice(0, k);
      const round = pivotPairs(count, pivots, ring);
      const all = [...ring, ...round];
      assertEquals(unordered(all).size, all.length);
      assert(imbalance(count, all) <= 1);
      const n = pivots.length;
      const withPivot = all.filter(([a, b]) => pivots.includes(a) || pivots.includes(b));
      assertEquals(withPivot.length, n * (count - n) + n * (n - 1) / 2);
      assertEquals(pivotPairs(count, pivots, ring), round);
    }),
  );
});

Deno.test("pivotPairs() prefers a warm slot-A candidate on ties", () => {
  // Candidates 0 and 1 have equal slot counts, but only 1 has been in slot A.
  assertEquals(pivotPairs(4, [0], [[1, 2], [2, 1], [1, 3], [3, 1], [0, 2], [3, 0]]), [[1, 0]]);
  assertEquals(pivotPairs(4, [0], [[1, 2], [2, 1], [2, 0], [3, 0]])[0], [0, 1]);
});

Deno.test("roundRobinPairs() holds every pair once, balanced within 1, and depends on the seed", () => {
  for (const count of [0, 1, 2, 3, 4, 5, 8, 17, 64]) {
    const pairs = roundRobinPairs(count, 3);
    assertEquals(pairs.length, count * Math.max(0, count - 1) / 2);
    assertEquals(unordered(pairs).size, pairs.length);
    assert(imbalance(count, pairs) <= 1 - count % 2);
  }
  assertEquals(roundRobinPairs(8, 3), roundRobinPairs(8, 3));
  assert(JSON.stringify(roundRobinPairs(8, 3)) !== JSON.stringify(roundRobinPairs(8, 4)));
});

Deno.test("the schedules name bad input and its value", () => {
  const path = (run: () => unknown) => {
    const error = assertThrows(run, AssayError);
    assertEquals(error.code, "invalid_request");
    return error.errors[0]?.path;
  };
  for (const count of [-1, 1.5, NaN, Infinity, 1001]) {
    assertEquals(path(() => ringPairs(count, 0)), "/count");
    assertEquals(path(() => roundRobinPairs(count, 0)), "/count");
    assertEquals(path(() => upstreamRing(count, 0)), "/count");
  }
  for (const seed of [0.5, NaN, Infinity, 2 ** 53 + 2]) {
    assertEquals(path(() => shuffledIndices(3, seed)), "/seed");
  }
  assertEquals(path(() => pivotPairs(3, [-1], [])), "/pivots/0");
  assertEquals(path(() => pivotPairs(3, [0, 0], [])), "/pivots/1");
  assertEquals(path(() => pivotPairs(3, [0], [[0, 1], [1, 3]])), "/bought/1/1");
  assertEquals(path(() => pivotPairs(3, [0], [[1, 1]])), "/bought/0");
  assertEquals(path(() => upstreamPivotRound(3, [3])), "/pivots/0");
  assertEquals(path(() => upstreamStandings(2, [{ a: 0, b: 2, rewardA: 0, rewardB: 0 }])), "/pairs/0/1");
  assertEquals(path(() => upstreamStandings(2, [{ a: 0, b: 1, rewardA: 0, rewardB: NaN }])), "/rewards/0");
  assertEquals(path(() => upstreamPivots({ wins: [1], games: [1] }, -1)), "/pivots");
});

Deno.test("upstreamRings() draws from one generator, upstreamRing() from a fresh one", () => {
  const [first, second, none, pair] = upstreamRings([5, 5, 1, 2], 0);
  assertEquals(first, upstreamRing(5, 0));
  assert(JSON.stringify(second) !== JSON.stringify(first));
  assertEquals(none, []);
  assertEquals(pair?.length, 2);
});

Deno.test("upstreamStandings() counts a repeated pair twice and ranks ties by index", () => {
  const pair = { a: 2, b: 0, rewardA: 1, rewardB: 0 };
  const { wins, games, rates, ranking } = upstreamStandings(4, [pair, pair]);
  const p = 1 / (1 + Math.exp(-1));
  assertEquals([...games], [2, 0, 2, 0]);
  assertEquals([...wins], [2 * (1 - p), 0, 2 * p, 0]);
  assertEquals([...rates], [1 - p, 0, p, 0]);
  assertEquals(ranking, [2, 0, 1, 3]);
  assertEquals(upstreamPivots({ wins, games }, 2), [2, 0]);
});
