/**
 * The scoring of one step of a tracker: the prompt of the run up to it, and what becomes of the judged call.
 *
 * @module
 */
import { boundSteps, newestImages, type Shortened } from "./bounded_steps.ts";
import { recordDecision } from "../decisions/decisions.ts";
import type { Environment } from "../environment.ts";
import { AssayError, type ErrorCode } from "../errors.ts";
import { joinWork } from "../join_work.ts";
import { redact } from "../redaction/redact.ts";
import { MAXIMUM_IMAGES } from "../requests.ts";
import { shortenText, type Warnings } from "../text.ts";
import { ADVICE_POINTS, adviceOf, track } from "../track.ts";
import { RECORD_FORMAT, type ScoreRecord, type StartRecord, type StepRecord } from "./records.ts";
import type { TrackerStep, TrackerUpdateResult } from "./requests.ts";
import type { TrackerLog, TrackerStore } from "./store.ts";
import type { CallOptions, Score, TrackRequest, UnscoredReason } from "../types.ts";
import { noUsage } from "../usage.ts";

/** Stands in the prompt where a step's record can't be read. */
const LOST_STEP = "(The record of this step is lost.)";
/** So many steps before the new one are looked at for the points that its advice needs. */
const ADVICE_LOOK_BACK = 50;

/** The request that scores the run up to a step, and what it doesn't show. */
export function promptOf(
  start: StartRecord,
  log: TrackerLog,
  index: number,
): { readonly request: TrackRequest; readonly shortened: Shortened; readonly warnings: readonly string[] } {
  const all = Array.from({ length: index }, (_, i) => log.steps.get(i + 1) ?? null);
  const bounded = boundSteps(all.map((step) => step?.text ?? LOST_STEP), start.promptCharacters);
  const warnings: string[] = [];
  const lost = all.filter((step) => step === null).length;
  if (lost > 0) warnings.push(`${lost} of ${index} steps can't be read from the store and are not shown`);
  // Images count against one limit per trajectory: the newest are shown.
  const { lists, dropped } = newestImages(
    bounded.origins.map((origin) => origin === null ? [] : all[origin]?.images ?? []),
    MAXIMUM_IMAGES,
  );
  const steps = bounded.texts.map((text, i) => ({ text, images: lists[i] ?? [] }));
  if (dropped > 0) {
    warnings.push(`the oldest ${dropped} images are not shown (at most ${MAXIMUM_IMAGES} are)`);
  }
  const request: TrackRequest = {
    task: start.task,
    ...(start.context === null ? {} : { context: start.context }),
    criteria: start.criteria,
    groundTruthNote: start.groundTruthNote,
    repeats: start.repeats,
    judge: start.judge,
    channel: start.channel,
    images: start.images,
    seed: start.seed,
    ...(start.deadlineMs === null ? {} : { deadlineMs: start.deadlineMs }),
    dryRun: false,
    cache: "use",
    trajectory: { steps },
    checkpoints: [steps.length],
    causal: false,
  };
  return { request, shortened: bounded.shortened, warnings };
}

/** The stored score of a step, or a new one; callers at the same time share one scoring. */
export async function scoreStep(
  environment: Environment,
  trackers: TrackerStore,
  start: StartRecord,
  step: StepRecord,
  warnings: Warnings,
  options: CallOptions,
): Promise<TrackerUpdateResult> {
  const stored = await trackers.score(start.id, step.index);
  if (stored !== null && stored.score !== null) return answerOf(stored);
  // On Workers what one request has begun dies with it, so nobody may wait for another's scoring.
  const owner = environment.store.kind === "cloudflare" ? {} : trackers;
  return await joinWork(owner, `${start.id}/${step.index}`, options.signal, async (signal) => {
    const record = await buyScore(environment, trackers, start, step, warnings, { ...options, signal });
    const kept = await trackers.putScore(start.id, record);
    // The caller's leaving is stored like every other reason, and then told as what it was.
    if (record.reason === "aborted") signal.throwIfAborted();
    return answerOf(kept);
  });
}

const answerOf = (record: ScoreRecord): TrackerUpdateResult =>
  record.answer as unknown as TrackerUpdateResult;

