/**
 * The review ledger: automatic reviews of an agent's session ask it before they buy anything, so that the same evidence
 * is never paid for twice and what a task and a session may spend is kept, over restarts and over parallel turns.
 *
 * Processes meet by compare-and-set on one record per caller and session; the queue in front of it only spares the
 * requests of one process lost races against each other.
 *
 * @module
 */
import { inTime } from "../../store/patience.ts";
import type { Store } from "../../store/store.ts";
import { updateWithRetry } from "../../store/update.ts";
import { AssayError } from "../errors.ts";
import { sha256Hex } from "../prompt.ts";
import { ulid as newUlid } from "../ulid.ts";
import { withoutOutcomeSecrets } from "./outcome.ts";
import {
  amountsOf,
  decodeDone,
  decodeLedger,
  decodeSettled,
  EMPTY_LEDGER,
  heldReview,
  HOLD_MS,
  KEPT_MS,
  type LedgerRecord,
  MOST_HELD,
  RECORD_FORMAT,
  type SettledRecord,
  settledReview,
  spentOf,
  withHold,
  withSettled,
} from "./records.ts";
import { encodeRecord } from "../record.ts";
import type {
  Review,
  ReviewList,
  ReviewRefusal,
  ReviewReservation,
  ReviewReserveRequest,
  ReviewSettleRequest,
} from "./requests.ts";

/** The reviews of a server. `caller` is the token's name, `null` for a local caller; nobody sees another one's. */
export interface ReviewLedger {
  /**
   * Grants a review and holds its calls, or says why not.
   * @throws {StoreError} when it can't be counted, and then nothing may be bought
   */
  reserve(caller: string | null, request: ReviewReserveRequest): Promise<ReviewReservation>;
  /**
   * Says what became of a review. Saying it again gives the first answer.
   * @throws {AssayError} `not_found`; `idempotency_conflict` when it was settled with another state
   * @throws {StoreError}
   */
  settle(caller: string | null, id: string, request: ReviewSettleRequest): Promise<Review>;
  /** The newest reviews of a session, at most `limit`. @throws {StoreError} */
  list(caller: string | null, session: string, limit: number): Promise<ReviewList>;
}

/** Options of `createReviewLedger`. */
export interface ReviewLedgerOptions {
  /** Takes a line for the operator. */
  readonly log: (line: string) => void;
  /** Takes secrets out of what is stored. */
  readonly redact: (text: string) => string;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

/** How long a request waits for those before it in this process. */
const COURTESY_MS = 2000;
/** Lost races against other processes after which a request gives up. */
const MOST_RACES = 100;

/** The reviews in a store, under `review/`. */
export function createReviewLedger(store: Store, options: ReviewLedgerOptions): ReviewLedger {
  const { log, redact, now = Date.now } = options;
  const queues = new Map<string, Promise<void>>();

  function readable<T>(
    key: string,
    bytes: Uint8Array | null,
    decode: (bytes: Uint8Array) => T | null,
  ): T | null {
    const record = bytes === null ? null : decode(bytes);
    if (bytes !== null && record === null) {
      log(`the review record ${key} can't be read: it is skipped and counts as absent`);
    }
    return record;
  }

  async function read<T>(key: string, decode: (bytes: Uint8Array) => T | null): Promise<T | null> {
    return readable(key, (await store.get(key))?.value ?? null, decode);
  }

  /** Writes how a review ended, once. @returns what is stored: an earlier end, where there is one */
  async function end(key: string, record: SettledRecord): Promise<SettledRecord> {
    let first: SettledRecord | null = null;
    await updateWithRetry(store, key, (bytes) => {
      first = readable(key, bytes, decodeSettled);
      return first === null ? encodeRecord(record) : null;
    }, { attempts: MOST_RACES, expiresInMs: KEPT_MS });
    return first ?? record;
  }

  /** Marks a fingerprint as reviewed, unless an earlier review has. */
  async function mark(place: Place, fingerprintHash: string, ulid: string): Promise<void> {
    const key = place.done(fingerprintHash);
    await updateWithRetry(store, key, async (bytes) => {
      const there = readable(key, bytes, decodeDone);
      const earlier = there === null ? null : await read(place.settled(there.ulid), decodeSettled);
      return earlier === null ? encodeRecord({ format: RECORD_FORMAT, ulid }) : null;
    }, { attempts: MOST_RACES, expiresInMs: KEPT_MS });
  }

  /** @param change as of `updateWithRetry`; the same record leaves things as they are */
  async function change(
    place: Place,
    change: (record: LedgerRecord) => LedgerRecord | Promise<LedgerRecord>,
  ): Promise<void> {
    await inTurn(place.ledger, () =>
      inTime(updateWithRetry(store, place.ledger, async (bytes) => {
        const before = readable(place.ledger, bytes, decodeLedger) ?? EMPTY_LEDGER;
        const after = await change(before);
        return after === before ? null : encodeRecord(after);
      }, { attempts: MOST_RACES, expiresInMs: KEPT_MS })));
  }

  async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    // On Workers what one request has begun dies with it, so nobody may wait for another.
    if (store.kind === "cloudflare") return await work();
    const before = queues.get(key);
    const { promise: mine, resolve: end } = Promise.withResolvers<void>();
    queues.set(key, mine);
    try {
      if (before !== undefined) await inTime(before, COURTESY_MS).catch(() => {});
      return await work();
    } finally {
      end();
      if (queues.get(key) === mine) queues.delete(key);
    }
  }

