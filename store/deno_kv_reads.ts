/**
 * Reads of Deno KV that are asked for together go as one: an operation costs the same for one key as for ten.
 *
 * @module
 */
import { whenFree } from "./deno_kv_busy.ts";
import type { Description } from "./deno_kv_changes.ts";

/** Most keys of one `getMany`. */
const MOST_KEYS = 10;

/** An entry, and the row of its value where that was read along (a moment's whole view, as one snapshot has them). */
export interface Read {
  readonly entry: Deno.KvEntryMaybe<Description>;
  readonly value?: Deno.KvEntryMaybe<Uint8Array>;
}

interface Waiting {
  readonly name: Uint8Array<ArrayBuffer>;
  readonly resolve: (read: Read) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads the entries of one database in groups. */
export class GroupRead {
  readonly #kv: Deno.Kv;
  #waiting: Waiting[] = [];

  constructor(kv: Deno.Kv) {
    this.#kv = kv;
  }

  /** An entry; one that is read alone, with the row of its value. */
  read(name: Uint8Array<ArrayBuffer>): Promise<Read> {
    const { promise, resolve, reject } = Promise.withResolvers<Read>();
    if (this.#waiting.push({ name, resolve, reject }) === 1) queueMicrotask(() => this.#run());
    return promise;
  }

  /** An entry with the row of its value. */
  async readBoth(name: Uint8Array<ArrayBuffer>): Promise<Read> {
    const keys = [["entry", name], ["value", name]] as const;
    const [entry, value] = await whenFree(() => this.#kv.getMany<[Description, Uint8Array]>(keys));
    return { entry, value };
  }

  #run(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (let first = 0; first < all.length; first += MOST_KEYS) {
      void this.#readGroup(all.slice(first, first + MOST_KEYS));
    }
  }

  /** Never rejects: who waits for an entry hears of the failure. */
  async #readGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const [only] = group;
      if (group.length === 1) return only!.resolve(await this.readBoth(only!.name));
      const keys = group.map(({ name }) => ["entry", name]);
      const entries = await whenFree(() => this.#kv.getMany<Description[]>(keys));
      group.forEach(({ resolve }, i) => resolve({ entry: entries[i]! }));
    } catch (error) {
      group.forEach(({ reject }) => reject(error));
    }
  }
}
