/**
 * From the calls of a tournament to rows of its result.
 *
 * @module
 */
import type { Observation } from "./core.ts";
import { sigmoid, winnerOf } from "./math.ts";
import { bothScores, criterionRewards, overallRewards, type PairCall } from "./pair.ts";
import type { Criterion, PairResult, SelectResult } from "./types.ts";

/** One pair of the schedule with its calls; `a` and `b` index the differing candidates. */
export interface PlayedPair {
  readonly a: number;
  readonly b: number;
  readonly round: number;
  readonly calls: readonly PairCall[];
}

/** Calls with both scores as the rating sees them: by slots, criterion weights at mean 1. */
export function observationsOf(
  played: readonly PlayedPair[],
  criteria: readonly Criterion[],
): readonly Observation[] {
  const total = criteria.reduce((sum, { weight }) => sum + weight, 0);
  const weights = criteria.map(({ weight }) => weight * criteria.length / total);
  return played.flatMap(({ a, b, calls }) =>
    calls.flatMap((call): Observation[] => {
      const both = bothScores(call);
      if (both === null) return [];
      const { criterion } = call;
      const weight = weights[criterion] ?? 1;
      return [
        call.swapped
          ? { a: b, b: a, criterion, difference: both.b - both.a, weight }
          : { a, b, criterion, difference: both.a - both.b, weight },
      ];
    })
  );
}

function rewardsOf(
  pair: PlayedPair,
  criteria: readonly Pick<Criterion, "weight">[],
): { rewardA: number | null; rewardB: number | null } {
  return overallRewards(criterionRewards(pair.calls, criteria.length), criteria.map(({ weight }) => weight));
}

/** The pair as a result shows it. @param candidate from an index of the differing candidates to the request's */
export function pairResult(
  pair: PlayedPair,
  criteria: readonly Pick<Criterion, "weight">[],
  candidate: (index: number) => number,
): PairResult {
  const { rewardA, rewardB } = rewardsOf(pair, criteria);
  return {
    a: candidate(pair.a),
    b: candidate(pair.b),
    rewardA,
    rewardB,
    winner: rewardA === null || rewardB === null ? null : winnerOf(rewardA, rewardB),
    round: pair.round,
  };
}

/** Mean soft win per candidate. */
export interface SoftWins {
  /** 0 to 1; `null` without a scored game. */
  readonly rate: number | null;
  readonly games: number;
}

/**
 * The published reference's aggregation: `sigmoid(rewardA - rewardB)` to A, the rest to B, in the order of the
 * schedule, divided by the games. Pairs without a score are left out.
 */
export function softWins(
  count: number,
  played: readonly PlayedPair[],
  criteria: readonly Pick<Criterion, "weight">[],
): readonly SoftWins[] {
  const wins = new Float64Array(count);
  const games = new Int32Array(count);
  for (const pair of played) {
    const { rewardA, rewardB } = rewardsOf(pair, criteria);
    if (rewardA === null || rewardB === null) continue;
    const win = sigmoid(rewardA - rewardB);
    wins[pair.a] = (wins[pair.a] ?? 0) + win;
    wins[pair.b] = (wins[pair.b] ?? 0) + 1 - win;
    games[pair.a] = (games[pair.a] ?? 0) + 1;
    games[pair.b] = (games[pair.b] ?? 0) + 1;
  }
  return Array.from(
    games,
    (own, index) => ({ games: own, rate: own === 0 ? null : (wins[index] ?? 0) / own }),
  );
}

/** Calls with both scores and the others, per criterion. */
export function countPairs(
  played: readonly PlayedPair[],
  criteria: readonly Criterion[],
): SelectResult["criteria"] {
  const counts = criterionRewards(played.flatMap(({ calls }) => calls), criteria.length);
  return criteria.map(({ id, name, weight }, i) => (
    { id, name, weight, scored: counts[i]?.scored ?? 0, unscored: counts[i]?.unscored ?? 0 }
  ));
}

/** Every part without a score, in the order of the schedule. */
export function unscoredParts(
  played: readonly PlayedPair[],
  criteria: readonly Criterion[],
  candidate: (index: number) => number,
): SelectResult["unscoredParts"] {
  return played.flatMap(({ a, b, calls }) =>
    calls.flatMap((call) =>
      (["A", "B"] as const).flatMap((side) => {
        const score = side === "A" ? call.a : call.b;
        if (score.kind === "scored") return [];
        const { reason, detail } = score;
        return [{
          a: candidate(a),
          b: candidate(b),
          criterion: criteria[call.criterion]?.id ?? "",
          repeat: call.repeat,
          side,
          reason,
          ...(detail === undefined ? {} : { detail }),
        }];
      })
    )
  );
}
