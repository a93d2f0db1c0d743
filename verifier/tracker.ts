/**
 * The online tracker: a run that is followed step by step. Every step is stored before anything is scored, each score
 * sees the steps up to its own and nothing later, and all of it survives restarts.
 *
 * @module
 */
import { ulid } from "./ulid.ts";
import { boundSteps, newestImages, type Shortened } from "./bounded_steps.ts";
import { recordDecision } from "./decisions.ts";
import type { Environment } from "./environment.ts";
import { AssayError, type ErrorCode } from "./errors.ts";
import { joinWork } from "./join_work.ts";
import { sha256Hex } from "./prompt.ts";
import { redact } from "./redact.ts";
import { MAXIMUM_IMAGES } from "./requests.ts";
import { cleanText, shortenText, Warnings } from "./text.ts";
import { ADVICE_POINTS, adviceOf, track } from "./track.ts";
import { RECORD_FORMAT, type ScoreRecord, type StartRecord, type StepRecord } from "./tracker_records.ts";
import type {
  TrackerResult,
  TrackerStartRequest,
  TrackerStep,
  TrackerUpdateRequest,
  TrackerUpdateResult,
} from "./tracker_requests.ts";
import { openTrackers, type TrackerLog, type TrackerStore } from "./tracker_store.ts";
import type {
  CallOptions,
  JudgeChoice,
  PlanResult,
  Score,
  SharedRequest,
  TrackRequest,
  UnscoredReason,
} from "./types.ts";
import { noUsage } from "./usage.ts";
import { prepare } from "./verb.ts";

/** Stands in the prompt where a step's record can't be read. */
const LOST_STEP = "(The record of this step is lost.)";
/** So many steps before the new one are looked at for the points that its advice needs. */
const ADVICE_LOOK_BACK = 50;

/**
 * Starts a tracker. Task, criteria and judge are fixed from here on: a built-in rubric or a default judge that changes
 * later doesn't change it.
 *
 * @returns its id (`trk_…`) and length 0
 * @throws {AssayError} `invalid_request` as the verbs do, and for a key in `judge`, which would have to be stored
 */
export async function startTracker(
  environment: Environment,
  request: TrackerStartRequest,
): Promise<{ readonly id: string; readonly length: 0; readonly warnings: readonly string[] }> {
  const warnings = new Warnings();
  const judge = fixJudge(request.judge, environment.judges.defaultProfile);
  const prepared = await prepare(
    environment,
    { ...request, judge, dryRun: false, cache: "use" },
    {},
    warnings,
  );
  checkReadsImages(environment, judge, request.images.length, "/images");
  const record: StartRecord = {
    format: RECORD_FORMAT,
    id: `trk_${ulid()}`,
    createdAt: new Date().toISOString(),
    task: redact(prepared.task),
    context: request.context === undefined || request.context.trim() === ""
      ? null
      : redact(cleanText(request.context, "/context", warnings)),
    criteria: prepared.rubric.criteria.map(({ id, name, description, weight }) => ({
      id,
      name: redact(name),
      description: redact(description),
      weight,
    })),
    groundTruthNote: redact(prepared.rubric.groundTruthNote),
    repeats: request.repeats,
    judge,
    channel: request.channel,
    images: [...request.images],
    seed: request.seed,
    deadlineMs: request.deadlineMs ?? null,
    promptCharacters: request.promptCharacters,
  };
  await openTrackers(environment.store).create(record);
  return { id: record.id, length: 0, warnings: warnings.list() };
}

/** Profiles by name, so that a later default changes nothing; no keys. */
function fixJudge(choice: SharedRequest["judge"], byDefault: string): JudgeChoice | readonly JudgeChoice[] {
  if (choice === undefined) return byDefault;
  const list = (Array.isArray(choice) ? choice : [choice]) as readonly JudgeChoice[];
  const fixed = list.map((each, i) => {
    if (typeof each === "string") return each;
    for (const field of ["apiKey", "baseUrl"] as const) {
      if (each[field] !== undefined) {
        throw AssayError.field(
          `/judge${Array.isArray(choice) ? `/${i}` : ""}/${field}`,
          "must not be given: a tracker outlives the request, and a caller's key is never stored",
        );
      }
    }
    return { ...each, profile: each.profile ?? byDefault };
  });
  return Array.isArray(choice) ? fixed : fixed[0] ?? byDefault;
}

function checkReadsImages(
  environment: Environment,
  judge: JudgeChoice | readonly JudgeChoice[],
  images: number,
  path: string,
): void {
  if (images === 0) return;
  for (const choice of (Array.isArray(judge) ? judge : [judge]) as readonly JudgeChoice[]) {
    const { readsImages, profile } = environment.judges.resolve(choice);
    if (!readsImages) {
      throw AssayError.field(path, `must have no images, as judge ${profile} can't read them`, images);
    }
  }
}

/** How one update is steered from outside. */
export interface UpdateOptions extends CallOptions {
  /** The caller's `Idempotency-Key`. */
  readonly idempotencyKey?: string;
  /** Called once the step is stored, before it is scored. */
  readonly onAppended?: (step: TrackerStep, length: number) => void;
}

/**
 * Appends one step and scores the run up to it; or, with `retry`, scores a step that has no score yet.
 *
 * Once the step is stored it stays: a scoring that fails, is aborted or runs out of time leaves it `unscored` with the
 * reason, which is no error. The same idempotency key gives the first answer, also while that is still under way; where
 * the first had no score, it is tried again without appending anything.
 *
 * @param request as `parseRequest(trackerUpdateSchema, …)` gives it
 * @returns the step with its score or the reason why it has none; the plan of the scoring with `dryRun`
 * @throws {AssayError} `not_found`, `length_conflict`, `idempotency_conflict`, `invalid_request`
 * @throws {StoreError} when the step (nothing is acknowledged then) or its score can't be stored
 * @throws the signal's reason when the caller aborts
 */
