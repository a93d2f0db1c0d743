/**
 * `gate`: may an agent end its turn with this work?
 *
 * @module
 */
import { StoreError } from "../../store/store.ts";
import { baselineVerdict, judgeBaseline, planBaseline } from "./baseline.ts";
import { recordDecision } from "../decisions/decisions.ts";
import { trajectoryDigest } from "../decisions/outline.ts";
import { resultsOf } from "../ensemble/ensemble.ts";
import { warnOfDropped } from "../ensemble/report.ts";
import type { Environment } from "../environment.ts";
import { AssayError } from "../errors.ts";
import type { GateRequest, GateResult, OpenCode } from "./requests.ts";
import { floorOf } from "./rule.ts";
import { ContextError } from "../plan.ts";
import { resolveRubric } from "../rubric.ts";
import type { Scorer } from "../scorer.ts";
import { Warnings } from "../text.ts";
import { normalizeTrajectory } from "../trajectory.ts";
import type { CallOptions, Plan, PlanResult, Rubric } from "../types.ts";
import {
  admit,
  checkImages,
  prepare,
  type Prepared,
  requestRedactor,
  sharedResult,
  side,
  startBuying,
} from "../verb.ts";

/** The rubric that stands in for one that can't be read. */
export const FALLBACK_RUBRIC = "coding";

/**
 * What every answer of a gate by the embedded judge says. Measured on 435 real runs of Terminal-Bench 2.0 and 2.1 (360
 * passed their hidden tests, 75 didn't) against the empty baseline: at 0.65 all of both kinds are accepted; at 0.95 it is
 * 77 % and 33 %; a passing run scores higher than a failing one in 76 % of all pairs.
 */
const EVIDENCE_WARNING =
  "the evidence judge is a weak gate: on 435 real runs it accepted every one at a threshold of 0.65, and at 0.95 it " +
  "accepted 77 % of those that were right and 33 % of those that were wrong";

/**
 * Measures work against an attempt in which nothing was done, with `criteria x repeats` calls, and applies the rule:
 * accept iff it beats that baseline, its weighted mean is at least `threshold` and every criterion at least its floor.
 *
 * The gate fails open. Whatever keeps it from a complete measurement (a judge that is down, refuses the key, takes too
 * long or can't be read; a budget that is too small; a prompt too long for the judge; an abort) ends in `open` with
 * the reason, never in `steer`. A rubric that can't be read is replaced by `coding`, with a warning.
 *
 * @param request as `parseRequest(gateRequestSchema, …)` gives it
 * @returns the decision, or the plan with `dryRun`
 * @throws {AssayError} `invalid_request` or `forbidden`, only for what the caller must change: a blank trajectory, an
 * unknown judge, images that the judge can't read, a floor for a criterion that isn't there
 */
export async function gate(
  environment: Environment,
  request: GateRequest,
  options: CallOptions = {},
): Promise<GateResult | PlanResult> {
  return await recordDecision(
    environment,
    { verb: "gate" },
    options,
    (own) => gateRecorded(environment, request, own),
  );
}

