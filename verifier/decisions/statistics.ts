/**
 * Sums over the statistic records: what was judged, by whom, what it cost and how much of it was readable. Nothing is
 * counted while verbs run; everything is added up when somebody asks, so no update can be lost.
 *
 * @module
 */
import type { Store } from "../../store/store.ts";
import { mapSome, readStatistic, STATISTIC_PREFIX } from "./store.ts";
import { AssayError } from "../errors.ts";
import type { StatisticRecord } from "./statistics_record.ts";
import { ulid } from "../ulid.ts";

/** What sums can be kept apart by. */
export const STATISTIC_GROUPS = ["day", "verb", "judge", "session", "rubric"] as const;
/** One of them. */
export type StatisticGrouping = typeof STATISTIC_GROUPS[number];

/** Most records of one page, and the default: a Worker may make 1000 requests to its store. */
export const DEFAULT_STATISTIC_PAGE = 900;
/** Most records that one page can be asked for. */
export const MAXIMUM_STATISTIC_PAGE = 10_000;
const DAY_MS = 24 * 3_600_000;
const DEFAULT_DAYS = 30;

/** Numbers that can be added to those of another page. */
export interface StatisticCounts {
  /** Verbs that judged something. */
  readonly invocations: number;
  /** Those that ended in a problem. */
  readonly failed: number;
  /** Judged calls that were sent. */
  readonly calls: number;
  readonly attempts: number;
  /** Calls answered by the score cache or by an identical call in flight. */
  readonly cacheHits: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** Dollars of the invocations whose cost is known. */
  readonly usdKnown: number;
  /** Invocations whose cost nobody knows. */
  readonly usdUnknown: number;
  readonly durationMs: number;
  readonly longestMs: number;
  /** Parts with a score by channel. */
  readonly channels: Readonly<Record<string, number>>;
  /** Parts without a score by reason. */
  readonly unscored: Readonly<Record<string, number>>;
  /** Failed invocations by problem code. */
  readonly problems: Readonly<Record<string, number>>;
}

/** What follows from counts; `null` where nothing was counted that it is a share of. */
export interface StatisticRates {
  /** Dollars; `null` when the cost of any invocation is unknown. */
  readonly usd: number | null;
  /** Share of calls that were answered by the score cache. */
  readonly cacheHitRate: number | null;
  /** Share of input tokens that the provider had in its prompt cache. */
  readonly prefixCacheHitRate: number | null;
  /** Share of parts without a score. */
  readonly unscoredRate: number | null;
  /** Share of the scored parts by channel; `null` without any. */
  readonly channelMix: Readonly<Record<string, number>> | null;
  readonly failureRate: number | null;
  readonly meanMs: number | null;
  readonly callsPerInvocation: number | null;
}

/** Counts with their rates. */
export type StatisticSums = StatisticCounts & StatisticRates;

/** One group; `key` is `null` for what belongs to none. */
export type StatisticGroup = { readonly key: string | null } & StatisticSums;

/** One page of statistics. */
export interface Statistics {
  /** ISO 8601, inclusive. */
  readonly from: string;
  /** ISO 8601, exclusive. */
  readonly to: string;
  readonly group: StatisticGrouping;
  /** Days in their order, other groups by falling calls. */
  readonly groups: readonly StatisticGroup[];
  readonly total: StatisticSums;
  /** Records that can't be read. */
  readonly corrupt: number;
  /** Where the next page begins; `null` when all records of the time were counted. */
  readonly cursor: string | null;
}

/** What to count. */
export interface StatisticsQuery {
  readonly from: Date;
  readonly to: Date;
  readonly group: StatisticGrouping;
  readonly cursor?: string;
  readonly limit?: number;
}

/**
 * A time from what a person writes: `2026-12-01` (the day's beginning, as `to` its end) or ISO 8601.
 *
 * @param path JSON pointer for errors
 * @throws {AssayError} `invalid_request`
 */
export function readTime(text: string, path: string, isEnd = false): Date {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const time = isDay || isTime ? new Date(text) : new Date(NaN);
  // `2026-02-30` would roll over into March.
  if (Number.isNaN(time.getTime()) || (isDay && time.toISOString().slice(0, 10) !== text)) {
    throw AssayError.field(
      path,
      "must be a day such as 2026-12-01 or a time such as 2026-12-01T08:00:00Z",
      text,
    );
  }
  if (time.getTime() < 0) throw AssayError.field(path, "must be 1970 or later", text);
  return isDay && isEnd ? new Date(time.getTime() + DAY_MS) : time;
}

