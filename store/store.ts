/**
 * The one store interface. Values are bytes of any size; adapters split what their backend can't hold in one piece.
 *
 * @module
 */

/** One stored value. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** Changes with every write; opaque. */
  readonly version: string;
}

/** Conditions of a write. */
export interface PutOptions {
  /** Write only if the current version is this one; `null` means "only if absent". */
  readonly ifVersion?: string | null;
  /** The entry is gone after this time (never before it). */
  readonly expiresInMs?: number;
}

/** One of the writes of a commit. */
export interface Write extends PutOptions {
  readonly key: string;
  /** What is written; `null` removes the key. */
  readonly value: Uint8Array | null;
}

/** A store of bytes by key with compare-and-set. Keys are non-empty strings of at most 512 UTF-8 bytes. */
export interface Store {
  /** Name for status pages: `memory`, `deno-kv`, `cloudflare`. */
  readonly kind: string;
  /** The value, or `null`. @throws {StoreError} when the backend can't be reached. */
  get(key: string): Promise<Entry | null>;
  /** Writes; returns the new version, or `null` when `ifVersion` did not hold. */
  put(key: string, value: Uint8Array, options?: PutOptions): Promise<string | null>;
  /** Removes; returns false when `ifVersion` did not hold. Removing what is absent is fine. */
  delete(key: string, options?: { readonly ifVersion?: string }): Promise<boolean>;
  /**
   * Makes all of these writes or none, as one change that readers see whole: at most `MAXIMUM_COMMIT`, each key once.
   * The Cloudflare store takes no key under `score/`, which lives in another backend.
   * @returns false when an `ifVersion` did not hold: nothing was written then
   */
  commit(writes: readonly Write[]): Promise<boolean>;
  /** Keys under a prefix in ascending order of UTF-8 bytes, from after `cursor`; `cursor` of the answer is `null` at the end. */
  list(
    prefix: string,
    options?: { readonly cursor?: string; readonly limit?: number },
  ): Promise<{ readonly keys: readonly string[]; readonly cursor: string | null }>;
  /** Releases the backend. */
  close(): Promise<void>;
}

/** The backend failed; nothing was acknowledged. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}
