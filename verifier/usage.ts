/**
 * Counts what one request bought.
 *
 * @module
 */
import type { AnswerUsage, Price } from "./judges/judge.ts";
import type { Usage } from "./types.ts";

/** Adds up calls, attempts, tokens and money of one request. */
export class UsageMeter {
  readonly #price: Price | null;
  readonly #usage: Usage = {
    calls: 0,
    attempts: 0,
    cacheHits: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    usd: 0,
  };

  constructor(price: Price | null) {
    this.#price = price;
  }

  /** One judged call is sent. */
  call(): void {
    this.#usage.calls++;
  }

  /** One call was answered by the cache or by an identical call in flight. */
  hit(): void {
    this.#usage.cacheHits++;
  }

  /** One attempt was sent; `null` when nobody knows what it used. */
  attempt(used: AnswerUsage | null): void {
    const usage = this.#usage;
    usage.attempts++;
    usage.inputTokens += used?.inputTokens ?? 0;
    usage.cachedInputTokens += used?.cachedInputTokens ?? 0;
    usage.outputTokens += used?.outputTokens ?? 0;
    usage.reasoningTokens += used?.reasoningTokens ?? 0;
    const cost = costOf(used, this.#price);
    usage.usd = usage.usd === null || cost === null ? null : usage.usd + cost;
  }

  /** A copy of the counts so far. */
  total(): Usage {
    return { ...this.#usage };
  }
}

/** Dollars of one attempt, or `null` when the price or a token count that it depends on is unknown. */
export function costOf(used: AnswerUsage | null, price: Price | null): number | null {
  if (price === null) return null;
  const free = price.inputPerMillion === 0 && price.cachedInputPerMillion === 0 &&
    price.outputPerMillion === 0;
  if (free) return 0;
  if (used === null || used.inputTokens === null || used.outputTokens === null) return null;
  if (used.cachedInputTokens === null && price.cachedInputPerMillion !== price.inputPerMillion) return null;
  const cached = Math.min(used.cachedInputTokens ?? 0, used.inputTokens);
  return ((used.inputTokens - cached) * price.inputPerMillion + cached * price.cachedInputPerMillion +
    used.outputTokens * price.outputPerMillion) / 1e6;
}
