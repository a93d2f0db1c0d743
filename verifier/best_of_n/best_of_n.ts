/**
 * `best-of-n`: several drafts of one answer, a tournament between them, and the winner against the empty baseline.
 *
 * @module
 */
import { planBaseline } from "../gate/baseline.ts";
import { type Acceptance, type BestOfNRequest, type BestOfNResult } from "./requests.ts";
import type { Allowance } from "../budget/budget.ts";
import { createCancellation } from "../cancellation.ts";
import { recordDecision } from "../decisions/decisions.ts";
import { textDigest } from "../decisions/outline.ts";
import { type DraftOrder, draftPrompts, draftTokens, planDrafts, writeDrafts } from "./drafts.ts";
import { resultsOf } from "../ensemble/ensemble.ts";
import type { Environment } from "../environment.ts";
import { AssayError, type ErrorCode } from "../errors.ts";
import { checkFloors, gate } from "../gate/gate.ts";
import { type Generator, resolveGenerator } from "../judges/generator.ts";
import { addPlans, BYTES_PER_TOKEN, checkBudget, uncachedUsd } from "../plan.ts";
import { select } from "../select/select.ts";
import { firstRound, planSelect } from "../select/schedule.ts";
import { cleanText, Warnings } from "../text.ts";
import type { CallOptions, Draft, Plan, PlanResult, ProgressEvent, SharedRequest } from "../types.ts";
import { addUsage, UsageMeter } from "../usage.ts";
import { checkImages, imagesDigest, prepare, type Prepared, type Side } from "../verb.ts";

/**
 * Writes `n` drafts with the generator, lets the judge pick the best by a pivot tournament, and measures that one by
 * the gate's rule.
 *
 * - Truncated drafts are kept, flagged by `finishReason: "length"`; empty, refused and failed ones are listed with the
 *   reason. Fewer than two usable drafts are an error that lists why.
 * - The rubric (default `proposal`) serves both judged phases; the judge is told that nothing was executed.
 * - The plan counts the worst case: every draft as long as its generator may make it, every pair the schedule can ask
 *   for, and the acceptance. A budget below it refuses before anything is bought.
 * - Drafts are kept in the store (unless `cache` is `off`): the same request buys neither them nor their scores again.
 * - The acceptance fails open, as the gate does.
 *
 * @param request as `parseRequest(bestOfNRequestSchema, …)` gives it
 * @returns drafts, ranking and acceptance, or the plan with `dryRun`
 * @throws {AssayError} as `select` does; `judge_failed` (`judge_unauthorized`, `deadline_exceeded` where that is all
 * there is) for fewer than two usable drafts
 * @throws the signal's reason when the caller aborts
 */
export async function bestOfN(
  environment: Environment,
  request: BestOfNRequest,
  options: CallOptions = {},
): Promise<BestOfNResult | PlanResult> {
  let drafts: readonly Draft[] = [];
  const result = await recordDecision(environment, { verb: "best-of-n" }, options, async (own) => {
    const found = await bestOfNRecorded(environment, request, own);
    if ("plan" in found) return found;
    drafts = found.drafts;
    // The drafts' texts stand among the decision's calls, within its bounds.
    return {
      ...found,
      drafts: drafts.map(({ text, ...rest }) => ({ ...rest, characters: text?.length ?? 0 })),
    };
  });
  return "plan" in result ? result : { ...result, drafts };
}

