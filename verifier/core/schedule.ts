/**
 * Which pairs to buy. The schedules and where they come from are documented in `core/src/schedule.rs`. All are pure: the
 * same arguments give the same pairs. Up to 1,000 candidates.
 *
 * @module
 */
import { call } from "./runtime.ts";

/** A directed pair: `[shown in slot A, shown in slot B]`. */
export type Pair = readonly [number, number];

function pairs(flat: Uint32Array): Pair[] {
  const out = new Array<Pair>(flat.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = [flat[2 * i]!, flat[2 * i + 1]!];
  return out;
}

function flat(pairs: readonly Pair[]): Float64Array {
  const out = new Float64Array(2 * pairs.length);
  pairs.forEach(([a, b], i) => {
    out[2 * i] = a;
    out[2 * i + 1] = b;
  });
  return out;
}

/**
 * Seeded random ring over `count` candidates: `count` pairs for 3 or more, in which everyone sits once in slot A and
 * once in slot B; one pair for two, none below.
 *
 * @param seed an integer from -2^53 to 2^53
 * @throws {AssayError} `invalid_request` for a count that isn't a whole number up to 1,000, or another seed
 *
 * @example
 * ```ts
 * import { ringPairs } from "./schedule.ts";
 *
 * console.log(ringPairs(3, 0)); // [[0, 2], [2, 1], [1, 0]]
 * ```
 */
export function ringPairs(count: number, seed: number): readonly Pair[] {
  return pairs(call((core) => core.ringPairs(count, seed)));
}

/**
 * Pivot round: every non-pivot against every pivot and the pivots among themselves, without pairs in `bought` (in either
 * direction); slots balanced over both, within 1 per candidate after a ring.
 *
 * @throws {AssayError} `invalid_request` for indices out of range, repeated pivots, a pair of one candidate with itself
 */
export function pivotPairs(
  count: number,
  pivots: readonly number[],
  bought: readonly Pair[],
): readonly Pair[] {
  const known = flat(bought);
  return pairs(call((core) => core.pivotPairs(count, Float64Array.from(pivots), known)));
}

/**
 * Every unordered pair once, slots balanced within 1 per candidate, order and orientation seeded.
 * @throws {AssayError} as {@linkcode ringPairs}
 */
export function roundRobinPairs(count: number, seed: number): readonly Pair[] {
  return pairs(call((core) => core.roundRobinPairs(count, seed)));
}

/**
 * The published reference's ring (both directions for two candidates), CPython Mersenne Twister.
 * @throws {AssayError} as {@linkcode ringPairs}
 */
export function upstreamRing(count: number, seed: number): readonly Pair[] {
  return pairs(call((core) => core.upstreamRings(Float64Array.of(count), seed)));
}

/**
 * Rings of several tournaments from one generator, as the reference's benchmark script draws them.
 * @returns one ring per count
 * @throws {AssayError} as {@linkcode ringPairs}
 */
export function upstreamRings(counts: readonly number[], seed: number): readonly (readonly Pair[])[] {
  const all = pairs(call((core) => core.upstreamRings(Float64Array.from(counts), seed)));
  let from = 0;
  return counts.map((count) => all.slice(from, from += count > 1 ? count : 0));
}

/**
 * The published reference's pivot round: pivots in slot B, duplicates of ring pairs kept.
 * @throws {AssayError} as {@linkcode pivotPairs}
 */
export function upstreamPivotRound(count: number, pivots: readonly number[]): readonly Pair[] {
  return pairs(call((core) => core.upstreamPivotRound(count, Float64Array.from(pivots))));
}

/** Seeded shuffle of 0 … count-1 (CPython's `random.Random(seed).shuffle`). @throws {AssayError} as {@linkcode ringPairs} */
export function shuffledIndices(count: number, seed: number): readonly number[] {
  return Array.from(call((core) => core.shuffledIndices(count, seed)));
}

/** A judged pair: rewards (0 to 1) of the candidates in slot A and slot B. */
export interface JudgedPair {
  /** Candidate in slot A. */
  readonly a: number;
  /** Candidate in slot B, another one. */
  readonly b: number;
  /** Reward of `a`, 0 to 1. */
  readonly rewardA: number;
  /** Reward of `b`, 0 to 1. */
  readonly rewardB: number;
}

/** Soft wins: each pair gives `1 / (1 + exp(rewardB - rewardA))` to `a` and the rest to `b`. */
export interface Standings {
  /** Sum of soft wins per candidate. */
  readonly wins: Float64Array;
  /** Pairs per candidate, repeated ones counted each time. */
  readonly games: Float64Array;
  /** Mean soft win, 0.27 to 0.73; 0 without a game (the reference's value: look at `games`). */
  readonly rates: Float64Array;
  /** Candidates by falling rate, ties to the lower index; the first is the reference's pick. */
  readonly ranking: readonly number[];
}

/**
 * The reference's aggregation: soft wins over `pairs` in order; a pair that comes twice counts twice. Also the soft-win
 * rates that every mode reports.
 *
 * @throws {AssayError} `invalid_request` for indices out of range or rewards outside 0 to 1
 */
export function upstreamStandings(count: number, pairs: readonly JudgedPair[]): Standings {
  const indices = flat(pairs.map(({ a, b }) => [a, b]));
  const rewards = flat(pairs.map(({ rewardA, rewardB }) => [rewardA, rewardB]));
  const both = call((core) => core.upstreamStandings(count, indices, rewards));
  const wins = both.slice(0, count);
  const games = both.slice(count);
  const ranking = Array.from(call((core) => core.upstreamPivots(wins, games, count)));
  return { wins, games, rates: wins.map((w, i) => w / Math.max(1, games[i]!)), ranking };
}

/**
 * The reference's pivots: the `pivots` candidates (all, if there are fewer) of the highest mean soft win, best first,
 * ties to the lower index.
 * @throws {AssayError} `invalid_request` if `pivots` isn't a whole number up to 1,000
 */
export function upstreamPivots(
  standings: { readonly wins: ArrayLike<number>; readonly games: ArrayLike<number> },
  pivots: number,
): readonly number[] {
  const wins = Float64Array.from(standings.wins);
  const games = Float64Array.from(standings.games);
  return Array.from(call((core) => core.upstreamPivots(wins, games, pivots)));
}
