/**
 * A store on Deno KV (a SQLite file, or memory).
 *
 * Layout. Deno KV holds at most 64 KiB per value and 800 KiB per atomic write, so:
 * - `["entry", key]` describes the value and is small, which keeps listings cheap; up to 4 KB it holds the value itself;
 * - `["value", key]` holds a larger value that fits in one piece, written in the same atomic as its entry (of any size
 *   in databases of earlier versions);
 * - `["chunk", write, n]` hold larger ones under an id of their own per write, so that a reader of an older entry never
 *   sees a newer value's bytes;
 * - `["loose", write]` marks chunks that no entry refers to: those of a write under way and those just replaced. What a
 *   crash leaves behind is found through these marks when the store is opened.
 *
 * @module
 */
import { checkCommit, keyBytes, pageSize, prefixBytes, prefixEnd } from "./keys.ts";
import { whenFree } from "./deno_kv_busy.ts";
import {
  absent,
  changesOf,
  type Chunks,
  type Description,
  hold,
  inChunks,
  isLive,
  isNothing,
  type Loose,
  namesOf,
  type Old,
  PIECE,
  type Prepared,
  prepared,
  together,
} from "./deno_kv_changes.ts";
import { GroupCommit } from "./deno_kv_commits.ts";
import { GroupRead, type Read } from "./deno_kv_reads.ts";
import { type Entry, type PutOptions, type Store, StoreError, type Write } from "./store.ts";

/** Chunks per atomic write: 10 x 64,000 bytes stay below 800 KiB; also the most keys of one `getMany`. */
const BATCH = 10;
/** Loose chunks older than this belong to no living write. */
const LOOSE_FOR_MS = 3_600_000;
/** Reads and writes are tried this often when others change the key in between. */
const ATTEMPTS = 200;

/**
 * Opens a store at a path, or `:memory:`. Its directory must exist.
 * @throws {StoreError} when the database can't be opened
 */
export async function openDenoKvStore(path: string): Promise<Store> {
  const kv = await guard("open", () => whenFree(() => Deno.openKv(path)));
  const store = new DenoKvStore(kv);
  try {
    await store.sweep();
  } catch (error) {
    kv.close();
    throw error;
  }
  return store;
}

class DenoKvStore implements Store {
  readonly kind = "deno-kv";
  readonly #kv: Deno.Kv;
  readonly #commits: GroupCommit;
  readonly #reads: GroupRead;
  #closed = false;

  constructor(kv: Deno.Kv) {
    this.#kv = kv;
    this.#commits = new GroupCommit(kv);
    this.#reads = new GroupRead(kv);
  }

