/**
 * The schemas of answers, for the OpenAPI document and the tests. Nothing is parsed with them at run time: the verbs'
 * own types say what an answer is, and the last lines here fail to compile when the two drift apart.
 *
 * @module
 */
import * as z from "zod";
import type { BudgetStatus } from "../verifier/budget/budget.ts";
import { ERROR_STATUS, type ErrorCode } from "../verifier/errors.ts";
import type { ProfileInfo } from "../verifier/judges/judge.ts";
import type * as types from "../verifier/types.ts";
import type { ProblemDocument } from "./problem.ts";

const unit = z.number().min(0).max(1);
const count = z.int().min(0);

/** Why a part has no score. */
export const unscoredReason = z.enum([
  "no_tag",
  "no_letter",
  "no_logprobs",
  "low_letter_mass",
  "truncated",
  "refused",
  "backend_error",
  "unauthorized",
  "rate_limited",
  "timeout",
  "aborted",
  "budget",
  "replay_miss",
]).describe("Why a part has no score. A closed list.");

const channel = z.enum(["logprobs", "continuation", "explicit_tag"]).describe(
  "How the score was read, best first.",
);

/** A score, or the reason why there is none. */
export const score = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("scored"),
    value: unit.describe("Expectation over the 20 letters."),
    letterMass: unit.nullable().describe(
      "Probability on the 20 letters before renormalising; null on the explicit_tag channel.",
    ),
    entropy: z.number().min(0).nullable().describe("Shannon entropy of the letters in bits, 0 to log2(20)."),
    channel,
    letters: z.array(unit).length(20).nullable().describe("Probabilities of A to T, renormalised."),
  }),
  z.strictObject({
    kind: z.literal("unscored"),
    reason: unscoredReason,
    detail: z.string().exactOptional().describe("What happened, for people."),
  }),
]).describe("A score, or the reason why there is none. A failure is never a number.");

/** What a request costs before it is bought. */
export const plan = z.strictObject({
  pairs: count,
  calls: count,
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  usd: z.number().min(0).nullable().describe("US dollars, null when the price is unknown."),
}).describe("What a request would buy. Token counts are estimates.");

/** Answer of a `dryRun`. */
export const planResult = z.strictObject({ plan }).describe("Answer of a dry run; nothing was bought.");

/** What was bought. */
export const usage = z.strictObject({
  calls: count.describe("Judged calls that were sent; cache hits excluded."),
  attempts: count.describe("HTTP attempts, retries and continuations included."),
  cacheHits: count,
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  usd: z.number().min(0).nullable().describe("US dollars, null when any part is unknown."),
}).describe("Calls, tokens and money, failed attempts included.");

const judge = z.strictObject({
  profile: z.string(),
  kind: z.string(),
  model: z.string(),
  promptVersion: z.string(),
  coreVersion: z.string(),
}).describe("Who judged.");

const shared = {
  id: z.string().describe("Id of this decision."),
  unscored: count.describe("Parts without a score, left out of every mean."),
  judge,
  channels: z.strictObject({
    logprobs: count.exactOptional(),
    continuation: count.exactOptional(),
    explicit_tag: count.exactOptional(),
  }).describe("Scores by channel."),
  usage,
  warnings: z.array(z.string()),
};

/** What each judge of an ensemble did. */
export const judges = z.array(z.strictObject({
  profile: z.string(),
  model: z.string(),
  scored: count.describe("Parts with a score."),
  unscored: count.describe("Parts without one: there the others decided."),
  ok: z.boolean().describe("Whether it scored anything."),
  winner: z.union([z.enum(["A", "B", "tie", "accept", "steer"]), count]).exactOptional().describe(
    "Its own winner from its own calls: a side, a candidate's index or a gate's decision.",
  ),
  problem: z.string().exactOptional().describe("Why parts have no score."),
})).exactOptional().describe(
  "Only with an ensemble. Each score is the median over the judges that scored the call, without letters where they are several.",
);

const ensembleAgreement = unit.nullable().exactOptional().describe(
  "Only with an ensemble: share of the judges whose own winner is the final one.",
);

const criterionResult = z.strictObject({
  id: z.string(),
  name: z.string(),
  weight: z.number().positive(),
  rewardA: unit.nullable(),
  rewardB: unit.nullable(),
  scored: count,
  unscored: count,
});

/** Answer of `POST /v1/compare`. */
export const compareResult = z.strictObject({
  ...shared,
  verb: z.literal("compare"),
  winner: z.enum(["A", "B", "tie"]),
  rewardA: unit.nullable(),
  rewardB: unit.nullable(),
  margin: z.number().min(-1).max(1).nullable().describe("rewardA - rewardB."),
  standardError: z.number().min(0).nullable().describe(
    "Standard error of the margin over repeats; null with fewer than two.",
  ),
  slotBias: z.number().min(-1).max(1).nullable().describe(
    "How much better slot A is scored whoever stands there; null without both orders.",
  ),
  agreement: unit.nullable().describe("Share of judges whose own winner is the final one."),
  identical: z.boolean().describe("The sides are byte-identical: a tie without a call."),
  criteria: z.array(criterionResult),
  calls: z.array(z.strictObject({
    criterion: z.string(),
    repeat: count,
    swapped: z.boolean().describe("B was shown in slot A. a and b are always the request's sides."),
    a: score,
    b: score,
    cached: z.boolean(),
    analysis: z.string().nullable().describe("What the judge wrote before its scores, shortened."),
  })),
  judges,
}).describe("Which of two trajectories is better, and by how much.");
/** The same, or the plan of a dry run. */
export const compareAnswer = z.union([compareResult, planResult]);

