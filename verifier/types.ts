/**
 * The types that cross rooms: what a verb takes, what a judge answers, what a score is.
 * Scores, rewards and probabilities are 0 to 1; candidate indices are 0-based; steps and checkpoints 1-based;
 * money is US dollars and `null` when unknown.
 *
 * @module
 */
import type { Allowance } from "./budget/budget.ts";
import type { Recording } from "./decisions/decisions.ts";

/** How a score was read, best first. */
export type Channel = "logprobs" | "continuation" | "explicit_tag";

/** Why a part has no score. A closed list; programs may switch on it. */
export type UnscoredReason =
  | "no_tag" // the answer has no complete score tag
  | "no_letter" // a tag, but nothing that is one of the 20 letters behind it
  | "no_logprobs" // the judge gave no (or only degenerate) log-probabilities and the request demands them
  | "low_letter_mass" // less than MINIMUM_LETTER_MASS of the probability lies on the 20 letters
  | "truncated" // the answer ended at the token limit, also after one retry with a doubled budget
  | "refused" // content filter or an explicit refusal
  | "backend_error" // the judge failed after all retries
  | "unauthorized" // 401, 402 or 403 from the judge
  | "rate_limited" // 429 after all retries
  | "timeout" // the call's or the request's deadline passed
  | "aborted" // the caller went away
  | "budget" // not bought: the budget was spent
  | "replay_miss"; // the replay judge has no recorded answer

/** One readable score. */
export interface Scored {
  readonly kind: "scored";
  /** 0 to 1, the expectation over the letters. */
  readonly value: number;
  /** Probability on the 20 letters before renormalising, 0 to 1; `null` on the `explicit_tag` channel. */
  readonly letterMass: number | null;
  /** Shannon entropy of the renormalised letters in bits, 0 to log2(20); `null` on `explicit_tag`. */
  readonly entropy: number | null;
  readonly channel: Channel;
  /** Renormalised probabilities of A to T (20 numbers), `null` on `explicit_tag`. */
  readonly letters: readonly number[] | null;
}

/** A part without a score: never a number. */
export interface Unscored {
  readonly kind: "unscored";
  readonly reason: UnscoredReason;
  /** What happened, for people; secrets are redacted. */
  readonly detail?: string;
}

/** A score, or why there is none. */
export type Score = Scored | Unscored;

/** One token of an answer with its alternatives, in the shape of the OpenAI chat API. */
export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number | null;
  readonly top_logprobs?: readonly { readonly token: string; readonly logprob: number | null }[] | null;
}

/** One criterion of a rubric. */
export interface Criterion {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Positive, default 1. */
  readonly weight: number;
}

/** A ground-truth note plus 1 to 12 criteria. */
export interface Rubric {
  /** Built-in name, or `custom`. */
  readonly name: string;
  readonly groundTruthNote: string;
  readonly criteria: readonly Criterion[];
}

/** One step of an agent's run: what it said, what it did, what it observed. */
export interface Step {
  /** Free text of the agent (told). */
  readonly message: string;
  /** Commands or tool calls, one string each (done). */
  readonly commands: readonly string[];
  /** Outputs in the order of the commands (observed). */
  readonly outputs: readonly string[];
  readonly images?: readonly string[];
}

/** A chat message in OpenAI's or Anthropic's shape; see `verifier/trajectory.ts` for what is read of it. */
export type ChatMessage = Readonly<Record<string, unknown>> & { readonly role: string };

/** A trajectory as a request carries it. */
export type TrajectoryInput =
  | string
  | {
    readonly id?: string;
    readonly text?: string;
    readonly steps?: readonly (string | { readonly text: string; readonly images?: readonly string[] })[];
    readonly messages?: readonly ChatMessage[];
    readonly images?: readonly string[];
  };

/** A trajectory after `normalizeTrajectory`: exactly what the judge sees. */
export interface Trajectory {
  readonly id: string | null;
  /** Rendered text, marker lines in told and observed text quoted. */
  readonly text: string;
  /** Rendered text of each step (for `track`), concatenation order; one entry when the input was plain text. */
  readonly steps: readonly string[];
  readonly images: readonly string[];
}

/** Rubric as a request carries it: built-in name, Markdown, object or array. */
export type CriteriaInput =
  | string
  | Readonly<Record<string, string>>
  | readonly (string | {
    readonly id?: string;
    readonly name?: string;
    readonly description: string;
    readonly weight?: number;
  })[];

/** A request's choice of judge. */
export type JudgeChoice =
  | string
  | {
    readonly profile?: string;
    readonly model?: string;
    readonly effort?: string;
    readonly maxTokens?: number;
    readonly temperature?: number;
    /** Only where the operator allows the host, and then with the caller's own key. */
    readonly baseUrl?: string;
    readonly apiKey?: string;
    readonly family?: string;
  };

