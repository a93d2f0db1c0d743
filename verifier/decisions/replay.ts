/**
 * Derives a stored decision again: every score from the answers that were kept, with the core of today, and the verdict
 * from these scores with the verb's own code. Nothing is bought.
 *
 * @module
 */
import { baselineVerdict } from "../gate/baseline.ts";
import { type CompareBasis, verdict } from "../compare.ts";
import { coreVersion } from "../core.ts";
import type { DecisionCall, DecisionRecord, Outline } from "./decisions.ts";
import { labelText } from "./decisions.ts";
import { decodeEvidence } from "./evidence.ts";
import { combine } from "../ensemble/ensemble.ts";
import type { JudgeNames } from "../ensemble/report.ts";
import { AssayError } from "../errors.ts";
import type { GateRequest } from "../gate/requests.ts";
import { type PairCall, pairCallOf } from "../pair.ts";
import { type Difference, Differences } from "./replay_differences.ts";
import { countChannels, type ScoredCall } from "../scorer.ts";
import { firstRound, secondRound } from "../select/schedule.ts";
import { firstStanding, scoresOf, type SelectBasis, standings } from "../select/standings.ts";
import type { PlayedPair } from "../select/results.ts";
import { curveResult, type PartByJudge } from "../track.ts";
import type { Criterion, Score, SelectRequest, SelectResult } from "../types.ts";
import { nothingScored } from "../verb.ts";

export { type Difference, REPLAY_TOLERANCE } from "./replay_differences.ts";

/** What a replay found. */
export interface Replay {
  readonly id: string;
  readonly verb: string;
  /** Whether scores and verdict are the same: numbers within 1e-12, everything else exactly. */
  readonly equal: boolean;
  /** The first 1000 differences. */
  readonly differences: readonly Difference[];
  /** Differences in all. */
  readonly total: number;
  /** `verdict`: scores and verdict were derived; `scores`: only the scores could be. */
  readonly scope: "verdict" | "scores";
  /** Judged calls that were looked at. */
  readonly calls: number;
  readonly coreVersion: { readonly stored: string; readonly now: string };
}

/**
 * Derives a decision again and compares.
 *
 * A failed decision is compared by its problem's code. A verdict that depended on something else than the answers (the
 * caller went away) is compared by its scores alone, and `scope` says so.
 *
 * @throws {AssayError} `not_replayable` when the record doesn't hold what is needed, with the call that lacks it
 */
