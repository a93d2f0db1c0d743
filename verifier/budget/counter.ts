/**
 * The record of one token's day in the store, written by as few writes as possible.
 *
 * @module
 */
import type { Store } from "../../store/store.ts";
import { inTime } from "../../store/patience.ts";
import { updateWithRetry } from "../../store/update.ts";
import { type BudgetRecord, decodeBudget, EMPTY_RECORD, encodeBudget } from "./record.ts";
import { AssayError } from "../errors.ts";

/** A day's record is kept for some days: requests may end after midnight, and people ask what happened yesterday. */
const KEPT_MS = 4 * 86_400_000;

/** A change to a record; it may be made more than once. An error leaves the record as it is. */
export type Change = (record: BudgetRecord) => BudgetRecord | AssayError;

interface Pending {
  readonly change: Change;
  readonly resolve: (record: BudgetRecord) => void;
  readonly reject: (reason: unknown) => void;
}

/** One day's record of one token: changes that are waiting are written together. */
export class BudgetCounter {
  readonly #store: Store;
  readonly #key: string;
  readonly #corrupt: () => void;
  #pending: Pending[] = [];
  /** Settlements that could not be written yet. */
  #owed: Change[] = [];
  #writing = false;

  /** @param corrupt is told when the stored record can't be read, which then counts as none */
  constructor(store: Store, key: string, corrupt: () => void) {
    this.#store = store;
    this.#key = key;
    this.#corrupt = corrupt;
  }

  /** Whether nothing would be lost by forgetting it. */
  get idle(): boolean {
    return !this.#writing && this.#pending.length === 0 && this.#owed.length === 0;
  }

  /** The record as it is stored. @throws {StoreError} */
  async read(): Promise<BudgetRecord> {
    return this.#decode((await inTime(this.#store.get(this.#key)))?.value ?? null);
  }

  /** @throws what `change` gives back instead of a record; {StoreError} when it can't be written */
  apply(change: Change): Promise<BudgetRecord> {
    const { promise, resolve, reject } = Promise.withResolvers<BudgetRecord>();
    const pending = { change, resolve, reject };
    // On Workers what one request has begun dies with it, so nobody may write for another.
    if (this.#store.kind === "cloudflare") void this.#writeGroup([pending]);
    else {
      this.#pending.push(pending);
      if (!this.#writing) void this.#write();
    }
    return promise;
  }

  /** A change that may not get lost: when it can't be written it goes with the next one. */
  async owe(change: Change): Promise<BudgetRecord> {
    try {
      return await this.apply(change);
    } catch (error) {
      this.#owed.push(change);
      throw error;
    }
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#pending.length > 0) await this.#writeGroup(this.#pending.splice(0));
    this.#writing = false;
  }

  /** Never rejects: each of the group is told. */
  async #writeGroup(group: readonly Pending[]): Promise<void> {
    const owed = [...this.#owed];
    let outcomes: (BudgetRecord | AssayError)[] = [];
    try {
      await inTime(updateWithRetry(this.#store, this.#key, (bytes) => {
        const before = this.#decode(bytes);
        let record = before;
        for (const change of owed) record = applied(record, change);
        outcomes = group.map(({ change }) => {
          const next = change(record);
          if (!(next instanceof AssayError)) record = next;
          return next;
        });
        return record === before ? null : encodeBudget(record);
      }, { expiresInMs: KEPT_MS }));
      this.#owed = this.#owed.filter((change) => !owed.includes(change));
      group.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i]!;
        if (outcome instanceof AssayError) reject(outcome);
        else resolve(outcome);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  #decode(bytes: Uint8Array | null): BudgetRecord {
    if (bytes === null) return EMPTY_RECORD;
    const record = decodeBudget(bytes);
    if (record === null) this.#corrupt();
    return record ?? EMPTY_RECORD;
  }
}

function applied(record: BudgetRecord, change: Change): BudgetRecord {
  const next = change(record);
  return next instanceof AssayError ? record : next;
}
