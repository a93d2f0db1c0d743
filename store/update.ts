/**
 * Read, change, write if nobody else wrote in between: with bounded, jittered retries.
 *
 * @module
 */
import { type Store, StoreError } from "./store.ts";

/** Options of `updateWithRetry`. */
export interface UpdateOptions {
  /** Writes tried before giving up. Default 40. */
  readonly attempts?: number;
  /** Life of the written value. Default: for ever. */
  readonly expiresInMs?: number;
  /** For tests: waits that many milliseconds. */
  readonly wait?: (ms: number) => Promise<void>;
}

const SHORTEST_ROUND_MS = 2;
const LONGEST_WAIT_MS = 5000;
/** Doublings of the wait; past it, more patience brings nothing. */
const MOST_DOUBLINGS = 6;

/**
 * Changes one value with compare-and-set.
 *
 * @param change gets the current bytes (`null` when absent) and returns the new ones, or `null` to leave things as
 * they are. It may run many times, so it must have no effect besides its result.
 * @returns what is stored now: the new bytes, or the current ones when `change` returned `null`
 * @throws {StoreError} when others won every time, or the backend failed
 */
export async function updateWithRetry(
  store: Store,
  key: string,
  change: (current: Uint8Array | null) => Uint8Array | null | Promise<Uint8Array | null>,
  options: UpdateOptions = {},
): Promise<Uint8Array | null> {
  const { attempts = 40, expiresInMs, wait = sleep } = options;
  const lifetime = expiresInMs === undefined ? {} : { expiresInMs };
  let fastest = Infinity;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) {
      // Waits are multiples of a round trip: the same contention needs 100 times longer pauses on a remote store.
      const round = Math.max(SHORTEST_ROUND_MS, fastest);
      await wait(Math.random() * Math.min(LONGEST_WAIT_MS, round * 2 ** Math.min(MOST_DOUBLINGS, attempt)));
    }
    const started = performance.now();
    const entry = await store.get(key);
    const next = await change(entry?.value ?? null);
    if (next === null) return entry?.value ?? null;
    const version = await store.put(key, next, { ifVersion: entry?.version ?? null, ...lifetime });
    if (version !== null) return next;
    fastest = Math.min(fastest, performance.now() - started);
  }
  throw new StoreError(`${JSON.stringify(key)} was changed by others ${attempts} times in a row`);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
