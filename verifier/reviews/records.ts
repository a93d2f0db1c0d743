/**
 * What the review ledger keeps in the store, and the changes that can be made to it.
 *
 * | key | record | changes |
 * |---|---|---|
 * | `review/<caller>/<session>/ledger` | {@linkcode LedgerRecord}: counters and what is held | with every review |
 * | `review/<caller>/<session>/settled/<ULID>` | {@linkcode Review}, with its outcome | never |
 * | `review/<caller>/<session>/done/<fingerprint>` | {@linkcode DoneRecord} | never |
 *
 * Callers, sessions, tasks and fingerprints stand in keys as hashes (128 bits). The ledger is one record, so that a
 * review is granted or refused by one compare-and-set. What a review ended with is written before its hold is given
 * back: a process that dies between the two leaves a hold too many, which ends by itself, and never one too few.
 *
 * @module
 */
import * as z from "zod";
import { decodeRecord } from "../record.ts";
import type { Review, ReviewAmount, ReviewPurpose, ReviewSpent } from "./requests.ts";

/** A hold that nobody settles ends after this time. */
export const HOLD_MS = 15 * 60_000;
/** Everything of a session is kept for so long after its last review. */
export const KEPT_MS = 90 * 86_400_000;
/** Settled reviews that a ledger remembers for its list; older ones are still found by id and by fingerprint. */
export const MOST_LISTED = 200;
/** Reviews of one session that may be under way at the same time. */
export const MOST_HELD = 500;
/** Expired holds that can still be settled; older ones are summed up. */
const MOST_EXPIRED = 200;
/** Tasks with counters of their own; those not touched for longest are only counted in their session's sum. */
const MOST_TASKS = 2000;

const FORMAT = 1;
const count = z.int().min(0);
const amount = z.object({ reviews: count, calls: count });
const groups = z.object({ gate: amount, routed: amount });
const purpose = z.enum(["gate", "compare", "select", "track", "plan", "team"]);

const holdRecord = z.object({
  task: z.string(),
  taskHash: z.string(),
  purpose,
  fingerprint: z.string(),
  fingerprintHash: z.string(),
  calls: count,
  /** Milliseconds since 1970. */
  at: z.int(),
  until: z.int(),
});

const ledgerRecord = z.object({
  format: z.literal(FORMAT),
  /** Of settled reviews. */
  spent: groups,
  /** The same by task hash, the last one that was touched last. */
  tasks: z.record(z.string(), groups),
  /** By the review's ULID. */
  holds: z.record(z.string(), holdRecord),
  /** ULIDs of settled reviews, the last one settled last. */
  listed: z.array(z.string()),
});

const settledRecord = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  task: z.string(),
  purpose,
  fingerprint: z.string(),
  state: z.enum(["done", "failed", "abandoned"]),
  calls: count,
  outcome: z.record(z.string(), z.unknown()).nullable(),
  at: z.string(),
  settledAt: z.string(),
});

const doneRecord = z.object({ format: z.literal(FORMAT), ulid: z.string() });

/** What a review that is under way holds. */
export type Hold = Readonly<z.output<typeof holdRecord>>;
/** One session's counters and holds. */
export type LedgerRecord = z.output<typeof ledgerRecord>;
/** A review that is over. */
export type SettledRecord = z.output<typeof settledRecord>;
/** Which review made a fingerprint reviewed. */
export type DoneRecord = z.output<typeof doneRecord>;
type Groups = z.output<typeof groups>;

const NO_GROUPS: Groups = { gate: { reviews: 0, calls: 0 }, routed: { reviews: 0, calls: 0 } };
/** A session without reviews. */
export const EMPTY_LEDGER: LedgerRecord = {
  format: FORMAT,
  spent: NO_GROUPS,
  tasks: {},
  holds: {},
  listed: [],
};
/** Version of all records. */
export const RECORD_FORMAT = FORMAT;

/** Whose `reviews` limits a review counts for. */
export function groupOf(purpose: ReviewPurpose): "gate" | "routed" {
  return purpose === "gate" ? "gate" : "routed";
}

function add(sum: Groups, group: "gate" | "routed", { reviews, calls }: ReviewAmount): Groups {
  const before = sum[group];
  return { ...sum, [group]: { reviews: before.reviews + reviews, calls: before.calls + calls } };
}

