/**
 * `session`: how an agent's session progressed, or whether its work is accepted.
 *
 * @module
 */
import { boundSteps, headAndTail, newestImages } from "../tracker/bounded_steps.ts";
import { recordDecision } from "../decisions/decisions.ts";
import type { Environment } from "../environment.ts";
import { AssayError } from "../errors.ts";
import { gate } from "../gate/gate.ts";
import { type Evidence, readEvidence } from "./evidence.ts";
import type { SessionRequest, SessionResult } from "./requests.ts";
import { MAXIMUM_IMAGES } from "../requests.ts";
import { Warnings } from "../text.ts";
import { defaultCheckpoints, track } from "../track.ts";
import type { CallOptions, PlanResult, SharedRequest, TrajectoryInput } from "../types.ts";

/**
 * Judges a session log, a chat transcript or steps: with mode `progress` the curve that `track` gives, with mode
 * `acceptance` the gate's rule against an attempt in which nothing was done.
 *
 * Secrets and what the request's patterns match are taken out first; then the text is kept within `maxCharacters`, the
 * newest steps whole, and the result counts what is not shown. Checkpoints and the curve count the session's steps.
 *
 * @param request as `parseRequest(sessionRequestSchema, …)` gives it
 * @returns the verdict, or the plan with `dryRun`
 * @throws {AssayError} as `readEvidence` and the two verbs do
 */
export async function session(
  environment: Environment,
  request: SessionRequest,
  options: CallOptions = {},
): Promise<SessionResult | PlanResult> {
  const warnings = new Warnings();
  const evidence = readEvidence(request, warnings);
  const { id } = evidence.source;
  return await recordDecision(
    environment,
    { verb: "session", ...(id === null ? {} : { topic: id.slice(0, 100) }) },
    options,
    (own) => judge(environment, request, evidence, warnings, own),
  );
}

async function judge(
  environment: Environment,
  request: SessionRequest,
  evidence: Evidence,
  warnings: Warnings,
  options: CallOptions,
): Promise<SessionResult | PlanResult> {
  const bounded = boundSteps(evidence.steps.map(({ text }) => text), request.maxCharacters);
  const task = headAndTail(evidence.task, Math.max(2000, Math.floor(request.maxCharacters / 4)));
  if (task.omitted > 0) warnings.add(`the task is shortened: ${task.omitted} characters are not shown`);
  const shared = sharedOf(request, task.text, evidence.context);
  const trajectory: TrajectoryInput = {
    steps: withImages(evidence, bounded, warnings),
  };
  const { mode } = request;
  const inner = mode === "progress"
    ? await track(environment, {
      ...shared,
      trajectory,
      causal: request.causal,
      checkpoints: shownCheckpoints(request, bounded.origins),
    }, options)
    : await accept(environment, request, shared, trajectory, options);
  if ("plan" in inner) return inner;
  const { id, unscored, judge, channels, usage, warnings: told, verb: _, ...own } = inner;
  for (const warning of told) warnings.add(warning);
  const base = {
    verb: "session" as const,
    mode,
    task: task.text,
    source: evidence.source,
    shortened: bounded.shortened,
    id,
    unscored,
    judge,
    channels,
    usage,
    warnings: warnings.list(),
  };
  if ("decision" in own) return { ...base, progress: null, acceptance: own };
  const ofSession = <Row extends { readonly step: number }>(row: Row): Row => (
    { ...row, step: (bounded.origins[row.step - 1] ?? 0) + 1 }
  );
  const progress = {
    ...own,
    curve: own.curve.map(ofSession),
    unscoredParts: own.unscoredParts.map(ofSession),
  };
  return { ...base, progress, acceptance: null };
}

async function accept(
  environment: Environment,
  request: SessionRequest,
  shared: SharedRequest,
  trajectory: TrajectoryInput,
  options: CallOptions,
): ReturnType<typeof gate> {
  if (request.checkpoints !== undefined || request.causal) {
    throw AssayError.field(
      request.checkpoints === undefined ? "/causal" : "/checkpoints",
      "must only be given with mode progress",
    );
  }
  const { threshold, floors } = request;
  return await gate(
    environment,
    { ...shared, trajectory, threshold, ...(floors === undefined ? {} : { floors }) },
    options,
  );
}

function sharedOf(request: SessionRequest, task: string, context: string | undefined): SharedRequest {
  const { criteria, groundTruthNote, repeats, judge, channel, images, seed, budget, deadlineMs } = request;
  return {
    task,
    criteria,
    repeats,
    channel,
    images,
    seed,
    dryRun: request.dryRun,
    cache: request.cache,
    ...(context === undefined ? {} : { context }),
    ...(groundTruthNote === undefined ? {} : { groundTruthNote }),
    ...(judge === undefined ? {} : { judge }),
    ...(budget === undefined ? {} : { budget }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

/** The shown steps with their images: of more than a prompt takes, the newest. */
function withImages(
  { steps }: Evidence,
  { texts, origins }: ReturnType<typeof boundSteps>,
  warnings: Warnings,
): { readonly text: string; readonly images: readonly string[] }[] {
  const { lists, dropped } = newestImages(
    origins.map((origin) => origin === null ? [] : steps[origin]?.images ?? []),
    MAXIMUM_IMAGES,
  );
  if (dropped > 0) warnings.add(`the oldest ${dropped} images are not shown (at most ${MAXIMUM_IMAGES} are)`);
  return texts.map((text, i) => ({ text, images: lists[i] ?? [] }));
}

/** Places of the checkpoints among the shown steps. */
function shownCheckpoints(
  { checkpoints }: SessionRequest,
  origins: readonly (number | null)[],
): readonly number[] {
  const hasNote = origins[0] === null;
  if (checkpoints === undefined) {
    const shown = origins.length - (hasNote ? 1 : 0);
    return defaultCheckpoints(shown).map((step) => step + (hasNote ? 1 : 0));
  }
  const last = (origins.at(-1) ?? -1) + 1;
  return checkpoints.map((step, i) => {
    const at = origins.indexOf(step - 1);
    if (at !== -1) return at + 1;
    throw AssayError.field(
      `/checkpoints/${i}`,
      step > last
        ? `must be at most ${last}, the session's last step`
        : `must be a step that is shown: the oldest ${origins[1] ?? last} are left out by maxCharacters`,
      step,
    );
  });
}
