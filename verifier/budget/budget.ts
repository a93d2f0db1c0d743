/**
 * Daily budgets of bearer tokens, counted in the store. A request holds its plan's estimate before it buys anything,
 * and what it really bought takes its place when it is over: what came from the cache, was joined or was never sent
 * costs nothing; what nobody was told the cost of counts as estimated.
 *
 * All requests of one process that touch one token at the same time share one write; processes meet by compare-and-set.
 * So any number of parallel requests hold no more than the limit. A call that uses more than was estimated can still
 * carry a day's sum past its limit, by that much: nobody knows before.
 *
 * @module
 */
import type { Store } from "../../store/store.ts";
import { BudgetCounter } from "./counter.ts";
import {
  addAmounts,
  addSpending,
  type Amounts,
  bought,
  type BudgetRecord,
  committed,
  hold,
  NO_AMOUNTS,
  NO_SPENDING,
  settle,
  type Spending,
} from "./record.ts";
import { AssayError } from "../errors.ts";
import type { Plan } from "../types.ts";

/** What a token may buy per UTC day; an absent limit is none. */
export interface DailyLimits {
  readonly calls?: number;
  readonly tokens?: number;
  readonly usd?: number;
}

/** What one judge's calls of one request have cost so far, and what nobody was told. */
export interface Bill {
  /** Calls that were sent. */
  readonly calls: number;
  /** Tokens that are known. */
  readonly tokens: number;
  /** Dollars that are known. */
  readonly usd: number;
  /** Calls under way, and attempts whose tokens nobody was told. */
  readonly unknownTokens: number;
  /** The same of the dollars; also where the judge has no price. */
  readonly unknownUsd: number;
}

/** What one request may take from its caller's budget. Verbs see only this. */
export interface Allowance {
  /**
   * Holds a plan's estimate before anything of it is bought; several plans of one request add up.
   * @param usd dollars of the plan if no prompt is found in a provider's cache; `null` without a price
   * @throws {AssayError} `budget_exhausted` when the day's budget doesn't have it; `over_budget` when it never can
   * @throws {StoreError} when it can't be counted, and then nothing may be bought
   */
  reserve(plan: Plan, usd: number | null): Promise<void>;
  /** Where the cost of the calls can be asked for. */
  meter(bill: () => Bill): void;
}

/** One token's budget, as shown to its holder. */
export interface BudgetStatus {
  /** UTC day, for example `2026-12-01`. */
  readonly day: string;
  /** When the next day begins, ISO 8601. */
  readonly resetsAt: string;
  /** `null`: no limit. */
  readonly limits: {
    readonly calls: number | null;
    readonly tokens: number | null;
    readonly usd: number | null;
  };
  /** Bought so far, `estimated` being the part that nobody was told. */
  readonly spent: Spending;
  /** Held by requests under way, beyond what they bought already. */
  readonly held: Amounts;
}

/** One request's share of a budget, as the server handles it. */
export interface RequestAllowance extends Allowance {
  /** What is known of the budget since the last write; `null` before the first. */
  status(): BudgetStatus | null;
  /** The request is over, however it ended. Never rejects: what can't be written now is written with the next change. */
  settle(): Promise<void>;
}

/** The budgets of a server. */
export interface Budgets {
  /** A request's share; `null` for a caller without a budget. */
  open(token: string | null): RequestAllowance | null;
  /** The state of a budget; `null` for a caller without one. @throws {StoreError} */
  status(token: string | null): Promise<BudgetStatus | null>;
}

/** Options of `createBudgets`. */
export interface BudgetOptions {
  /** Takes a line for the operator. */
  readonly log: (line: string) => void;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Life of a lease; it is renewed after a third of it. Default one minute. */
  readonly leaseMs?: number;
}

const DAY_MS = 86_400_000;
const LEASE_MS = 60_000;
/** What a float's sum may be off. */
const TOLERANCE = 1e-9;

