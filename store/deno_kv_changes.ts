/**
 * What a write means for the rows of Deno KV (their layout stands in `deno_kv.ts`): conditions, pieces and marks.
 *
 * @module
 */
import { keyBytes, lifetime } from "./keys.ts";
import type { Change } from "./deno_kv_commits.ts";
import type { Write } from "./store.ts";

/** Largest value in one piece and size of a chunk; the backend's own limit is 65,536. */
export const PIECE = 64_000;
/** Bytes of values that one commit holds at most; the rest of the 800 KiB is for keys and for others' writes. */
const MOST_IN_PLACE = 500_000;
/** Largest value that stands in its entry: a row less to write and to read. */
const MOST_IN_ENTRY = 4096;
/** Upper bound of an entry's description and of a mark. */
const DESCRIPTION_BYTES = 400;
/** Keys that one write changes at most: entry, value, and the marks of the chunks it brings and replaces. */
const KEYS_PER_WRITE = 4;

/** What an entry holds. */
export interface Description {
  readonly bytes: number;
  /** Id of the chunks; `null` when the value is in one piece. */
  readonly write: string | null;
  readonly expiresAt: number | null;
  /** The value, where it stands here; it has no row of its own then. */
  readonly value?: Uint8Array;
}

/** A mark of chunks that no entry refers to. */
export interface Loose {
  readonly chunks: number;
  readonly since: number;
}

/** A write as it was checked. */
export interface Prepared {
  readonly key: string;
  readonly name: Uint8Array<ArrayBuffer>;
  readonly value: Uint8Array | null;
  readonly ifVersion: string | null | undefined;
  readonly lives: number | null;
}

/** What stands in a write's place. */
export type Old = Pick<Deno.KvEntryMaybe<Description>, "key" | "value" | "versionstamp">;

/** Chunks of a value that are written, but that no entry refers to yet. */
export interface Chunks {
  readonly write: string;
  readonly chunks: number;
  /** Version of their mark. */
  readonly mark: string;
}

/** A write with what was checked of it. @throws {RangeError} */
export function prepared({ key, value, ifVersion, expiresInMs }: Write): Prepared {
  const name = keyBytes(key);
  const lives = lifetime(expiresInMs);
  // The caller may change its array while this waits.
  return { key, name, value: value?.slice() ?? null, ifVersion, lives };
}

/** What stands in the place of a key that is taken to be absent. */
export const absent = ({ name }: Prepared): Old => ({
  key: ["entry", name],
  value: null,
  versionstamp: null,
});

/** The keys, for messages. */
export function namesOf(writes: readonly Prepared[]): string {
  return writes.map(({ key }) => JSON.stringify(key)).join(" or ");
}

/** Whether all conditions hold. @param olds what stands in each write's place */
export function hold(writes: readonly Prepared[], olds: readonly Old[]): boolean {
  return writes.every(({ ifVersion }, i) => {
    const { value, versionstamp } = olds[i]!;
    return ifVersion === undefined || (isLive(value) ? versionstamp : null) === ifVersion;
  });
}

type Valued = Prepared & { readonly value: Uint8Array };

/** The writes whose values go into chunks: those too large for one piece, and the largest when all are too much. */
export function inChunks(writes: readonly Prepared[]): readonly Valued[] {
  const valued = writes.filter((write): write is Valued => write.value !== null);
  let total = valued.reduce((sum, { value }) => sum + value.length, 0);
  if (total <= PIECE) return [];
  return valued.toSorted((x, y) => y.value.length - x.value.length).filter(({ value }) => {
    if (value.length <= PIECE && total <= MOST_IN_PLACE) return false;
    total -= value.length;
    return true;
  });
}

/** One write and what it meets. */
export interface ChangedKey {
  readonly write: Prepared;
  readonly old: Old;
  readonly written: Chunks | undefined;
  /** Chunks of what is replaced. */
  readonly replaced: ReturnType<typeof looseOf>;
}

/** What each write means where it goes. */
export function changesOf(
  writes: readonly Prepared[],
  olds: readonly Old[],
  chunks: ReadonlyMap<Prepared, Chunks>,
): readonly ChangedKey[] {
  return writes.map((write, i) => {
    const old = olds[i]!;
    return { write, old, written: chunks.get(write), replaced: looseOf(old.value) };
  });
}

/** Removing what is absent changes nothing; it is only checked that it still is when the rest is written. */
export const isNothing = ({ write, old }: ChangedKey): boolean =>
  write.value === null && old.versionstamp === null;

/** All changes as one. */
export function together(changes: readonly ChangedKey[]): Change {
  const keyBytes = changes.reduce((sum, { write }) => sum + KEYS_PER_WRITE * (write.name.length + 60), 0);
  const values = changes.reduce(
    (sum, { write, written }) => sum + (written === undefined ? write.value?.length ?? 0 : 0),
    0,
  );
  return {
    names: changes.map(({ write }) => write.key),
    keyBytes,
    bytes: values + keyBytes + DESCRIPTION_BYTES * changes.length,
    checks: changes.flatMap(({ old, written }) => [
      old,
      ...(written === undefined ? [] : [{ key: ["loose", written.write], versionstamp: written.mark }]),
    ]),
    apply: (atomic) => changes.forEach((change) => isNothing(change) || apply(atomic, change)),
  };
}

function apply(atomic: Deno.AtomicOperation, { write, old, written, replaced }: ChangedKey): void {
  const { name, value, lives } = write;
  const isInEntry = value !== null && value.length <= MOST_IN_ENTRY && written === undefined;
  const hasRow = value !== null && !isInEntry && written === undefined;
  const hadRow = old.value !== null && old.value.write === null && old.value.value === undefined;
  if (value === null) atomic.delete(["entry", name]);
  else {
    const expiry = lives === null ? {} : { expireIn: lives };
    const description: Description = {
      bytes: value.length,
      write: written?.write ?? null,
      expiresAt: lives === null ? null : Date.now() + lives,
      ...(isInEntry ? { value } : {}),
    };
    atomic.set(["entry", name], description, expiry);
    if (hasRow) atomic.set(["value", name], value, expiry);
    if (written !== undefined) atomic.delete(["loose", written.write]);
  }
  if (hadRow && !hasRow) atomic.delete(["value", name]);
  markLoose(atomic, replaced);
}

/** The chunks that become loose when an entry is replaced or removed; `null` when its value is in one piece. */
function looseOf(old: Description | null): { readonly write: string; readonly chunks: number } | null {
  if (old === null || old.write === null) return null;
  return { write: old.write, chunks: Math.ceil(old.bytes / PIECE) };
}

function markLoose(atomic: Deno.AtomicOperation, chunks: ReturnType<typeof looseOf>): void {
  if (chunks === null) return;
  atomic.set(["loose", chunks.write], { chunks: chunks.chunks, since: Date.now() } satisfies Loose);
}

/** Whether there is an entry that hasn't expired: the backend removes expired ones late. */
export function isLive(entry: Description | null): entry is Description {
  return entry !== null && (entry.expiresAt === null || entry.expiresAt > Date.now());
}