  async get(key: string): Promise<Entry | null> {
    const name = keyBytes(key);
    return await guard("get", async () => {
      let read = await this.#reads.read(name);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const { entry } = read;
        if (!isLive(entry.value)) return null;
        const value = await this.#valueOf(entry.value, read);
        if (value !== null) return { key, value, version: entry.versionstamp! };
        if (read.value !== undefined) await pause(attempt); // replaced while it was being read
        read = await this.#reads.readBoth(name);
      }
      throw new StoreError(`${JSON.stringify(key)} was replaced ${ATTEMPTS} times while it was being read`);
    });
  }

  async put(key: string, value: Uint8Array, options: PutOptions = {}): Promise<string | null> {
    const write = prepared({ key, value, ...options });
    return await guard("put", () => this.#commit([write]));
  }

  async delete(key: string, options: { readonly ifVersion?: string } = {}): Promise<boolean> {
    const write = prepared({ key, value: null, ...options });
    return await guard("delete", () => this.#commit([write])) !== null;
  }

  async commit(writes: readonly Write[]): Promise<boolean> {
    checkCommit(writes);
    const all = writes.map(prepared);
    return await guard("commit", () => this.#commit(all)) !== null;
  }

  async list(
    prefix: string,
    { cursor, limit }: { readonly cursor?: string; readonly limit?: number } = {},
  ): Promise<{ keys: string[]; cursor: string | null }> {
    const from = prefixBytes(prefix);
    const size = pageSize(limit);
    const end = prefixEnd(from);
    let start = from;
    if (cursor !== undefined) {
      const after = keyBytes(cursor);
      const next = new Uint8Array(after.length + 1); // after + 0x00: the very next possible key
      next.set(after);
      if (compareBytes(next, from) > 0) start = next;
    }
    if (end !== null && compareBytes(start, end) >= 0) return { keys: [], cursor: null };
    const selector: Deno.KvListSelector = end === null
      ? { prefix: ["entry"], start: ["entry", start] }
      : { start: ["entry", start], end: ["entry", end] };
    const collect = async () => {
      const keys: string[] = [];
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      for await (
        const entry of this.#kv.list<Description>(selector, { batchSize: Math.min(500, size + 1) })
      ) {
        if (!isLive(entry.value)) continue;
        if (keys.length === size) return { keys, cursor: keys[size - 1]! };
        keys.push(decoder.decode(entry.key[1] as Uint8Array));
      }
      return { keys, cursor: null };
    };
    return await guard("list", () => whenFree(collect));
  }

  close(): Promise<void> {
    if (!this.#closed) this.#kv.close();
    this.#closed = true;
    return Promise.resolve();
  }

  /** Removes the chunks that writes which never ended left behind. */
  async sweep(): Promise<void> {
    await guard("sweep", async () => {
      const before = Date.now() - LOOSE_FOR_MS;
      const marks = await whenFree(() => Array.fromAsync(this.#kv.list<Loose>({ prefix: ["loose"] })));
      for (const { key, value } of marks) {
        if (value.since <= before) await this.#drop(key[1] as string, value.chunks);
      }
    });
  }

  /** The version of what was written, empty where nothing had to change; `null` when a condition did not hold. */
  async #commit(writes: readonly Prepared[]): Promise<string | null> {
    // What must be absent most often is: the check of the commit itself finds out, without a read before it.
    let olds: readonly Old[] | undefined = writes.every(({ ifVersion }) => ifVersion === null)
      ? writes.map(absent)
      : undefined;
    const chunks = new Map<Prepared, Chunks>();
    const large = inChunks(writes);
    if (large.length > 0) {
      // Learn early that a condition doesn't hold: before megabytes are written for nothing.
      olds = await this.#describe(writes);
      if (!hold(writes, olds)) return null;
      for (const write of large) chunks.set(write, await this.#writeChunks(write.value, write.lives));
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      olds ??= await this.#describe(writes);
      if (!hold(writes, olds)) return await this.#abandon(chunks);
      const changes = changesOf(writes, olds, chunks);
      if (changes.every(isNothing)) return "";
      const commit = await this.#commits.commit(together(changes));
      if (commit.ok) {
        for (const { replaced } of changes) {
          if (replaced !== null) await this.#drop(replaced.write, replaced.chunks);
        }
        return commit.versionstamp;
      }
      for (const [{ key }, { write, mark }] of chunks) {
        const { versionstamp } = await whenFree(() => this.#kv.get(["loose", write]));
        if (versionstamp === mark) continue;
        throw new StoreError(`writing ${JSON.stringify(key)} took longer than ${LOOSE_FOR_MS} ms`);
      }
      olds = undefined;
      await pause(attempt);
    }
    await this.#abandon(chunks);
    throw new StoreError(`${namesOf(writes)} was changed by others ${ATTEMPTS} times in a row`);
  }

  async #abandon(chunks: ReadonlyMap<Prepared, Chunks>): Promise<null> {
    for (const { write, chunks: count } of chunks.values()) await this.#drop(write, count);
    return null;
  }

  /** The value of an entry; `null` where another read is needed. */
  async #valueOf(entry: Description, { entry: { versionstamp }, value }: Read): Promise<Uint8Array | null> {
    if (entry.value !== undefined) return entry.value;
    if (entry.write !== null) return await this.#readChunks(entry.write, entry.bytes);
    // Both were written by one atomic; anything else is a read across two writes.
    return value?.versionstamp === versionstamp ? value!.value : null;
  }

  async #readChunks(write: string, bytes: number): Promise<Uint8Array | null> {
    const value = new Uint8Array(bytes);
    const count = Math.ceil(bytes / PIECE);
    for (let first = 0; first < count; first += BATCH) {
      const keys = indices(first, Math.min(count, first + BATCH)).map((n) => ["chunk", write, n]);
      const chunks = await whenFree(() => this.#kv.getMany<Uint8Array[]>(keys));
      for (const [i, chunk] of chunks.entries()) {
        if (chunk.value === null) return null;
        value.set(chunk.value as Uint8Array, (first + i) * PIECE);
      }
    }
    return value;
  }

  async #writeChunks(value: Uint8Array, lives: number | null): Promise<Chunks> {
    const write = crypto.randomUUID();
    const chunks = Math.ceil(value.length / PIECE);
    const loose: Loose = { chunks, since: Date.now() };
    const mark = await whenFree(() => this.#kv.set(["loose", write], loose));
    // The entry goes first; its chunks only need to be gone some time after it.
    const expiry = lives === null ? {} : { expireIn: lives + LOOSE_FOR_MS };
    for (let first = 0; first < chunks; first += BATCH) {
      await whenFree(() => {
        const atomic = this.#kv.atomic();
        for (const n of indices(first, Math.min(chunks, first + BATCH))) {
          atomic.set(["chunk", write, n], value.slice(n * PIECE, (n + 1) * PIECE), expiry);
        }
        return atomic.commit();
      });
    }
    return { write, chunks, mark: mark.versionstamp };
  }

  async #drop(write: string, chunks: number): Promise<void> {
    for (let first = 0; first < chunks; first += 500) {
      await whenFree(() => {
        const atomic = this.#kv.atomic();
        for (const n of indices(first, Math.min(chunks, first + 500))) atomic.delete(["chunk", write, n]);
        return atomic.commit();
      });
    }
    await whenFree(() => this.#kv.delete(["loose", write]));
  }

  async #describe(writes: readonly Prepared[]): Promise<readonly Old[]> {
    const batches = indices(0, Math.ceil(writes.length / BATCH)).map((n) => {
      const keys = writes.slice(n * BATCH, (n + 1) * BATCH).map(({ name }) => ["entry", name]);
      return whenFree(() => this.#kv.getMany<Description[]>(keys));
    });
    // Not one snapshot: the commit checks each.
    return (await Promise.all(batches)).flat();
  }
}

function indices(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

function pause(attempt: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(100, 2 ** attempt)));
}

async function guard<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StoreError || error instanceof RangeError) throw error;
    throw new StoreError(`Deno KV failed to ${what}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}
