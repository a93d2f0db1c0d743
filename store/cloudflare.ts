/**
 * A store on Cloudflare: Workers KV for the score cache, one Durable Object with SQLite for everything that changes.
 *
 * Workers KV is fast everywhere but has no compare-and-set and shows a write elsewhere up to a minute late. So only
 * records whose key says what they hold (`score/…`, a hash of everything that can move the answer) live there.
 *
 * The bindings are described by their shape; nothing here imports a Cloudflare module.
 *
 * @module
 */
import { checkCommit, keyBytes, lifetime, pageSize, prefixBytes } from "./keys.ts";
import { createSqliteStore, type DurableStorage } from "./cloudflare_object.ts";
import { type Store, StoreError } from "./store.ts";
import { fetchedStore, storeHandler } from "./wire.ts";

/** Keys under this prefix live in Workers KV. */
export const IMMUTABLE_PREFIX = "score/";
/** Workers KV refuses values above 25 MiB. */
const LARGEST_IMMUTABLE = 25 * 1024 * 1024;
/** Workers KV refuses a time to live below a minute; the true one stands in the metadata. */
const SHORTEST_TTL_SECONDS = 60;

interface Metadata {
  readonly version: string;
  readonly expiresAt: number | null;
}

/** The part of a Workers KV binding that is used. */
export interface KvNamespace {
  getWithMetadata(
    key: string,
    type: "arrayBuffer",
  ): Promise<{ value: ArrayBuffer | null; metadata: unknown }>;
  put(
    key: string,
    value: ArrayBuffer | ArrayBufferView,
    options: { metadata: unknown; expirationTtl?: number },
  ): Promise<void>;
  delete(key: string): Promise<void>;
  list(options: { prefix: string; limit: number; cursor?: string }): Promise<
    { keys: readonly { name: string; metadata?: unknown }[]; list_complete: boolean; cursor?: string }
  >;
}

/** The part of a Durable Object binding that is used. */
export interface ObjectNamespace {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
}

/** Bindings of `createCloudflareStore`. */
export interface CloudflareBindings {
  readonly kv: KvNamespace;
  /** Namespace of `AssayObject`. Without it only keys under `score/` can be used. */
  readonly objects?: ObjectNamespace;
}

/** A store over a Worker's bindings. */
export function createCloudflareStore({ kv, objects }: CloudflareBindings): Store {
  const object = objects === undefined ? null : fetchedStore(
    "cloudflare",
    (request) => objects.get(objects.idFromName("assay")).fetch(request),
  );
  const records = createRecordStore(kv);

  function home(key: string): Store {
    if (key.startsWith(IMMUTABLE_PREFIX)) return records;
    if (object === null) {
      throw new StoreError(`${JSON.stringify(key)} needs the Durable Object binding, which isn't configured`);
    }
    return object;
  }

  return {
    kind: "cloudflare",
    get: async (key) => await home(key).get(key),
    put: async (key, value, options) => await home(key).put(key, value, options),
    delete: async (key, options) => await home(key).delete(key, options),
    async commit(writes) {
      const record = writes.find(({ key }) => key.startsWith(IMMUTABLE_PREFIX));
      if (record !== undefined) throw noCommit(record.key);
      checkCommit(writes);
      return writes.length === 0 || await home(writes[0]!.key).commit(writes);
    },
    async list(prefix, options = {}) {
      if (prefix.startsWith(IMMUTABLE_PREFIX)) return await records.list(prefix, options);
      if (!IMMUTABLE_PREFIX.startsWith(prefix)) return await home(prefix).list(prefix, options);
      return await listBoth(records, object, prefix, options);
    },
    close: () => Promise.resolve(),
  };
}

/**
 * Lists a prefix that covers both backends: the object's keys before `score/`, the records, the object's keys after.
 * The cursor says where it stands: `o` and the last key, or `r` and the records' own cursor (empty: their start).
 */