/** Limits; a request that would exceed one is refused before anything is bought. */
export interface Budget {
  readonly calls?: number;
  readonly tokens?: number;
  readonly usd?: number;
}

/** Fields that every verb shares, after validation (defaults filled in by the schema). */
export interface SharedRequest {
  readonly task: string;
  readonly context?: string;
  readonly criteria: CriteriaInput;
  readonly groundTruthNote?: string;
  readonly repeats: number;
  readonly judge?: JudgeChoice | readonly JudgeChoice[];
  readonly channel: "any" | "logprobs" | "continuation";
  readonly images: readonly string[];
  readonly seed: number;
  readonly budget?: Budget;
  readonly deadlineMs?: number;
  readonly dryRun: boolean;
  readonly cache: "use" | "refresh" | "off";
  /** Patterns; present, even empty: they and known secrets are taken out of everything untrusted. */
  readonly redact?: readonly string[];
}

/** `POST /v1/compare`. */
export interface CompareRequest extends SharedRequest {
  readonly a: TrajectoryInput;
  readonly b: TrajectoryInput;
}

/** `POST /v1/select`. */
export interface SelectRequest extends SharedRequest {
  readonly candidates: readonly TrajectoryInput[];
  readonly mode: "pivot" | "round_robin" | "upstream";
  readonly pivots: number;
  readonly prior: "none" | "agreement";
}

/** `POST /v1/track`. */
export interface TrackRequest extends SharedRequest {
  readonly trajectory: TrajectoryInput;
  readonly checkpoints?: readonly number[];
  readonly causal: boolean;
}

/** Tokens and money of one or many calls. `usd` is `null` when any part's price or token count is unknown. */
export interface Usage {
  /** Judged calls that were really sent (cache hits and joined calls excluded). */
  calls: number;
  /** HTTP attempts, retries and continuations included. */
  attempts: number;
  /** Calls answered from the score cache or by joining an identical call in flight. */
  cacheHits: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  usd: number | null;
}

/** What a `dryRun` answers and what `over_budget` refuses with. Token counts are estimates. */
export interface Plan {
  readonly pairs: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly usd: number | null;
}

/** Who judged. */
export interface JudgeInfo {
  readonly profile: string;
  readonly kind: string;
  readonly model: string;
  readonly promptVersion: string;
  readonly coreVersion: string;
}

/** What one judge of an ensemble did. */
export interface JudgeSummary {
  readonly profile: string;
  readonly model: string;
  /** Parts it scored; where it scored none, the others decided. */
  readonly scored: number;
  readonly unscored: number;
  /** Whether it scored anything. */
  readonly ok: boolean;
  /** Its own winner from its own calls: a side, a candidate's index, or a gate's decision; absent where there is none. */
  readonly winner?: "A" | "B" | "tie" | "accept" | "steer" | number;
  /** Why parts have no score; absent when all have one. */
  readonly problem?: string;
}

/** Fields that every verb's result shares. */
export interface SharedResult {
  readonly id: string;
  readonly unscored: number;
  readonly judge: JudgeInfo;
  readonly channels: Readonly<Partial<Record<Channel, number>>>;
  readonly usage: Usage;
  readonly warnings: readonly string[];
}

/** One judged call of a compare. */
export interface CompareCall {
  readonly criterion: string;
  readonly repeat: number;
  /** True when B was shown in slot A. `a` and `b` below are always the request's sides. */
  readonly swapped: boolean;
  readonly a: Score;
  readonly b: Score;
  readonly cached: boolean;
  /** What the judge wrote before its scores, shortened; `null` when nothing came. */
  readonly analysis: string | null;
}

/** Rewards of a compare on one criterion, 0 to 1; `null` when nothing was scored. */
export interface CriterionResult {
  readonly id: string;
  readonly name: string;
  readonly weight: number;
  readonly rewardA: number | null;
  readonly rewardB: number | null;
  readonly scored: number;
  readonly unscored: number;
}

/** What a compare answers. */
export interface CompareResult extends SharedResult {
  readonly verb: "compare";
  readonly winner: "A" | "B" | "tie";
  readonly rewardA: number | null;
  readonly rewardB: number | null;
  readonly margin: number | null;
  /** Standard error of the margin over repeats; `null` with fewer than two. */
  readonly standardError: number | null;
  /** Mean of (slot A's score - slot B's score) that swapping shows; `null` without both orders. */
  readonly slotBias: number | null;
  /** Share of judges whose own winner is the final one (1 for a single judge). */
  readonly agreement: number | null;
  readonly identical: boolean;
  readonly criteria: readonly CriterionResult[];
  readonly calls: readonly CompareCall[];
  /** Only with an ensemble. */
  readonly judges?: readonly JudgeSummary[];
}

