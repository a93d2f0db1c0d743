/**
 * From everything that was judged to the standings of a `select`: a function of its arguments alone, so that a stored
 * decision can be derived again.
 *
 * @module
 */
import { probabilityRight, rate, type Rating } from "../core.ts";
import { type JudgeNames, type JudgeWork, reportEnsemble } from "../ensemble/report.ts";
import type { Calibration } from "../judges/judge.ts";
import { rankOrder, TIE_TOLERANCE } from "../math.ts";
import {
  countPairs,
  observationsOf,
  pairResult,
  type PlayedPair,
  softWins,
  unscoredParts,
} from "./results.ts";
import { SOFT_WIN_TOLERANCE, type UniqueCandidates } from "./schedule.ts";
import type { Criterion, RankingEntry, Score, SelectResult, SharedResult } from "../types.ts";

/** Agreement between the candidates as it enters a ranking. */
export interface SelectPrior {
  /** Prior means of the strengths; `undefined` where agreement doesn't enter. */
  readonly means: readonly number[] | undefined;
  /** Mean overlap with the other candidates, per differing candidate; `null` with fewer than three. */
  readonly shown: readonly number[] | null;
}

/** What standings depend on, beside what was judged. */
export interface SelectBasis {
  readonly criteria: readonly Criterion[];
  readonly judge: JudgeNames;
  readonly calibration: Calibration | null;
  /** The callers' names of all candidates. */
  readonly ids: readonly (string | null)[];
  readonly unique: UniqueCandidates;
  readonly prior: SelectPrior;
}

function rating({ criteria, prior, unique }: SelectBasis, played: readonly PlayedPair[]): Rating {
  return rate(unique.firsts.length, observationsOf(played, criteria), prior.means);
}

/** Standing of the differing candidates after the first round, by which the pivots are chosen. */
export function firstStanding(
  basis: SelectBasis,
  mode: SelectResult["mode"],
  played: readonly PlayedPair[],
): readonly number[] {
  return mode === "upstream"
    ? softWins(basis.unique.firsts.length, played, basis.criteria).map(({ rate }) => rate ?? -1)
    : [...rating(basis, played).strength];
}

/** A pair that the reference schedule repeats was bought, and is counted, once. */
function distinct(played: readonly PlayedPair[]): readonly PlayedPair[] {
  return [...new Map(played.map((pair) => [pair.calls, pair])).values()];
}

/** All parts of all calls, each once. */
export function scoresOf(played: readonly PlayedPair[]): readonly Score[] {
  return distinct(played).flatMap(({ calls }) => calls.flatMap((call) => [call.a, call.b]));
}

/** The best of what one judge of an ensemble said by itself; `null` for a tie, or when it scored nothing. */
function ownBest(
  basis: SelectBasis,
  mode: SelectResult["mode"],
  played: readonly PlayedPair[],
): number | null {
  if (observationsOf(played, basis.criteria).length === 0) return null;
  const standing = firstStanding(basis, mode, played);
  const tolerance = mode === "upstream" ? SOFT_WIN_TOLERANCE : TIE_TOLERANCE;
  const [first = 0, second = 0] = rankOrder(standing, tolerance);
  return (standing[first] ?? 0) - (standing[second] ?? 0) <= tolerance
    ? null
    : basis.unique.firsts[first] ?? null;
}

/** Ranking, best candidate and everything else that follows from the pairs that were judged. */
export function standings(
  basis: SelectBasis,
  played: readonly PlayedPair[],
  outcome: { readonly mode: SelectResult["mode"]; readonly stopped: SelectResult["stopped"] },
): Omit<SelectResult, keyof SharedResult> {
  const { criteria, unique, calibration, ids } = basis;
  const { shown, means } = basis.prior;
  const count = unique.firsts.length;
  const wins = softWins(count, played, criteria);
  const rated = outcome.mode === "upstream" || played.length === 0 ? null : rating(basis, played);
  // Without games (one candidate, or all identical) nothing was measured; the order of the indices stays.
  const standing = (index: number): number => rated?.strength[index] ?? wins[index]?.rate ?? -1;
  const order = rankOrder(
    unique.firsts.map((_, index) => standing(index)),
    rated === null ? SOFT_WIN_TOLERANCE : TIE_TOLERANCE,
  );
  const [first = 0, second] = order;
  const tie = rated !== null && second !== undefined && standing(first) - standing(second) <= TIE_TOLERANCE;
  const ranking = order.flatMap((index): RankingEntry[] =>
    (unique.members[index] ?? []).map((candidate, copy) => {
      const id = ids[candidate] ?? null;
      const overlap = shown?.[index];
      return {
        index: candidate,
        ...(id === null ? {} : { id }),
        strength: rated?.strength[index] ?? null,
        standardError: rated?.standardError[index] ?? null,
        probabilityBest: count === 1 ? 1 : rated?.probabilityBest[index] ?? null,
        winRate: wins[index]?.rate ?? null,
        games: wins[index]?.games ?? 0,
        ...(overlap === undefined ? {} : { agreement: overlap }),
        ...(copy === 0 ? {} : { identicalTo: unique.firsts[index] ?? candidate }),
      };
    })
  );
  const candidate = (index: number): number => unique.firsts[index] ?? index;
  const ofJudge = (index: number): JudgeWork => {
    const own = (pairs: readonly PlayedPair[]): readonly PlayedPair[] =>
      pairs.map((pair) => ({ ...pair, calls: pair.calls.flatMap(({ byJudge }) => byJudge?.[index] ?? []) }));
    return { scores: scoresOf(own(distinct(played))), winner: ownBest(basis, outcome.mode, own(played)) };
  };
  return {
    verb: "select",
    mode: outcome.mode,
    best: candidate(first),
    probabilityRight: rated === null || calibration === null
      ? null
      : probabilityRight(count, observationsOf(played, criteria), first, calibration, means),
    stopped: outcome.stopped === "complete" && tie ? "tie" : outcome.stopped,
    ...(played.length === 0 ? {} : reportEnsemble(basis.judge, ofJudge, candidate(first))),
    slotBias: rated?.slotBias ?? null,
    cycleResidual: rated?.cycleResidual ?? null,
    ranking,
    pairs: played.map((pair) => pairResult(pair, criteria, candidate)),
    criteria: countPairs(distinct(played), criteria),
    unscoredParts: unscoredParts(distinct(played), criteria, candidate),
  };
}
