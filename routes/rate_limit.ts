/**
 * What is left of a daily budget as `RateLimit` and `RateLimit-Policy` headers (IETF draft
 * `draft-ietf-httpapi-ratelimit-headers`, its form with named policies as structured fields).
 *
 * @module
 */
import { type BudgetStatus, secondsToReset } from "../verifier/budget/budget.ts";

/** Structured fields have integers of at most 15 digits. */
const LARGEST_INTEGER = 999_999_999_999_999;
const DAY_SECONDS = 86_400;

/** Policy by limit. Money is in millionths of a dollar, as quotas are integers. */
const POLICIES = {
  calls: { name: "daily-calls", unit: "calls", scale: 1 },
  tokens: { name: "daily-tokens", unit: "tokens", scale: 1 },
  usd: { name: "daily-usd", unit: "micro-usd", scale: 1e6 },
} as const;

/** The headers: for each limit its quota `q` per window `w`, what remains `r`, and the seconds `t` until it is whole again. */
export function rateLimitHeaders(status: BudgetStatus, now: number): Readonly<Record<string, string>> {
  const limited = (["calls", "tokens", "usd"] as const).flatMap((limit) => {
    const quota = status.limits[limit];
    if (quota === null) return [];
    const left = quota - status.spent[limit] - status.held[limit];
    return [{ ...POLICIES[limit], quota, left: Math.max(0, left) }];
  });
  const integer = (amount: number, scale: number) =>
    Math.min(LARGEST_INTEGER, Math.floor(amount * scale + 1e-6));
  const seconds = secondsToReset(status.day, now);
  return {
    "ratelimit-policy": limited.map(({ name, unit, scale, quota }) =>
      `"${name}";q=${integer(quota, scale)};qu="${unit}";w=${DAY_SECONDS}`
    ).join(", "),
    "ratelimit": limited.map(({ name, scale, left }) => `"${name}";r=${integer(left, scale)};t=${seconds}`)
      .join(", "),
  };
}
