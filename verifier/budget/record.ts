/**
 * What one token bought on one UTC day, as it stands in the store, and the changes that can be made to it. Every change
 * may be applied twice (a write that was reported as lost may have been made) and then counts once.
 *
 * @module
 */

/** Amounts of what a budget limits. */
export interface Amounts {
  /** Judged calls. */
  readonly calls: number;
  /** Input and output tokens. */
  readonly tokens: number;
  /** US dollars. */
  readonly usd: number;
}

/** What was bought, and how much of it nobody was told, so that the plan's estimate stands in for it. */
export interface Spending extends Amounts {
  /** Part of `tokens` and `usd` that is an estimate. */
  readonly estimated: { readonly tokens: number; readonly usd: number };
}

/** What a request that is under way holds. */
export interface Lease {
  /** Milliseconds since 1970 after which its owner is taken to be dead. */
  readonly until: number;
  /** What it may buy. */
  readonly reserved: Amounts;
  /** What it is known to have bought; this counts even when the owner died. */
  readonly spent: Spending;
}

/** One token's day. */
export interface BudgetRecord {
  readonly format: 1;
  /** Of requests that are over. */
  readonly spent: Spending;
  /** By the request's own id. */
  readonly leases: Readonly<Record<string, Lease>>;
}

/** Leases of dead owners kept for a late settlement; older ones are summed up into `spent`. */
const MOST_DEAD_LEASES = 200;

/** Nothing. */
export const NO_AMOUNTS: Amounts = { calls: 0, tokens: 0, usd: 0 };
/** Nothing bought. */
export const NO_SPENDING: Spending = { ...NO_AMOUNTS, estimated: { tokens: 0, usd: 0 } };
/** A day's beginning. */
export const EMPTY_RECORD: BudgetRecord = { format: 1, spent: NO_SPENDING, leases: {} };

/** Sum of two amounts. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return { calls: a.calls + b.calls, tokens: a.tokens + b.tokens, usd: a.usd + b.usd };
}

/** Sum of what was bought. */
export function addSpending(a: Spending, b: Spending): Spending {
  return {
    ...addAmounts(a, b),
    estimated: {
      tokens: a.estimated.tokens + b.estimated.tokens,
      usd: a.estimated.usd + b.estimated.usd,
    },
  };
}

/** What is spent or held: a living lease counts as the larger of what it holds and what it bought already. */
export function committed(record: BudgetRecord, now: number): Amounts {
  let sum: Amounts = record.spent;
  for (const { until, reserved, spent } of Object.values(record.leases)) {
    sum = addAmounts(
      sum,
      until <= now ? spent : {
        calls: Math.max(reserved.calls, spent.calls),
        tokens: Math.max(reserved.tokens, spent.tokens),
        usd: Math.max(reserved.usd, spent.usd),
      },
    );
  }
  return sum;
}

/** Everything that was bought so far, by requests under way too. */
export function bought(record: BudgetRecord): Spending {
  return Object.values(record.leases).reduce((sum, { spent }) => addSpending(sum, spent), record.spent);
}

/** Sets what a request holds, and until when. */
export function hold(record: BudgetRecord, id: string, lease: Lease, now: number): BudgetRecord {
  return pruned({ ...record, leases: { ...record.leases, [id]: lease } }, now);
}

/** A request is over: what it bought takes the place of what it held. Unknown ids were settled before. */
export function settle(record: BudgetRecord, id: string, spent: Spending): BudgetRecord {
  if (!Object.hasOwn(record.leases, id)) return record;
  const { [id]: _, ...leases } = record.leases;
  return { ...record, spent: addSpending(record.spent, spent), leases };
}

/** Bounds the record where many owners died. */
function pruned(record: BudgetRecord, now: number): BudgetRecord {
  const dead = Object.entries(record.leases).filter(([, { until }]) => until <= now)
    .sort(([, a], [, b]) => a.until - b.until);
  return dead.slice(0, Math.max(0, dead.length - MOST_DEAD_LEASES))
    .reduce((sum, [id, { spent }]) => settle(sum, id, spent), record);
}

/** The record as bytes. */
export function encodeBudget(record: BudgetRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record));
}

/** The record in these bytes; `null` for anything else. */
export function decodeBudget(bytes: Uint8Array): BudgetRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  if (!isObject(value) || value.format !== 1 || !isSpending(value.spent) || !isObject(value.leases)) {
    return null;
  }
  const whole = Object.values(value.leases).every((lease) =>
    isObject(lease) && isAmount(lease.until) && isAmounts(lease.reserved) && isSpending(lease.spent)
  );
  return whole ? value as unknown as BudgetRecord : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const isAmount = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

function isAmounts(value: unknown): boolean {
  return isObject(value) && isAmount(value.calls) && isAmount(value.tokens) && isAmount(value.usd);
}

function isSpending(value: unknown): boolean {
  return isObject(value) && isAmounts(value) && isObject(value.estimated) &&
    isAmount(value.estimated.tokens) && isAmount(value.estimated.usd);
}
