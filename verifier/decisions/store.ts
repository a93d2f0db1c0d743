/**
 * Where decisions and their statistics are kept.
 *
 * | key | holds | until |
 * |---|---|---|
 * | `decision/record/<turned id>` | the whole record | it is not among its topic's newest, at most 400 days |
 * | `decision/list/<turned id>/<verb>` | the record in numbers, for lists | as the record |
 * | `decision/topic/<topic>/<turned id>` | the verb | as the record |
 * | `statistic/<id>` | the record in numbers, for sums | 400 days |
 *
 * A turned id is the ULID with every digit replaced by its opposite, so that an ascending listing has the newest first.
 * All four are written in one commit, and the three of a decision removed in one: it is there whole or not at all. What
 * an older version's crash left of one goes by its age.
 *
 * @module
 */
import * as z from "zod";
import { MAXIMUM_COMMIT } from "../../store/keys.ts";
import { type Store, StoreError, type Write } from "../../store/store.ts";
import type { DecisionRecord } from "./decisions.ts";
import { readEvidence } from "./evidence.ts";
import { type DecisionSettings, DEFAULT_DECISION_SETTINGS } from "./settings.ts";
import { AssayError } from "../errors.ts";
import { sha256Hex } from "../prompt.ts";
import type { StatisticRecord } from "./statistics_record.ts";

/** Prefix of the statistic records. */
export const STATISTIC_PREFIX = "statistic/";
const LIST = "decision/list/";
const RECORD = "decision/record/";
const TOPIC = "decision/topic/";
/** Decisions that are removed at once at most. */
const MOST_PRUNED = 50;
/** Of these so many in one commit: each has 3 keys. */
const REMOVED_TOGETHER = Math.floor(MAXIMUM_COMMIT / 3);
/** Keys that one page of a list looks at. */
const MOST_LISTED = 1000;
const PARALLEL_READS = 32;
const DAY_MS = 24 * 3_600_000;
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DECISION_ID = /^dec_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const encoder = new TextEncoder();

/** Whether this could be the id of a decision. */
export function isDecisionId(id: string): boolean {
  return DECISION_ID.test(id);
}

/** The id's ULID with each digit replaced by its opposite. Turning twice gives the ULID back. */
export function turned(ulid: string): string {
  return Array.from(ulid, (digit) => DIGITS[31 - DIGITS.indexOf(digit)] ?? "0").join("");
}

const ulidOf = (id: string): string => id.slice("dec_".length);

const PLAIN_TOPIC = /^[A-Za-z0-9_.-]{1,100}$/;

/** Most topics have plain names; then nothing is awaited before the commit. */
function topicPrefix(topic: string): string | Promise<string> {
  if (PLAIN_TOPIC.test(topic)) return `${TOPIC}${topic}/`;
  return sha256Hex(topic).then((digest) => `${TOPIC}~${digest.slice(0, 40)}/`);
}

/**
 * Stores a decision and its statistic, and removes what is too old of its topic.
 * @returns why older ones could not be removed, else `null`
 * @throws {StoreError} when it is not stored
 */
