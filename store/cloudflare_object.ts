/**
 * The store inside a Durable Object: SQLite tables, changed in synchronous transactions, so that every operation is
 * atomic and seen in one order.
 *
 * @module
 */
import { checkCommit, keyBytes, lifetime, pageSize, prefixBytes, prefixEnd } from "./keys.ts";
import type { Store, Write } from "./store.ts";

/** SQLite in a Durable Object holds at most 2 MB per row. */
const PIECE = 1_500_000;
/** Expired keys removed per alarm; the next alarm follows at once when there are more. */
const EXPIRED_AT_ONCE = 1000;

interface Prepared {
  readonly name: ArrayBuffer;
  readonly value: Uint8Array | null;
  readonly ifVersion: string | null | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number | null;
}

type Row = Record<string, ArrayBuffer | string | number | null>;

/** The part of a Durable Object's storage that is used. */
export interface DurableStorage {
  readonly sql: {
    exec(query: string, ...bindings: (ArrayBuffer | string | number | null)[]): { toArray(): Row[] };
  };
  transactionSync<T>(run: () => T): T;
  getAlarm(): Promise<number | null>;
  setAlarm(time: number): Promise<void>;
}

/** A store over a Durable Object's SQLite. `expire` is the object's alarm handler. */
export function createSqliteStore(storage: DurableStorage): Store & { expire(): Promise<void> } {
  const run = (query: string, ...bindings: (ArrayBuffer | string | number | null)[]): Row[] =>
    storage.sql.exec(query, ...bindings).toArray();

  // Keys are blobs: compared byte by byte, and a NUL in a key is a byte like any other.
  run(`CREATE TABLE IF NOT EXISTS entry (
    key BLOB PRIMARY KEY, version TEXT NOT NULL, expires_at INTEGER, bytes INTEGER NOT NULL) WITHOUT ROWID`);
  run(`CREATE INDEX IF NOT EXISTS entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL`);
  run(`CREATE TABLE IF NOT EXISTS piece (
    key BLOB NOT NULL, n INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY (key, n))`);

  function versionOf(key: ArrayBuffer): string | null {
    const row = run(`SELECT version, expires_at FROM entry WHERE key = ?`, key)[0];
    return row !== undefined && isLive(row) ? row.version as string : null;
  }

  function erase(key: ArrayBuffer): void {
    run(`DELETE FROM entry WHERE key = ?`, key);
    run(`DELETE FROM piece WHERE key = ?`, key);
  }

  /** The new versions, `null` for what was removed; `null` when a condition did not hold. */
  function changeAll(writes: readonly Prepared[]): readonly (string | null)[] | null {
    const holds = ({ name, ifVersion }: Prepared): boolean =>
      ifVersion === undefined || versionOf(name) === ifVersion;
    if (!writes.every(holds)) return null;
    return writes.map(({ name, value, expiresAt }) => {
      erase(name);
      if (value === null) return null;
      const version = crypto.randomUUID();
      run(`INSERT INTO entry VALUES (?, ?, ?, ?)`, name, version, expiresAt, value.length);
      for (let n = 0; n * PIECE < value.length; n++) {
        const piece = value.slice(n * PIECE, (n + 1) * PIECE);
        run(`INSERT INTO piece VALUES (?, ?, ?)`, name, n, piece.buffer as ArrayBuffer);
      }
      return version;
    });
  }

  async function change(writes: readonly Prepared[]): Promise<readonly (string | null)[] | null> {
    const written = storage.transactionSync(() => changeAll(writes));
    const ends = writes.flatMap(({ expiresAt }) => expiresAt ?? []);
    if (written !== null && ends.length > 0) await wakeBy(Math.min(...ends));
    return written;
  }

  async function wakeBy(time: number): Promise<void> {
    const alarm = await storage.getAlarm();
    if (alarm === null || alarm > time) await storage.setAlarm(time);
  }

  return {
    kind: "cloudflare",
    get(key) {
      const name = keyBytes(key).buffer;
      return attempt(() => {
        const row = run(`SELECT version, expires_at, bytes FROM entry WHERE key = ?`, name)[0];
        if (row === undefined || !isLive(row)) return null;
        const value = new Uint8Array(row.bytes as number);
        let at = 0;
        for (const piece of run(`SELECT value FROM piece WHERE key = ? ORDER BY n`, name)) {
          const bytes = new Uint8Array(piece.value as ArrayBuffer);
          value.set(bytes, at);
          at += bytes.length;
        }
        return { key, value, version: row.version as string };
      });
    },
    async put(key, value, options = {}) {
      const write = prepared({ key, value, ...options });
      return (await change([write]))?.[0] ?? null;
    },
    async delete(key, options = {}) {
      return await change([prepared({ key, value: null, ...options })]) !== null;
    },
    async commit(writes) {
      checkCommit(writes);
      return await change(writes.map(prepared)) !== null;
    },
    list(prefix, { cursor, limit } = {}) {
      const from = prefixBytes(prefix);
      const size = pageSize(limit);
      const end = prefixEnd(from)?.buffer ?? null;
      const after = cursor === undefined ? null : keyBytes(cursor).buffer;
      const rows = run(
        `SELECT key FROM entry WHERE key >= ?1 AND (?2 IS NULL OR key < ?2) AND (?3 IS NULL OR key > ?3)
           AND (expires_at IS NULL OR expires_at > ?4) ORDER BY key LIMIT ?5`,
        from.buffer,
        end,
        after,
        Date.now(),
        size + 1,
      );
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      const keys = rows.slice(0, size).map((row) => decoder.decode(row.key as ArrayBuffer));
      return Promise.resolve({ keys, cursor: rows.length > size ? keys[size - 1]! : null });
    },
    close: () => Promise.resolve(),
    async expire() {
      const gone = run(
        `SELECT key FROM entry WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
        Date.now(),
        EXPIRED_AT_ONCE,
      );
      storage.transactionSync(() => gone.forEach((row) => erase(row.key as ArrayBuffer)));
      const next = run(`SELECT MIN(expires_at) AS time FROM entry WHERE expires_at IS NOT NULL`)[0]?.time;
      if (typeof next === "number") await storage.setAlarm(Math.max(next, Date.now()));
    },
  };
}

function prepared({ key, value, ifVersion, expiresInMs }: Write): Prepared {
  const lives = lifetime(expiresInMs);
  const expiresAt = lives === null ? null : Math.ceil(Date.now() + lives);
  return { name: keyBytes(key).buffer, value, ifVersion, expiresAt };
}

function isLive(row: Row): boolean {
  return row.expires_at === null || (row.expires_at as number) > Date.now();
}

/** A synchronous operation as a promise; what it throws is a rejection. */
async function attempt<T>(operation: () => T): Promise<T> {
  return await operation();
}