/**
 * The time that is meant: to the end of `to` (default: now), from `from` (default: 30 days before that).
 * @throws {AssayError} `invalid_request` for an empty time
 */
export function readTimes(
  from: string | undefined,
  to: string | undefined,
  now: Date = new Date(),
): { readonly from: Date; readonly to: Date } {
  // One past now, as what has just begun belongs to it.
  const end = to === undefined ? new Date(now.getTime() + 1) : readTime(to, "/to", true);
  const start = from === undefined
    ? new Date(Math.max(0, end.getTime() - DEFAULT_DAYS * DAY_MS))
    : readTime(from, "/from");
  if (start >= end) {
    throw AssayError.field("/from", `must be before to (${end.toISOString()})`, start.toISOString());
  }
  return { from: start, to: end };
}

/** Sorts before every id of this millisecond. */
const firstOf = (time: Date): string => `${ulid(time.getTime()).slice(0, 10)}${"0".repeat(16)}`;

/**
 * Adds up one page of records. A malformed record is counted as `corrupt` and skipped.
 *
 * @throws {AssayError} `invalid_request` for a cursor that no page gave
 * @throws {StoreError}
 */
export async function readStatistics(store: Store, query: StatisticsQuery): Promise<Statistics> {
  const { from, to, group, cursor, limit = DEFAULT_STATISTIC_PAGE } = query;
  if (cursor !== undefined && !/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(cursor)) {
    throw AssayError.field("/cursor", "must be the cursor of an earlier page", cursor);
  }
  const [first, end] = [firstOf(from), STATISTIC_PREFIX + firstOf(to)];
  // A listing begins behind its cursor: behind the last record of an earlier page, or behind a beginning of all first ids.
  let after = STATISTIC_PREFIX + (cursor !== undefined && cursor > first ? cursor : first.slice(0, -1));
  const keys: string[] = [];
  let next: string | null = null;
  while (next === null) {
    const page = await store.list(STATISTIC_PREFIX, {
      cursor: after,
      limit: Math.min(1000, limit + 1 - keys.length),
    });
    const fitting = page.keys.filter((key) => key < end);
    keys.push(...fitting);
    if (keys.length > limit) {
      keys.length = limit;
      next = keys.at(-1)!.slice(STATISTIC_PREFIX.length);
    } else if (fitting.length < page.keys.length || page.cursor === null) break;
    else after = page.cursor;
  }
  const records = await mapSome(keys, async (key) => {
    const entry = await store.get(key);
    // It may have expired since it was listed.
    return entry === null ? null : readStatistic(entry.value) ?? "corrupt" as const;
  });
  const readable = records.filter((record) => record !== null && record !== "corrupt");
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    group,
    ...sumUp(readable, group),
    corrupt: records.filter((record) => record === "corrupt").length,
    cursor: next,
  };
}

/** All pages of a query as one. @param read reads one page */
export async function readAllStatistics(
  read: (cursor: string | undefined) => Promise<Statistics>,
): Promise<Statistics> {
  let all = await read(undefined);
  while (all.cursor !== null) all = mergeStatistics(all, await read(all.cursor));
  return all;
}

/** Two pages of one query as one; the cursor is the second's. */
export function mergeStatistics(x: Statistics, y: Statistics): Statistics {
  const counts = new Map<string | null, StatisticCounts>();
  for (const { key, ...sums } of [...x.groups, ...y.groups]) {
    counts.set(key, add(counts.get(key) ?? NOTHING, sums));
  }
  return {
    from: x.from,
    to: x.to,
    group: x.group,
    groups: inOrder(counts, x.group),
    total: withRates(add(x.total, y.total)),
    corrupt: x.corrupt + y.corrupt,
    cursor: y.cursor,
  };
}

const NOTHING: StatisticCounts = {
  invocations: 0,
  failed: 0,
  calls: 0,
  attempts: 0,
  cacheHits: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  usdKnown: 0,
  usdUnknown: 0,
  durationMs: 0,
  longestMs: 0,
  channels: {},
  unscored: {},
  problems: {},
};

