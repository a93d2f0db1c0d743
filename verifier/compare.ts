/**
 * `compare`: which of two trajectories is better, by how much, and how sure that is.
 *
 * @module
 */
import { recordDecision } from "./decisions/decisions.ts";
import { trajectoryDigest } from "./decisions/outline.ts";
import { resultsOf } from "./ensemble/ensemble.ts";
import { type JudgeNames, type JudgeWork, reportEnsemble, warnOfDropped } from "./ensemble/report.ts";
import type { Environment } from "./environment.ts";
import { mean, standardError, weightedMean, winnerOf } from "./math.ts";
import { bothScores, criterionRewards, judgePair, overallRewards, type PairCall } from "./pair.ts";
import { checkContext, planCalls, type PlannedPrefix } from "./plan.ts";
import { pairwisePrefix, pairwiseSuffix, utf8Length } from "./prompt.ts";
import { Warnings } from "./text.ts";
import { normalizeTrajectory } from "./trajectory.ts";
import type { CallOptions, CompareRequest, CompareResult, Plan, PlanResult, Rubric } from "./types.ts";
import {
  admit,
  checkImages,
  nothingScored,
  prepare,
  type Prepared,
  requestRedactor,
  sharedResult,
  type Side,
  side,
  startBuying,
} from "./verb.ts";

/**
 * Compares two trajectories with `criteria x repeats` calls; odd repeats show them in swapped slots.
 *
 * - Rewards are means over the calls in which both sides have a score, per criterion, then weighted over criteria.
 * - `margin` is `rewardA - rewardB`; `standardError` is that of the per-repeat margins (a slot bias widens it);
 *   within 1e-9 it is a tie.
 * - `slotBias` is what slot A gains over slot B: the mean of (slot A - slot B) of both orders.
 * - Byte-identical sides: no call, a tie, `identical: true`, rewards `null`.
 *
 * @param request as `parseRequest(compareRequestSchema, …)` gives it
 * @returns the verdict, or the plan with `dryRun`
 * @throws {AssayError} `invalid_request`, `over_budget` (with the plan), and when nothing could be scored
 * `judge_unauthorized`, `judge_failed`, `deadline_exceeded`, `channel_unavailable` or `nothing_scored`
 * @throws the signal's reason when the caller aborts
 */
export async function compare(
  environment: Environment,
  request: CompareRequest,
  options: CallOptions = {},
): Promise<CompareResult | PlanResult> {
  return await recordDecision(
    environment,
    { verb: "compare" },
    options,
    (own) => compareRecorded(environment, request, own),
  );
}

async function compareRecorded(
  environment: Environment,
  request: CompareRequest,
  options: CallOptions,
): Promise<CompareResult | PlanResult> {
  const warnings = new Warnings();
  const redactor = requestRedactor(environment, request);
  const a = normalizeTrajectory(request.a, "/a", warnings, redactor);
  const b = normalizeTrajectory(request.b, "/b", warnings, redactor);
  const prepared = await prepare(environment, request, options, warnings, redactor);
  checkImages(prepared, request.images, "/images");
  const [sideA, sideB] = [await side(prepared, a, "/a"), await side(prepared, b, "/b")];
  const identical = a.text === b.text && a.images.join("\n") === b.images.join("\n");
  const plan = identical ? planCalls(prepared.judge, 0, []) : await planPair(prepared, sideA, sideB);
  if (request.dryRun) return { plan };
  await admit(prepared, plan);
  options.onEvent?.({ type: "plan", plan });
  if (identical) return identicalResult(prepared);
  options.recording?.outline({
    verb: "compare",
    a: await trajectoryDigest(a, sideA.text),
    b: await trajectoryDigest(b, sideB.text),
  });

  const { scorer, cancellation } = startBuying(prepared);
  try {
    let done = 0;
    const calls = await judgePair(prepared, scorer, sideA, sideB, (call) => {
      options.onEvent?.({
        type: "call",
        done: ++done,
        total: resultsOf(prepared.judge, plan.calls),
        criterion: prepared.rubric.criteria[call.criterion]?.id ?? "",
        repeat: call.repeat,
        scores: [call.a, call.b],
        cached: call.cached,
      });
    });
    if (cancellation.cause() === "aborted") throw cancellation.signal.reason;
    const scores = calls.flatMap((call) => [call.a, call.b]);
    const found = verdict(prepared, calls);
    warnOfDropped(found.judges, warnings);
    return { ...found, ...sharedResult(prepared, scores, scorer) };
  } finally {
    cancellation.close();
  }
}

