/**
 * The one interface that every judge implements, and the error it may throw.
 *
 * @module
 */
import type { GeneratedText, GenerateRequest } from "./generator.ts";
import type { JudgeChoice, TokenLogprob, UnscoredReason } from "../types.ts";

/** One judged call, rendered. The judge sends `prefix + suffix` as a single user message. */
export interface JudgeRequest {
  /** Everything up to the criterion; equal for all criteria and repeats of one (task, A, B). */
  readonly prefix: string;
  /** The criterion and the output contract. */
  readonly suffix: string;
  /** Images in order: `https:` or `data:` URLs. */
  readonly images: readonly string[];
  /** Tags the answer must end with, in order: `["score_A", "score_B"]` or `["c1", …]`. */
  readonly tags: readonly string[];
  /** 0-based; two repeats of one prompt are two different calls. */
  readonly repeat: number;
  /** Output tokens allowed; the scorer doubles it once after a truncated answer. `null`: the profile's own. */
  readonly maxTokens: number | null;
}

/** Why the answer ended. */
export type FinishReason = "stop" | "length" | "content_filter" | "other";

/** Tokens of one answer as the provider counted them; `null` when the provider did not say. */
export interface AnswerUsage {
  readonly inputTokens: number | null;
  readonly cachedInputTokens: number | null;
  readonly outputTokens: number | null;
  readonly reasoningTokens: number | null;
}

/** What a judge answered. */
export interface JudgeAnswer {
  /** The visible answer (after any reasoning). Empty when there was none. */
  readonly text: string;
  /** Reasoning text that came apart from the answer, else `null`. Scores are never read from it. */
  readonly reasoning: string | null;
  /** Tokens of `text` with alternatives; `null` when the judge gave no log-probabilities. */
  readonly tokens: readonly TokenLogprob[] | null;
  readonly finishReason: FinishReason;
  /** True when the model refused in so many words (`message.refusal`). */
  readonly refused: boolean;
  /** Model name as the provider reports it. */
  readonly model: string;
}

/** What a call may use while it runs. */
export interface JudgeContext {
  readonly signal: AbortSignal;
  /** Called once for every attempt that was really sent, failed ones included (usage `null` when unknown). */
  readonly onAttempt: (usage: AnswerUsage | null) => void;
  /** Called for every 429, also one that is retried, so that concurrency adapts before the retries are used up. */
  readonly onRateLimited?: (retryAfterMs: number | null) => void;
}

/** A judge: one profile bound to one model and one set of settings. */
export interface Judge {
  readonly profile: string;
  readonly kind: "openai-compatible" | "gemini" | "evidence" | "replay" | "ensemble";
  readonly model: string;
  /** Canonical JSON of everything in the settings that can move an answer (model, effort, temperature, …): part of the cache key. */
  readonly identity: string;
  /** Calls allowed at once (upper bound; the pool adapts down on 429). */
  readonly concurrency: number;
  /** Whether images reach the model; a request with images for a judge that can't read them is an error. */
  readonly readsImages: boolean;
  /** Whether a first call of a prefix should warm the provider's prompt cache before the rest are sent. */
  readonly warmsPrefix: boolean;
  readonly price: Price | null;
  readonly calibration: Calibration | null;
  /** Output tokens of one call by the profile's own settings, which the scorer doubles once after a truncated answer; absent or `null`: unknown, so no retry. */
  readonly maxTokens?: number | null;
  /** Expected output tokens of one call for plans; `null`: the plan uses its own default. */
  readonly expectedOutputTokens: number | null;
  /** Context window in tokens, when configured; larger prompts are refused with the counts. */
  readonly contextTokens: number | null;
  /** The judges of an ensemble; absent for every other judge. */
  readonly members?: readonly Judge[];
  /** Sends one prompt. @throws {JudgeError} after its own retries; an abort rejects with the signal's reason. */
  answer(request: JudgeRequest, context: JudgeContext): Promise<JudgeAnswer>;
  /**
   * One constrained token after `assistantPrefix` (which ends in the open tag), for servers that can continue an
   * assistant message. Absent, or resolves to `null`, where the server can't.
   */
  continuation?(
    request: JudgeRequest,
    assistantPrefix: string,
    context: JudgeContext,
  ): Promise<JudgeAnswer | null>;
  /** Writes a text, for best-of-N; absent for judges that have no model. See `Generator`. */
  generate?(request: GenerateRequest, context: JudgeContext): Promise<GeneratedText>;
}

/** Dollars per million tokens. */
export interface Price {
  readonly inputPerMillion: number;
  readonly cachedInputPerMillion: number;
  readonly outputPerMillion: number;
}

/** Measured accuracy of a judge on labelled pass/fail pairs, and the base rate it was measured at. */
export interface Calibration {
  readonly pairAccuracy: number;
  readonly passRate: number;
  readonly source: string;
}

/** A judge's failure after its own retries. The message is redacted. */
export class JudgeError extends Error {
  override readonly name = "JudgeError";
  readonly reason: UnscoredReason;
  readonly status: number | null;
  readonly retryAfterMs: number | null;

  constructor(
    reason: UnscoredReason,
    message: string,
    options: { status?: number; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.status = options.status ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The judges of one server: profiles from the configuration, bound on demand to what a request overrides. */
export interface JudgeRegistry {
  readonly defaultProfile: string;
  /** Profiles for `GET /v1/status`, no secret in them. */
  profiles(): readonly ProfileInfo[];
  /**
   * Binds a request's choice (default: the default profile) to a judge.
   * @throws {AssayError} `invalid_request` for an unknown profile, `forbidden` for a host that isn't allowed
   */
  resolve(choice?: JudgeChoice): Judge;
  /** Forgets what was learnt about a profile's capabilities (a probe does this first). */
  forget(profile: string): Promise<void>;
}

/** One profile as shown to people. */
export interface ProfileInfo {
  readonly name: string;
  readonly kind: Exclude<Judge["kind"], "ensemble">;
  readonly model: string;
  readonly family: string | null;
  /** Host of the base URL, without path, user-info or query; `null` for embedded judges. */
  readonly host: string | null;
  /** Whether a key is present (never the key). */
  readonly hasKey: boolean;
  readonly isDefault: boolean;
  /** What was learnt and is still remembered, for example `{ "logprobs": false }`. */
  readonly learnt: Readonly<Record<string, boolean | number>>;
}