export async function writeDecision(
  store: Store,
  record: DecisionRecord,
  statistic: StatisticRecord,
  settings: DecisionSettings = DEFAULT_DECISION_SETTINGS,
): Promise<string | null> {
  const expiresInMs = settings.statisticsDays * DAY_MS;
  const write = (key: string, value: Uint8Array): Write => ({ key, value, ifVersion: null, expiresInMs });
  const summary = encoder.encode(JSON.stringify(statistic));
  const writes = [write(STATISTIC_PREFIX + ulidOf(record.id), summary)];
  let prefix: string | null = null;
  if (settings.keep > 0) {
    const place = turned(ulidOf(record.id));
    const found = topicPrefix(record.topic);
    prefix = typeof found === "string" ? found : await found;
    writes.push(
      write(RECORD + place, encoder.encode(JSON.stringify(record))),
      write(`${LIST}${place}/${record.verb}`, summary),
      write(prefix + place, encoder.encode(record.verb)),
    );
  }
  if (!await store.commit(writes)) throw new StoreError(`there is a decision ${record.id} already`);
  if (prefix === null) return null;
  try {
    await pruneWhenFull(store, prefix, settings.keep);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Topic {
  /** How many decisions it had when it was last listed, with those written since; infinite before. */
  count: number;
  isBeingPruned: boolean;
}

/** Topics of each store that this process has written to lately. */
const topicsOf = new WeakMap<Store, Map<string, Topic>>();
const MOST_TOPICS = 1000;
/** Rounds of one pruning: a lowered limit is reached over several writes. */
const MOST_ROUNDS = 10;

/**
 * Prunes a topic once it holds a tenth more than `keep`, as listing it for every decision costs more than judging; one
 * writer at a time, as many would remove the same. Another process' decisions are counted at the next listing.
 */
async function pruneWhenFull(store: Store, prefix: string, keep: number): Promise<void> {
  let topics = topicsOf.get(store);
  if (topics === undefined) topicsOf.set(store, topics = new Map());
  const topic = topics.get(prefix) ?? { count: Infinity, isBeingPruned: false };
  topics.delete(prefix);
  topics.set(prefix, topic); // the least recently written one goes first
  if (topics.size > MOST_TOPICS) topics.delete(topics.keys().next().value!);
  topic.count++;
  if (topic.isBeingPruned || topic.count <= keep + Math.min(MOST_PRUNED, Math.floor(keep / 10))) return;
  topic.isBeingPruned = true;
  try {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      topic.count = 0;
      const { left, removed } = await prune(store, prefix, keep);
      topic.count += left;
      if (removed < MOST_PRUNED && topic.count <= keep + MOST_PRUNED) break;
    }
  } catch (error) {
    topic.count = Infinity;
    throw error;
  } finally {
    topic.isBeingPruned = false;
  }
}

/** Removes what is too old; at most 50 decisions at once. */
async function prune(
  store: Store,
  prefix: string,
  keep: number,
): Promise<{ readonly left: number; readonly removed: number }> {
  let seen = 0;
  let cursor: string | null | undefined;
  const old: string[] = [];
  while (cursor !== null && old.length < MOST_PRUNED) {
    const limit = Math.min(1000, Math.max(1, keep - seen) + MOST_PRUNED);
    const page: { readonly keys: readonly string[]; readonly cursor: string | null } = await store.list(
      prefix,
      cursor === undefined ? { limit } : { limit, cursor },
    );
    for (const key of page.keys) if (++seen > keep && old.length < MOST_PRUNED) old.push(key);
    cursor = page.cursor;
  }
  const verbs = await mapSome(old, async (key) => {
    const entry = await store.get(key);
    return entry === null ? null : new TextDecoder().decode(entry.value);
  });
  const keysOf = (i: number): readonly string[] => {
    const [key, verb] = [old[i]!, verbs[i]];
    const place = key.slice(prefix.length);
    return [key, RECORD + place, ...(typeof verb === "string" ? [`${LIST}${place}/${verb}`] : [])];
  };
  const commits = Array.from({ length: Math.ceil(old.length / REMOVED_TOGETHER) }, (_, n) => {
    const first = n * REMOVED_TOGETHER;
    const decisions = Array.from(
      { length: Math.min(REMOVED_TOGETHER, old.length - first) },
      (_, i) => first + i,
    );
    return store.commit(decisions.flatMap(keysOf).map((key) => ({ key, value: null })));
  });
  await Promise.all(commits);
  return { left: seen - old.length, removed: old.length };
}

/** One page of a list. */
export interface DecisionPage {
  /** Newest first. */
  readonly decisions: readonly StatisticRecord[];
  /** Where the next page begins; `null` at the end. */
  readonly cursor: string | null;
  /** Records of this page that can't be read. */
  readonly corrupt: number;
}

/**
 * Decisions, newest first. With a verb that few decisions have, a page may hold fewer than `limit` (even none) and still
 * have a cursor.
 *
 * @param options.cursor as an earlier page gave it
 * @throws {AssayError} `invalid_request` for a cursor that no page gave
 * @throws {StoreError}
 */
export async function listDecisions(
  store: Store,
  options: { readonly verb?: string; readonly limit: number; readonly cursor?: string },
): Promise<DecisionPage> {
  const { verb, limit, cursor } = options;
  if (cursor !== undefined && !/^[0-9A-HJKMNP-TV-Z]{26}$/.test(cursor)) {
    throw AssayError.field("/cursor", "must be the cursor of an earlier page", cursor);
  }
  // "0" is the byte after "/": behind all entries of that id.
  const after = cursor === undefined ? {} : { cursor: `${LIST}${cursor}0` };
  const page = await store.list(LIST, { limit: verb === undefined ? limit : MOST_LISTED, ...after });
  const fitting = page.keys.filter((key) => verb === undefined || key.slice(LIST.length + 27) === verb);
  const taken = fitting.slice(0, limit);
  const read = await mapSome(taken, async (key) => {
    const entry = await store.get(key);
    return entry === null ? null : readStatistic(entry.value) ?? "corrupt" as const;
  });
  const last = fitting.length > limit ? taken.at(-1) : page.cursor === null ? undefined : page.keys.at(-1);
  return {
    decisions: read.filter((record) => record !== null && record !== "corrupt"),
    cursor: last === undefined ? null : last.slice(LIST.length, LIST.length + 26),
    corrupt: read.filter((record) => record === "corrupt").length,
  };
}

/** Runs over a list, some at a time, and keeps its order. */
export async function mapSome<T, U>(list: readonly T[], map: (item: T) => Promise<U>): Promise<readonly U[]> {
  const results: U[] = [];
  for (let from = 0; from < list.length; from += PARALLEL_READS) {
    results.push(...await Promise.all(list.slice(from, from + PARALLEL_READS).map(map)));
  }
  return results;
}

/**
 * One decision.
 *
 * @throws {AssayError} `not_found`, also for one that was removed in favour of newer ones; `internal` for a record that
 * can't be read
 * @throws {StoreError}
 */
export async function readDecision(store: Store, id: string): Promise<DecisionRecord> {
  const known = isDecisionId(id);
  const entry = known ? await store.get(RECORD + turned(ulidOf(id))) : null;
  if (entry === null) {
    throw new AssayError(
      "not_found",
      known
        ? "There is no decision with this id: only invocations that judged something have one, and the oldest are removed."
        : "This is not the id of a decision, which is dec_ and 26 letters and digits.",
    );
  }
  const record = readRecord(entry.value);
  if (record === null || record.id !== id) {
    throw new AssayError(
      "internal",
      "The record of this decision can't be read: it is damaged or of another version.",
    );
  }
  return record;
}

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const channel = z.enum(["logprobs", "continuation", "explicit_tag"]);
const usage = z.object({
  calls: count,
  attempts: count,
  cacheHits: count,
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  usd: z.number().min(0).nullable(),
});
const score = z.union([
  z.object({
    kind: z.literal("scored"),
    value: share,
    letterMass: z.number().nullable(),
    entropy: z.number().nullable(),
    channel,
    letters: z.array(share).length(20).nullable(),
  }),
  z.object({ kind: z.literal("unscored"), reason: z.string(), detail: z.string().optional() }),
]);
const decision = z.object({
  format: z.literal(1),
  id: z.string().regex(DECISION_ID),
  verb: z.string(),
  topic: z.string(),
  startedAt: z.iso.datetime(),
  durationMs: z.number().min(0),
  promptVersion: z.string(),
  coreVersion: z.string(),
  outlines: z.record(z.string(), z.record(z.string(), z.unknown())),
  result: z.record(z.string(), z.unknown()).nullable(),
  problem: z.object({ code: z.string(), detail: z.string() }).nullable(),
  usage,
  calls: z.array(z.object({
    label: z.object({
      part: z.string().optional(),
      criterion: z.string().optional(),
      repeat: count,
      swapped: z.boolean().optional(),
      a: count.optional(),
      b: count.optional(),
      round: count.optional(),
      steps: z.array(z.int().min(1)).optional(),
      judge: count.optional(),
    }),
    judge: z.string(),
    tags: z.array(z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/)),
    direction: z.enum(["pairwise", "progress"]),
    channel: channel.nullable(),
    cached: z.boolean(),
    scores: z.array(score),
    evidence: z.custom<unknown>((value) => value === null || readEvidence(value) !== null),
    promptCharacters: count,
    prompt: z.string().optional(),
    output: z.string().optional(),
  })).refine((calls) => calls.every(({ tags, scores }) => tags.length === scores.length)),
});
const statistic = z.object({
  format: z.literal(1),
  id: z.string().regex(DECISION_ID),
  verb: z.string(),
  session: z.string().nullable(),
  startedAt: z.iso.datetime(),
  durationMs: z.number().min(0),
  problem: z.string().nullable(),
  judges: z.array(z.string()),
  rubric: z.string().nullable(),
  usage,
  channels: z.partialRecord(channel, count),
  unscored: z.record(z.string(), count),
});

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** A decision from its bytes; `null` for anything else. */
export function readRecord(bytes: Uint8Array): DecisionRecord | null {
  const value = parse(bytes);
  // What was checked is given back as it stands: a copy would only cost time.
  return decision.safeParse(value).success ? value as DecisionRecord : null;
}

/** A statistic from its bytes; `null` for anything else. */
export function readStatistic(bytes: Uint8Array): StatisticRecord | null {
  const value = parse(bytes);
  return statistic.safeParse(value).success ? value as StatisticRecord : null;
}
