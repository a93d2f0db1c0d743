/**
 * Group commit for Deno KV: changes that arrive while another one is being committed share the next commit. One commit
 * costs some milliseconds whatever it holds, and SQLite takes one at a time.
 *
 * @module
 */
import { whenFree } from "./deno_kv_busy.ts";

/** Some changes that happen together or not at all, and only if their checks hold. */
export interface Change {
  /** Two changes with a common name never share a commit: each must see what the other did. */
  readonly names: readonly string[];
  /** Upper bound of the bytes it writes, keys included. */
  readonly bytes: number;
  /** Upper bound of the bytes of the keys it writes. */
  readonly keyBytes: number;
  readonly checks: readonly Deno.AtomicCheck[];
  /** Adds what it changes. */
  readonly apply: (atomic: Deno.AtomicOperation) => void;
}

/** The backend's own bounds of one commit are 100 checks, 80 KiB of keys and 800 KiB in all. */
const MOST_CHECKS = 96;
const MOST_KEY_BYTES = 72_000;
const MOST_BYTES = 600_000;

type Result = Deno.KvCommitResult | Deno.KvCommitError;

interface Waiting {
  readonly change: Change;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Commits changes of one database in groups, in the order they came as far as their names allow. */
export class GroupCommit {
  readonly #kv: Deno.Kv;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(kv: Deno.Kv) {
    this.#kv = kv;
  }

  /** Commits one change; `ok` is false when a check did not hold. */
  commit(change: Change): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ change, resolve, reject });
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
    const sum = { checks: 0, keyBytes: 0, bytes: 0 };
    for (const one of this.#waiting) {
      const { change } = one;
      const fits = group.length === 0 ||
        (sum.checks + change.checks.length <= MOST_CHECKS &&
          sum.keyBytes + change.keyBytes <= MOST_KEY_BYTES && sum.bytes + change.bytes <= MOST_BYTES);
      if (!fits || change.names.some((name) => names.has(name))) rest.push(one);
      else {
        group.push(one);
        sum.checks += change.checks.length;
        sum.keyBytes += change.keyBytes;
        sum.bytes += change.bytes;
      }
      for (const name of change.names) names.add(name);
    }
    this.#waiting = rest;
    return group;
  }

  /** Never rejects: who waits for a change hears of its failure. */
  async #commitGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const result = await this.#send(group);
      // One check that did not hold refuses the whole group, so its changes are tried one by one.
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
      for (const { change } of group) {
        atomic.check(...change.checks);
        change.apply(atomic);
      }
      return atomic.commit();
    });
  }
}
