/**
 * What compare, select and track have in common: preparation before, the shared fields and the errors after.
 *
 * @module
 */
import { ulid } from "./ulid.ts";
import { type Cancellation, createCancellation } from "./cancellation.ts";
import { coreVersion, promptVersion } from "./core.ts";
import { requestOutline, subjectOutline } from "./decisions/outline.ts";
import { createEnsembleScorer, resolveJudge } from "./ensemble/ensemble.ts";
import type { Environment } from "./environment.ts";
import { AssayError, type ErrorCode } from "./errors.ts";
import type { Judge } from "./judges/judge.ts";
import { checkBudget, uncachedUsd } from "./plan.ts";
import { type PromptSubject, type PromptText, promptText, sha256Hex } from "./prompt.ts";
import { resolveRubric } from "./rubric.ts";
import { type Redactor, redactorOf, warnOfRedacted } from "./redaction/redactor.ts";
import { countChannels, createScorer, type Scorer } from "./scorer.ts";
import { cleanText, Warnings } from "./text.ts";
import type {
  CallOptions,
  JudgeInfo,
  Plan,
  Rubric,
  Score,
  SharedRequest,
  SharedResult,
  Trajectory,
  UnscoredReason,
} from "./types.ts";
import { noUsage } from "./usage.ts";

/** A request after everything that can be done without buying. */
export interface Prepared {
  /** The verifier's surroundings. */
  readonly environment: Environment;
  /** As it was validated. */
  readonly request: SharedRequest;
  /** Abort and events. */
  readonly options: CallOptions;
  /** What the result will say about itself. */
  readonly warnings: Warnings;
  /** The resolved rubric. */
  readonly rubric: Rubric;
  /** The bound judge. */
  readonly judge: Judge;
  /** Task, context and note, ready for prompts. */
  readonly subject: PromptSubject;
  /** The task after hygiene. */
  readonly task: string;
}

/** One trajectory, ready for prompts. */
export interface Side {
  /** Its delimited text. */
  readonly text: PromptText;
  /** Its images in order. */
  readonly images: readonly string[];
}

/** What takes secrets out of a request; `null` where it doesn't ask for that. @throws {AssayError} for a pattern that isn't accepted */
export function requestRedactor(environment: Environment, request: SharedRequest): Redactor | null {
  return redactorOf(request, environment.redact);
}

/**
 * Rubric, judge, task and context of a request.
 * @param redactor the request's, which has cleaned its trajectories before
 * @throws {AssayError} `invalid_request` for what doesn't fit
 */
export async function prepare(
  environment: Environment,
  request: SharedRequest,
  options: CallOptions,
  warnings: Warnings,
  redactor: Redactor | null = null,
): Promise<Prepared> {
  options.signal?.throwIfAborted();
  if (request.task.trim() === "") throw AssayError.field("/task", "must not be blank", request.task);
  const rubric = resolveRubric(request.criteria, request.groundTruthNote, warnings);
  const judge = resolveJudge(environment.judges, request.judge);
  const read = (text: string, path: string): string => {
    const clean = cleanText(text, path, warnings);
    return redactor === null ? clean : redactor.clean(clean);
  };
  const task = read(request.task, "/task");
  const context = request.context === undefined || request.context.trim() === ""
    ? null
    : read(request.context, "/context");
  if (redactor !== null) warnOfRedacted(redactor, warnings);
  const secret = environment.delimiterSecret;
  const subject: PromptSubject = {
    task: await promptText(secret, task),
    context: context === null ? null : await promptText(secret, context),
    groundTruthNote: rubric.groundTruthNote,
  };
  options.recording?.outline({
    ...requestOutline(request),
    ...subjectOutline(task, subject.task, rubric, judge),
  });
  return { environment, request, options, warnings, rubric, judge, subject, task };
}

/** Delimits a trajectory. @throws {AssayError} when it has images and the judge can't read them */
export async function side(prepared: Prepared, trajectory: Trajectory, path: string): Promise<Side> {
  checkImages(prepared, trajectory.images, path);
  return {
    text: await promptText(prepared.environment.delimiterSecret, trajectory.text),
    images: trajectory.images,
  };
}

/** Refuses images that the judge would never see. */
export function checkImages(prepared: Prepared, images: readonly string[], path: string): void {
  if (images.length > 0 && !prepared.judge.readsImages) {
    const { judge } = prepared;
    const blind = judge.members?.find(({ readsImages }) => !readsImages) ?? judge;
    throw AssayError.field(
      path,
      `must have no images, as judge ${blind.profile} can't read them`,
      images.length,
    );
  }
}

