/**
 * Figures of a ranking on labelled runs, with intervals.
 *
 * @module
 */

/** A way to rank the runs of one task. */
export interface Ranker {
  /** Positive when run `i` is ranked above run `j`. */
  readonly above: (i: number, j: number) => number;
  /** The higher, the better; equal highest values share the pick. */
  readonly strengths: readonly number[];
}

/** How a ranker did on one task. */
export interface Outcome {
  /** Pairs of a passing and a failing run in the right order; ties count half. */
  readonly right: number;
  readonly pairs: number;
  /** Share of passing runs among those picked. */
  readonly pick: number;
}

/** A share with its 95 % interval, each 0 to 1. */
export type Figure = readonly [value: number, low: number, high: number];

const TIE = 1e-9;
const RESAMPLES = 5000;

/** Ranks by one number a run. */
export function byStrength(strengths: readonly number[]): Ranker {
  return { above: (i, j) => strengths[i]! - strengths[j]!, strengths };
}

/** Scores a ranking against what really passed. */
export function outcome(rewards: readonly number[], { above, strengths }: Ranker): Outcome {
  let right = 0;
  let pairs = 0;
  rewards.forEach((passed, i) =>
    rewards.forEach((other, j) => {
      if (!(passed > 0) || other > 0) return;
      const lead = above(i, j);
      pairs++;
      right += lead > TIE ? 1 : lead < -TIE ? 0 : 0.5;
    })
  );
  const best = Math.max(...strengths);
  const picked = rewards.filter((_, i) => strengths[i]! > best - TIE);
  return { right, pairs, pick: picked.filter((reward) => reward > 0).length / picked.length };
}

/** The mean over several outcomes of one task (its lists of three), as one outcome. */
export function averaged(outcomes: readonly Outcome[]): Outcome {
  const mean = (value: (one: Outcome) => number) =>
    outcomes.reduce((sum, one) => sum + value(one), 0) / outcomes.length;
  return { right: mean((one) => one.right), pairs: mean((one) => one.pairs), pick: mean((one) => one.pick) };
}

/** Share of pairs in the right order, over all tasks' pairs; bootstrap over tasks. */
export function pairFigure(outcomes: readonly Outcome[]): Figure {
  return bootstrap(outcomes.length, (sample) => shareOfPairs(sample.map((task) => outcomes[task]!)));
}

/** How much larger the first ranker's share of pairs is, on the same tasks; bootstrap over tasks. */
export function pairDifference(ofOne: readonly Outcome[], ofOther: readonly Outcome[]): Figure {
  return bootstrap(
    ofOne.length,
    (sample) =>
      shareOfPairs(sample.map((task) => ofOne[task]!)) - shareOfPairs(sample.map((task) => ofOther[task]!)),
  );
}

/** Share of tasks whose pick passed; bootstrap over tasks. */
export function pickFigure(outcomes: readonly Outcome[]): Figure {
  return bootstrap(
    outcomes.length,
    (sample) => sample.reduce((sum, task) => sum + outcomes[task]!.pick, 0) / sample.length,
  );
}

function shareOfPairs(outcomes: readonly Outcome[]): number {
  let right = 0;
  let pairs = 0;
  for (const one of outcomes) {
    right += one.right;
    pairs += one.pairs;
  }
  return right / pairs;
}

/** A statistic of the tasks `0 … tasks - 1`, and its spread when tasks are drawn with replacement. */
function bootstrap(tasks: number, statistic: (sample: readonly number[]) => number): Figure {
  if (tasks === 0) return [NaN, NaN, NaN];
  const all = Array.from({ length: tasks }, (_, task) => task);
  const random = mulberry32(7);
  const values = Array.from(
    { length: RESAMPLES },
    () => statistic(all.map(() => Math.floor(random() * tasks))),
  ).sort((x, y) => x - y);
  const at = (share: number) => values[Math.floor(share * (RESAMPLES - 1))]!;
  return [statistic(all), at(0.025), at(0.975)];
}

/** A small seeded generator: the same table on every run. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
