/**
 * Which pairs to buy.
 *
 * @module
 */

const todo = (): never => {
  throw new Error("the core is not built yet");
};

/** A directed pair: `[shown in slot A, shown in slot B]`. */
export type Pair = readonly [number, number];

/** Seeded random ring over `count` candidates: `count` pairs for 3 or more, one for two, none below. */
export function ringPairs(_count: number, _seed: number): readonly Pair[] {
  return todo();
}

/** Pivot round: every non-pivot against every pivot and the pivots among themselves, without pairs in `bought`; slots balanced over both. */
export function pivotPairs(
  _count: number,
  _pivots: readonly number[],
  _bought: readonly Pair[],
): readonly Pair[] {
  return todo();
}

/** Every unordered pair once, slots balanced, order and orientation seeded. */
export function roundRobinPairs(_count: number, _seed: number): readonly Pair[] {
  return todo();
}

/** The published reference's ring (both directions for two candidates), CPython Mersenne Twister. */
export function upstreamRing(_count: number, _seed: number): readonly Pair[] {
  return todo();
}

/** The published reference's pivot round: pivots in slot B, duplicates of ring pairs kept. */
export function upstreamPivotRound(_count: number, _pivots: readonly number[]): readonly Pair[] {
  return todo();
}

/** Seeded shuffle of 0 … count-1 (CPython's `random.Random(seed).shuffle`). */
export function shuffledIndices(_count: number, _seed: number): readonly number[] {
  return todo();
}