/** One candidate of a select's ranking; `null` where nothing was measured. */
export interface RankingEntry {
  readonly index: number;
  readonly id?: string;
  readonly strength: number | null;
  readonly standardError: number | null;
  readonly probabilityBest: number | null;
  readonly winRate: number | null;
  readonly games: number;
  /** 0 to 1, mean overlap of closing commands and last outputs with the other candidates; only with three or more. */
  readonly agreement?: number;
  readonly identicalTo?: number;
}

/** One pair of a select in the order it was judged; `a` and `b` are candidate indices. */
export interface PairResult {
  readonly a: number;
  readonly b: number;
  readonly rewardA: number | null;
  readonly rewardB: number | null;
  readonly winner: "A" | "B" | "tie" | null;
  readonly round: number;
}

/** What a select answers. */
export interface SelectResult extends SharedResult {
  readonly verb: "select";
  readonly mode: "pivot" | "round_robin" | "upstream";
  /** 0-based; `null` when nothing was scored. */
  readonly best: number | null;
  readonly probabilityRight: number | null;
  readonly stopped: "complete" | "not_worth" | "tie" | "unusable" | "budget";
  /** Only with an ensemble. */
  readonly judges?: readonly JudgeSummary[];
  /** Share of the judges whose own best is the final one; only with an ensemble. */
  readonly agreement?: number | null;
  readonly slotBias: number | null;
  /** Share of score differences that no ranking can explain (rock-paper-scissors), 0 to 1; `null` if undefined. */
  readonly cycleResidual: number | null;
  readonly ranking: readonly RankingEntry[];
  readonly pairs: readonly PairResult[];
  readonly criteria: readonly {
    readonly id: string;
    readonly name: string;
    readonly weight: number;
    readonly scored: number;
    readonly unscored: number;
  }[];
  readonly unscoredParts: readonly {
    readonly a: number;
    readonly b: number;
    readonly criterion: string;
    readonly repeat: number;
    readonly side: "A" | "B";
    readonly reason: UnscoredReason;
    readonly detail?: string;
  }[];
}

/** One checkpoint of a progress curve; `score` is `null` when nothing was scored there. */
export interface CurvePoint {
  readonly step: number;
  readonly score: number | null;
  readonly standardError: number | null;
  readonly scored: number;
  readonly unscored: number;
}

/** Whether a run goes on getting better: what early stopping may go by. */
export type Advice = "rising" | "plateau" | "falling" | "done";

/** What a track answers. */
export interface TrackResult extends SharedResult {
  readonly verb: "track";
  readonly causal: boolean;
  readonly curve: readonly CurvePoint[];
  readonly final: number | null;
  readonly advice: Advice | null;
  /** Every part without a score, by checkpoint, then by repeat. */
  readonly unscoredParts: readonly {
    readonly step: number;
    readonly repeat: number;
    readonly reason: UnscoredReason;
    readonly detail?: string;
  }[];
  /** Only with an ensemble. */
  readonly judges?: readonly JudgeSummary[];
}

/** What a `dryRun` of any verb answers. */
export interface PlanResult {
  readonly plan: Plan;
}

/** One draft of a best-of-N. */
export interface Draft {
  /** 0-based. */
  readonly index: number;
  /** `null` when it failed. */
  readonly text: string | null;
  /** `length`: cut at the token limit, kept and judged as it is. `null` when nothing came. */
  readonly finishReason: "stop" | "length" | "content_filter" | "other" | null;
  /** From the store, or from an identical request in flight: not written again. */
  readonly cached: boolean;
  /** Why there is no draft. */
  readonly failure?: { readonly reason: UnscoredReason | "empty"; readonly detail: string };
}

/** Live progress; the route turns these into server-sent events, the command line into a bar. */
export type ProgressEvent =
  | { readonly type: "plan"; readonly plan: Plan }
  | {
    readonly type: "call";
    readonly done: number;
    readonly total: number;
    readonly criterion?: string;
    readonly repeat: number;
    readonly a?: number;
    readonly b?: number;
    readonly scores: readonly Score[];
    readonly cached: boolean;
  }
  /** A tracker's step is stored; its scoring begins. */
  | { readonly type: "appended"; readonly index: number; readonly length: number }
  | { readonly type: "pair"; readonly pair: PairResult }
  | { readonly type: "checkpoint"; readonly point: CurvePoint }
  /** A draft of a best-of-N is there, or has failed. */
  | { readonly type: "draft"; readonly draft: Draft };

/** How one call of a verb is steered from outside. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: ProgressEvent) => void;
  /** The decision that the calls belong to; set by `recordDecision`, and passed on to verbs within a verb. */
  readonly recording?: Recording;
  /** What may be taken from the caller's daily budget; absent without one. */
  readonly allowance?: Allowance;
  /** What stands on the sides; default: finished work, or proposals with the rubric of that name. */
  readonly stage?: "trajectory" | "proposal";
}
