/**
 * `track`: the progress curve of a finished trajectory.
 *
 * @module
 */
import { recordDecision } from "./decisions/decisions.ts";
import { trajectoryDigest } from "./decisions/outline.ts";
import { resultsOf } from "./ensemble/ensemble.ts";
import { type JudgeNames, reportEnsemble, warnOfDropped } from "./ensemble/report.ts";
import type { Environment } from "./environment.ts";
import { AssayError } from "./errors.ts";
import { mean, standardError } from "./math.ts";
import { checkContext, planCalls } from "./plan.ts";
import { progressPrefix, progressSuffix, type PromptPrefix, promptText, utf8Length } from "./prompt.ts";
import type { Scorer } from "./scorer.ts";
import { Warnings } from "./text.ts";
import { type NormalizedTrajectory, normalizeTrajectory } from "./trajectory.ts";
import type {
  Advice,
  CallOptions,
  CurvePoint,
  PlanResult,
  Score,
  SharedResult,
  TrackRequest,
  TrackResult,
} from "./types.ts";
import {
  admit,
  checkImages,
  imagesDigest,
  nothingScored,
  prepare,
  type Prepared,
  requestRedactor,
  sharedResult,
  startBuying,
} from "./verb.ts";

/** Up to so many steps every step is a checkpoint by default. */
export const ALL_STEPS_UP_TO = 12;
/** Else so many, evenly spaced. */
export const DEFAULT_CHECKPOINTS = 10;
/** From this score on the advice is `done`: the judge is nearly certain (R of A to T). */
export const DONE_SCORE = 0.9;
/** A change of less than this (about one letter) over the last points is a plateau. */
export const PLATEAU_CHANGE = 0.05;
/** Scored points that the advice looks at. */
export const ADVICE_POINTS = 3;

/** Default checkpoints of a trajectory: all steps up to 12, else 10 evenly spaced, the last always among them. */
export function defaultCheckpoints(steps: number): readonly number[] {
  if (steps <= ALL_STEPS_UP_TO) return Array.from({ length: steps }, (_, i) => i + 1);
  return Array.from(
    { length: DEFAULT_CHECKPOINTS },
    (_, i) => Math.round((i + 1) * steps / DEFAULT_CHECKPOINTS),
  );
}

/**
 * Advice from a curve's scored points, in order: `done` when the last is at least 0.9; else the change over the last
 * three points (two if there are no more): over 0.05 `rising`, under -0.05 `falling`, between them `plateau`.
 * @returns `null` with fewer than two scored points, unless `done`
 */
export function adviceOf(scores: readonly (number | null)[]): Advice | null {
  const points = scores.filter((score) => score !== null).slice(-ADVICE_POINTS);
  const last = points.at(-1);
  const first = points[0];
  if (last === undefined || first === undefined) return null;
  if (last >= DONE_SCORE) return "done";
  if (points.length < 2) return null;
  const change = last - first;
  return change > PLATEAU_CHANGE ? "rising" : change < -PLATEAU_CHANGE ? "falling" : "plateau";
}

/**
 * Scores the progress of a trajectory at its checkpoints: one call per repeat for all of them, or with `causal` one
 * call per checkpoint and repeat that sees the steps up to there and nothing later.
 *
 * A point's `score` is the mean over its scored repeats (`null` without one), `standardError` that mean's, from two
 * repeats on. `final` is the score at the last checkpoint.
 *
 * @param request as `parseRequest(trackRequestSchema, …)` gives it
 * @returns the curve, or the plan with `dryRun`
 * @throws {AssayError} as `compare` does; a checkpoint beyond the last step is `invalid_request`
 * @throws the signal's reason when the caller aborts
 */
export async function track(
  environment: Environment,
  request: TrackRequest,
  options: CallOptions = {},
): Promise<TrackResult | PlanResult> {
  return await recordDecision(
    environment,
    { verb: "track" },
    options,
    (own) => trackRecorded(environment, request, own),
  );
}

