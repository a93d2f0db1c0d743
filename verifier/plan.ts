/**
 * What a request will cost, before anything is bought.
 *
 * @module
 */
import { AssayError } from "./errors.ts";
import type { Judge } from "./judges/judge.ts";
import type { Budget, Plan } from "./types.ts";

/**
 * UTF-8 bytes per token in estimates. Measured by `bench/tokens.ts` (o200k) as 2.9 over 385 agents' runs, 2.5 to 3.4
 * in nine of ten, and 4.1 for Chinese; a little lower, because a plan that promises too little is the worse error.
 */
export const BYTES_PER_TOKEN = 2.8;
/**
 * Bytes per token when a prompt is held against a context window: only what surely doesn't fit is refused here, the
 * rest is the provider's to count.
 */
export const CONTEXT_BYTES_PER_TOKEN = 4;
/** Output tokens of one call where the judge says nothing: an analysis of a page and a half. */
export const DEFAULT_OUTPUT_TOKENS = 1500;
/** Input tokens counted for one image. */
export const IMAGE_TOKENS = 1000;

/** Estimated tokens of a text of so many UTF-8 bytes. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Calls that share one prefix. */
export interface PlannedPrefix {
  /** UTF-8 bytes of the prefix. */
  readonly prefixBytes: number;
  /** UTF-8 bytes of each call's suffix, one entry per call. */
  readonly suffixBytes: readonly number[];
  /** Images that go with each call. */
  readonly images: number;
}

/** Sums up calls, those of an ensemble over all of its judges. Where the judge warms prefixes, all calls of a prefix but the first are taken to find it cached. */
export function planCalls(judge: Judge, pairs: number, prefixes: Iterable<PlannedPrefix>): Plan {
  const { members } = judge;
  if (members !== undefined) {
    const list = [...prefixes];
    return members.map((member) => planCalls(member, pairs, list)).reduce((x, y) => ({
      ...addPlans(x, y),
      pairs,
    }));
  }
  let calls = 0;
  let inputTokens = 0;
  let cachedInputTokens = 0;
  for (const { prefixBytes, suffixBytes, images } of prefixes) {
    const prefix = estimateTokens(prefixBytes) + images * IMAGE_TOKENS;
    calls += suffixBytes.length;
    for (const bytes of suffixBytes) inputTokens += prefix + estimateTokens(bytes);
    if (judge.warmsPrefix && suffixBytes.length > 1) cachedInputTokens += (suffixBytes.length - 1) * prefix;
  }
  const outputTokens = calls * (judge.expectedOutputTokens ?? DEFAULT_OUTPUT_TOKENS);
  return {
    pairs,
    calls,
    inputTokens,
    cachedInputTokens,
    outputTokens,
    usd: dollars(judge, inputTokens, cachedInputTokens, outputTokens),
  };
}

/** Sum of two plans; its money is `null` when either's is. */
export function addPlans(x: Plan, y: Plan): Plan {
  return {
    pairs: x.pairs + y.pairs,
    calls: x.calls + y.calls,
    inputTokens: x.inputTokens + y.inputTokens,
    cachedInputTokens: x.cachedInputTokens + y.cachedInputTokens,
    outputTokens: x.outputTokens + y.outputTokens,
    usd: x.usd === null || y.usd === null ? null : x.usd + y.usd,
  };
}

function dollars(judge: Judge, input: number, cached: number, output: number): number | null {
  const { price } = judge;
  if (price === null) return null;
  return ((input - cached) * price.inputPerMillion + cached * price.cachedInputPerMillion +
    output * price.outputPerMillion) / 1e6;
}

/** Dollars of a plan if no prefix is found in the provider's cache; `null` without a price. */
export function uncachedUsd(judge: Judge, plan: Plan): number | null {
  return dollars(judge, plan.inputTokens, 0, plan.outputTokens);
}

/**
 * Refuses a plan that exceeds its budget.
 * @throws {AssayError} `over_budget` with the plan, also where money is limited and the judge's price is unknown
 */
export function checkBudget(plan: Plan, budget: Budget | undefined): void {
  if (budget === undefined) return;
  const over: string[] = [];
  const tokens = plan.inputTokens + plan.outputTokens;
  if (budget.calls !== undefined && plan.calls > budget.calls) {
    over.push(`${plan.calls} calls of ${budget.calls}`);
  }
  if (budget.tokens !== undefined && tokens > budget.tokens) {
    over.push(`about ${tokens} tokens of ${budget.tokens}`);
  }
  if (budget.usd !== undefined && plan.calls > 0) {
    if (plan.usd === null) over.push("an unknown price, so the limit in US dollars can't be kept");
    else if (plan.usd > budget.usd) over.push(`about ${plan.usd.toFixed(4)} of ${budget.usd} US dollars`);
  }
  if (over.length > 0) {
    throw new AssayError("over_budget", `over budget, nothing was bought: ${over.join("; ")}`, { plan });
  }
}

/** An `invalid_request` for a prompt that the judge's context window can't hold; the gate tells it from bad input. */
export class ContextError extends AssayError {
  /** @param path JSON pointer of the field that is too long */
  constructor(path: string, message: string) {
    super("invalid_request", `${path || "/"}: ${message}`, { errors: [{ path, message }] });
  }
}

/**
 * Refuses a prompt that can't fit into the judge's context window.
 * @param bytes UTF-8 bytes of the longest prompt @param what names its parts, for example "a and b"
 * @throws {ContextError} `invalid_request` with the counts
 */
export function checkContext(judge: Judge, bytes: number, images: number, path: string, what: string): void {
  if (judge.contextTokens === null) return;
  const tokens = Math.ceil(bytes / CONTEXT_BYTES_PER_TOKEN) + images * IMAGE_TOKENS;
  if (tokens > judge.contextTokens) {
    throw new ContextError(
      path,
      `must fit into the judge's context: the prompt with ${what} has at least ${tokens} tokens ` +
        `(${bytes} bytes at ${CONTEXT_BYTES_PER_TOKEN} a token), judge ${judge.profile} takes ${judge.contextTokens}`,
    );
  }
}