async function buyScore(
  environment: Environment,
  trackers: TrackerStore,
  start: StartRecord,
  step: StepRecord,
  warnings: Warnings,
  options: CallOptions & { readonly signal: AbortSignal },
): Promise<ScoreRecord> {
  const log = await trackers.log(start.id, step.index);
  const prompt = promptOf(start, log, step.index);
  for (const warning of prompt.warnings) warnings.add(warning);
  const earlier = await earlierScores(trackers, start.id, step.index);
  const parts: Score[] = [];
  // Calls without a usable score are paid for all the same.
  let spent = noUsage;
  const base = {
    format: RECORD_FORMAT,
    index: step.index,
    shortened: prompt.shortened,
    attempts: 1,
  } as const;
  try {
    const own: CallOptions = {
      ...options,
      onEvent: (event) => {
        if (event.type === "call") parts.push(...event.scores);
        options.onEvent?.(event);
      },
    };
    const result = await recordDecision(
      environment,
      { verb: "tracker", topic: start.id },
      own,
      (recorded) => {
        const { recording } = recorded;
        if (recording !== undefined) spent = () => recording.usage();
        return track(environment, prompt.request, recorded);
      },
    );
    if ("plan" in result) throw new Error("a scoring was answered with a plan");
    const [point] = result.curve;
    for (const warning of result.warnings) warnings.add(warning);
    const advice = adviceOf([...earlier, point?.score ?? null]);
    const record = {
      ...base,
      score: point?.score ?? null,
      standardError: point?.standardError ?? null,
      scored: point?.scored ?? 0,
      unscored: point?.unscored ?? 0,
      reason: null,
      detail: null,
      advice,
      scoredAt: new Date().toISOString(),
    };
    const answer: TrackerUpdateResult = {
      id: start.id,
      length: step.index,
      step: stepView(step, record),
      advice,
      shortened: prompt.shortened,
      decision: result.id,
      judge: result.judge,
      channels: result.channels,
      usage: result.usage,
      warnings: warnings.list(),
    };
    return { ...record, answer: { ...answer } };
  } catch (error) {
    const { reason, detail } = failureOf(error, parts, options.signal);
    const record = {
      ...base,
      score: null,
      standardError: null,
      scored: 0,
      unscored: Math.max(1, parts.length),
      reason,
      detail,
      advice: adviceOf(earlier),
      scoredAt: new Date().toISOString(),
    };
    const answer: TrackerUpdateResult = {
      id: start.id,
      length: step.index,
      step: stepView(step, record),
      advice: record.advice,
      shortened: prompt.shortened,
      decision: error instanceof AssayError ? error.decision ?? null : null,
      judge: null,
      channels: {},
      usage: spent(),
      warnings: warnings.list(),
    };
    return { ...record, answer: { ...answer } };
  }
}

/** The last scores before a step that its advice looks at, oldest first. */
async function earlierScores(
  trackers: TrackerStore,
  id: string,
  index: number,
): Promise<readonly number[]> {
  const scores: number[] = [];
  const oldest = Math.max(1, index - ADVICE_LOOK_BACK);
  for (let at = index - 1; at >= oldest && scores.length < ADVICE_POINTS - 1; at--) {
    const score = (await trackers.score(id, at))?.score ?? null;
    if (score !== null) scores.unshift(score);
  }
  return scores;
}

const REASON_OF_CODE: Partial<Record<ErrorCode, UnscoredReason>> = {
  judge_unauthorized: "unauthorized",
  rate_limited: "rate_limited",
  deadline_exceeded: "timeout",
  channel_unavailable: "no_logprobs",
  over_budget: "budget",
  budget_exhausted: "budget",
};

/** Why a scoring failed, in the closed list of reasons. */
function failureOf(
  error: unknown,
  parts: readonly Score[],
  signal: AbortSignal,
): { readonly reason: UnscoredReason; readonly detail: string } {
  const message = redact(shortenText(error instanceof Error ? error.message : String(error), 500));
  if (signal.aborted) return { reason: "aborted", detail: "the caller went away before there was a score" };
  const part = parts.find((score) => score.kind === "unscored");
  if (part?.kind === "unscored") return { reason: part.reason, detail: message };
  const code = error instanceof AssayError ? REASON_OF_CODE[error.code] : undefined;
  return { reason: code ?? "backend_error", detail: message };
}

/** A step for the caller. */
export function stepView(
  step: StepRecord,
  score: Pick<ScoreRecord, "score" | "standardError" | "reason" | "detail"> | null,
): TrackerStep {
  const failed = score !== null && score.score === null;
  return {
    index: step.index,
    state: score === null ? "pending" : failed ? "unscored" : "scored",
    score: score?.score ?? null,
    standardError: score?.standardError ?? null,
    ...(failed
      ? {
        unscored: {
          reason: (score.reason ?? "backend_error") as UnscoredReason,
          ...(score.detail === null ? {} : { detail: score.detail }),
        },
      }
      : {}),
    characters: step.text.length,
    images: step.images.length,
    keyHash: step.keyHash,
    createdAt: step.createdAt,
  };
}