  /** The review that made a fingerprint reviewed for good. Read after the ledger: it is written before a hold is given back. */
  async function reviewOf(
    place: Place,
    fingerprintHash: string,
    record: LedgerRecord,
  ): Promise<Review | null> {
    const done = await read(place.done(fingerprintHash), decodeDone);
    // Also where a process died between a review's end and its mark: then the hold is still there.
    const held = Object.entries(record.holds).filter(([, hold]) =>
      hold.fingerprintHash === fingerprintHash && hold.until <= now()
    );
    for (const ulid of [...done === null ? [] : [done.ulid], ...held.map(([ulid]) => ulid)]) {
      const settled = await read(place.settled(ulid), decodeSettled);
      if (settled?.state === "done") return settledReview(settled);
    }
    return null;
  }

  return {
    async reserve(caller, request) {
      const place = await placeOf(caller, request.session);
      const [taskHash, fingerprintHash] = await Promise.all([hash(request.task), hash(request.fingerprint)]);
      const at = now();
      const ulid = newUlid(at);
      let answer: ReviewReservation | undefined;
      await change(place, async (record) => {
        const spent = (of: LedgerRecord) => spentOf(of, taskHash, request.purpose);
        const refuse = (reason: ReviewRefusal, review?: Review): LedgerRecord => {
          answer = {
            granted: false,
            reason,
            ...(review === undefined ? {} : { review }),
            spent: spent(record),
          };
          return record;
        };
        const granted = { granted: true, id: place.id(ulid) } as const;
        if (Object.hasOwn(record.holds, ulid)) {
          // A write that was reported as lost may yet have been made, by a store that tries again itself.
          answer = { ...granted, spent: spent(record) };
          return record;
        }
        const reviewed = await reviewOf(place, fingerprintHash, record);
        if (reviewed !== null) return refuse("reviewed", reviewed);
        const living = Object.entries(record.holds).filter(([, { until }]) => until > at);
        const same = living.find(([, hold]) => hold.fingerprintHash === fingerprintHash);
        if (same !== undefined) return refuse("in_flight", heldReview(place.id(same[0]), same[1], at));
        const reason = exceeded(request, spent(record));
        if (reason !== null) return refuse(reason);
        // Nobody means to have so many under way; the record has to end somewhere.
        if (living.length >= MOST_HELD) return refuse("session_reviews");
        const next = withHold(record, ulid, {
          task: redact(request.task),
          taskHash,
          purpose: request.purpose,
          fingerprint: redact(request.fingerprint),
          fingerprintHash,
          calls: request.calls,
          at,
          until: at + HOLD_MS,
        }, at);
        answer = { ...granted, spent: spent(next) };
        return next;
      });
      return answer!;
    },

    async settle(caller, id, request) {
      const found = parseReviewId(id);
      if (found === null) throw unknown(id);
      const { ulid } = found;
      const place = await placeAt(caller, found.session);
      const hold = (await inTime(read(place.ledger, decodeLedger)))?.holds[ulid];
      let settled = await inTime(read(place.settled(ulid), decodeSettled));
      if (settled === null) {
        if (hold === undefined) throw unknown(id);
        const { task, purpose, fingerprint, at } = hold;
        const record: SettledRecord = {
          format: RECORD_FORMAT,
          id,
          task,
          purpose,
          fingerprint,
          state: request.state,
          calls: request.calls,
          outcome: request.outcome === undefined ? null : withoutOutcomeSecrets(request.outcome, redact),
          at: new Date(at).toISOString(),
          settledAt: new Date(now()).toISOString(),
        };
        settled = await inTime(end(place.settled(ulid), record));
      }
      if (settled.state !== request.state) {
        throw new AssayError(
          "idempotency_conflict",
          `the review was settled as ${settled.state} at ${settled.settledAt}, and can't become ${request.state}`,
          { errors: [{ path: "/state", message: `must be ${settled.state}`, value: `"${request.state}"` }] },
        );
      }
      // What follows is made up for by whoever settles again, if this process dies before.
      if (hold !== undefined) {
        if (settled.state === "done") await inTime(mark(place, hold.fingerprintHash, ulid));
        const final = settled;
        await change(place, (record) => withSettled(record, ulid, final));
      }
      return settledReview(settled);
    },

    async list(caller, session, limit) {
      const place = await placeOf(caller, session);
      const record = await inTime(read(place.ledger, decodeLedger)) ?? EMPTY_LEDGER;
      const at = now();
      const ulids = [...new Set([...Object.keys(record.holds), ...record.listed])].sort().reverse()
        .slice(0, limit);
      const warnings: string[] = [];
      const reviews = await inTime(Promise.all(ulids.map(async (ulid): Promise<readonly Review[]> => {
        const hold = record.holds[ulid];
        if (hold !== undefined) return [heldReview(place.id(ulid), hold, at)];
        const settled = await read(place.settled(ulid), decodeSettled);
        if (settled !== null) return [settledReview(settled)];
        warnings.push(`the record of review ${place.id(ulid)} is lost or corrupt and left out`);
        return [];
      })));
      const { gate, routed } = amountsOf(record);
      return {
        session,
        spent: {
          reviews: gate.reviews + routed.reviews,
          calls: gate.calls + routed.calls,
          gate,
          routed,
        },
        reviews: reviews.flat(),
        warnings: warnings.sort(),
      };
    },
  };
}