async function trackRecorded(
  environment: Environment,
  request: TrackRequest,
  options: CallOptions,
): Promise<TrackResult | PlanResult> {
  const warnings = new Warnings();
  const redactor = requestRedactor(environment, request);
  const trajectory = normalizeTrajectory(request.trajectory, "/trajectory", warnings, redactor);
  const prepared = await prepare(environment, request, options, warnings, redactor);
  checkImages(prepared, request.images, "/images");
  checkImages(prepared, trajectory.images, "/trajectory");
  if (trajectory.text.trim() === "") {
    throw AssayError.field("/trajectory", "must not be blank", trajectory.text);
  }
  const checkpoints = readCheckpoints(request.checkpoints, trajectory.steps.length);
  const looks = await makeLooks(prepared, trajectory, checkpoints, request.causal);
  const longest = looks.reduce((x, y) => y.prefix.bytes > x.prefix.bytes ? y : x);
  checkContext(
    prepared.judge,
    longest.prefix.bytes + utf8Length(longest.suffix),
    longest.images.length,
    "/trajectory",
    "the trajectory",
  );
  const plan = planCalls(
    prepared.judge,
    0,
    looks.map(({ prefix, suffix, images }) => ({
      prefixBytes: prefix.bytes,
      suffixBytes: Array.from({ length: request.repeats }, () => utf8Length(suffix)),
      images: images.length,
    })),
  );
  if (request.dryRun) return { plan };
  await admit(prepared, plan);
  options.onEvent?.({ type: "plan", plan });

  options.recording?.outline({
    verb: "track",
    trajectory: await trajectoryDigest(trajectory),
    checkpoints,
    causal: request.causal,
  });

  const { scorer, cancellation } = startBuying(prepared);
  try {
    const { scores, byJudge } = await buy(prepared, scorer, looks, resultsOf(prepared.judge, plan.calls));
    if (cancellation.cause() === "aborted") throw cancellation.signal.reason;
    const curve = curveResult(prepared, request.causal, checkpoints, scores, byJudge);
    warnOfDropped(curve.judges, warnings);
    return {
      ...curve,
      ...sharedResult(prepared, [...scores.values()].flat(), scorer),
    };
  } finally {
    cancellation.close();
  }
}

function readCheckpoints(requested: readonly number[] | undefined, steps: number): readonly number[] {
  if (requested === undefined) return defaultCheckpoints(steps);
  const seen = new Set<number>();
  requested.forEach((step, i) => {
    const at = `/checkpoints/${i}`;
    if (!Number.isSafeInteger(step) || step < 1) {
      throw AssayError.field(at, "must be a step number from 1 on", step);
    }
    if (step > steps) {
      throw AssayError.field(at, `must be at most ${steps}, the trajectory's last step`, step);
    }
    if (seen.has(step)) throw AssayError.field(at, "must not repeat a step", step);
    seen.add(step);
  });
  if (requested.length === 0) throw AssayError.field("/checkpoints", "must have at least 1 entry", requested);
  return [...requested].sort((x, y) => x - y);
}

/** One prompt: the steps it shows and the checkpoints it asks for. */
interface Look {
  readonly prefix: PromptPrefix;
  readonly suffix: string;
  readonly images: readonly string[];
  readonly imagesDigest: string;
  readonly checkpoints: readonly number[];
}

async function makeLooks(
  prepared: Prepared,
  trajectory: NormalizedTrajectory,
  checkpoints: readonly number[],
  causal: boolean,
): Promise<readonly Look[]> {
  const secret = prepared.environment.delimiterSecret;
  const look = async (shown: number, asked: readonly number[]): Promise<Look> => {
    const images = [
      ...prepared.request.images,
      ...trajectory.ownImages,
      ...trajectory.stepImages.slice(0, shown).flat(),
    ];
    const text = await promptText(secret, trajectory.steps.slice(0, shown).join(""));
    return {
      prefix: await progressPrefix(prepared.subject, text, prepared.rubric.criteria, images.length),
      suffix: progressSuffix(asked, shown),
      images,
      imagesDigest: await imagesDigest(images),
      checkpoints: asked,
    };
  };
  if (!causal) return [await look(trajectory.steps.length, checkpoints)];
  return await Promise.all(checkpoints.map((step) => look(step, [step])));
}