const pair = z.strictObject({
  a: count.describe("Index of a candidate."),
  b: count.describe("Index of the other."),
  rewardA: unit.nullable(),
  rewardB: unit.nullable(),
  winner: z.enum(["A", "B", "tie"]).nullable(),
  round: count,
});

/** Answer of `POST /v1/select`. */
export const selectResult = z.strictObject({
  ...shared,
  verb: z.literal("select"),
  mode: z.enum(["pivot", "round_robin", "upstream"]),
  best: count.nullable().describe("Index of the best candidate; null when nothing was scored."),
  probabilityRight: unit.nullable().describe(
    "Probability that the pick really passes; null without a measured calibration.",
  ),
  stopped: z.enum(["complete", "not_worth", "tie", "unusable", "budget"]),
  judges,
  agreement: ensembleAgreement,
  slotBias: z.number().nullable(),
  cycleResidual: unit.nullable().describe(
    "Share of score differences that no ranking can explain (rock-paper-scissors).",
  ),
  ranking: z.array(z.strictObject({
    index: count,
    id: z.string().exactOptional(),
    strength: z.number().nullable(),
    standardError: z.number().min(0).nullable(),
    probabilityBest: unit.nullable().describe("Probability of being this judge's own best."),
    winRate: unit.nullable(),
    games: count,
    agreement: unit.exactOptional().describe(
      "Overlap of closing commands and last outputs with the other candidates; with three or more.",
    ),
    identicalTo: count.exactOptional(),
  })).describe("Best first."),
  pairs: z.array(pair).describe("In the order they were judged."),
  criteria: z.array(z.strictObject({
    id: z.string(),
    name: z.string(),
    weight: z.number().positive(),
    scored: count,
    unscored: count,
  })),
  unscoredParts: z.array(z.strictObject({
    a: count,
    b: count,
    criterion: z.string(),
    repeat: count,
    side: z.enum(["A", "B"]),
    reason: unscoredReason,
    detail: z.string().exactOptional(),
  })),
}).describe("The best of several trajectories, with a ranking.");
/** The same, or the plan of a dry run. */
export const selectAnswer = z.union([selectResult, planResult]);

const curvePoint = z.strictObject({
  step: z.int().min(1).describe("1-based."),
  score: unit.nullable().describe("null when nothing was scored here."),
  standardError: z.number().min(0).nullable(),
  scored: count,
  unscored: count,
});

/** Answer of `POST /v1/track`. */
export const trackResult = z.strictObject({
  ...shared,
  verb: z.literal("track"),
  causal: z.boolean(),
  curve: z.array(curvePoint),
  final: unit.nullable(),
  advice: z.enum(["rising", "plateau", "falling", "done"]).nullable(),
  unscoredParts: z.array(z.strictObject({
    step: z.int().min(1),
    repeat: count,
    reason: unscoredReason,
    detail: z.string().exactOptional(),
  })),
  judges,
}).describe("Progress at the checkpoints of one trajectory.");
/** The same, or the plan of a dry run. */
export const trackAnswer = z.union([trackResult, planResult]);

/** Data of the server-sent events `plan`, `call`, `pair` and `checkpoint`. */
export const progressEvents = {
  plan: planResult,
  call: z.strictObject({
    done: count,
    total: count,
    criterion: z.string().exactOptional(),
    repeat: count,
    a: count.exactOptional(),
    b: count.exactOptional(),
    scores: z.array(score),
    cached: z.boolean(),
  }),
  appended: z.strictObject({ index: z.int().min(1), length: count }),
  pair: z.strictObject({ pair }),
  checkpoint: z.strictObject({ point: curvePoint }),
} as const;

/** One criterion with its weight. */
export const criterion = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  weight: z.number().positive(),
});

/** Answer of `GET /v1/criteria/{name}`. */
export const rubric = z.strictObject({
  name: z.string(),
  groundTruthNote: z.string(),
  criteria: z.array(criterion).min(1).max(12),
}).describe("A ground-truth note and 1 to 12 criteria.");

/** Answer of `POST /v1/criteria/parse`. */
export const parsedCriteria = z.strictObject({
  groundTruthNote: z.string(),
  criteria: z.array(criterion).min(1).max(12),
  warnings: z.array(z.string()).describe("What the Markdown reader noticed."),
}).describe("A rubric as Assay reads it.");

/** Answer of `GET /v1/criteria`. */
export const rubricList = z.strictObject({
  rubrics: z.array(z.strictObject({ name: z.string(), criteria: z.array(z.string()).describe("Ids.") })),
}).describe("The built-in rubrics.");