/** The plan of one pair. @throws {ContextError} when its prompt can't fit into the judge's context */
export async function planPair(prepared: Prepared, a: Side, b: Side): Promise<Plan> {
  const { request, rubric, judge, subject } = prepared;
  const images = request.images.length + a.images.length + b.images.length;
  const { bytes } = await pairwisePrefix(subject, a.text, b.text, images);
  const suffixes = rubric.criteria.map((criterion) => utf8Length(pairwiseSuffix(criterion)));
  checkContext(judge, bytes + Math.max(...suffixes), images, "", "task, a and b");
  const order = (repeats: number): PlannedPrefix => ({
    prefixBytes: bytes,
    suffixBytes: Array.from({ length: repeats }, () => suffixes).flat(),
    images,
  });
  return planCalls(judge, 1, [order(Math.ceil(request.repeats / 2)), order(Math.floor(request.repeats / 2))]);
}

function identicalResult(prepared: Prepared): CompareResult {
  return {
    verb: "compare",
    winner: "tie",
    rewardA: null,
    rewardB: null,
    margin: null,
    standardError: null,
    slotBias: null,
    agreement: null,
    identical: true,
    criteria: prepared.rubric.criteria.map(({ id, name, weight }) => (
      { id, name, weight, rewardA: null, rewardB: null, scored: 0, unscored: 0 }
    )),
    calls: [],
    ...sharedResult(prepared, [], null),
  };
}

/** What the verdict of a pair depends on, beside its calls. */
export interface CompareBasis {
  readonly rubric: Pick<Rubric, "criteria">;
  readonly request: Pick<CompareRequest, "repeats" | "channel">;
  readonly judge: JudgeNames;
}

/** The verdict that follows from the calls, and from nothing else. @throws {AssayError} when nothing was scored */
export function verdict(
  prepared: CompareBasis,
  calls: readonly PairCall[],
): Omit<CompareResult, keyof ReturnType<typeof sharedResult>> {
  const { criteria } = prepared.rubric;
  const weights = criteria.map(({ weight }) => weight);
  const perCriterion = criterionRewards(calls, criteria.length);
  const { rewardA, rewardB } = overallRewards(perCriterion, weights);
  if (rewardA === null || rewardB === null) {
    throw nothingScored(calls.flatMap((call) => [call.a, call.b]), prepared.request.channel, prepared);
  }
  const winner = winnerOf(rewardA, rewardB);
  const ofJudge = (index: number): JudgeWork => {
    const own = calls.flatMap(({ byJudge }) => byJudge?.[index] ?? []);
    const rewards = overallRewards(criterionRewards(own, criteria.length), weights);
    return {
      scores: own.flatMap((call) => [call.a, call.b]),
      winner: rewards.rewardA === null || rewards.rewardB === null
        ? null
        : winnerOf(rewards.rewardA, rewards.rewardB),
    };
  };
  return {
    verb: "compare",
    winner,
    rewardA,
    rewardB,
    margin: rewardA - rewardB,
    standardError: standardError(repeatMargins(calls, weights, prepared.request.repeats)),
    slotBias: slotBias(calls, weights),
    agreement: 1,
    ...reportEnsemble(prepared.judge, ofJudge, winner),
    identical: false,
    criteria: criteria.map(({ id, name, weight }, i) => ({
      id,
      name,
      weight,
      ...(perCriterion[i] ?? { rewardA: null, rewardB: null, scored: 0, unscored: 0 }),
    })),
    calls: calls.map(({ criterion, byJudge: _, ...call }) => (
      { criterion: criteria[criterion]?.id ?? "", ...call }
    )),
  };
}

/** Weighted margin of each repeat that has a scored criterion. */
function repeatMargins(
  calls: readonly PairCall[],
  weights: readonly number[],
  repeats: number,
): readonly number[] {
  return Array.from({ length: repeats }, (_, repeat) =>
    weightedMean(calls.flatMap((call) => {
      const both = call.repeat === repeat ? bothScores(call) : null;
      return both === null ? [] : [{ value: both.a - both.b, weight: weights[call.criterion] ?? 1 }];
    }))).filter((margin) => margin !== null);
}

function slotBias(calls: readonly PairCall[], weights: readonly number[]): number | null {
  return weightedMean(weights.flatMap((weight, criterion) => {
    const lead = (swapped: boolean): number | null =>
      mean(calls.flatMap((call) => {
        const both = call.criterion === criterion && call.swapped === swapped ? bothScores(call) : null;
        return both === null ? [] : [swapped ? both.b - both.a : both.a - both.b];
      }));
    const [straight, swapped] = [lead(false), lead(true)];
    return straight === null || swapped === null ? [] : [{ value: (straight + swapped) / 2, weight }];
  }));
}
