/**
 * What was bought: calls, attempts, tokens and money. What nobody knows is `null`, never zero.
 *
 * @module
 */
import type { Bill } from "./budget/budget.ts";
import type { AnswerUsage, Price } from "./judges/judge.ts";
import type { Usage } from "./types.ts";

/** Counts of nothing. */
export function noUsage(): Usage {
  return {
    calls: 0,
    attempts: 0,
    cacheHits: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    usd: 0,
  };
}

/** Sum of two counts; its money is `null` when either's is. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    calls: a.calls + b.calls,
    attempts: a.attempts + b.attempts,
    cacheHits: a.cacheHits + b.cacheHits,
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    usd: a.usd === null || b.usd === null ? null : a.usd + b.usd,
  };
}

/** Adds up what one judge was asked for in one request. */
export class UsageMeter {
  readonly #price: Price | null;
  readonly #usage: Usage = noUsage();
  /** Calls under way. */
  #open = 0;
  /** Dollars of the attempts whose cost is known. */
  #knownUsd = 0;
  /** Attempts of which nobody knows all tokens, and of which nobody knows the cost. */
  #unknown = { tokens: 0, usd: 0 };

  /** @param price `null`: unknown, so that money is `null` as soon as anything was sent */
  constructor(price: Price | null) {
    this.#price = price;
  }

  /** One judged call is sent. */
  call(): void {
    this.#usage.calls++;
    this.#open++;
  }

  /** A call that was sent is over; its attempts have been counted. */
  ended(): void {
    this.#open--;
  }

  /** One call was answered by the cache or by an identical call in flight. */
  hit(): void {
    this.#usage.cacheHits++;
  }

  /** One attempt was sent, failed ones and continuations included; `null` when nobody knows what it used. */
  attempt(used: AnswerUsage | null): void {
    const usage = this.#usage;
    usage.attempts++;
    usage.inputTokens += used?.inputTokens ?? 0;
    usage.cachedInputTokens += used?.cachedInputTokens ?? 0;
    usage.outputTokens += used?.outputTokens ?? 0;
    usage.reasoningTokens += used?.reasoningTokens ?? 0;
    const cost = costUsd(used, this.#price);
    usage.usd = usage.usd === null || cost === null ? null : usage.usd + cost;
    if (cost === null) this.#unknown.usd++;
    else this.#knownUsd += cost;
    if (used === null || used.inputTokens === null || used.outputTokens === null) this.#unknown.tokens++;
  }

  /** For a daily budget: what is known, and of how many calls and attempts it isn't. */
  bill(): Bill {
    const { calls, inputTokens, outputTokens } = this.#usage;
    return {
      calls,
      tokens: inputTokens + outputTokens,
      usd: this.#knownUsd,
      unknownTokens: this.#unknown.tokens + this.#open,
      unknownUsd: this.#unknown.usd + this.#open,
    };
  }

  /**
   * A copy of the counts so far. A call that was left behind at a deadline counts as an attempt whose cost nobody knows:
   * its own word on that comes too late for the result.
   */
  total(): Usage {
    if (this.#open === 0) return { ...this.#usage };
    const { calls, attempts, usd } = this.#usage;
    return {
      ...this.#usage,
      attempts: Math.max(attempts, calls),
      usd: costUsd(null, this.#price) === null ? null : usd,
    };
  }
}

/**
 * Dollars of one attempt: uncached input, cached input and output tokens (reasoning included) at their rates.
 *
 * @returns `null` when the price or a token count that it depends on is unknown; 0 for a judge that is free
 */
export function costUsd(used: AnswerUsage | null, price: Price | null): number | null {
  if (price === null) return null;
  const { inputPerMillion, cachedInputPerMillion, outputPerMillion } = price;
  if (inputPerMillion === 0 && cachedInputPerMillion === 0 && outputPerMillion === 0) return 0;
  if (used === null || used.inputTokens === null || used.outputTokens === null) return null;
  if (used.cachedInputTokens === null && cachedInputPerMillion !== inputPerMillion) return null;
  // A provider that counts more cached tokens than input tokens is not believed.
  const cached = Math.min(used.cachedInputTokens ?? 0, used.inputTokens);
  return ((used.inputTokens - cached) * inputPerMillion + cached * cachedInputPerMillion +
    used.outputTokens * outputPerMillion) / 1e6;
}
