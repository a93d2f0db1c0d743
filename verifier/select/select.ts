/**
 * `select`: the best of N trajectories, by a tournament of pairwise calls.
 *
 * @module
 */
import { agreement, EVIDENCE_AGREEMENT_PRIOR } from "../agreement.ts";
import { recordDecision } from "../decisions/decisions.ts";
import { trajectoryDigest } from "../decisions/outline.ts";
import { resultsOf } from "../ensemble/ensemble.ts";
import { warnOfDropped } from "../ensemble/report.ts";
import type { Environment } from "../environment.ts";
import { AssayError } from "../errors.ts";
import { checkContext } from "../plan.ts";
import { firstRound, planSelect, secondRound, type UniqueCandidates, uniqueCandidates } from "./schedule.ts";
import { observationsOf, pairResult, type PlayedPair } from "./results.ts";
import { firstStanding, scoresOf, type SelectBasis, type SelectPrior, standings } from "./standings.ts";
import { judgePair, type PairCall } from "../pair.ts";
import type { Pair } from "../core.ts";
import type { Scorer } from "../scorer.ts";
import { Warnings } from "../text.ts";
import { normalizeTrajectory } from "../trajectory.ts";
import type { CallOptions, PlanResult, SelectRequest, SelectResult } from "../types.ts";
import {
  admit,
  checkImages,
  nothingScored,
  prepare,
  type Prepared,
  requestRedactor,
  sharedResult,
  type Side,
  side,
  startBuying,
} from "../verb.ts";

/** Prior mean of a strength per unit of standardised agreement, with `prior: "agreement"`: measured, see the evidence facts. */
export const AGREEMENT_PRIOR = 0.08;

/**
 * Picks the best of 1 to 1000 trajectories.
 *
 * - `pivot`: a seeded random ring, then every candidate against the `pivots` strongest so far; where a full round
 *   robin is not dearer it is played instead, and `mode` of the result says so. No pair is bought twice, slots are
 *   balanced over the schedule, repeats swap them.
 * - `round_robin`: every pair once.
 * - `upstream`: the published reference's schedule and mean soft wins, identical candidates and repeated pairs counted;
 *   `winRate` ranks, strengths are `null`. Unlike there, an unscored pair is left out instead of counting as 0.5.
 *
 * In the other modes a linear Gaussian model rates the calls (`strength` in score units around 0, `standardError`,
 * `probabilityBest` of being this judge's own best); equal strengths (within 1e-9) are ranked by index and flagged by
 * `stopped: "tie"`. Identical candidates are judged once and carry `identicalTo`.
 *
 * @param request as `parseRequest(selectRequestSchema, …)` gives it
 * @returns the ranking, or the plan with `dryRun`
 * @throws {AssayError} as `compare` does
 * @throws the signal's reason when the caller aborts
 */
export async function select(
  environment: Environment,
  request: SelectRequest,
  options: CallOptions = {},
): Promise<SelectResult | PlanResult> {
  return await recordDecision(
    environment,
    { verb: "select" },
    options,
    (own) => selectRecorded(environment, request, own),
  );
}