/** The first limit that one more review would exceed. */
function exceeded(
  { limits, calls }: ReviewReserveRequest,
  spent: {
    readonly task: { reviews: number; calls: number };
    readonly session: { reviews: number; calls: number };
  },
): ReviewRefusal | null {
  for (const scope of ["task", "session"] as const) {
    const { reviews: mostReviews = Infinity, calls: mostCalls = Infinity } = limits?.[scope] ?? {};
    if (spent[scope].reviews + 1 > mostReviews) return `${scope}_reviews`;
    if (spent[scope].calls + calls > mostCalls) return `${scope}_calls`;
  }
  return null;
}

/** Where a session's records are. */
interface Place {
  readonly ledger: string;
  readonly settled: (ulid: string) => string;
  readonly done: (fingerprintHash: string) => string;
  readonly id: (ulid: string) => string;
}

async function placeOf(caller: string | null, session: string): Promise<Place> {
  return await placeAt(caller, await hash(session));
}

/** An id leads to its session's records only together with the caller's own name. */
async function placeAt(caller: string | null, sessionHash: string): Promise<Place> {
  const prefix = `review/${await hash(JSON.stringify(caller))}/${sessionHash}`;
  return {
    ledger: `${prefix}/ledger`,
    settled: (ulid) => `${prefix}/settled/${ulid}`,
    done: (fingerprintHash) => `${prefix}/done/${fingerprintHash}`,
    id: (ulid) => `rev_${ulid}_${sessionHash}`,
  };
}

function parseReviewId(id: string): { readonly ulid: string; readonly session: string } | null {
  const [, ulid, session] = /^rev_([0-9A-HJKMNP-TV-Z]{26})_([0-9a-f]{32})$/.exec(id) ?? [];
  return ulid === undefined || session === undefined ? null : { ulid, session };
}

async function hash(text: string): Promise<string> {
  return (await sha256Hex(text)).slice(0, 32);
}

function unknown(id: string): AssayError {
  return new AssayError("not_found", `there is no review ${JSON.stringify(id.slice(0, 80))}`);
}