/** Spent and held of the session, or of one of its tasks. Expired holds count as bought. */
export function amountsOf(record: LedgerRecord, taskHash?: string): Groups {
  const settled = taskHash === undefined ? record.spent : record.tasks[taskHash] ?? NO_GROUPS;
  return Object.values(record.holds)
    .filter((hold) => taskHash === undefined || hold.taskHash === taskHash)
    .reduce((sum, { purpose, calls }) => add(sum, groupOf(purpose), { reviews: 1, calls }), settled);
}

/** What the limits of a review with this purpose are measured against. */
export function spentOf(record: LedgerRecord, taskHash: string, purpose: ReviewPurpose): ReviewSpent {
  const shown = (sum: Groups): ReviewAmount => ({
    reviews: sum[groupOf(purpose)].reviews,
    calls: sum.gate.calls + sum.routed.calls,
  });
  return { task: shown(amountsOf(record, taskHash)), session: shown(amountsOf(record)) };
}

/** The record with one more hold. */
export function withHold(record: LedgerRecord, ulid: string, hold: Hold, now: number): LedgerRecord {
  return pruned({ ...record, holds: { ...record.holds, [ulid]: hold } }, now);
}

/**
 * A hold gives way to what was really bought. A review that is done counts as one; another only if it bought anything.
 * Unknown ULIDs were settled before.
 */
export function withSettled(
  record: LedgerRecord,
  ulid: string,
  { state, calls }: Pick<SettledRecord, "state" | "calls">,
): LedgerRecord {
  const bought = { reviews: state === "done" || calls > 0 ? 1 : 0, calls };
  const next = withoutHold(record, ulid, bought);
  return next === record ? record : { ...next, listed: [...next.listed, ulid].slice(-MOST_LISTED) };
}

function withoutHold(record: LedgerRecord, ulid: string, bought: ReviewAmount): LedgerRecord {
  const hold = Object.hasOwn(record.holds, ulid) ? record.holds[ulid] : undefined;
  if (hold === undefined) return record;
  const { [ulid]: _, ...holds } = record.holds;
  const group = groupOf(hold.purpose);
  const { [hold.taskHash]: task = NO_GROUPS, ...others } = record.tasks;
  const tasks = { ...others, [hold.taskHash]: add(task, group, bought) };
  const names = Object.keys(tasks);
  for (const name of names.slice(0, Math.max(0, names.length - MOST_TASKS))) delete tasks[name];
  return { ...record, spent: add(record.spent, group, bought), tasks, holds };
}

/** Bounds the record where many reviews were never settled. */
function pruned(record: LedgerRecord, now: number): LedgerRecord {
  const expired = Object.entries(record.holds).filter(([, { until }]) => until <= now)
    .sort(([, a], [, b]) => a.until - b.until);
  return expired.slice(0, Math.max(0, expired.length - MOST_EXPIRED))
    .reduce((sum, [ulid, { calls }]) => withoutHold(sum, ulid, { reviews: 1, calls }), record);
}

/** A review that isn't settled, as it is shown. */
export function heldReview(id: string, hold: Hold, now: number): Review {
  const { task, purpose, fingerprint, calls, at, until } = hold;
  const state = until <= now ? "expired" : "held";
  return {
    id,
    task,
    purpose,
    fingerprint,
    state,
    calls,
    outcome: null,
    at: new Date(at).toISOString(),
    settledAt: null,
  };
}

/** A settled review, as it is shown. */
export function settledReview({ format: _, ...review }: SettledRecord): Review {
  return review;
}

function decoder<T>(schema: z.ZodType<T>): (bytes: Uint8Array) => T | null {
  return (bytes) => decodeRecord(schema, bytes);
}

/** `null` for anything but a ledger. */
export const decodeLedger: (bytes: Uint8Array) => LedgerRecord | null = decoder<LedgerRecord>(ledgerRecord);
/** `null` for anything but a settled review. */
export const decodeSettled: (bytes: Uint8Array) => SettledRecord | null = decoder<SettledRecord>(
  settledRecord,
);
/** `null` for anything but the mark of a reviewed fingerprint. */
export const decodeDone: (bytes: Uint8Array) => DoneRecord | null = decoder<DoneRecord>(doneRecord);