/** The budgets of these tokens over a store. */
export function createBudgets(
  store: Store,
  limits: Readonly<Record<string, DailyLimits>>,
  options: BudgetOptions,
): Budgets {
  const { log, now = Date.now, leaseMs = LEASE_MS } = options;
  const counters = new Map<string, BudgetCounter>();

  function limitsOf(token: string | null): DailyLimits | null {
    const found = token !== null && Object.hasOwn(limits, token) ? limits[token]! : null;
    return found === null || Object.values(found).every((limit) => limit === undefined) ? null : found;
  }

  function counterOf(token: string, day: string): BudgetCounter {
    const key = budgetKey(token, day);
    let counter = counters.get(key);
    if (counter === undefined) {
      for (const [old, { idle }] of counters) if (idle && !old.endsWith(day)) counters.delete(old);
      counter = new BudgetCounter(store, key, () => {
        log(
          `the budget count ${key} can't be read: it is skipped, and token "${token}" starts at zero for ${day}`,
        );
      });
      counters.set(key, counter);
    }
    return counter;
  }

  function statusOf(record: BudgetRecord, daily: DailyLimits, day: string): BudgetStatus {
    const spent = bought(record);
    const all = committed(record, now());
    return {
      day,
      resetsAt: new Date(Date.parse(day) + DAY_MS).toISOString(),
      limits: { calls: daily.calls ?? null, tokens: daily.tokens ?? null, usd: daily.usd ?? null },
      spent,
      held: {
        calls: all.calls - spent.calls,
        tokens: all.tokens - spent.tokens,
        usd: Math.max(0, all.usd - spent.usd),
      },
    };
  }

  return {
    open(token) {
      const daily = limitsOf(token);
      if (token === null || daily === null) return null;
      const id = crypto.randomUUID();
      const bills: (() => Bill)[] = [];
      let day: string | null = null;
      let counter: BudgetCounter | null = null;
      let reserved: Amounts = NO_AMOUNTS;
      let status: BudgetStatus | null = null;
      let renewing: ReturnType<typeof setInterval> | undefined;
      let over = false;
      /** Whether a lease was written, or may have been by a write that failed. */
      let written: "none" | "perhaps" | "written" = "none";
      let turn: Promise<unknown> = Promise.resolve();

      const spending = (): Spending =>
        bills.reduce((sum, bill) => addSpending(sum, cost(bill(), reserved)), NO_SPENDING);
      const lease = () => ({ until: now() + leaseMs, reserved, spent: spending() });
      const reserve = async (plan: Plan, usd: number | null): Promise<void> => {
        if (daily.usd !== undefined && plan.calls > 0 && usd === null) {
          throw new AssayError(
            "over_budget",
            `token "${token}" has a daily budget in US dollars, and the judge has no price, so it can't be kept: ` +
              "nothing was bought",
            { plan },
          );
        }
        const wanted = { calls: plan.calls, tokens: plan.inputTokens + plan.outputTokens, usd: usd ?? 0 };
        day ??= dayOf(now());
        const own = counter ??= counterOf(token, day);
        const on = day;
        const before = reserved;
        reserved = addAmounts(reserved, wanted);
        let seen: BudgetRecord | null = null;
        try {
          const record = await own.apply((record) => {
            seen = record;
            const next = hold(record, id, lease(), now());
            const refusal = exceeded(record, next, wanted, daily, now());
            return refusal === null ? next : exhausted(token, on, refusal, plan, now());
          });
          status = statusOf(record, daily, on);
          written = "written";
        } catch (error) {
          reserved = before;
          if (!(error instanceof AssayError) && written === "none") written = "perhaps";
          if (seen !== null && error instanceof AssayError) status = statusOf(seen, daily, day);
          throw error;
        }
        renewing ??= setInterval(() => void renew(own), leaseMs / 3);
      };
      const renew = async (own: BudgetCounter): Promise<void> => {
        try {
          await own.apply((record) => over ? record : hold(record, id, lease(), now()));
        } catch (error) {
          log(`the budget of token "${token}" can't be renewed: ${messageOf(error)}`);
        }
      };

      return {
        reserve(plan, usd) {
          // One after the other: each is refused or granted by itself.
          const granted = turn.then(() => reserve(plan, usd));
          turn = granted.catch(() => {});
          return granted;
        },
        meter: (bill) => void bills.push(bill),
        status: () => status,
        async settle() {
          clearInterval(renewing);
          if (over || counter === null || day === null || written === "none") return;
          over = true;
          const spent = spending();
          const on = day;
          const counted = counter.owe((record) => settle(record, id, spent)).then(
            (record) => void (status = statusOf(record, daily, on)),
            (error) => log(`what token "${token}" bought can't be counted yet: ${messageOf(error)}`),
          );
          // Nobody needs to wait until a lease is gone that perhaps never was.
          if (written === "written") await counted;
        },
      };
    },
    async status(token) {
      const daily = limitsOf(token);
      if (token === null || daily === null) return null;
      const day = dayOf(now());
      return statusOf(await counterOf(token, day).read(), daily, day);
    },
  };
}

/** Where a token's day is counted. */
export function budgetKey(token: string, day: string): string {
  return `budget/${token}/${day}`;
}

/** The UTC day of a time. */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Seconds until the UTC day after `day` begins. */
export function secondsToReset(day: string, now: number): number {
  return Math.max(1, Math.ceil((Date.parse(day) + DAY_MS - now) / 1000));
}

/** A bill with the estimate in place of what nobody was told. An estimate is the mean of the planned calls. */
function cost(bill: Bill, reserved: Amounts): Spending {
  const planned = Math.max(1, reserved.calls);
  const estimated = {
    tokens: Math.ceil(bill.unknownTokens * reserved.tokens / planned),
    usd: bill.unknownUsd * reserved.usd / planned,
  };
  return {
    calls: bill.calls,
    tokens: bill.tokens + estimated.tokens,
    usd: bill.usd + estimated.usd,
    estimated,
  };
}

const UNITS = { calls: "calls", tokens: "tokens", usd: "US dollars" } as const;

/** What a limit has no room for, in words; `null` when everything fits. */
function exceeded(
  before: BudgetRecord,
  after: BudgetRecord,
  wanted: Amounts,
  limits: DailyLimits,
  now: number,
): string | null {
  const [used, sum] = [committed(before, now), committed(after, now)];
  const { estimated } = bought(before);
  const over = (["calls", "tokens", "usd"] as const).flatMap((unit) => {
    const limit = limits[unit];
    if (limit === undefined || wanted[unit] === 0 || sum[unit] <= limit + TOLERANCE) return [];
    const shown = (amount: number) => unit === "usd" ? amount.toFixed(4) : String(Math.round(amount));
    const guess = unit !== "calls" && estimated[unit] > 0
      ? `, ${shown(estimated[unit])} of it estimated`
      : "";
    return [
      `${shown(used[unit])} of ${limit} ${UNITS[unit]} are spent or held${guess}, ` +
      `and the request needs ${unit === "calls" ? "" : "about "}${shown(wanted[unit])}`,
    ];
  });
  return over.length === 0 ? null : over.join("; ");
}

function exhausted(token: string, day: string, why: string, plan: Plan, now: number): AssayError {
  return new AssayError(
    "budget_exhausted",
    `the daily budget of token "${token}" is spent: ${why}. Nothing was bought. It starts anew at ` +
      `${new Date(Date.parse(day) + DAY_MS).toISOString()}`,
    { plan, retryAfterSeconds: secondsToReset(day, now) },
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
