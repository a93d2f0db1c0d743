/**
 * `select`: the best of N trajectories, by a tournament of pairwise calls.
 *
 * @module
 */
import { agreement, EVIDENCE_AGREEMENT_PRIOR } from "./agreement.ts";
import { type Observation, probabilityRight, rate, type Rating } from "./core.ts";
import type { Environment } from "./environment.ts";
import { AssayError } from "./errors.ts";
import { rankOrder, TIE_TOLERANCE } from "./math.ts";
import { checkBudget, checkContext } from "./plan.ts";
import {
  firstRound,
  planSelect,
  secondRound,
  SOFT_WIN_TOLERANCE,
  uniqueCandidates,
} from "./select_schedule.ts";
import {
  countPairs,
  observationsOf,
  pairResult,
  type PlayedPair,
  softWins,
  unscoredParts,
} from "./select_results.ts";
import { judgePair, type PairCall } from "./pair.ts";
import type { Pair } from "./core.ts";
import type { Scorer } from "./scorer.ts";
import { Warnings } from "./text.ts";
import { normalizeTrajectory } from "./trajectory.ts";
import type {
  CallOptions,
  PlanResult,
  RankingEntry,
  SelectRequest,
  SelectResult,
  Trajectory,
} from "./types.ts";
import {
  checkImages,
  nothingScored,
  prepare,
  type Prepared,
  sharedResult,
  type Side,
  side,
  startBuying,
} from "./verb.ts";

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
  if (request.mode === "upstream" && request.prior !== "none") {
    throw AssayError.field(
      "/prior",
      'must be "none" with mode "upstream", which has no prior',
      request.prior,
    );
  }
  const warnings = new Warnings();
  const candidates = request.candidates.map((input, i) =>
    normalizeTrajectory(input, `/candidates/${i}`, warnings)
  );
  const prepared = await prepare(environment, request, options, warnings);
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
  checkBudget(plan, request.budget);
  options.onEvent?.({ type: "plan", plan });

  const tournament: Tournament = {
    prepared,
    request,
    candidates,
    unique,
    sides,
    prior: agreementPrior(prepared, request, unique.firsts.map((index) => candidates[index]?.text ?? "")),
    total: plan.calls,
    done: 0,
    bought: new Map(),
  };
  if (sides.length === 1) {
    return result(tournament, [], { mode: request.mode, scorer: null, stopped: "complete" });
  }
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
        const standing = round.mode === "upstream"
          ? softWins(sides.length, played, prepared.rubric.criteria).map(({ rate }) => rate ?? -1)
          : [...rating(tournament, played).strength];
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
    return result(tournament, played, { mode: round.mode, scorer, stopped });
  } finally {
    cancellation.close();
  }
}

interface Tournament {
  readonly prepared: Prepared;
  readonly request: SelectRequest;
  readonly candidates: readonly Trajectory[];
  readonly unique: ReturnType<typeof uniqueCandidates>;
  readonly sides: readonly Side[];
  readonly prior: Prior;
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
      bought.set(key, calls = judgePair(prepared, scorer, sides[a]!, sides[b]!, onCall(a, b)));
    }
    const played: PlayedPair = { a, b, round, calls: await calls };
    options.onEvent?.({ type: "pair", pair: pairResult(played, rubric.criteria, candidate) });
    return played;
  }));
}

interface Prior {
  /** Prior means of the strengths; `undefined` where agreement doesn't enter. */
  readonly means: readonly number[] | undefined;
  /** Mean overlap with the other candidates, per unique candidate; `null` with fewer than three. */
  readonly shown: readonly number[] | null;
}

/** Agreement is computed once per request, shown always and used only where the result says so. */
function agreementPrior(prepared: Prepared, request: SelectRequest, texts: readonly string[]): Prior {
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

function rating(tournament: Tournament, played: readonly PlayedPair[]): Rating {
  const observations: readonly Observation[] = observationsOf(played, tournament.prepared.rubric.criteria);
  return rate(tournament.sides.length, observations, tournament.prior.means);
}

function result(
  tournament: Tournament,
  played: readonly PlayedPair[],
  outcome: {
    readonly mode: SelectResult["mode"];
    readonly scorer: Scorer | null;
    readonly stopped: SelectResult["stopped"];
  },
): SelectResult {
  const { prepared, candidates, unique, sides } = tournament;
  const { criteria } = prepared.rubric;
  const wins = softWins(sides.length, played, prepared.rubric.criteria);
  const rated = outcome.mode === "upstream" || played.length === 0 ? null : rating(tournament, played);
  const shown = tournament.prior.shown;
  // Without games (one candidate, or all identical) nothing was measured; the order of the indices stays.
  const standing = (index: number): number => rated?.strength[index] ?? wins[index]?.rate ?? -1;
  const order = rankOrder(
    sides.map((_, index) => standing(index)),
    rated === null ? SOFT_WIN_TOLERANCE : TIE_TOLERANCE,
  );
  const [first = 0, second] = order;
  const tie = rated !== null && second !== undefined && standing(first) - standing(second) <= TIE_TOLERANCE;
  const ranking = order.flatMap((index): RankingEntry[] =>
    (unique.members[index] ?? []).map((candidate, copy) => {
      const id = candidates[candidate]?.id ?? null;
      const overlap = shown?.[index];
      return {
        index: candidate,
        ...(id === null ? {} : { id }),
        strength: rated?.strength[index] ?? null,
        standardError: rated?.standardError[index] ?? null,
        probabilityBest: sides.length === 1 ? 1 : rated?.probabilityBest[index] ?? null,
        winRate: wins[index]?.rate ?? null,
        games: wins[index]?.games ?? 0,
        ...(overlap === undefined ? {} : { agreement: overlap }),
        ...(copy === 0 ? {} : { identicalTo: unique.firsts[index] ?? candidate }),
      };
    })
  );
  const observations = observationsOf(played, criteria);
  const { calibration } = prepared.judge;
  // A pair that the reference schedule repeats was bought, and is counted, once.
  const distinct = [...new Map(played.map((pair) => [pair.calls, pair])).values()];
  const scores = distinct.flatMap(({ calls }) => calls.flatMap((call) => [call.a, call.b]));
  const candidate = (index: number): number => unique.firsts[index] ?? index;
  return {
    verb: "select",
    mode: outcome.mode,
    best: candidate(first),
    probabilityRight: rated === null || calibration === null
      ? null
      : probabilityRight(sides.length, observations, first, calibration, tournament.prior.means),
    stopped: outcome.stopped === "complete" && tie ? "tie" : outcome.stopped,
    slotBias: rated?.slotBias ?? null,
    cycleResidual: rated?.cycleResidual ?? null,
    ranking,
    pairs: played.map((pair) => pairResult(pair, criteria, candidate)),
    criteria: countPairs(distinct, criteria),
    unscoredParts: unscoredParts(distinct, criteria, candidate),
    ...sharedResult(prepared, scores, outcome.scorer),
  };
}
