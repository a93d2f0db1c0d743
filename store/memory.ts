/**
 * A store in this process's memory: for tests, one-off commands and servers that need not remember.
 *
 * @module
 */
import type { Entry, PutOptions, Store, Write } from "./store.ts";
import { checkCommit, compareKeys, keyBytes, lifetime, pageSize, prefixBytes } from "./keys.ts";

/** Options of `createMemoryStore`. */
export interface MemoryStoreOptions {
  /** Keys under this prefix are a cache: the least recently used of them go when they exceed `cacheBytes`. Default `score/`. */
  readonly cachePrefix?: string;
  /** Default 128 MiB. All other keys are kept until they expire or are deleted. */
  readonly cacheBytes?: number;
  /** Milliseconds since any fixed moment; for tests. Default `Date.now`. */
  readonly now?: () => number;
}

interface Held {
  readonly value: Uint8Array;
  readonly version: string;
  readonly expiresAt: number;
}

const SWEEP_EVERY_MS = 30_000;
/** Rough cost of one entry beside its bytes (map slot, key, object), so that tiny values are bounded too. */
const ENTRY_OVERHEAD = 200;

/** A store in memory. Values are copied in and out, so nobody can change what is stored. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { cachePrefix = "score/", cacheBytes = 128 * 1024 * 1024, now = Date.now } = options;
  const held = new Map<string, Held>();
  /** Cached keys, least recently used first. */
  const recent = new Set<string>();
  /** Keys in order, except those in `added`: a key is in exactly one of the two. */
  let sorted: string[] = [];
  const added = new Set<string>();
  let cachedTotal = 0;
  let writes = 0;
  let lastSweep = now();

  const cost = (key: string, entry: Held) => entry.value.length + 2 * key.length + ENTRY_OVERHEAD;

  function forget(key: string, entry: Held): void {
    held.delete(key);
    if (!added.delete(key)) sorted.splice(firstFrom(sorted, key), 1);
    if (recent.delete(key)) cachedTotal -= cost(key, entry);
  }

  function current(key: string): Held | undefined {
    const entry = held.get(key);
    if (entry !== undefined && entry.expiresAt <= now()) {
      forget(key, entry);
      return undefined;
    }
    return entry;
  }

  function sweep(): void {
    const time = now();
    if (time - lastSweep < SWEEP_EVERY_MS) return;
    lastSweep = time;
    const expired = [...held].filter(([, entry]) => entry.expiresAt <= time);
    // Many keys at once leave the order in one pass.
    if (expired.length > 100) {
      const gone = new Set(expired.map(([key]) => key));
      sorted = sorted.filter((key) => !gone.has(key));
      gone.forEach((key) => added.add(key));
    }
    for (const [key, entry] of expired) forget(key, entry);
  }

  function evict(): void {
    for (const key of recent) {
      if (cachedTotal <= cacheBytes) return;
      forget(key, held.get(key)!);
    }
  }

  function touch(key: string): void {
    recent.delete(key);
    recent.add(key);
  }

  function get(key: string): Entry | null {
    keyBytes(key);
    const entry = current(key);
    if (entry === undefined) return null;
    if (recent.has(key)) touch(key);
    return { key, value: entry.value.slice(), version: entry.version };
  }

  function put(key: string, value: Uint8Array, { ifVersion, expiresInMs }: PutOptions = {}): string | null {
    keyBytes(key);
    const lives = lifetime(expiresInMs);
    sweep();
    const old = current(key);
    if (ifVersion !== undefined && (old?.version ?? null) !== ifVersion) return null;
    const entry: Held = {
      value: value.slice(),
      version: String(++writes),
      expiresAt: lives === null ? Infinity : now() + lives,
    };
    if (old === undefined) added.add(key);
    else if (recent.has(key)) cachedTotal -= cost(key, old);
    held.set(key, entry);
    if (key.startsWith(cachePrefix)) {
      touch(key);
      cachedTotal += cost(key, entry);
    }
    evict();
    return entry.version;
  }

  function remove(key: string, ifVersion?: string): boolean {
    keyBytes(key);
    const old = current(key);
    if (ifVersion !== undefined && old?.version !== ifVersion) return false;
    if (old !== undefined) forget(key, old);
    return true;
  }

  function commit(writes: readonly Write[]): boolean {
    checkCommit(writes);
    for (const { key, expiresInMs } of writes) {
      keyBytes(key);
      lifetime(expiresInMs);
    }
    const holds = ({ key, ifVersion }: Write): boolean =>
      ifVersion === undefined || (current(key)?.version ?? null) === ifVersion;
    if (!writes.every(holds)) return false;
    for (const { key, value, expiresInMs } of writes) {
      if (value === null) remove(key);
      else put(key, value, expiresInMs === undefined ? {} : { expiresInMs });
    }
    return true;
  }

  function inOrder(): readonly string[] {
    if (added.size > 16) sorted = merged(sorted, [...added].sort(compareKeys));
    else for (const key of added) sorted.splice(firstFrom(sorted, key), 0, key);
    added.clear();
    return sorted;
  }

  function list(
    prefix: string,
    { cursor, limit }: { readonly cursor?: string; readonly limit?: number } = {},
  ): { keys: string[]; cursor: string | null } {
    prefixBytes(prefix);
    const size = pageSize(limit);
    const all = inOrder();
    const time = now();
    const after = cursor !== undefined && compareKeys(cursor, prefix) >= 0 ? cursor : null;
    const keys: string[] = [];
    for (let i = firstFrom(all, after ?? prefix); i < all.length; i++) {
      const key = all[i]!;
      if (key === after) continue;
      if (!key.startsWith(prefix)) break;
      if (held.get(key)!.expiresAt <= time) continue;
      if (keys.length === size) return { keys, cursor: keys[size - 1]! };
      keys.push(key);
    }
    return { keys, cursor: null };
  }

  function clear(): void {
    held.clear();
    recent.clear();
    added.clear();
    sorted = [];
    cachedTotal = 0;
  }

  // An async body turns a thrown RangeError into a rejection, as in every other store.
  return {
    kind: "memory",
    get: async (key) => await get(key),
    put: async (key, value, putOptions) => await put(key, value, putOptions),
    delete: async (key, deleteOptions) => await remove(key, deleteOptions?.ifVersion),
    commit: async (writes) => await commit(writes),
    list: async (prefix, listOptions) => await list(prefix, listOptions),
    close: async () => await clear(),
  };
}

/** Two sorted lists without common keys as one. */
function merged(first: readonly string[], second: readonly string[]): string[] {
  const all: string[] = [];
  let j = 0;
  for (const key of first) {
    while (j < second.length && compareKeys(second[j]!, key) < 0) all.push(second[j++]!);
    all.push(key);
  }
  while (j < second.length) all.push(second[j++]!);
  return all;
}

/** Index of the first key at or after `from` in a sorted array. */
function firstFrom(keys: readonly string[], from: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(keys[middle]!, from) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
