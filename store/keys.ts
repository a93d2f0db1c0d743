/**
 * What every store asks of keys, prefixes and page sizes, and the one order they are listed in.
 *
 * @module
 */

/** Longest key or prefix in UTF-8 bytes (the smallest limit of the backends: Workers KV). */
export const MAXIMUM_KEY_BYTES = 512;
/** Most keys of one page, and the default. */
export const MAXIMUM_PAGE = 1000;

/** Most writes of one commit. Deno KV takes 100 checks and 80 KiB of keys, of which a write needs 2 and 4 in the worst case. */
export const MAXIMUM_COMMIT = 32;

const encoder = new TextEncoder();

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? text.slice(0, 57).toWellFormed() + "..." : text);
}

function encode(text: string, what: string): Uint8Array<ArrayBuffer> {
  if (typeof text !== "string") {
    throw new RangeError(`Cannot use ${what}: it must be a string, got ${typeof text}`);
  }
  // A lone surrogate encodes as U+FFFD, so two different keys would become one.
  if (!text.isWellFormed()) {
    throw new RangeError(`Cannot use ${what} ${shown(text)}: it holds a lone surrogate`);
  }
  const bytes = encoder.encode(text);
  if (bytes.length > MAXIMUM_KEY_BYTES) {
    throw new RangeError(
      `Cannot use ${what} ${
        shown(text)
      }: it must have at most ${MAXIMUM_KEY_BYTES} UTF-8 bytes, it has ${bytes.length}`,
    );
  }
  return bytes;
}

/** The UTF-8 bytes of a valid key. @throws {RangeError} for an empty, too long or ill-formed key */
export function keyBytes(key: string): Uint8Array<ArrayBuffer> {
  const bytes = encode(key, "key");
  if (bytes.length === 0) throw new RangeError("Cannot use an empty key");
  return bytes;
}

/** The UTF-8 bytes of a prefix, which may be empty. @throws {RangeError} for a too long or ill-formed prefix */
export function prefixBytes(prefix: string): Uint8Array<ArrayBuffer> {
  return encode(prefix, "prefix");
}

/** The first byte string after all that start with `prefix`; `null` for the empty prefix. UTF-8 never holds 0xFF. */
export function prefixEnd(prefix: Uint8Array): Uint8Array<ArrayBuffer> | null {
  if (prefix.length === 0) return null;
  const end = new Uint8Array(prefix);
  end[end.length - 1]!++;
  return end;
}

/** Page size of a listing. @throws {RangeError} unless it is an integer from 1 to `MAXIMUM_PAGE` */
export function pageSize(limit: number | undefined): number {
  if (limit === undefined) return MAXIMUM_PAGE;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAXIMUM_PAGE) {
    throw new RangeError(`Cannot list ${limit} keys: the limit must be an integer from 1 to ${MAXIMUM_PAGE}`);
  }
  return limit;
}

/** Time to live in milliseconds. @throws {RangeError} unless it is positive and finite */
export function lifetime(expiresInMs: number | undefined): number | null {
  if (expiresInMs === undefined) return null;
  if (!Number.isFinite(expiresInMs) || expiresInMs <= 0) {
    throw new RangeError(`Cannot expire in ${expiresInMs} ms: it must be a positive, finite number`);
  }
  return expiresInMs;
}

/** @throws {RangeError} for more than `MAXIMUM_COMMIT` writes, or two of one key: a commit has no order */
export function checkCommit(writes: readonly { readonly key: string }[]): void {
  if (writes.length > MAXIMUM_COMMIT) {
    throw new RangeError(
      `Cannot commit ${writes.length} writes: at most ${MAXIMUM_COMMIT} can be made at once`,
    );
  }
  const seen = new Set<string>();
  for (const { key } of writes) {
    if (seen.has(key)) throw new RangeError(`Cannot commit two writes of the key ${shown(key)}`);
    seen.add(key);
  }
}

/** Order of well-formed strings by their UTF-8 bytes, which is the order of their code points (not of `<`). */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    // Surrogates (U+10000 and up) sort after U+E000 to U+FFFF in UTF-8 but before them in UTF-16.
    const leftIsSurrogate = (left & 0xf800) === 0xd800;
    const rightIsSurrogate = (right & 0xf800) === 0xd800;
    if (leftIsSurrogate !== rightIsSurrogate) return leftIsSurrogate ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}
