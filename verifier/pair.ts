/**
 * Judges one pair: every criterion and repeat, odd repeats with the slots swapped, and what follows from the scores.
 *
 * @module
 */
import type { CallLabel } from "./decisions/decisions.ts";
import { mean, weightedMean } from "./math.ts";
import { pairwisePrefix, pairwiseSuffix, type PromptPrefix } from "./prompt.ts";
import type { ScoredCall, Scorer } from "./scorer.ts";
import type { Score } from "./types.ts";
import { imagesDigest, type Prepared, type Side } from "./verb.ts";

const TAGS = ["score_A", "score_B"] as const;
const NO_SCORE: Score = { kind: "unscored", reason: "no_tag" };

/** One call on a pair; `a` and `b` are the pair's sides, whatever slot they were shown in. */
export interface PairCall {
  /** Index into the rubric's criteria. */
  readonly criterion: number;
  /** 0-based. */
  readonly repeat: number;
  /** True when side B stood in slot A. */
  readonly swapped: boolean;
  /** Score of side A. */
  readonly a: Score;
  /** Score of side B. */
  readonly b: Score;
  /** From the score cache, or from an identical call in flight. */
  readonly cached: boolean;
  /** What the judge wrote before its scores, shortened. */
  readonly analysis: string | null;
  /** With an ensemble: the same call by each of its judges, in their order. */
  readonly byJudge?: readonly PairCall[];
}

/** Both scores of a call, or `null` when a side has none: half a call would compare scores of different calls. */
export function bothScores(call: PairCall): { readonly a: number; readonly b: number } | null {
  return call.a.kind === "scored" && call.b.kind === "scored" ? { a: call.a.value, b: call.b.value } : null;
}

/** Prefixes and image digests of a pair's two slot orders; the second one is only made when it is needed. */
async function slotOrder(prepared: Prepared, slotA: Side, slotB: Side): Promise<{
  readonly prefix: PromptPrefix;
  readonly images: readonly string[];
  readonly digest: string;
}> {
  const images = [...prepared.request.images, ...slotA.images, ...slotB.images];
  const stage = prepared.options.stage ??
    (prepared.rubric.name === "proposal" ? "proposal" : "trajectory");
  return {
    prefix: await pairwisePrefix(prepared.subject, slotA.text, slotB.text, images.length, stage),
    images,
    digest: await imagesDigest(images),
  };
}

/**
 * Buys `criteria x repeats` calls. In repeat r the sides swap slots when r is odd.
 * @param place which pair it is, for the decision's record
 * @returns the calls by repeat, then by criterion
 */
export async function judgePair(
  prepared: Prepared,
  scorer: Scorer,
  a: Side,
  b: Side,
  onCall: (call: PairCall) => void,
  place: Pick<CallLabel, "a" | "b" | "round"> = {},
): Promise<readonly PairCall[]> {
  const { repeats } = prepared.request;
  const straight = await slotOrder(prepared, a, b);
  const swappedOrder = repeats > 1 ? await slotOrder(prepared, b, a) : straight;
  const jobs: Promise<PairCall>[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const swapped = repeat % 2 === 1;
    const order = swapped ? swappedOrder : straight;
    prepared.rubric.criteria.forEach((criterion, index) => {
      const job = {
        prefix: order.prefix,
        suffix: pairwiseSuffix(criterion),
        images: order.images,
        imagesDigest: order.digest,
        tags: TAGS,
        direction: "pairwise",
        repeat,
        label: { ...place, criterion: criterion.id, repeat, swapped },
      } as const;
      jobs.push(
        scorer.score(job).then((scored) => {
          const call = pairCallOf({ criterion: index, repeat, swapped }, scored);
          onCall(call);
          return call;
        }),
      );
    });
  }
  return await Promise.all(jobs);
}

/** A scored call with its scores by the pair's sides instead of by slots. */
export function pairCallOf(
  place: Pick<PairCall, "criterion" | "repeat" | "swapped">,
  { scores, cached, analysis, byJudge }: ScoredCall,
): PairCall {
  const [slotA = NO_SCORE, slotB = NO_SCORE] = scores;
  const [a, b] = place.swapped ? [slotB, slotA] : [slotA, slotB];
  const call = { ...place, a, b, cached, analysis };
  return byJudge === undefined ? call : { ...call, byJudge: byJudge.map((own) => pairCallOf(place, own)) };
}

/** Rewards of a pair on one criterion, over the calls in which both sides have a score. */
export interface CriterionRewards {
  /** Mean score of side A, 0 to 1; `null` without a scored call. */
  readonly rewardA: number | null;
  /** The same of side B. */
  readonly rewardB: number | null;
  /** Calls with both scores, and the others. */
  readonly scored: number;
  /** Calls in which a side has no score. */
  readonly unscored: number;
}

/** Rewards per criterion, in the rubric's order. */
export function criterionRewards(calls: readonly PairCall[], criteria: number): readonly CriterionRewards[] {
  return Array.from({ length: criteria }, (_, index) => {
    const own = calls.filter((call) => call.criterion === index);
    const both = own.map(bothScores).filter((scores) => scores !== null);
    return {
      rewardA: mean(both.map(({ a }) => a)),
      rewardB: mean(both.map(({ b }) => b)),
      scored: both.length,
      unscored: own.length - both.length,
    };
  });
}

/** Weighted mean over the criteria that have rewards. */
export function overallRewards(
  perCriterion: readonly CriterionRewards[],
  weights: readonly number[],
): { readonly rewardA: number | null; readonly rewardB: number | null } {
  const over = (side: "rewardA" | "rewardB"): number | null =>
    weightedMean(perCriterion.flatMap((rewards, i) => {
      const value = rewards[side];
      return value === null ? [] : [{ value, weight: weights[i] ?? 1 }];
    }));
  return { rewardA: over("rewardA"), rewardB: over("rewardB") };
}