export async function updateTracker(
  environment: Environment,
  id: string,
  request: TrackerUpdateRequest,
  options: UpdateOptions = {},
): Promise<TrackerUpdateResult | PlanResult> {
  const { signal } = options;
  signal?.throwIfAborted();
  const trackers = openTrackers(environment.store);
  const start = await trackers.start(id);
  const warnings = new Warnings();
  if (request.retry !== undefined) {
    const log = await trackers.log(id);
    const step = log.steps.get(request.retry);
    if (step === undefined) {
      throw AssayError.field(
        "/retry",
        request.retry > log.length
          ? `must be at most ${log.length}, the tracker's length`
          : "must be a step whose record can be read",
        request.retry,
      );
    }
    if (request.dryRun) return await plan(environment, start, log, step.index);
    return await scoreStep(environment, trackers, start, step, warnings, options);
  }
  const { text, images } = readStep(request.step, warnings);
  checkReadsImages(environment, start.judge, images.length, "/step/images");
  const bodyHash = await sha256Hex(JSON.stringify([text, images]));
  const clean = redact(text);
  if (request.dryRun) {
    const log = await trackers.log(id);
    return await plan(environment, start, withStep(log, clean, images), log.length + 1);
  }
  const { step, isNew } = await trackers.append(id, {
    text: clean,
    images,
    bodyHash,
    keyHash: options.idempotencyKey === undefined ? null : await sha256Hex(options.idempotencyKey),
    ...(request.expectedLength === undefined ? {} : { expectedLength: request.expectedLength }),
  });
  if (isNew) options.onAppended?.(stepView(step, null), step.index);
  return await scoreStep(environment, trackers, start, step, warnings, options);
}

function readStep(
  step: TrackerUpdateRequest["step"],
  warnings: Warnings,
): { readonly text: string; readonly images: readonly string[] } {
  const raw = typeof step === "string" || step === undefined ? step ?? "" : step.text;
  const images = typeof step === "string" || step === undefined ? [] : step.images ?? [];
  if (raw.trim() === "" && images.length === 0) throw AssayError.field("/step", "must not be blank", raw);
  return { text: cleanText(raw, "/step", warnings), images };
}

/** A log as it would be with one more step. */
function withStep(log: TrackerLog, text: string, images: readonly string[]): TrackerLog {
  const index = log.length + 1;
  const step: StepRecord = {
    format: RECORD_FORMAT,
    index,
    text,
    images: [...images],
    createdAt: "",
    keyHash: null,
    bodyHash: "",
    nonce: "",
  };
  return { length: index, steps: new Map(log.steps).set(index, step), lost: log.lost };
}

async function plan(
  environment: Environment,
  start: StartRecord,
  log: TrackerLog,
  index: number,
): Promise<PlanResult> {
  const { request } = promptOf(start, log, index);
  return await track(environment, { ...request, dryRun: true }) as PlanResult;
}

/** The request that scores the run up to a step, and what it doesn't show. */
function promptOf(
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
async function scoreStep(
  environment: Environment,
  trackers: TrackerStore,
  start: StartRecord,
  step: StepRecord,
  warnings: Warnings,
  options: CallOptions,
): Promise<TrackerUpdateResult> {
  const stored = await trackers.score(start.id, step.index);
  if (stored !== null && stored.score !== null) return answerOf(stored);
  return await joinWork(trackers, `${start.id}/${step.index}`, options.signal, async (signal) => {
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
      (recorded) => track(environment, prompt.request, recorded),
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
      decision: null,
      judge: null,
      channels: {},
      usage: noUsage(),
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
    createdAt: step.createdAt,
  };
}

/**
 * Everything that is known of a tracker. A record that can't be read is left out with a warning.
 * @throws {AssayError} `not_found`
 */
export async function readTracker(environment: Environment, id: string): Promise<TrackerResult> {
  const trackers = openTrackers(environment.store);
  const start = await trackers.start(id);
  const { scores, corrupt } = await trackers.scores(id);
  const log = await trackers.log(id);
  const steps = [...log.steps.values()].sort((a, b) => a.index - b.index)
    .map((step) => stepView(step, scores.get(step.index) ?? null));
  const warnings: string[] = [];
  if (log.lost.length > 0) {
    warnings.push(`the records of these steps are lost or corrupt and left out: ${someOf(log.lost)}`);
  }
  if (corrupt.length > 0) {
    warnings.push(`the scores of these steps can't be read; they can be scored again: ${someOf(corrupt)}`);
  }
  const curve = steps.flatMap(({ index, score, standardError }) =>
    score === null ? [] : [{ step: index, score, standardError }]
  );
  return {
    id,
    task: start.task,
    createdAt: start.createdAt,
    criteria: start.criteria,
    length: log.length,
    steps,
    curve,
    advice: adviceOf(curve.map(({ score }) => score)),
    warnings,
  };
}

function someOf(indices: readonly number[]): string {
  return indices.slice(0, 20).join(", ") + (indices.length > 20 ? ` and ${indices.length - 20} more` : "");
}

/** Deletes a tracker with all its steps and scores. @throws {AssayError} `not_found` */
export async function deleteTracker(environment: Environment, id: string): Promise<void> {
  await openTrackers(environment.store).remove(id);
}