async function listBoth(
  records: Store,
  object: Store | null,
  prefix: string,
  options: { readonly cursor?: string; readonly limit?: number },
): Promise<{ keys: readonly string[]; cursor: string | null }> {
  prefixBytes(prefix);
  const limit = pageSize(options.limit);
  const keys: string[] = [];
  let at = options.cursor ?? "o";
  while (keys.length < limit) {
    const left = limit - keys.length;
    const inner = at.slice(1);
    const cursor = inner === "" ? {} : { cursor: inner };
    if (at.startsWith("r")) {
      const page = await records.list(IMMUTABLE_PREFIX, { limit: left, ...cursor });
      keys.push(...page.keys);
      // The object holds nothing under `score/`, so its next key after the prefix itself is the right one.
      at = page.cursor === null ? `o${IMMUTABLE_PREFIX}` : `r${page.cursor}`;
      continue;
    }
    const page = object === null
      ? { keys: [], cursor: null }
      : await object.list(prefix, { limit: left, ...cursor });
    const wasBefore = inner < IMMUTABLE_PREFIX;
    const split = wasBefore ? page.keys.findIndex((key) => key > IMMUTABLE_PREFIX) : -1;
    const taken = split === -1 ? page.keys : page.keys.slice(0, split);
    keys.push(...taken);
    if (wasBefore && (split !== -1 || page.cursor === null)) at = "r";
    else if (page.cursor === null) return { keys, cursor: null };
    else at = `o${page.cursor}`;
  }
  return { keys, cursor: at };
}

function noCommit(key: string): StoreError {
  return new StoreError(`${JSON.stringify(key)} can't be part of a commit: Workers KV has none`);
}

/** The records under `score/` in Workers KV. */
function createRecordStore(kv: KvNamespace): Store {
  const isLive = (metadata: unknown): metadata is Metadata => {
    const { expiresAt = null } = (metadata ?? {}) as Partial<Metadata>;
    return expiresAt === null || expiresAt > Date.now();
  };
  async function read(key: string) {
    const { value, metadata } = await guard(() => kv.getWithMetadata(key, "arrayBuffer"));
    if (value === null || !isLive(metadata)) return null;
    return { key, value: new Uint8Array(value), version: (metadata as Metadata).version };
  }
  function refuse(ifVersion: string | undefined): void {
    if (ifVersion === undefined) return;
    throw new StoreError(
      `keys under ${IMMUTABLE_PREFIX} are records that don't change: no compare-and-set on them`,
    );
  }
  return {
    kind: "cloudflare",
    async get(key) {
      keyBytes(key);
      return await read(key);
    },
    async put(key, value, { ifVersion, expiresInMs } = {}) {
      keyBytes(key);
      const lives = lifetime(expiresInMs);
      // "Only if absent" is safe without atomicity: two writers of one key write the same record.
      if (ifVersion === null) {
        if (await read(key) !== null) return null;
      } else refuse(ifVersion);
      if (value.length > LARGEST_IMMUTABLE) {
        throw new StoreError(`a record of ${value.length} bytes: Workers KV takes ${LARGEST_IMMUTABLE}`);
      }
      const metadata: Metadata = {
        version: crypto.randomUUID(),
        expiresAt: lives === null ? null : Date.now() + lives,
      };
      const expiry = lives === null
        ? {}
        : { expirationTtl: Math.max(SHORTEST_TTL_SECONDS, Math.ceil(lives / 1000)) };
      await guard(() => kv.put(key, value, { metadata, ...expiry }));
      return metadata.version;
    },
    async delete(key, { ifVersion } = {}) {
      keyBytes(key);
      refuse(ifVersion);
      await guard(() => kv.delete(key));
      return true;
    },
    commit: (writes) => Promise.reject(noCommit(writes[0]?.key ?? IMMUTABLE_PREFIX)),
    async list(prefix, { cursor, limit } = {}) {
      prefixBytes(prefix);
      const size = pageSize(limit);
      const keys: string[] = [];
      let next = cursor;
      while (keys.length < size) {
        const at = next === undefined ? {} : { cursor: next };
        const page = await guard(() => kv.list({ prefix, limit: size - keys.length, ...at }));
        for (const { name, metadata } of page.keys) if (isLive(metadata)) keys.push(name);
        if (page.list_complete) return { keys, cursor: null };
        next = page.cursor!;
      }
      return { keys, cursor: next ?? null };
    },
    close: () => Promise.resolve(),
  };
}

async function guard<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new StoreError(`Workers KV failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

/** The Durable Object class. `worker.ts` exports it; its migration must name it in `new_sqlite_classes`. */
export class AssayObject {
  readonly #answer: (request: Request) => Promise<Response>;
  readonly #expire: () => Promise<void>;

  constructor(state: { readonly storage: DurableStorage }) {
    const store = createSqliteStore(state.storage);
    this.#answer = storeHandler(store);
    this.#expire = store.expire;
  }

  /** Answers one store operation. */
  fetch(request: Request): Promise<Response> {
    return this.#answer(request);
  }

  /** Removes what has expired. */
  alarm(): Promise<void> {
    return this.#expire();
  }
}