function sumUp(
  records: readonly StatisticRecord[],
  group: StatisticGrouping,
): Pick<Statistics, "groups" | "total"> {
  const counts = new Map<string | null, StatisticCounts>();
  let total = NOTHING;
  for (const record of records) {
    const one = countsOf(record);
    const key = keyOf(record, group);
    counts.set(key, add(counts.get(key) ?? NOTHING, one));
    total = add(total, one);
  }
  return { groups: inOrder(counts, group), total: withRates(total) };
}

function keyOf(record: StatisticRecord, group: StatisticGrouping): string | null {
  switch (group) {
    case "day":
      return record.startedAt.slice(0, 10);
    case "verb":
      return record.verb;
    case "judge":
      return record.judges.join(" + ") || null;
    case "session":
      return record.session;
    case "rubric":
      return record.rubric;
  }
}

function inOrder(
  counts: ReadonlyMap<string | null, StatisticCounts>,
  group: StatisticGrouping,
): readonly StatisticGroup[] {
  const byName = (x: string | null, y: string | null): number => (x ?? "") < (y ?? "") ? -1 : 1;
  return [...counts].sort(([x, a], [y, b]) =>
    group === "day"
      ? byName(x, y)
      : b.calls + b.cacheHits - a.calls - a.cacheHits || b.invocations - a.invocations || byName(x, y)
  ).map(([key, sums]) => ({ key, ...withRates(sums) }));
}

function countsOf(record: StatisticRecord): StatisticCounts {
  const { usd, ...used } = record.usage;
  return {
    ...NOTHING,
    ...used,
    invocations: 1,
    failed: record.problem === null ? 0 : 1,
    usdKnown: usd ?? 0,
    usdUnknown: usd === null ? 1 : 0,
    durationMs: record.durationMs,
    longestMs: record.durationMs,
    channels: record.channels,
    unscored: record.unscored,
    problems: record.problem === null ? {} : { [record.problem]: 1 },
  };
}

function add(x: StatisticCounts, y: StatisticCounts): StatisticCounts {
  return {
    invocations: x.invocations + y.invocations,
    failed: x.failed + y.failed,
    calls: x.calls + y.calls,
    attempts: x.attempts + y.attempts,
    cacheHits: x.cacheHits + y.cacheHits,
    inputTokens: x.inputTokens + y.inputTokens,
    cachedInputTokens: x.cachedInputTokens + y.cachedInputTokens,
    outputTokens: x.outputTokens + y.outputTokens,
    reasoningTokens: x.reasoningTokens + y.reasoningTokens,
    usdKnown: x.usdKnown + y.usdKnown,
    usdUnknown: x.usdUnknown + y.usdUnknown,
    durationMs: x.durationMs + y.durationMs,
    longestMs: Math.max(x.longestMs, y.longestMs),
    channels: addAll(x.channels, y.channels),
    unscored: addAll(x.unscored, y.unscored),
    problems: addAll(x.problems, y.problems),
  };
}

function addAll(
  x: Readonly<Record<string, number>>,
  y: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const sums = new Map(Object.entries(x));
  for (const [name, count] of Object.entries(y)) sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries(sums);
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
const share = (part: number, whole: number): number | null => whole === 0 ? null : part / whole;

function withRates(counts: StatisticCounts): StatisticSums {
  const [scored, unscored] = [sum(counts.channels), sum(counts.unscored)];
  return {
    ...counts,
    usd: counts.usdUnknown > 0 ? null : counts.usdKnown,
    cacheHitRate: share(counts.cacheHits, counts.calls + counts.cacheHits),
    // A provider that counts more cached tokens than input tokens is not believed.
    prefixCacheHitRate: share(Math.min(counts.cachedInputTokens, counts.inputTokens), counts.inputTokens),
    unscoredRate: share(unscored, scored + unscored),
    channelMix: scored === 0
      ? null
      : Object.fromEntries(Object.entries(counts.channels).map(([name, count]) => [name, count / scored])),
    failureRate: share(counts.failed, counts.invocations),
    meanMs: share(counts.durationMs, counts.invocations),
    callsPerInvocation: share(counts.calls, counts.invocations),
  };
}