async function selectRecorded(
  environment: Environment,
  request: SelectRequest,
  options: CallOptions,
): Promise<SelectResult | PlanResult> {
  if (request.mode === "upstream" && request.prior !== "none") {
    throw AssayError.field(
      "/prior",
      'must be "none" with mode "upstream", which has no prior',
      request.prior,
    );
  }
  const warnings = new Warnings();
  const redactor = requestRedactor(environment, request);
  const candidates = request.candidates.map((input, i) =>
    normalizeTrajectory(input, `/candidates/${i}`, warnings, redactor)
  );
  const prepared = await prepare(environment, request, options, warnings, redactor);
  checkImages(prepared, request.images, "/images");
  const unique = uniqueCandidates(candidates, request.mode !== "upstream");
  const sides: Side[] = [];
  for (const index of unique.firsts) {
    sides.push(await side(prepared, candidates[index]!, `/candidates/${index}`));
  }
  const round = firstRound(request.mode, sides.length, request.pivots, request.seed);
  const { plan, longestBytes, mostImages } = await planSelect(prepared, sides, round);
  if (sides.length > 1) {
    checkContext(prepared.judge, longestBytes, mostImages, "/candidates", "the two longest candidates");
  }
  if (request.dryRun) return { plan };
  await admit(prepared, plan);
  options.onEvent?.({ type: "plan", plan });

  const tournament: Tournament = {
    prepared,
    unique,
    sides,
    basis: {
      criteria: prepared.rubric.criteria,
      judge: prepared.judge,
      calibration: prepared.judge.calibration,
      ids: candidates.map(({ id }) => id),
      unique,
      prior: agreementPrior(prepared, request, unique.firsts.map((index) => candidates[index]?.text ?? "")),
    },
    total: resultsOf(prepared.judge, plan.calls),
    done: 0,
    bought: new Map(),
  };
  if (sides.length === 1) {
    return {
      ...standings(tournament.basis, [], { mode: request.mode, stopped: "complete" }),
      ...sharedResult(prepared, [], null),
    };
  }
  options.recording?.outline({
    verb: "select",
    candidates: await Promise.all(candidates.map((own) => trajectoryDigest(own))),
    unique,
    prior: { means: tournament.basis.prior.means ?? null, shown: tournament.basis.prior.shown },
  });
  const { scorer, cancellation } = startBuying(prepared);
  try {
    const played = await play(tournament, scorer, round.pairs, 1);
    if (cancellation.cause() === "aborted") throw cancellation.signal.reason;
    if (observationsOf(played, prepared.rubric.criteria).length === 0) {
      throw nothingScored(
        played.flatMap(({ calls }) => calls.flatMap((call) => [call.a, call.b])),
        request.channel,
        prepared,
      );
    }
    let stopped: SelectResult["stopped"] = "complete";
    if (round.second) {
      if (cancellation.cause() === "timeout") {
        stopped = "budget";
        warnings.add("the deadline passed after the first round; the pivot round was not played");
      } else {
        const standing = firstStanding(tournament.basis, round.mode, played);
        const pairs = secondRound(round, sides.length, request.pivots, standing);
        tournament.total = (round.pairs.length + pairs.length) * prepared.rubric.criteria.length *
          request.repeats;
        played.push(...await play(tournament, scorer, pairs, 2));
        if (cancellation.cause() === "aborted") throw cancellation.signal.reason;
      }
    }
    if (cancellation.cause() === "timeout") {
      stopped = "budget";
      warnings.add("the deadline passed before every call was answered");
    }
    const found = standings(tournament.basis, played, { mode: round.mode, stopped });
    warnOfDropped(found.judges, warnings);
    return {
      ...found,
      ...sharedResult(prepared, scoresOf(played), scorer),
    };
  } finally {
    cancellation.close();
  }
}

interface Tournament {
  readonly prepared: Prepared;
  readonly unique: UniqueCandidates;
  readonly sides: readonly Side[];
  readonly basis: SelectBasis;
  total: number;
  done: number;
  /** Directed pairs that were bought: the reference schedule asks for some twice. */
  readonly bought: Map<string, Promise<readonly PairCall[]>>;
}

async function play(
  tournament: Tournament,
  scorer: Scorer,
  pairs: readonly Pair[],
  round: number,
): Promise<PlayedPair[]> {
  const { prepared, sides, unique, bought } = tournament;
  const { options, rubric } = prepared;
  const candidate = (index: number): number => unique.firsts[index] ?? index;
  const onCall = (a: number, b: number) => (call: PairCall): void =>
    options.onEvent?.({
      type: "call",
      done: ++tournament.done,
      total: tournament.total,
      criterion: rubric.criteria[call.criterion]?.id ?? "",
      repeat: call.repeat,
      a: candidate(a),
      b: candidate(b),
      scores: [call.a, call.b],
      cached: call.cached,
    });
  return await Promise.all(pairs.map(async ([a, b]) => {
    const key = `${a},${b}`;
    let calls = bought.get(key);
    if (calls === undefined) {
      bought.set(
        key,
        calls = judgePair(prepared, scorer, sides[a]!, sides[b]!, onCall(a, b), {
          a: candidate(a),
          b: candidate(b),
          round,
        }),
      );
    }
    const played: PlayedPair = { a, b, round, calls: await calls };
    options.onEvent?.({ type: "pair", pair: pairResult(played, rubric.criteria, candidate) });
    return played;
  }));
}

/** Agreement is computed once per request, shown always and used only where the result says so. */
function agreementPrior(prepared: Prepared, request: SelectRequest, texts: readonly string[]): SelectPrior {
  const found = agreement(prepared.task, texts);
  const evidence = prepared.judge.kind === "evidence";
  let scale = 0;
  if (request.mode !== "upstream") {
    if (evidence) scale = EVIDENCE_AGREEMENT_PRIOR;
    else if (request.prior === "agreement") scale = AGREEMENT_PRIOR;
  }
  if (request.prior === "agreement" && found === null) {
    prepared.warnings.add("/prior: agreement needs three different candidates; it was not used");
  } else if (scale > 0 && found !== null) {
    prepared.warnings.add(
      `agreement between the candidates entered the ranking as a prior mean of ${scale} x standardised agreement` +
        (evidence ? " (always with an evidence judge)" : ""),
    );
  }
  return {
    means: scale > 0 && found !== null ? found.map(({ standardized }) => scale * standardized) : undefined,
    shown: found?.map(({ mean }) => mean) ?? null,
  };
}