const profile = z.strictObject({
  name: z.string(),
  kind: z.enum(["openai-compatible", "gemini", "evidence", "replay"]),
  model: z.string(),
  family: z.string().nullable(),
  host: z.string().nullable().describe("Host of the base URL; null for embedded judges."),
  hasKey: z.boolean().describe("Whether a key is present; never the key."),
  isDefault: z.boolean(),
  learnt: z.record(z.string(), z.union([z.boolean(), z.number()])).describe(
    "Capabilities learnt from answers.",
  ),
});

const limit = z.number().min(0).nullable().describe("null: no limit.");
const amounts = { calls: count, tokens: count, usd: z.number().min(0) };
const budget = z.strictObject({
  day: z.iso.date().describe("The UTC day it is counted for."),
  resetsAt: z.iso.datetime(),
  limits: z.strictObject({ calls: limit, tokens: limit, usd: limit }),
  spent: z.strictObject({
    ...amounts,
    estimated: z.strictObject({ tokens: count, usd: z.number().min(0) }).describe(
      "Part of it that the judge did not tell and that was estimated.",
    ),
  }).describe("What was bought; what came from the cache costs nothing."),
  held: z.strictObject(amounts).describe("What requests under way may still buy."),
});

/** Answer of `GET /v1/status`. */
export const status = z.strictObject({
  name: z.literal("assay"),
  runtime: z.strictObject({ name: z.string(), version: z.string().nullable() }),
  startedAt: z.iso.datetime(),
  uptimeSeconds: z.number().min(0),
  coreVersion: z.string(),
  promptVersion: z.string(),
  defaultJudge: z.string(),
  judges: z.array(profile),
  store: z.strictObject({
    kind: z.string(),
    healthy: z.boolean(),
    detail: z.string().exactOptional().describe("What went wrong."),
  }),
  requests: z.strictObject({ finished: count, failed: count }).describe("Calls of a verb since start."),
  usage: usage.describe("Sum over the finished requests since start."),
  budget: budget.nullable().exactOptional().describe(
    "The caller's own daily budget; null without one, absent while the store can't be reached.",
  ),
}).describe("Judges, versions, store and usage. No secrets.");

/** Answer of `POST /v1/status/probe`. */
export const probe = z.strictObject({
  judges: z.array(z.strictObject({
    judge: z.string(),
    ok: z.boolean(),
    score: score.nullable().describe("Score of the better side of an easy pair; null when the call failed."),
    channel: channel.nullable(),
    latencyMs: z.number().min(0),
    code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]).exactOptional(),
    detail: z.string().exactOptional().describe("What went wrong."),
    learnt: z.record(z.string(), z.union([z.boolean(), z.number()])),
  })),
}).describe("One real scored call per judge.");

/** Answer of `GET /healthz`. */
export const health = z.strictObject({ status: z.literal("ok") });

/** Answer of `GET /readyz`. */
export const readiness = z.strictObject({
  status: z.literal("ready"),
  checks: z.strictObject({ core: z.literal("ok"), store: z.literal("ok") }),
});

/** Body of every answer that isn't a success. */
export const problem = z.strictObject({
  type: z.string().describe("Where the code is explained, relative to the server."),
  title: z.string(),
  status: z.int().min(400).max(599),
  code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]).describe(
    "Stable; programs may switch on it.",
  ),
  detail: z.string().describe("What went wrong, for people."),
  errors: z.array(z.strictObject({
    path: z.string().describe("JSON pointer into the request."),
    message: z.string(),
    value: z.string().exactOptional().describe("The value, shortened."),
  })).exactOptional(),
  retryAfterSeconds: z.number().min(0).exactOptional(),
  plan: plan.exactOptional().describe("With over_budget: what the request would have bought."),
  length: count.exactOptional().describe("With length_conflict: the length that the tracker has."),
  decision: z.string().exactOptional().describe(
    "Id of the decision that tells what was judged before the failure.",
  ),
}).describe("RFC 9457 problem document.");

/** A type with every level read-only, as the shared types are written. */
type Frozen<T> = T extends readonly (infer U)[] ? readonly Frozen<U>[]
  : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> }
  : T;
type Same<A, B> = [Frozen<A>] extends [Frozen<B>] ? ([Frozen<B>] extends [Frozen<A>] ? true : false) : false;
type AllTrue<T extends readonly true[]> = T;
/** Compiles only while the schemas and the shared types agree in both directions. @ignore */
export type SchemasMatchTypes = AllTrue<[
  Same<z.output<typeof score>, types.Score>,
  Same<z.output<typeof compareResult>, types.CompareResult>,
  Same<z.output<typeof selectResult>, types.SelectResult>,
  Same<z.output<typeof trackResult>, types.TrackResult>,
  Same<z.output<typeof planResult>, types.PlanResult>,
  Same<z.output<typeof rubric>, types.Rubric>,
  Same<z.output<typeof profile>, ProfileInfo>,
  Same<z.output<typeof budget>, BudgetStatus>,
  Same<z.output<typeof problem>, ProblemDocument>,
  Same<
    z.output<typeof progressEvents.call> & { type: "call" },
    Extract<types.ProgressEvent, { type: "call" }>
  >,
]>;