async function gateRecorded(
  environment: Environment,
  request: GateRequest,
  options: CallOptions,
): Promise<GateResult | PlanResult> {
  const warnings = new Warnings();
  const redactor = requestRedactor(environment, request);
  const work = normalizeTrajectory(request.trajectory, "/trajectory", warnings, redactor);
  if (work.text.trim() === "" && work.images.length === 0) {
    throw AssayError.field("/trajectory", "must not be blank", work.text);
  }
  const { criteria, fellBack } = readableCriteria(request, warnings);
  // Without the signal: a caller that has left gets a note like everybody else.
  const { signal: _, ...unaborted } = options;
  const prepared: Prepared = {
    ...await prepare(environment, { ...request, criteria }, unaborted, warnings, redactor),
    options,
  };
  checkFloors(request.floors, prepared.rubric.criteria, fellBack ? warnings : null);
  checkImages(prepared, request.images, "/images");
  const own = await side(prepared, work, "/trajectory");
  if ([prepared.judge, ...prepared.judge.members ?? []].some(({ kind }) => kind === "evidence")) {
    warnings.add(EVIDENCE_WARNING);
  }

  let plan: Plan;
  try {
    plan = await planBaseline(prepared, own);
    if (request.dryRun) return { plan };
    await admit(prepared, plan);
  } catch (error) {
    const code = request.dryRun ? null : openCode(error);
    if (code === null) throw error;
    return open(prepared, request, code, (error as Error).message);
  }
  options.onEvent?.({ type: "plan", plan });
  options.recording?.outline({ verb: "gate", trajectory: await trajectoryDigest(work) });

  const { scorer, cancellation } = startBuying(prepared);
  try {
    let done = 0;
    const calls = await judgeBaseline(prepared, scorer, own, (call) => {
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
    const scores = calls.flatMap((call) => [call.a, call.b]);
    if (cancellation.cause() === "aborted") {
      return open(prepared, request, "aborted", "the caller called the check off", scorer);
    }
    const verdict = baselineVerdict({ ...prepared, request }, calls);
    warnOfDropped(verdict.judges, warnings);
    return { verb: "gate", ...verdict, ...sharedResult(prepared, scores, scorer) };
  } finally {
    cancellation.close();
  }
}

/** What keeps a gate from buying, and isn't the request's fault; `null` for anything else. */
function openCode(error: unknown): OpenCode | null {
  if (error instanceof ContextError) return "context_too_long";
  if (error instanceof StoreError) return "store_unavailable";
  if (!(error instanceof AssayError) || error.code === "invalid_request" || error.code === "invalid_json") {
    return null;
  }
  return error.code;
}

/** The gate's rubric never disables the gate. */
function readableCriteria(
  { criteria, groundTruthNote }: GateRequest,
  warnings: Warnings,
): { readonly criteria: GateRequest["criteria"]; readonly fellBack: boolean } {
  try {
    resolveRubric(criteria, groundTruthNote);
    return { criteria, fellBack: false };
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    warnings.add(
      `the rubric can't be read, the built-in rubric ${FALLBACK_RUBRIC} is used instead: ${error.message}`,
    );
    return { criteria: FALLBACK_RUBRIC, fellBack: true };
  }
}

/**
 * Refuses floors for criteria that aren't there.
 * @param unreadable takes a note instead, where the rubric they belong to can't be read
 * @throws {AssayError} `invalid_request` naming the floor
 */
export function checkFloors(
  floors: GateRequest["floors"] = {},
  criteria: Rubric["criteria"],
  unreadable: Warnings | null = null,
): void {
  const ids = criteria.map(({ id }) => id);
  for (const [id, floor] of Object.entries(floors)) {
    if (ids.includes(id)) continue;
    const at = `/floors/${id.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (unreadable === null) {
      throw AssayError.field(at, `must name a criterion of the rubric: ${ids.join(", ")}`, floor);
    }
    unreadable.add(`${at}: not used, as the rubric it belongs to can't be read`);
  }
}

/** The decision of a gate that has measured nothing. */
function open(
  prepared: Prepared,
  request: GateRequest,
  code: OpenCode,
  reason: string,
  scorer: Scorer | null = null,
): GateResult {
  const { threshold, floors } = request;
  const limits = floors === undefined ? { threshold } : { threshold, floors };
  return {
    verb: "gate",
    decision: "open",
    score: null,
    baselineScore: null,
    threshold,
    criteria: prepared.rubric.criteria.map(({ id, name, weight }) => (
      { id, name, weight, score: null, baseline: null, floor: floorOf(id, limits), scored: 0, unscored: 0 }
    )),
    failing: [],
    reason,
    code,
    ...sharedResult(prepared, [], scorer),
  };
}