/** Digest of a prompt's images in order; empty without images. */
export async function imagesDigest(images: readonly string[]): Promise<string> {
  if (images.length === 0) return "";
  return await sha256Hex((await Promise.all(images.map((image) => sha256Hex(image)))).join());
}

/**
 * Lets a plan through to be bought: within the request's own budget, and held in the caller's daily one.
 * @throws {AssayError} `over_budget` or `budget_exhausted`, with the plan
 * @throws {StoreError} when the daily budget can't be counted
 */
export async function admit(prepared: Prepared, plan: Plan): Promise<void> {
  checkBudget(plan, prepared.request.budget);
  if (plan.calls > 0) await prepared.options.allowance?.reserve(plan, uncachedUsd(prepared.judge, plan));
}

/** Signal and scorer of the buying part of a request. */
export function startBuying(
  prepared: Prepared,
): { readonly scorer: Scorer; readonly cancellation: Cancellation } {
  const { environment, request, options, judge, warnings } = prepared;
  const cancellation = createCancellation(options.signal, request.deadlineMs);
  const scorerOf = (one: Judge): Scorer =>
    createScorer({
      environment,
      judge: one,
      channel: request.channel,
      cache: request.cache,
      cancellation,
      warnings,
      recording: options.recording,
    });
  const scorer = judge.members === undefined
    ? scorerOf(judge)
    : createEnsembleScorer(judge.members, scorerOf);
  options.recording?.meter(scorer.usage);
  options.allowance?.meter(scorer.bill);
  return { scorer, cancellation };
}

/** The fields that every result shares. @param scores all parts of all calls @param scorer `null` when nothing was bought */
export function sharedResult(
  prepared: Prepared,
  scores: readonly Score[],
  scorer: Scorer | null,
): SharedResult {
  const { judge } = prepared;
  const info: JudgeInfo = {
    profile: judge.profile,
    kind: judge.kind,
    model: judge.model,
    promptVersion: promptVersion(),
    coreVersion: coreVersion(),
  };
  return {
    id: prepared.options.recording?.id ?? `dec_${ulid()}`,
    unscored: scores.filter((score) => score.kind === "unscored").length,
    judge: info,
    channels: countChannels(scores),
    usage: scorer?.usage() ?? noUsage(),
    warnings: prepared.warnings.list(),
  };
}

/** Every reason among the scores with its count and one detail; empty when everything is scored. */
export function listReasons(scores: readonly Score[]): string {
  const reasons = new Map<UnscoredReason, { count: number; readonly detail: string | undefined }>();
  for (const score of scores) {
    if (score.kind !== "unscored") continue;
    const seen = reasons.get(score.reason);
    if (seen === undefined) reasons.set(score.reason, { count: 1, detail: score.detail });
    else seen.count++;
  }
  return [...reasons].map(([reason, { count, detail }]) =>
    `${reason} (${count}${detail === undefined || detail === "" ? "" : `, for example: ${detail}`})`
  ).join("; ");
}

const BACKEND: ReadonlySet<UnscoredReason> = new Set(["backend_error", "rate_limited", "replay_miss"]);

/**
 * The error of a request in which nothing could be scored, from the reasons of its parts.
 *
 * `judge_unauthorized` when the judge refused the key, `deadline_exceeded` when only time was missing, `judge_failed`
 * when the backend answered nothing, `channel_unavailable` when answers came but not in the channel that was demanded,
 * else `nothing_scored`. The message counts every reason and shows one detail of each.
 */
export function nothingScored(
  scores: readonly Score[],
  channel: SharedRequest["channel"],
  prepared: { readonly judge: Pick<Judge, "profile"> },
): AssayError {
  const reasons = new Set(scores.flatMap((score) => score.kind === "unscored" ? [score.reason] : []));
  const only = (fits: (reason: UnscoredReason) => boolean): boolean =>
    reasons.size > 0 && [...reasons].every(fits);
  let code: ErrorCode = "nothing_scored";
  if (reasons.has("unauthorized")) code = "judge_unauthorized";
  else if (only((reason) => reason === "timeout" || reason === "aborted")) code = "deadline_exceeded";
  else if (only((reason) => BACKEND.has(reason) || reason === "timeout")) code = "judge_failed";
  else if (channel !== "any" && reasons.has("no_logprobs")) code = "channel_unavailable";
  const list = listReasons(scores);
  const demand = channel === "any" ? "" : `, channel ${channel} was demanded`;
  return new AssayError(
    code,
    `judge ${prepared.judge.profile} gave no usable score${demand}: ${list || "no call was made"}`,
  );
}
