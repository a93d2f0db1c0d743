/**
 * Retries, in this one place: what is tried again, how long to wait, and when to give up.
 *
 * @module
 */
import { AttemptError } from "./attempt.ts";

/** Longest wait between two attempts. */
export const MAXIMUM_WAIT_MS = 60_000;
const BASE_WAIT_MS = 500;
const MAXIMUM_BACKOFF_MS = 30_000;

/** Clock and chance, so that tests need neither. */
export interface Timing {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** 0 (included) to 1 (excluded). */
  readonly random: () => number;
  /** Waits; rejects with the signal's reason as soon as it aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Runs something later, unless it is called off by the function that this returns. */
  readonly after: (ms: number, run: () => void) => () => void;
}

/** The machine's clock and timers. */
export const systemTiming: Timing = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/**
 * What a server asks to wait: `retry-after-ms` (milliseconds), else `retry-after` (seconds, fractions too, or an
 * HTTP date), clamped to 0 to 60,000 ms.
 *
 * @param now milliseconds since 1970, for dates
 * @returns `null` where neither header says anything that can be read
 */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const milliseconds = decimal(headers.get("retry-after-ms"));
  if (milliseconds !== null) return clamp(milliseconds);
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return null;
  const seconds = decimal(text);
  if (seconds !== null) return clamp(seconds * 1000);
  // Date.parse reads much that isn't a date ("-5", "1 potato"): only what starts with a weekday or an ISO day counts.
  if (!/^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\dT)/i.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : clamp(date - now);
}

function decimal(text: string | null): number | null {
  const trimmed = text?.trim();
  return trimmed !== undefined && /^[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})$/.test(trimmed)
    ? Number(trimmed)
    : null;
}

function clamp(ms: number): number {
  return Math.min(MAXIMUM_WAIT_MS, Math.max(0, Math.round(ms)));
}

/** How often and how long. */
export interface RetryPolicy {
  /** Further attempts after the first. */
  readonly retries: number;
  /** Total time for all attempts and waits. */
  readonly deadlineMs: number;
  readonly timing: Timing;
}

/**
 * Runs `attempt` until it succeeds, fails for good, or attempts or time run out; then the last error is thrown as it
 * is. An abort is never retried and ends a wait at once.
 *
 * @param attempt gets the milliseconds left
 */
export async function withRetries<T>(
  attempt: (remainingMs: number) => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
): Promise<T> {
  const { now, random, sleep } = policy.timing;
  const end = now() + policy.deadlineMs;
  for (let failures = 0;; failures++) {
    signal.throwIfAborted();
    try {
      return await attempt(Math.max(1, end - now()));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AttemptError) || !error.retryable || failures >= policy.retries) throw error;
      const backoff = Math.min(MAXIMUM_BACKOFF_MS, BASE_WAIT_MS * 2 ** failures) * (0.5 + random() / 2);
      const wait = error.retryAfterMs ?? backoff;
      // A wait that ends at the deadline buys nothing: say now what went wrong.
      if (now() + wait >= end) throw error;
      await sleep(wait, signal);
    }
  }
}