/** One part of a call by each judge of an ensemble. */
export interface PartByJudge {
  readonly step: number;
  readonly repeat: number;
  /** In the judges' order. */
  readonly scores: readonly Score[];
}

/** Scores per checkpoint, one per repeat. */
async function buy(
  prepared: Prepared,
  scorer: Scorer,
  looks: readonly Look[],
  total: number,
): Promise<{
  readonly scores: ReadonlyMap<number, readonly Score[]>;
  readonly byJudge: readonly PartByJudge[];
}> {
  const { request, options } = prepared;
  const scores = new Map<number, Score[]>();
  const byJudge: PartByJudge[] = [];
  let done = 0;
  await Promise.all(looks.map(async (look) => {
    await Promise.all(Array.from({ length: request.repeats }, async (_, repeat) => {
      const call = await scorer.score({
        prefix: look.prefix,
        suffix: look.suffix,
        images: look.images,
        imagesDigest: look.imagesDigest,
        tags: look.checkpoints.map((_, i) => `c${i + 1}`),
        direction: "progress",
        repeat,
        label: { repeat, steps: look.checkpoints },
      });
      look.checkpoints.forEach((step, i) => {
        const own = scores.get(step) ?? [];
        own[repeat] = call.scores[i] ?? { kind: "unscored", reason: "no_tag" };
        scores.set(step, own);
        const each = call.byJudge?.flatMap((one) => one.scores[i] ?? []);
        if (each !== undefined) byJudge.push({ step, repeat, scores: each });
      });
      options.onEvent?.({
        type: "call",
        done: ++done,
        total,
        repeat,
        scores: call.scores,
        cached: call.cached,
      });
    }));
    for (const step of look.checkpoints) {
      options.onEvent?.({ type: "checkpoint", point: pointOf(step, scores.get(step) ?? []) });
    }
  }));
  return { scores, byJudge };
}

function pointOf(step: number, scores: readonly Score[]): CurvePoint {
  const values = scores.flatMap((score) => score.kind === "scored" ? [score.value] : []);
  return {
    step,
    score: mean(values),
    standardError: standardError(values),
    scored: values.length,
    unscored: scores.length - values.length,
  };
}

/** What a curve depends on, beside its scores: only what its errors say. */
export interface TrackBasis {
  readonly request: Pick<TrackRequest, "channel">;
  readonly judge: JudgeNames;
}

/**
 * The curve that follows from the scores per checkpoint (one per repeat), and from nothing else.
 * @throws {AssayError} when nothing was scored
 */
export function curveResult(
  prepared: TrackBasis,
  causal: boolean,
  checkpoints: readonly number[],
  scores: ReadonlyMap<number, readonly Score[]>,
  byJudge: readonly PartByJudge[] = [],
): Omit<TrackResult, keyof SharedResult> {
  const curve = checkpoints.map((step) => pointOf(step, scores.get(step) ?? []));
  const all = [...scores.values()].flat();
  if (curve.every((point) => point.score === null)) {
    throw nothingScored(all, prepared.request.channel, prepared);
  }
  const ordered = byJudge.toSorted((x, y) => x.step - y.step || x.repeat - y.repeat);
  const { judges } = reportEnsemble(
    prepared.judge,
    (index) => ({ scores: ordered.flatMap((part) => part.scores[index] ?? []) }),
    null,
  );
  return {
    verb: "track",
    causal,
    curve,
    final: curve.at(-1)?.score ?? null,
    advice: adviceOf(curve.map((point) => point.score)),
    unscoredParts: checkpoints.flatMap((step) =>
      (scores.get(step) ?? []).flatMap((score, repeat) => {
        if (score.kind === "scored") return [];
        const { reason, detail } = score;
        return [{ step, repeat, reason, ...(detail === undefined ? {} : { detail }) }];
      })
    ),
    ...(judges === undefined ? {} : { judges }),
  };
}
