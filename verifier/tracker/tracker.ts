/**
 * The online tracker: a run that is followed step by step. Every step is stored before anything is scored, each score
 * sees the steps up to its own and nothing later, and all of it survives restarts.
 *
 * @module
 */
import type { Environment } from "../environment.ts";
import { AssayError } from "../errors.ts";
import { sha256Hex } from "../prompt.ts";
import { redact } from "../redaction/redact.ts";
import { createRedactor, type Redactor, redactorOf, warnOfRedacted } from "../redaction/redactor.ts";
import { cleanText, Warnings } from "../text.ts";
import { adviceOf, track } from "../track.ts";
import { RECORD_FORMAT, type StartRecord, type StepRecord } from "./records.ts";
import type {
  TrackerResult,
  TrackerStarted,
  TrackerStartRequest,
  TrackerStep,
  TrackerUpdateRequest,
  TrackerUpdateResult,
} from "./requests.ts";
import { promptOf, scoreStep, stepView } from "./scoring.ts";
import { openTrackers, type TrackerLog, type TrackerStore } from "./store.ts";
import { StoreError } from "../../store/store.ts";
import type { CallOptions, JudgeChoice, PlanResult, SharedRequest } from "../types.ts";
import { ulid } from "../ulid.ts";
import { prepare } from "../verb.ts";

/**
 * Starts a tracker. Task, criteria and judge are fixed from here on: a built-in rubric or a default judge that changes
 * later doesn't change it.
 *
 * @param caller name of the caller's token; an id of its own is nobody else's
 * @returns its id, and its length: 0, or what it has where the same request with an id had made it before
 * @throws {AssayError} `invalid_request` as the verbs do (a pattern of `redact` among them), and for a key in `judge`, which would have to be stored;
 * `idempotency_conflict` for an id that another request, another caller or a deleted tracker has taken
 */
export async function startTracker(
  environment: Environment,
  given: TrackerStartRequest,
  caller: string | null = null,
): Promise<TrackerStarted> {
  const redactor = redactorOf(given, environment.redact);
  const request = redactor === null ? given : withoutSecrets(given, redactor);
  const trackers = openTrackers(environment.store);
  const bodyHash = request.id === undefined ? null : await sha256Hex(JSON.stringify(request));
  const existing = async (): Promise<TrackerStarted | null> =>
    request.id === undefined ? null : await startedBefore(trackers, request.id, caller, bodyHash);
  const before = await existing();
  if (before !== null) return before;
  const warnings = new Warnings();
  if (redactor !== null) warnOfRedacted(redactor, warnings);
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
    id: request.id ?? `trk_${ulid()}`,
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
    redact: request.redact === undefined ? null : [...request.redact],
    caller: request.id === undefined ? null : caller,
    bodyHash,
  };
  if (!await trackers.create(record)) {
    const first = await existing();
    if (first !== null) return first;
    throw new StoreError(`tracker ${record.id} exists already`);
  }
  return { id: record.id, created: true, length: 0, warnings: warnings.list() };
}

/** Cleaned before anything of it is hashed or stored. */
function withoutSecrets(request: TrackerStartRequest, { clean }: Redactor): TrackerStartRequest {
  const { task, context } = request;
  return { ...request, task: clean(task), ...(context === undefined ? {} : { context: clean(context) }) };
}

/** A tracker of this id that the same request has made; `null` where the id is free. @throws {AssayError} where it is taken */
async function startedBefore(
  trackers: TrackerStore,
  id: string,
  caller: string | null,
  bodyHash: string | null,
): Promise<TrackerStarted | null> {
  const found = await trackers.find(id);
  if (found === null) return null;
  if ("deletedAt" in found) throw taken(id, `was deleted at ${found.deletedAt}`);
  // Whoever didn't make it learns nothing of it but that its id is taken.
  if (found.bodyHash === null || found.caller !== caller) throw taken(id, "is taken");
  if (found.bodyHash !== bodyHash) throw taken(id, "was started with another request");
  return { id, created: false, length: (await trackers.log(id)).length, warnings: [] };
}

function taken(id: string, why: string): AssayError {
  return new AssayError(
    "idempotency_conflict",
    `the tracker id ${JSON.stringify(id)} ${why}: choose another one`,
    {
      errors: [{ path: "/id", message: "must be new for another request", value: JSON.stringify(id) }],
    },
  );
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
  const redactor = start.redact === null ? null : createRedactor(start.redact, environment.redact);
  const clean = redactor === null ? redact(text) : redactor.clean(text);
  if (redactor !== null) warnOfRedacted(redactor, warnings);
  const bodyHash = await sha256Hex(JSON.stringify([redactor === null ? text : clean, images]));
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
