/**
 * Which pairs a `select` plays, and what they will cost.
 *
 * @module
 */
import {
  type Pair,
  pivotPairs,
  ringPairs,
  roundRobinPairs,
  upstreamPivotRound,
  upstreamRing,
} from "../core.ts";
import { rankOrder, TIE_TOLERANCE } from "../math.ts";
import { planCalls, type PlannedPrefix } from "../plan.ts";
import { pairwisePrefix, pairwiseSuffix, utf8Length } from "../prompt.ts";
import type { Plan, SelectRequest, Trajectory } from "../types.ts";
import type { Prepared, Side } from "../verb.ts";

/** Mean soft wins closer than this are equal: what the reference's sums of exact ties come to, last bit or not. */
export const SOFT_WIN_TOLERANCE = 1e-12;

/** Candidates that differ, in the order of their first appearance. */
export interface UniqueCandidates {
  /** Index of the first candidate of each kind. */
  readonly firsts: readonly number[];
  /** Indices of all candidates of each kind, ascending. */
  readonly members: readonly (readonly number[])[];
}

/** Groups byte-identical candidates (text and images). @param merge false keeps every candidate apart */
export function uniqueCandidates(candidates: readonly Trajectory[], merge: boolean): UniqueCandidates {
  const groups = new Map<string, number[]>();
  candidates.forEach(({ text, images }, index) => {
    const key = merge ? `${images.join("\n")}\0${text}` : String(index);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  });
  const members = [...groups.values()];
  return { firsts: members.map((group) => group[0]!), members };
}

/** The first round, and what may follow. */
export interface FirstRound {
  /** The mode that is really played. */
  readonly mode: SelectRequest["mode"];
  /** Directed pairs: slot A, slot B. */
  readonly pairs: readonly Pair[];
  /** Whether a pivot round follows. */
  readonly second: boolean;
  /** Most pairs that the second round can have. */
  readonly worstSecond: number;
}

/**
 * Most pairs of the pivot round: all pairs that touch a pivot less the ring's, which are fewest when the k pivots lie
 * side by side on the ring (k + 1 edges).
 */
export function worstPivotRound(count: number, pivots: number): number {
  if (count < 3) return 0;
  if (pivots >= count - 1) return count * (count - 1) / 2 - count;
  return pivots * (count - pivots) + pivots * (pivots - 1) / 2 - (pivots + 1);
}

/** Pairs of the first round. A full round robin replaces the pivot schedule where it is not dearer in the worst case. */
export function firstRound(
  mode: SelectRequest["mode"],
  count: number,
  pivots: number,
  seed: number,
): FirstRound {
  if (mode === "upstream") {
    const k = Math.min(pivots, count);
    const pairs = upstreamRing(count, seed);
    return { mode, pairs, second: count > 1, worstSecond: k * (count - k) + k * (k - 1) / 2 };
  }
  if (mode === "pivot") {
    const ring = count < 3 ? 1 : count;
    const worstSecond = worstPivotRound(count, pivots);
    if (ring + worstSecond < count * (count - 1) / 2) {
      return { mode, pairs: ringPairs(count, seed), second: true, worstSecond };
    }
  }
  return { mode: "round_robin", pairs: roundRobinPairs(count, seed), second: false, worstSecond: 0 };
}

/** Pairs of the pivot round. @param standing the candidates' ratings so far; the highest are the pivots, ties to the lowest index */
export function secondRound(
  round: FirstRound,
  count: number,
  pivots: number,
  standing: readonly number[],
): readonly Pair[] {
  const order = rankOrder(standing, round.mode === "upstream" ? SOFT_WIN_TOLERANCE : TIE_TOLERANCE)
    .slice(0, Math.min(pivots, count));
  return round.mode === "upstream" ? upstreamPivotRound(count, order) : pivotPairs(count, order, round.pairs);
}

/** The plan of the worst case: the pivot round is taken to play the longest pairs that are left. */
export async function planSelect(
  prepared: Prepared,
  sides: readonly Side[],
  round: FirstRound,
): Promise<{ readonly plan: Plan; readonly longestBytes: number; readonly mostImages: number }> {
  const { request, rubric, judge, subject } = prepared;
  const [one, two] = sides;
  if (one === undefined || two === undefined) {
    return { plan: planCalls(judge, 0, []), longestBytes: 0, mostImages: 0 };
  }
  const fixed = (await pairwisePrefix(subject, one.text, two.text, 0)).bytes - one.text.bytes -
    two.text.bytes;
  const suffixes = rubric.criteria.map((criterion) => utf8Length(pairwiseSuffix(criterion)));
  const [longest, next] = sides.map(({ text }) => text.bytes).sort((x, y) => y - x);
  const longestPair = fixed + (longest ?? 0) + (next ?? 0);
  const [most, more] = sides.map(({ images }) => images.length).sort((x, y) => y - x);
  const mostImages = request.images.length + (most ?? 0) + (more ?? 0);

  const orders = (prefixBytes: number, images: number): PlannedPrefix[] =>
    [Math.ceil(request.repeats / 2), Math.floor(request.repeats / 2)].filter((repeats) => repeats > 0).map((
      repeats,
    ) => ({
      prefixBytes,
      suffixBytes: Array.from({ length: repeats }, () => suffixes).flat(),
      images,
    }));
  const first = round.pairs.flatMap(([a, b]) => {
    const [sideA, sideB] = [sides[a], sides[b]];
    if (sideA === undefined || sideB === undefined) return [];
    const images = request.images.length + sideA.images.length + sideB.images.length;
    return orders(fixed + sideA.text.bytes + sideB.text.bytes, images);
  });
  const second = Array.from({ length: round.worstSecond }, () => orders(longestPair, mostImages)).flat();
  return {
    plan: planCalls(judge, round.pairs.length + round.worstSecond, [...first, ...second]),
    longestBytes: longestPair + Math.max(...suffixes),
    mostImages,
  };
}
