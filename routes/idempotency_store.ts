/**
 * First answers by idempotency key, in the store: who is working on a key, and what came of it. A key is claimed by
 * compare-and-set before any work; the claim is a lease, so that a dead owner's key becomes free again.
 *
 * @module
 */
import { type Store, StoreError } from "../store/store.ts";

/** An answer as it is kept. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A key that is this request's to work on. */
export interface Ownership {
  /**
   * Keeps the final answer. @returns what later requests will get: another owner's, when this one had lost its lease
   * @throws {StoreError} when it can't be kept
   */
  finish(answer: KeptAnswer): Promise<KeptAnswer>;
  /** Nothing final came of it: whoever comes next starts anew. Never rejects; the lease ends by itself otherwise. */
  release(): Promise<void>;
}

/** What was found at a key. */
export type Claim =
  | { readonly kind: "mine"; readonly ownership: Ownership }
  | { readonly kind: "done"; readonly answer: KeptAnswer }
  | { readonly kind: "running" }
  | { readonly kind: "conflict" };

/** First answers of a server. */
export interface AnswerStore {
  /** Takes a key, or says what there is. @param bodyHash of the request that asks @throws {StoreError} */
  claim(id: string, bodyHash: string): Promise<Claim>;
}

/** Options of `createAnswerStore`. */
export interface AnswerStoreOptions {
  /** Takes a line for the operator. */
  readonly log: (line: string) => void;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Life of a claim; it is renewed after a third of it. Default 15 s. */
  readonly leaseMs?: number;
}

const KEPT_MS = 86_400_000;
const LEASE_MS = 15_000;

type Head =
  | {
    readonly format: 1;
    readonly state: "running";
    readonly owner: string;
    readonly bodyHash: string;
    readonly until: number;
  }
  | {
    readonly format: 1;
    readonly state: "done";
    readonly bodyHash: string;
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** Length of the body, so that half a record isn't taken for a whole one. */
    readonly bytes: number;
  };

/** First answers in a store, under `idempotency/`. */
export function createAnswerStore(store: Store, options: AnswerStoreOptions): AnswerStore {
  const { log, now = Date.now, leaseMs = LEASE_MS } = options;

  async function read(
    key: string,
  ): Promise<{ head: Head; body: Uint8Array; version: string } | { version: string | null }> {
    const entry = await store.get(key);
    if (entry === null) return { version: null };
    const record = decode(entry.value);
    if (record === null) log(`the record ${key} can't be read: it is skipped, and its key is free again`);
    return record === null ? { version: entry.version } : { ...record, version: entry.version };
  }

  function own(key: string, bodyHash: string, owner: string, first: string): Ownership {
    let version: string | null = first;
    let turn: Promise<unknown> = Promise.resolve();
    // One after the other: a renewal under way must not make the last write fail.
    const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
      const done = turn.then(work);
      turn = done.catch(() => {});
      return done;
    };
    const renew = async (): Promise<void> => {
      if (version === null) return;
      try {
        version = await store.put(
          key,
          encode({ format: 1, state: "running", owner, bodyHash, until: now() + leaseMs }),
          {
            ifVersion: version,
            expiresInMs: KEPT_MS,
          },
        );
        if (version === null) log(`the claim on ${key} was lost: it was not renewed in time`);
      } catch (error) {
        log(`the claim on ${key} can't be renewed: ${messageOf(error)}`);
      }
    };
    const renewing = setInterval(() => void inTurn(renew), leaseMs / 3);
    return {
      finish(answer) {
        clearInterval(renewing);
        return inTurn(async () => {
          const { status, headers, body } = answer;
          const bytes = encode(
            { format: 1, state: "done", bodyHash, status, headers, bytes: body.length },
            body,
          );
          if (
            version !== null &&
            await store.put(key, bytes, { ifVersion: version, expiresInMs: KEPT_MS }) !== null
          ) {
            return answer;
          }
          const there = await read(key);
          if ("head" in there && there.head.bodyHash === bodyHash && there.head.state === "done") {
            return answerOf(there.head, there.body);
          }
          if (await store.put(key, bytes, { ifVersion: there.version, expiresInMs: KEPT_MS }) === null) {
            throw new StoreError(`${key} was changed by others while its answer was written`);
          }
          return answer;
        });
      },
      release() {
        clearInterval(renewing);
        return inTurn(async () => {
          try {
            if (version !== null) await store.delete(key, { ifVersion: version });
          } catch (error) {
            log(`${key} can't be released, and is free when its lease ends: ${messageOf(error)}`);
          }
        });
      },
    };
  }

  return {
    async claim(id, bodyHash) {
      const key = `idempotency/${id}`;
      const owner = crypto.randomUUID();
      const there = await read(key);
      if ("head" in there) {
        if (there.head.bodyHash !== bodyHash) return { kind: "conflict" };
        if (there.head.state === "done") return { kind: "done", answer: answerOf(there.head, there.body) };
        if (there.head.until > now()) return { kind: "running" };
      }
      const head: Head = { format: 1, state: "running", owner, bodyHash, until: now() + leaseMs };
      const version = await store.put(key, encode(head), { ifVersion: there.version, expiresInMs: KEPT_MS });
      if (version !== null) return { kind: "mine", ownership: own(key, bodyHash, owner, version) };
      // Somebody was faster, or the write was made though it was reported as lost.
      const now_ = await read(key);
      if (
        "head" in now_ && now_.head.state === "running" && now_.head.owner === owner && now_.version !== null
      ) {
        return { kind: "mine", ownership: own(key, bodyHash, owner, now_.version) };
      }
      return { kind: "running" };
    },
  };
}

function answerOf(head: Head & { state: "done" }, body: Uint8Array): KeptAnswer {
  return { status: head.status, headers: head.headers, body: body as Uint8Array<ArrayBuffer> };
}

/** One line of JSON, then the body's bytes as they are. */
function encode(head: Head, body: Uint8Array = new Uint8Array(0)): Uint8Array {
  const line = new TextEncoder().encode(`${JSON.stringify(head)}\n`);
  const bytes = new Uint8Array(line.length + body.length);
  bytes.set(line);
  bytes.set(body, line.length);
  return bytes;
}

function decode(bytes: Uint8Array): { head: Head; body: Uint8Array } | null {
  const end = bytes.indexOf(10);
  if (end < 0) return null;
  try {
    const head = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end)));
    if (typeof head !== "object" || head === null || head.format !== 1 || typeof head.bodyHash !== "string") {
      return null;
    }
    const running = head.state === "running" && typeof head.owner === "string" &&
      typeof head.until === "number";
    const done = head.state === "done" && Number.isInteger(head.status) && head.status >= 200 &&
      head.status < 500 &&
      typeof head.headers === "object" && head.headers !== null &&
      Object.values(head.headers).every((value) => typeof value === "string") &&
      head.bytes === bytes.length - end - 1;
    return running || done ? { head, body: bytes.slice(end + 1) } : null;
  } catch {
    return null;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
