/**
 * From the calls of a tournament to rows of its result.
 *
 * @module
 */
import { type Observation, upstreamStandings } from "../core.ts";
import { winnerOf } from "../math.ts";
import { bothScores, criterionRewards, overallRewards, type PairCall } from "../pair.ts";
import type { Criterion, PairResult, SelectResult } from "../types.ts";

/** One pair of the schedule with its calls; `a` and `b` index the differing candidates. */
export interface PlayedPair {
  /** Shown in slot A in even repeats. */
  readonly a: number;
  /** Shown in slot B in even repeats. */
  readonly b: number;
  /** 1 or 2. */
  readonly round: number;
  /** All criteria and repeats. */
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
  /** Pairs with a score. */
  readonly games: number;
}

/** The published reference's mean soft wins over the pairs that have a score, in the order of the schedule. */
export function softWins(
  count: number,
  played: readonly PlayedPair[],
  criteria: readonly Pick<Criterion, "weight">[],
): readonly SoftWins[] {
  const judged = played.flatMap((pair) => {
    const { rewardA, rewardB } = rewardsOf(pair, criteria);
    // A weighted mean of ones may come out a last bit above one.
    return rewardA === null || rewardB === null
      ? []
      : [{ a: pair.a, b: pair.b, rewardA: Math.min(1, rewardA), rewardB: Math.min(1, rewardB) }];
  });
  const { games, rates } = upstreamStandings(count, judged);
  return Array.from(games, (own, index) => ({ games: own, rate: own === 0 ? null : rates[index] ?? null }));
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
