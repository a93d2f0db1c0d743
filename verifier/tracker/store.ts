/**
 * A tracker's append-only log in the store.
 *
 * Order and exactly-once come from one rule: step n + 1 is written only if it is absent, by a writer that has read the
 * steps 1 to n. So whoever succeeds has seen every earlier step and its idempotency key, in whatever process it was
 * written. A process keeps the steps it has read, as they never change; the queue in front of a tracker only spares
 * the callers of one process lost races against each other.
 *
 * @module
 */
import { type Entry, type Store, StoreError } from "../../store/store.ts";
import { AssayError } from "../errors.ts";
import {
  decodeScore,
  decodeStart,
  decodeStep,
  indexOfKey,
  isTrackerId,
  RECORD_FORMAT,
  recordKey,
  recordPrefix,
  type ScoreRecord,
  startKey,
  type StartRecord,
  type StepRecord,
  type Tombstone,
} from "./records.ts";
import { encodeRecord } from "../record.ts";

/** Lost races after which a writer gives up with a `StoreError`. */
const MOST_RACES = 200;
/** When nobody before a caller got on for so long, it goes ahead: the queue is a courtesy, the store decides. */
const LONGEST_STALL_MS = 10_000;
/** Longest pause after a lost race. */
const LONGEST_PAUSE_MS = 5000;
/** Records that are read at the same time. */
const PARALLEL_READS = 32;
/** Characters of all trackers that a process keeps. */
const CACHED_CHARACTERS = 64 * 1024 * 1024;
/** A deleted tracker is known as deleted for so long. */
const TOMBSTONE_MS = 7 * 24 * 3_600_000;

/** The steps of a tracker as they are known. */
export interface TrackerLog {
  /** Index of the last step; gaps and unreadable records included. */
  readonly length: number;
  /** Readable steps by index. */
  readonly steps: ReadonlyMap<number, StepRecord>;
  /** Indices up to `length` whose record is missing or can't be read. */
  readonly lost: readonly number[];
}

/** A step to be appended. */
export interface NewStep {
  readonly text: string;
  readonly images: readonly string[];
  readonly keyHash: string | null;
  readonly bodyHash: string;
  /** The length that the caller believes in. */
  readonly expectedLength?: number;
}

/** What became of an append. */
export interface Appended {
  readonly step: StepRecord;
  /** False when the idempotency key had been used for the same step before. */
  readonly isNew: boolean;
  /** Writes that were tried. */
  readonly attempts: number;
}

/** The trackers of one store, as this process sees them. */
export interface TrackerStore {
  /** Stores a start. @returns false when the id is taken, also by a deleted one @throws {StoreError} */
  create(record: StartRecord): Promise<boolean>;
  /** What stands under an id, `null` for nothing. @throws {AssayError} `internal` when the record can't be read */
  find(id: string): Promise<StartRecord | Tombstone | null>;
  /** @throws {AssayError} `not_found`, also for what was deleted; `internal` when the record can't be read */
  start(id: string): Promise<StartRecord>;
  /** All steps that are stored now; with `atLeast`, what is remembered if it reaches that far. */
  log(id: string, atLeast?: number): Promise<TrackerLog>;
  /**
   * Appends a step, or finds the one that was appended under the same key.
   * @throws {AssayError} `not_found`, `length_conflict`, `idempotency_conflict`
   * @throws {StoreError} when the store fails, or others won every race
   */
  append(id: string, step: NewStep): Promise<Appended>;
  /** Scores by index, and the indices whose record can't be read. */
  scores(id: string): Promise<
    { readonly scores: ReadonlyMap<number, ScoreRecord>; readonly corrupt: readonly number[] }
  >;
  /** The score of one step, `null` without a readable one. */
  score(id: string, index: number): Promise<ScoreRecord | null>;
  /** Stores a score unless the step is scored already. @returns what is stored then */
  putScore(id: string, record: ScoreRecord): Promise<ScoreRecord>;
  /** Deletes everything but a mark that it was deleted. @throws {AssayError} `not_found` */
  remove(id: string): Promise<void>;
  /** Calls `listener` when this process changes the tracker. @returns a function that stops it */
  watch(id: string, listener: () => void): () => void;
}

