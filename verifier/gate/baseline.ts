/**
 * Work measured against the empty baseline: what the gate, a session's acceptance and best-of-N judge by.
 *
 * @module
 */
import { planPair } from "../compare.ts";
import { type JudgeNames, type JudgeWork, reportEnsemble } from "../ensemble/report.ts";
import { applyRule, EMPTY_WORK_BASELINE, floorOf, type RuleVerdict } from "./rule.ts";
import type { GateCriterion, GateFailure, GateRequest, GateVerdict } from "./requests.ts";
import { steerText } from "./steer.ts";
import { criterionRewards, judgePair, type PairCall } from "../pair.ts";
import { promptText } from "../prompt.ts";
import type { Scorer } from "../scorer.ts";
import type { Plan, Rubric, Score } from "../types.ts";
import { listReasons, nothingScored, type Prepared, type Side } from "../verb.ts";

async function emptySide(prepared: Prepared): Promise<Side> {
  return { text: await promptText(prepared.environment.delimiterSecret, EMPTY_WORK_BASELINE), images: [] };
}

/** What measuring will cost. @throws {ContextError} when the prompt can't fit into the judge's context */
export async function planBaseline(prepared: Prepared, work: Side): Promise<Plan> {
  return await planPair(prepared, work, await emptySide(prepared));
}

/** Buys the calls: side A is the work, side B the baseline. */
export async function judgeBaseline(
  prepared: Prepared,
  scorer: Scorer,
  work: Side,
  onCall: (call: PairCall) => void,
): Promise<readonly PairCall[]> {
  return await judgePair(prepared, scorer, work, await emptySide(prepared), onCall);
}

/** What a verdict depends on, beside its calls. */
export interface BaselineBasis {
  readonly rubric: Pick<Rubric, "criteria">;
  readonly request: Pick<GateRequest, "threshold" | "channel"> & { readonly floors?: GateRequest["floors"] };
  readonly judge: JudgeNames;
}

/** The verdict that follows from the calls, and from nothing else. Never `steer` while a call has no score. */
export function baselineVerdict(basis: BaselineBasis, calls: readonly PairCall[]): GateVerdict {
  const { ruled, criteria } = ruleOn(basis, calls);
  const failing = ruled.failing.map((failed): GateFailure => ({
    ...failed,
    analysis: worstAnalysis(calls, criteria.findIndex(({ id }) => id === failed.id)),
  }));
  const { decision, score, baselineScore, beatsBaseline } = ruled;
  const { threshold } = basis.request;
  const ofJudge = (index: number): JudgeWork => {
    const own = calls.flatMap(({ byJudge }) => byJudge?.[index] ?? []);
    const alone = ruleOn(basis, own).ruled.decision;
    return { scores: own.flatMap(({ a, b }) => [a, b]), winner: alone === "open" ? null : alone };
  };
  const base = {
    score,
    baselineScore,
    threshold,
    criteria,
    failing,
    ...reportEnsemble(basis.judge, ofJudge, decision === "open" ? null : decision),
  };
  if (decision === "accept") return { decision, ...base };
  if (decision === "steer" && score !== null) {
    const steer = steerText({ score, threshold, beatsBaseline: beatsBaseline === true, failing });
    return { decision, ...base, steer };
  }
  return { decision: "open", ...base, ...openReason(basis, calls) };
}

function ruleOn(basis: BaselineBasis, calls: readonly PairCall[]): {
  readonly ruled: RuleVerdict;
  readonly criteria: readonly GateCriterion[];
} {
  const { threshold, floors } = basis.request;
  const limits = floors === undefined ? { threshold } : { threshold, floors };
  const rewards = criterionRewards(calls, basis.rubric.criteria.length);
  const criteria = basis.rubric.criteria.map(({ id, name, weight }, i): GateCriterion => ({
    id,
    name,
    weight,
    score: rewards[i]?.rewardA ?? null,
    baseline: rewards[i]?.rewardB ?? null,
    floor: floorOf(id, limits),
    scored: rewards[i]?.scored ?? 0,
    unscored: rewards[i]?.unscored ?? 0,
  }));
  return { ruled: applyRule(criteria, limits), criteria };
}

function openReason(
  basis: BaselineBasis,
  calls: readonly PairCall[],
): Pick<GateVerdict, "reason" | "code"> {
  const scores: readonly Score[] = calls.flatMap(({ a, b }) => [a, b]);
  const missing = scores.filter(({ kind }) => kind === "unscored");
  const { code, message } = nothingScored(scores, basis.request.channel, basis);
  if (missing.length === scores.length && code !== "invalid_request" && code !== "invalid_json") {
    return { code, reason: message };
  }
  return {
    code: "unscored",
    reason: `${missing.length} of ${scores.length} scores are missing, and the others don't accept: ${
      listReasons(missing)
    }`,
  };
}

/** The words before the lowest score of the work, from the calls that show it as Trajectory A if there are any. */
function worstAnalysis(calls: readonly PairCall[], criterion: number): string | null {
  let worst: { readonly swapped: boolean; readonly value: number; readonly text: string } | null = null;
  for (const { criterion: index, a, analysis, swapped } of calls) {
    if (index !== criterion || a.kind !== "scored" || analysis === null) continue;
    const lower = worst === null || (worst.swapped && !swapped) ||
      (worst.swapped === swapped && a.value < worst.value);
    if (lower) worst = { swapped, value: a.value, text: analysis };
  }
  return worst?.text ?? null;
}
