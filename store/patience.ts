/**
 * Waiting for a store no longer than is good: one that never answers is down, like one that fails.
 *
 * @module
 */
import { StoreError } from "./store.ts";

/** How long a store may take for one operation before it counts as down. */
export const STORE_PATIENCE_MS = 10_000;

/**
 * The result of a store operation, if it comes in time. The operation itself can't be called off: a write may still be made.
 *
 * @throws {StoreError} after `ms` milliseconds, else what the operation throws
 */
export async function inTime<T>(operation: Promise<T>, ms: number = STORE_PATIENCE_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StoreError(`the store did not answer in ${ms} ms`)), ms);
  try {
    return await Promise.race([operation, late]);
  } finally {
    clearTimeout(timer);
  }
}