async function bestOfNRecorded(
  environment: Environment,
  request: BestOfNRequest,
  options: CallOptions,
): Promise<BestOfNResult | PlanResult> {
  const warnings = new Warnings();
  const { prompt, generator: choice, n, pivots, threshold, floors, ...rest } = request;
  const shared: SharedRequest = { ...rest, task: prompt };
  if (prompt.trim() === "") throw AssayError.field("/prompt", "must not be blank", prompt);
  const prepared = await prepare(environment, shared, { ...options, stage: "proposal" }, warnings);
  const generator = resolveGenerator(environment.judges, choice);
  checkFloors(floors, prepared.rubric.criteria);
  checkImages(prepared, request.images, "/images");
  if (request.images.length > 0 && !generator.readsImages) {
    throw AssayError.field(
      "/images",
      `must be empty, as generator ${generator.profile} can't read them`,
      request.images.length,
    );
  }
  const order: DraftOrder = {
    request: prepared.task,
    context: request.context === undefined || request.context.trim() === ""
      ? null
      : cleanText(request.context, "/context", warnings),
    images: request.images,
    imagesDigest: await imagesDigest(request.images),
    n,
    seed: request.seed,
  };
  const drafting = planDrafts(
    generator,
    draftPrompts(environment.delimiterSecret, order),
    order.images.length,
  );
  const judging = await planJudging(prepared, generator, n, pivots);
  const plan = addPlans(drafting, judging);
  if (request.dryRun) return { plan };
  checkBudget(plan, request.budget);
  const [draftUsd, judgeUsd] = [uncachedUsd(generator, drafting), uncachedUsd(prepared.judge, judging)];
  await options.allowance?.reserve(plan, draftUsd === null || judgeUsd === null ? null : draftUsd + judgeUsd);
  options.onEvent?.({ type: "plan", plan });
  options.recording?.outline({
    verb: "best-of-n",
    generator: {
      profile: generator.profile,
      kind: generator.kind,
      model: generator.model,
      identity: generator.identity,
    },
    prompt: await textDigest(prepared.task),
  });

  const until = request.deadlineMs === undefined ? null : Date.now() + request.deadlineMs;
  const drafts = await draft(prepared, generator, order, options, warnings);
  options.signal?.throwIfAborted();
  const usable = drafts.list.filter((own) => own.text !== null);
  if (usable.length < 2) throw tooFew(drafts.list, usable.length);

  const inner = innerOptions(options, usable, resultsOf(prepared.judge, judging.calls));
  const part = (name: string): CallOptions => {
    const recording = options.recording?.part(name);
    return recording === undefined ? inner : { ...inner, recording };
  };
  const { budget: _, deadlineMs: __, ...common } = shared;
  const found = await select(
    environment,
    {
      ...common,
      ...remaining(until),
      candidates: usable.map(({ text }) => text ?? ""),
      mode: "pivot",
      pivots,
      prior: "none",
    },
    part("tournament"),
  );
  if ("plan" in found) throw new Error("a tournament that was not a dry run answered with a plan");
  const at = (index: number): number => usable[index]?.index ?? index;
  const best = at(found.best ?? 0);
  const accepted = await gate(
    environment,
    {
      ...common,
      ...remaining(until),
      repeats: common.repeats,
      trajectory: drafts.list[best]?.text ?? "",
      threshold,
      ...(floors === undefined ? {} : { floors }),
    },
    part("acceptance"),
  );
  if ("plan" in accepted) throw new Error("an acceptance that was not a dry run answered with a plan");
  options.signal?.throwIfAborted();
  for (const warning of [...found.warnings, ...accepted.warnings]) warnings.add(warning);
  return {
    verb: "best-of-n",
    id: options.recording?.id ?? found.id,
    generator: { profile: generator.profile, kind: generator.kind, model: generator.model },
    drafts: drafts.list,
    best,
    stopped: found.stopped,
    ranking: found.ranking.map(({ identicalTo, ...row }) => ({
      ...row,
      index: at(row.index),
      ...(identicalTo === undefined ? {} : { identicalTo: at(identicalTo) }),
    })),
    pairs: found.pairs.map((pair) => ({ ...pair, a: at(pair.a), b: at(pair.b) })),
    acceptance: acceptanceOf(accepted),
    ...(found.judges === undefined
      ? {}
      : { judges: found.judges.map((own) => ({ ...own, ...winnerAt(own.winner, at) })) }),
    ...(found.agreement === undefined ? {} : { agreement: found.agreement }),
    unscored: found.unscored + accepted.unscored,
    judge: found.judge,
    channels: addCounts(found.channels, accepted.channels),
    usage: addUsage(drafts.meter.total(), addUsage(found.usage, accepted.usage)),
    warnings: warnings.list(),
  };
}

const winnerAt = (winner: unknown, at: (index: number) => number): { winner?: number } =>
  typeof winner === "number" ? { winner: at(winner) } : {};

function addCounts(x: BestOfNResult["channels"], y: BestOfNResult["channels"]): BestOfNResult["channels"] {
  const sum: { -readonly [K in keyof BestOfNResult["channels"]]: BestOfNResult["channels"][K] } = { ...x };
  for (const [channel, count] of Object.entries(y) as [keyof typeof y, number][]) {
    sum[channel] = (sum[channel] ?? 0) + count;
  }
  return sum;
}

