/**
 * A store in this process's memory: for tests, one-off commands and servers that need not remember.
 *
 * @module
 */
import type { Entry, PutOptions, Store } from "./store.ts";
import { compareKeys, keyBytes, lifetime, pageSize, prefixBytes } from "./keys.ts";

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
  readonly cached: boolean;
}

const SWEEP_EVERY_MS = 30_000;
/** Rough cost of one entry beside its bytes (map slot, key, object), so that tiny values are bounded too. */
const ENTRY_OVERHEAD = 200;

/** A store in memory. Values are copied in and out, so nobody can change what is stored. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { cachePrefix = "score/", cacheBytes = 128 * 1024 * 1024, now = Date.now } = options;
  // Insertion order of the map is the order of use for cached keys.
  const held = new Map<string, Held>();
  let sorted: string[] | null = [];
  let cachedTotal = 0;
  let writes = 0;
  let lastSweep = now();

  const cost = (key: string, entry: Held) => entry.value.length + 2 * key.length + ENTRY_OVERHEAD;

  function forget(key: string, entry: Held): void {
    held.delete(key);
    sorted = null;
    if (entry.cached) cachedTotal -= cost(key, entry);
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
    for (const [key, entry] of held) if (entry.expiresAt <= time) forget(key, entry);
  }

  function evict(): void {
    if (cachedTotal <= cacheBytes) return;
    for (const [key, entry] of held) {
      if (!entry.cached) continue;
      forget(key, entry);
      if (cachedTotal <= cacheBytes) return;
    }
  }

  function get(key: string): Entry | null {
    keyBytes(key);
    const entry = current(key);
    if (entry === undefined) return null;
    if (entry.cached) {
      held.delete(key);
      held.set(key, entry);
    }
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
      cached: key.startsWith(cachePrefix),
    };
    if (old === undefined) sorted = null;
    else {
      held.delete(key);
      if (old.cached) cachedTotal -= cost(key, old);
    }
    held.set(key, entry);
    if (entry.cached) cachedTotal += cost(key, entry);
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

  function list(
    prefix: string,
    { cursor, limit }: { readonly cursor?: string; readonly limit?: number } = {},
  ): { keys: string[]; cursor: string | null } {
    prefixBytes(prefix);
    const size = pageSize(limit);
    sorted ??= [...held.keys()].sort(compareKeys);
    const all = sorted;
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

  // An async body turns a thrown RangeError into a rejection, as in every other store.
  return {
    kind: "memory",
    get: async (key) => await get(key),
    put: async (key, value, putOptions) => await put(key, value, putOptions),
    delete: async (key, deleteOptions) => await remove(key, deleteOptions?.ifVersion),
    list: async (prefix, listOptions) => await list(prefix, listOptions),
    close: async () => await held.clear(),
  };
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
