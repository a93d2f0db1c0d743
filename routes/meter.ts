/**
 * What this process did since it started, for `GET /v1/status`.
 *
 * @module
 */
import type { Usage } from "../verifier/types.ts";

/** Counts finished and failed verb calls and adds up their usage. */
export class Meter {
  readonly startedAt: Date;
  finished = 0;
  failed = 0;
  readonly usage: Usage = {
    calls: 0,
    attempts: 0,
    cacheHits: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    usd: 0,
  };

  constructor(startedAt: Date) {
    this.startedAt = startedAt;
  }

  /** Adds one request's usage. Once a price is unknown the sum is unknown too. */
  add(usage: Usage): void {
    this.usage.calls += usage.calls;
    this.usage.attempts += usage.attempts;
    this.usage.cacheHits += usage.cacheHits;
    this.usage.inputTokens += usage.inputTokens;
    this.usage.cachedInputTokens += usage.cachedInputTokens;
    this.usage.outputTokens += usage.outputTokens;
    this.usage.reasoningTokens += usage.reasoningTokens;
    this.usage.usd = this.usage.usd === null || usage.usd === null ? null : this.usage.usd + usage.usd;
  }
}