function acceptanceOf(
  { decision, score, baselineScore, threshold, criteria, failing, reason, code, judges, agreement }:
    Acceptance,
): Acceptance {
  return {
    decision,
    score,
    baselineScore,
    threshold,
    criteria,
    failing,
    ...(reason === undefined ? {} : { reason }),
    ...(code === undefined ? {} : { code }),
    ...(judges === undefined ? {} : { judges }),
    ...(agreement === undefined ? {} : { agreement }),
  };
}

/** Tournament and acceptance in the worst case: the drafts aren't written yet, so each is as long as it may become. */
async function planJudging(
  prepared: Prepared,
  generator: Generator,
  n: number,
  pivots: number,
): Promise<Plan> {
  const bytes = Math.ceil(draftTokens(generator) * BYTES_PER_TOKEN);
  const draft: Side = { text: { block: "", digest: "", bytes }, images: [] };
  const round = firstRound("pivot", n, pivots, prepared.request.seed);
  // Whether they fit into a context window is seen when they are there.
  const unbounded: Prepared = { ...prepared, judge: { ...prepared.judge, contextTokens: null } };
  const { plan } = await planSelect(unbounded, Array.from({ length: n }, () => draft), round);
  return addPlans(plan, await planBaseline(unbounded, draft));
}

async function draft(
  prepared: Prepared,
  generator: Generator,
  order: DraftOrder,
  options: CallOptions,
  warnings: Warnings,
): Promise<{ readonly list: readonly Draft[]; readonly meter: UsageMeter }> {
  const { request, environment } = prepared;
  const meter = new UsageMeter(generator.price);
  options.recording?.meter(() => meter.total());
  options.allowance?.meter(() => meter.bill());
  const cancellation = createCancellation(options.signal, request.deadlineMs);
  try {
    const list = await writeDrafts(order, {
      environment,
      generator,
      cancellation,
      cache: request.cache,
      warnings,
      meter,
      recording: options.recording?.part("drafts"),
      onDraft: (draft) => options.onEvent?.({ type: "draft", draft }),
    });
    return { list, meter };
  } finally {
    cancellation.close();
  }
}

/** What is left of the request's time. @throws {AssayError} `deadline_exceeded` when nothing is */
function remaining(until: number | null): { readonly deadlineMs?: number } {
  if (until === null) return {};
  // One millisecond ends in the inner verb's own words for a deadline that has passed.
  return { deadlineMs: Math.max(1, until - Date.now()) };
}

function tooFew(drafts: readonly Draft[], usable: number): AssayError {
  const reasons = drafts.flatMap(({ failure }) => failure === undefined ? [] : [failure.reason]);
  const all = (reason: string): boolean => reasons.length > 0 && reasons.every((own) => own === reason);
  const code: ErrorCode = all("unauthorized")
    ? "judge_unauthorized"
    : all("timeout")
    ? "deadline_exceeded"
    : "judge_failed";
  const list = drafts.map(({ index, failure }) =>
    `draft ${index + 1}: ${failure === undefined ? "usable" : `${failure.reason} (${failure.detail})`}`
  );
  return new AssayError(
    code,
    `fewer than two usable drafts (${usable} of ${drafts.length}): ${list.join("; ")}`,
  );
}

/** Options of the judged phases: one plan was announced and held for all, and their indices are those of the drafts. */
function innerOptions(options: CallOptions, usable: readonly Draft[], total: number): CallOptions {
  const { onEvent, allowance, recording: _, ...rest } = options;
  const at = (index: number): number => usable[index]?.index ?? index;
  let done = 0;
  const forward = (event: ProgressEvent): void => {
    if (event.type === "plan") return;
    if (event.type === "call") {
      const { a, b } = event;
      onEvent?.({
        ...event,
        done: ++done,
        total,
        ...(a === undefined ? {} : { a: at(a) }),
        ...(b === undefined ? {} : { b: at(b) }),
      });
    } else if (event.type === "pair") {
      onEvent?.({ type: "pair", pair: { ...event.pair, a: at(event.pair.a), b: at(event.pair.b) } });
    } else onEvent?.(event);
  };
  // The whole plan is held already.
  const held: Allowance | undefined = allowance === undefined
    ? undefined
    : { reserve: () => Promise.resolve(), meter: (bill) => allowance.meter(bill) };
  return {
    ...rest,
    stage: "proposal",
    ...(onEvent === undefined ? {} : { onEvent: forward }),
    ...(held === undefined ? {} : { allowance: held }),
  };
}