export function replayDecision(record: DecisionRecord): Replay {
  const differences = new Differences();
  const calls = record.calls.map((call, index): DecisionCall => {
    const scores = decodeAgain(call);
    scores.forEach((score, i) => differences.compare(`/calls/${index}/scores/${i}`, call.scores[i], score));
    return { ...call, scores };
  });
  let derived = false;
  for (const [part, outline] of Object.entries(record.outlines)) {
    const own = calls.filter(({ label }) => (label.part ?? "") === part);
    const stored = storedOutcome(record, part, outline);
    const derive = typeof outline.verb === "string" ? DERIVE[outline.verb] : undefined;
    if (derive === undefined || own.length === 0 || stored === null) continue;
    derived = true;
    const path = part === "" ? "" : `/parts/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    compareOutcome(
      differences,
      path,
      stored,
      outcomeOf(() => derive(outline, own, stored.result ?? {}, differences)),
    );
  }
  return {
    id: record.id,
    verb: record.verb,
    equal: differences.total === 0,
    differences: differences.list,
    total: differences.total,
    scope: derived ? "verdict" : "scores",
    calls: calls.length,
    coreVersion: { stored: record.coreVersion, now: coreVersion() },
  };
}

function lacks(what: string): AssayError {
  return new AssayError("not_replayable", `This decision can't be derived again: ${what}.`);
}

function decodeAgain(call: DecisionCall): readonly Score[] {
  if (call.evidence !== null) return decodeEvidence(call.evidence, call.tags, call.direction);
  // A call that failed has no answer to decode: its reasons are what is known.
  if (call.scores.every(({ kind }) => kind === "unscored")) return call.scores;
  throw lacks(`the answer to the call "${labelText(call.label)}" of judge ${call.judge} was not kept`);
}

interface Outcome {
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly problem: string | null;
}

/** What was stored for a part; `null` where the outcome didn't follow from the answers. */
function storedOutcome(record: DecisionRecord, part: string, outline: Outline): Outcome | null {
  const own = outline.result ?? (part === "" && outline.problem === undefined ? record.result : null);
  if (typeof own === "object" && own !== null) {
    return { result: own as Record<string, unknown>, problem: null };
  }
  const problem = outline.problem ?? (part === "" ? record.problem : null);
  if (typeof problem !== "object" || problem === null || !("code" in problem)) return null;
  const code = String(problem.code);
  return DERIVABLE.has(code) ? { result: null, problem: code } : null;
}

/** Problems that follow from the scores. */
const DERIVABLE: ReadonlySet<string> = new Set([
  "judge_unauthorized",
  "deadline_exceeded",
  "judge_failed",
  "channel_unavailable",
  "nothing_scored",
]);

function outcomeOf(derive: () => object): Outcome {
  try {
    return { result: { ...derive() }, problem: null };
  } catch (error) {
    if (!(error instanceof AssayError) || error.code === "not_replayable") throw error;
    return { result: null, problem: error.code };
  }
}

function compareOutcome(differences: Differences, path: string, stored: Outcome, now: Outcome): void {
  if (stored.result === null || now.result === null) {
    differences.compare(`${path}/problem/code`, stored.problem, now.problem);
    return;
  }
  for (const [name, value] of Object.entries(now.result)) {
    if (name !== "calls") differences.compare(`${path}/${name}`, stored.result[name], value);
  }
}

type Derive = (
  outline: Outline,
  calls: readonly DecisionCall[],
  stored: Readonly<Record<string, unknown>>,
  differences: Differences,
) => object;

const DERIVE: Readonly<Record<string, Derive>> = {
  compare(outline, calls) {
    const basis = basisOf(outline);
    const pairCalls = pairCallsOf(calls, basis);
    return { ...verdict(basis, pairCalls), ...shared(pairCalls.flatMap((call) => [call.a, call.b])) };
  },
  track(outline, calls) {
    const checkpoints = outline.checkpoints as readonly number[];
    if (!Array.isArray(checkpoints)) throw lacks("its checkpoints were not kept");
    const scores = new Map<number, Score[]>();
    const byJudge: PartByJudge[] = [];
    const basis = basisOf(outline);
    for (const { label, scores: own, byJudge: each } of together(calls, basis.judge)) {
      label.steps?.forEach((step, i) => {
        const list = scores.get(step) ?? [];
        list[label.repeat] = own[i] ?? { kind: "unscored", reason: "no_tag" };
        scores.set(step, list);
        if (each === undefined) return;
        byJudge.push({ step, repeat: label.repeat, scores: each.flatMap((call) => call.scores[i] ?? []) });
      });
    }
    const curve = curveResult(basis, outline.causal === true, checkpoints, scores, byJudge);
    return { ...curve, ...shared([...scores.values()].flat()) };
  },
  select: deriveSelect,
  gate(outline, calls) {
    const basis = basisOf(outline);
    const { threshold, floors } = outline.settings as Partial<GateRequest>;
    if (typeof threshold !== "number") throw lacks("its threshold was not kept");
    const request = { ...basis.request, threshold, ...(floors === undefined ? {} : { floors }) };
    const pairCalls = pairCallsOf(calls, basis);
    // What the judge said in words is no number that could be derived again, and the steer text quotes it.
    const { failing: _, steer: __, ...found } = baselineVerdict({ ...basis, request }, pairCalls);
    return { ...found, ...shared(pairCalls.flatMap((call) => [call.a, call.b])) };
  },
};

const shared = (scores: readonly Score[]): object => ({
  unscored: scores.filter(({ kind }) => kind === "unscored").length,
  channels: countChannels(scores),
});

function deriveSelect(
  outline: Outline,
  calls: readonly DecisionCall[],
  stored: Readonly<Record<string, unknown>>,
  differences: Differences,
): object {
  const base = basisOf(outline);
  const { unique, candidates, prior, settings, judge } = outline as {
    unique: SelectBasis["unique"];
    candidates: readonly { readonly id: string | null }[];
    prior: { readonly means: readonly number[] | null; readonly shown: readonly number[] | null };
    settings: SelectRequest;
    judge: { readonly calibration: SelectBasis["calibration"] };
  };
  if (
    !Array.isArray(unique?.firsts) || !Array.isArray(candidates) || typeof prior !== "object" ||
    prior === null
  ) {
    throw lacks("its candidates were not kept");
  }
  const basis: SelectBasis = {
    criteria: base.rubric.criteria,
    judge: base.judge,
    calibration: judge.calibration ?? null,
    ids: candidates.map(({ id }) => id),
    unique,
    prior: { means: prior.means ?? undefined, shown: prior.shown },
  };
  const count = unique.firsts.length;
  const round = firstRound(settings.mode, count, settings.pivots, settings.seed);
  const candidate = (index: number): number => unique.firsts[index] ?? index;
  const place = new Map(unique.firsts.map((first, index) => [first, index]));
  const byPair = Map.groupBy(calls, ({ label }) => `${label.a},${label.b}`);
  const pairCalls = new Map(
    [...byPair].map(([pair, own]) => [pair, pairCallsOf(own, base)]),
  );
  const play = (a: number, b: number, number: number): PlayedPair => {
    const own = pairCalls.get(`${a},${b}`);
    const [placeA, placeB] = [place.get(a), place.get(b)];
    if (own === undefined || placeA === undefined || placeB === undefined) {
      throw lacks(`no call of candidate ${a} against ${b} was kept`);
    }
    return { a: placeA, b: placeB, round: number, calls: own };
  };
  const schedule = (pairs: readonly (readonly number[])[]) =>
    pairs.map(([a = 0, b = 0]) => [candidate(a), candidate(b)]);
  const scheduled = schedule(round.pairs);
  const pairs = Array.isArray(stored.pairs) ? stored.pairs as SelectResult["pairs"] : null;
  if (pairs === null) {
    // It failed, and that can only be for a first round without a score.
    const played = scheduled.map(([a, b]) => play(a!, b!, 1));
    throw nothingScored(
      played.flatMap((pair) => pair.calls.flatMap((call) => [call.a, call.b])),
      base.request.channel,
      base,
    );
  }
  const first = pairs.filter((pair) => pair.round === 1);
  const second = pairs.filter((pair) => pair.round !== 1);
  const firstPlayed = first.map(({ a, b }) => play(a, b, 1));
  differences.compare("/schedule/1", first.map(({ a, b }) => [a, b]), scheduled);
  const isCut = stored.stopped === "budget" && second.length === 0;
  const next = round.second && !isCut
    ? secondRound(round, count, settings.pivots, firstStanding(basis, round.mode, firstPlayed))
    : [];
  differences.compare("/schedule/2", second.map(({ a, b }) => [a, b]), schedule(next));
  const played = [...firstPlayed, ...second.map(({ a, b }) => play(a, b, 2))];
  const stopped = stored.stopped === "budget" ? "budget" : "complete";
  return { ...standings(basis, played, { mode: round.mode, stopped }), ...shared(scoresOf(played)) };
}

function basisOf(outline: Outline): CompareBasis {
  const { rubric, settings, judge } = outline as {
    rubric?: { readonly criteria?: readonly Criterion[] };
    settings?: { readonly repeats?: number; readonly channel?: CompareBasis["request"]["channel"] };
    judge?: { readonly profile?: string; readonly members?: CompareBasis["judge"]["members"] };
  };
  if (!Array.isArray(rubric?.criteria)) throw lacks("its rubric was not kept");
  if (typeof settings?.repeats !== "number" || settings.channel === undefined) {
    throw lacks("its settings were not kept");
  }
  return {
    rubric: { criteria: rubric.criteria },
    request: { repeats: settings.repeats, channel: settings.channel },
    judge: {
      profile: judge?.profile ?? "unknown",
      ...(judge?.members === undefined ? {} : { members: judge.members }),
    },
  };
}

/** A call with its label; of an ensemble's judges all calls for one place in the schedule are one. */
type LabelledCall = Pick<DecisionCall, "label"> & ScoredCall;

function together(calls: readonly DecisionCall[], judge: JudgeNames): readonly LabelledCall[] {
  const { members } = judge;
  if (members === undefined) {
    return calls.map(({ label, scores, cached }) => ({ label, scores, cached, analysis: null }));
  }
  const places = Map.groupBy(calls, ({ label: { judge: _, ...place } }) => labelText(place));
  return [...places.values()].map((own): LabelledCall => {
    const byJudge = members.map((member, index): ScoredCall => {
      const call = own.find(({ label }) => label.judge === index);
      if (call === undefined) throw lacks(`a call of judge ${member.profile} was not kept`);
      return { scores: call.scores, cached: call.cached, analysis: null };
    });
    const { label, tags, direction } = own[0]!;
    return { label, ...combine(members, { tags, direction }, byJudge), byJudge };
  });
}

/** A pair's calls in the verbs' order: by repeat, then by criterion. */
function pairCallsOf(calls: readonly DecisionCall[], { rubric, judge }: CompareBasis): readonly PairCall[] {
  const places = new Map(rubric.criteria.map(({ id }, index) => [id, index]));
  return together(calls, judge).map(({ label, ...scored }): PairCall => {
    const criterion = places.get(label.criterion ?? "");
    if (criterion === undefined || scored.scores.length < 2) {
      throw lacks(`the call "${labelText(label)}" fits none of its criteria`);
    }
    return pairCallOf({ criterion, repeat: label.repeat, swapped: label.swapped === true }, scored);
  }).sort((x, y) => x.repeat - y.repeat || x.criterion - y.criterion);
}
