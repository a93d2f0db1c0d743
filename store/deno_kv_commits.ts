/**
 * Group commit for Deno KV: writes that arrive while another one is being committed share the next commit. One commit
 * costs some milliseconds whatever it holds, and SQLite takes one at a time.
 *
 * @module
 */
import { whenFree } from "./deno_kv_busy.ts";

/** One write: it happens whole or not at all, and only if the entry still has the version it was read with. */
export interface Write {
  /** Two writes of one name never share a commit: each must see what the other did. */
  readonly name: string;
  /** Upper bound of the bytes it writes. */
  readonly bytes: number;
  readonly checks: readonly Deno.AtomicCheck[];
  /** Adds what it changes. */
  readonly apply: (atomic: Deno.AtomicOperation) => void;
}

/** The backend allows 100 checks and 800 KiB per commit; a write here has at most 2 checks. */
const MOST_WRITES = 48;
const MOST_BYTES = 600_000;

type Result = Deno.KvCommitResult | Deno.KvCommitError;

interface Waiting {
  readonly write: Write;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Commits writes of one database in groups, in the order they came as far as their names allow. */
export class GroupCommit {
  readonly #kv: Deno.Kv;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(kv: Deno.Kv) {
    this.#kv = kv;
  }

  /** Commits one write; `ok` is false when a check did not hold. */
  commit(write: Write): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ write, resolve, reject });
    if (!this.#running) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#running = true;
    // What arrives in the same turn of the event loop goes along with the first commit.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#commitGroup(this.#takeGroup());
    this.#running = false;
  }

  #takeGroup(): Waiting[] {
    const group: Waiting[] = [];
    const rest: Waiting[] = [];
    const names = new Set<string>();
    let bytes = 0;
    for (const one of this.#waiting) {
      const { write } = one;
      const fits = group.length === 0 || (group.length < MOST_WRITES && bytes + write.bytes <= MOST_BYTES);
      if (!fits || names.has(write.name)) rest.push(one);
      else {
        group.push(one);
        bytes += write.bytes;
      }
      names.add(write.name);
    }
    this.#waiting = rest;
    return group;
  }

  /** Never rejects: who waits for a write hears of its failure. */
  async #commitGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const result = await this.#send(group);
      // One check that did not hold refuses the whole group, so its writes are tried one by one.
      if (result.ok || group.length === 1) group.forEach(({ resolve }) => resolve(result));
      else for (const one of group) await this.#commitGroup([one]);
    } catch (error) {
      if (group.length === 1) group[0]!.reject(error);
      else for (const one of group) await this.#commitGroup([one]);
    }
  }

  async #send(group: readonly Waiting[]): Promise<Result> {
    return await whenFree(() => {
      const atomic = this.#kv.atomic();
      for (const { write } of group) {
        atomic.check(...write.checks);
        write.apply(atomic);
      }
      return atomic.commit();
    });
  }
}