interface CachedLog {
  length: number;
  readonly steps: Map<number, StepRecord>;
  readonly byKey: Map<string, StepRecord>;
  /** Of scored steps: these never change. */
  readonly scores: Map<number, ScoreRecord>;
  characters: number;
}

const opened = new WeakMap<Store, TrackerStore>();

/** The trackers of a store; the same object for the same store. */
export function openTrackers(store: Store): TrackerStore {
  let trackers = opened.get(store);
  if (trackers === undefined) opened.set(store, trackers = createTrackerStore(store));
  return trackers;
}

/** A view of a store's trackers with a memory of its own. For tests; `openTrackers` shares one per store. */
export function createTrackerStore(store: Store): TrackerStore {
  // Insertion order is order of use.
  const logs = new Map<string, CachedLog>();
  const queues = new Map<string, { tail: Promise<void>; done: number }>();
  const listeners = new Map<string, Set<() => void>>();

  function remember(id: string, log: CachedLog): void {
    logs.delete(id);
    logs.set(id, log);
    let total = 0;
    for (const each of logs.values()) total += each.characters;
    for (const [oldest, each] of logs) {
      if (total <= CACHED_CHARACTERS || oldest === id) break;
      logs.delete(oldest);
      total -= each.characters;
    }
  }

  function add(log: CachedLog, step: StepRecord): void {
    log.steps.set(step.index, step);
    // The first step of a key is the one that counts.
    if (step.keyHash !== null && !log.byKey.has(step.keyHash)) log.byKey.set(step.keyHash, step);
    log.characters += step.text.length + 200 + step.images.reduce((sum, image) => sum + image.length, 0);
    log.length = Math.max(log.length, step.index);
  }

  /** Keeps a score that is final. */
  function keep(id: string, record: ScoreRecord): void {
    const log = logs.get(id);
    if (log === undefined || record.score === null || log.scores.has(record.index)) return;
    log.scores.set(record.index, record);
    log.characters += 2000;
  }

  /** Reads what was appended since. */
  async function refresh(id: string): Promise<CachedLog> {
    const log = logs.get(id) ?? {
      length: 0,
      steps: new Map(),
      byKey: new Map(),
      scores: new Map(),
      characters: 0,
    };
    const found = await indices(id, "step", log.length);
    for (const { index, entry } of await readAll(id, "step", found)) {
      const step = entry === null ? null : decodeStep(entry.value, index);
      if (step !== null) add(log, step);
      else log.length = Math.max(log.length, index);
    }
    remember(id, log);
    return log;
  }

  /** Indices of stored records after `after`, ascending. */
  async function indices(id: string, kind: "step" | "score", after: number): Promise<readonly number[]> {
    const prefix = recordPrefix(id, kind);
    const found: number[] = [];
    let cursor: string | null = after > 0 ? recordKey(id, kind, after) : "";
    while (cursor !== null) {
      const page: Awaited<ReturnType<Store["list"]>> = await store.list(
        prefix,
        cursor === "" ? {} : { cursor },
      );
      for (const key of page.keys) {
        const index = indexOfKey(key);
        if (index !== null) found.push(index);
      }
      cursor = page.cursor;
    }
    return found;
  }

  async function readAll(
    id: string,
    kind: "step" | "score",
    list: readonly number[],
  ): Promise<readonly { readonly index: number; readonly entry: Entry | null }[]> {
    const read: { index: number; entry: Entry | null }[] = [];
    for (let from = 0; from < list.length; from += PARALLEL_READS) {
      read.push(
        ...await Promise.all(
          list.slice(from, from + PARALLEL_READS).map(async (index) => ({
            index,
            entry: await store.get(recordKey(id, kind, index)),
          })),
        ),
      );
    }
    return read;
  }

  async function find(id: string): Promise<StartRecord | Tombstone | null> {
    const entry = isTrackerId(id) ? await store.get(startKey(id)) : null;
    const record = entry === null ? null : decodeStart(entry.value);
    if (entry !== null && record === null) {
      throw new AssayError("internal", `the start of tracker ${id} can't be read: its record is corrupt`);
    }
    return record;
  }

  async function start(id: string): Promise<StartRecord> {
    const record = await find(id);
    if (record === null || "deletedAt" in record) {
      logs.delete(id);
      const gone = record === null ? "" : ` (it was deleted at ${record.deletedAt})`;
      throw new AssayError("not_found", `there is no tracker ${JSON.stringify(id.slice(0, 60))}${gone}`);
    }
    return record;
  }

  /** What was written while the tracker was being deleted must not stay behind. @throws {AssayError} `not_found` then */
  async function undoIfDeleted(id: string, key: string): Promise<void> {
    try {
      await start(id);
    } catch (error) {
      if (error instanceof AssayError && error.code === "not_found") await store.delete(key);
      throw error;
    }
  }

  /** Runs one append of this process after the other, as long as nobody takes too long. */
  async function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(id) ?? { tail: Promise.resolve(), done: 0 };
    queues.set(id, queue);
    const before = queue.tail;
    const { promise: mine, resolve: end } = Promise.withResolvers<void>();
    queue.tail = mine;
    for (let seen = queue.done; await stalls(before, LONGEST_STALL_MS); seen = queue.done) {
      if (queue.done === seen) break;
    }
    try {
      return await work();
    } finally {
      queue.done++;
      end();
      if (queue.tail === mine && queues.get(id) === queue) queues.delete(id);
    }
  }

  async function appendInTurn(id: string, wanted: NewStep): Promise<Appended> {
    const nonce = crypto.randomUUID();
    const known = logs.get(id);
    let log = known ?? await refresh(id);
    let fresh = known === undefined;
    let tried = 0;
    for (let attempts = 0; attempts < MOST_RACES; attempts++) {
      // A write that was reported as lost may yet have been made, by a store that tries again itself.
      const mine = log.steps.get(tried);
      if (mine?.nonce === nonce) return { step: mine, isNew: true, attempts };
      const before = wanted.keyHash === null ? undefined : log.byKey.get(wanted.keyHash);
      if (before !== undefined) {
        if (before.bodyHash !== wanted.bodyHash) {
          throw new AssayError(
            "idempotency_conflict",
            `the idempotency key was used for another step of this tracker (step ${before.index})`,
          );
        }
        return { step: before, isNew: false, attempts };
      }
      if (wanted.expectedLength !== undefined && wanted.expectedLength !== log.length) {
        // What this process remembers may be behind; only what is stored now can refuse a caller.
        if (fresh) throw lengthConflict(log.length, wanted.expectedLength);
        log = await refresh(id);
        fresh = true;
        continue;
      }
      const step: StepRecord = {
        format: RECORD_FORMAT,
        index: log.length + 1,
        text: wanted.text,
        images: [...wanted.images],
        createdAt: new Date().toISOString(),
        keyHash: wanted.keyHash,
        bodyHash: wanted.bodyHash,
        nonce,
      };
      tried = step.index;
      const sent = performance.now();
      const version = await store.put(recordKey(id, "step", step.index), encodeRecord(step), {
        ifVersion: null,
      });
      if (version !== null) {
        add(log, step);
        remember(id, log);
        return { step, isNew: true, attempts: attempts + 1 };
      }
      // Only the writers of other processes meet here. Waits are multiples of a round trip, so that they get out of each
      // other's way on a slow store too.
      const round = Math.max(1, performance.now() - sent);
      await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, round * 2 ** Math.min(attempts + 2, 7)));
      log = await refresh(id);
      fresh = true;
    }
    throw new StoreError(`tracker ${id} was extended by others ${MOST_RACES} times in a row`);
  }

  function tell(id: string): void {
    for (const listener of listeners.get(id) ?? []) listener();
  }

  return {
    async create(record) {
      return await store.put(startKey(record.id), encodeRecord(record), { ifVersion: null }) !== null;
    },
    find,
    start,
    async log(id, atLeast = Infinity) {
      const known = logs.get(id);
      const { length, steps } = known !== undefined && known.length >= atLeast ? known : await refresh(id);
      const lost: number[] = [];
      for (let index = 1; index <= length; index++) if (!steps.has(index)) lost.push(index);
      return { length, steps: new Map(steps), lost };
    },
    async append(id, step) {
      await start(id);
      const appended = await inTurn(id, () => appendInTurn(id, step));
      if (appended.isNew) {
        await undoIfDeleted(id, recordKey(id, "step", appended.step.index));
        tell(id);
      }
      return appended;
    },
    async scores(id) {
      const scores = new Map<number, ScoreRecord>();
      const corrupt: number[] = [];
      const missing: number[] = [];
      for (const index of await indices(id, "score", 0)) {
        const known = logs.get(id)?.scores.get(index);
        if (known === undefined) missing.push(index);
        else scores.set(index, known);
      }
      for (const { index, entry } of await readAll(id, "score", missing)) {
        if (entry === null) continue;
        const record = decodeScore(entry.value, index);
        if (record === null) corrupt.push(index);
        else {
          scores.set(index, record);
          keep(id, record);
        }
      }
      return { scores, corrupt };
    },
    async score(id, index) {
      const known = logs.get(id)?.scores.get(index);
      if (known !== undefined) return known;
      const entry = await store.get(recordKey(id, "score", index));
      const record = entry === null ? null : decodeScore(entry.value, index);
      if (record !== null) keep(id, record);
      return record;
    },
    async putScore(id, record) {
      const key = recordKey(id, "score", record.index);
      for (let attempt = 0; attempt < MOST_RACES; attempt++) {
        const entry = await store.get(key);
        const stored = entry === null ? null : decodeScore(entry.value, record.index);
        if (stored !== null && stored.score !== null) return stored;
        const next = { ...record, attempts: (stored?.attempts ?? 0) + 1 };
        const version = await store.put(key, encodeRecord(next), { ifVersion: entry?.version ?? null });
        if (version === null) continue;
        await undoIfDeleted(id, key);
        keep(id, next);
        tell(id);
        return next;
      }
      throw new StoreError(
        `the score of step ${record.index} of tracker ${id} was changed by others too often`,
      );
    },
    async remove(id) {
      await start(id);
      await store.put(
        startKey(id),
        encodeRecord({ format: RECORD_FORMAT, deletedAt: new Date().toISOString() }),
        { expiresInMs: TOMBSTONE_MS },
      );
      logs.delete(id);
      for (const kind of ["score", "step"] as const) {
        const found = await indices(id, kind, 0);
        for (let from = 0; from < found.length; from += PARALLEL_READS) {
          await Promise.all(
            found.slice(from, from + PARALLEL_READS).map((index) => store.delete(recordKey(id, kind, index))),
          );
        }
      }
      tell(id);
    },
    watch(id, listener) {
      let all = listeners.get(id);
      if (all === undefined) listeners.set(id, all = new Set());
      all.add(listener);
      return () => {
        all.delete(listener);
        if (all.size === 0 && listeners.get(id) === all) listeners.delete(id);
      };
    },
  };
}

/** A 409 that tells the length there is. */
function lengthConflict(length: number, expected: number): AssayError {
  return new AssayError(
    "length_conflict",
    `the tracker has ${length} ${length === 1 ? "step" : "steps"}, expectedLength is ${expected}`,
    {
      errors: [{ path: "/expectedLength", message: `must be ${length}`, value: String(expected) }],
      length,
    },
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits for the promise. @returns whether it took longer than the time */
async function stalls(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), ms);
  });
  const stalled = await Promise.race([promise.then(() => false), limit]);
  clearTimeout(timer);
  return stalled;
}
