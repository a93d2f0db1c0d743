/**
 * Bounded adaptive concurrency per profile, warm-up per prefix, joining of identical calls.
 *
 * Invariants (property-tested):
 * - a pool never runs more calls than its limit, and its limit never exceeds the profile's concurrency;
 * - at most one call of a cold prefix runs; its siblings wait for that one alone, never for another prefix;
 * - requests take turns: each one's own calls keep their order;
 * - a call runs at most once at a time per key, and is aborted only when nobody waits for it any more.
 *
 * @module
 */

/** How long a provider's prompt cache is taken to hold a prefix. */
export const PREFIX_WARM_MS = 5 * 60_000;
/** After so many failed warm-ups in a row the siblings go at once: a dead backend must fail once, not one by one. */
const FAILED_WARMUPS = 2;
const MAXIMUM_PREFIXES = 4096;

/** What a running call tells the scheduler. */
export interface Slot {
  /** Aborted when the last one waiting for this call has left. */
  readonly signal: AbortSignal;
  /** The judge has answered: the prefix is warm and the pool may grow again. */
  readonly answered: () => void;
  /** The judge said "too many requests": the pool's limit is halved, once for all calls that started before that. */
  readonly rateLimited: () => void;
}

/** One call to be run. */
export interface ScheduledCall<T> {
  /** Calls of one pool share its limit: the judge's profile. */
  readonly pool: string;
  /** Upper bound of calls at once. */
  readonly concurrency: number;
  /** Identity of the request, for turns between requests. */
  readonly request: object;
  /** Calls with one key are one call; `null` never joins. */
  readonly key: string | null;
  /** Identity of the prompt prefix to warm; `null` where warming is of no use. */
  readonly prefix: string | null;
  /** When it aborts, this caller leaves. */
  readonly signal: AbortSignal;
  /** Does the work; it must end soon after `slot.signal` aborts. */
  readonly call: (slot: Slot) => Promise<T>;
}

/** A pool as shown on status pages. */
export interface PoolStatus {
  /** Profile. */
  readonly pool: string;
  /** Calls that have a slot. */
  readonly running: number;
  /** Calls that wait for a slot or for a warm-up. */
  readonly waiting: number;
  /** Calls allowed at once now. */
  readonly limit: number;
  /** Calls allowed at once at most. */
  readonly concurrency: number;
}

/** Shared by all requests of one process. */
export interface Scheduler {
  /** Tells it from other members of an environment. */
  readonly kind: "scheduler";
  /**
   * Runs a call or joins an identical one that is waiting or running.
   * Rejects with the signal's reason when the caller leaves, else as the call does.
   */
  run<T>(call: ScheduledCall<T>): Promise<{ readonly value: T; readonly joined: boolean }>;
  /** Pools that have been used. */
  status(): readonly PoolStatus[];
}

type Work = ScheduledCall<unknown>;

interface Flight {
  readonly work: Work;
  readonly controller: AbortController;
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  waiters: number;
  running: boolean;
  answered: boolean;
  /** The pool's generation when it started: one burst of 429s halves once. */
  generation: number;
}

interface Pool {
  limit: number;
  concurrency: number;
  running: number;
  generation: number;
  successes: number;
  /** Per request, in turn: the first request is next. */
  readonly queues: Map<object, Set<Flight>>;
}

interface Prefix {
  warmedAt: number | null;
  warming: Flight | null;
  failures: number;
  readonly siblings: Set<Flight>;
}

/** A scheduler. @param now clock in milliseconds, replaced in tests */
export function createScheduler({ now = Date.now }: { readonly now?: () => number } = {}): Scheduler {
  const pools = new Map<string, Pool>();
  const prefixes = new Map<string, Prefix>();
  const flights = new Map<string, Flight>();

  const joinKey = (work: Work): string | null => work.key === null ? null : `${work.pool}\0${work.key}`;
  const prefixKey = (work: Work): string | null =>
    work.prefix === null ? null : `${work.pool}\0${work.prefix}`;

  function poolOf(work: Work): Pool {
    const concurrency = Math.max(1, Math.floor(work.concurrency));
    let pool = pools.get(work.pool);
    if (pool === undefined) {
      pool = { limit: concurrency, concurrency, running: 0, generation: 0, successes: 0, queues: new Map() };
      pools.set(work.pool, pool);
    } else if (pool.concurrency !== concurrency) {
      // A changed profile starts from its own bound, unless the provider has just asked for less.
      pool.limit = pool.limit === pool.concurrency ? concurrency : Math.min(pool.limit, concurrency);
      pool.concurrency = concurrency;
    }
    return pool;
  }

  function prefixOf(key: string): Prefix {
    let prefix = prefixes.get(key);
    if (prefix === undefined) {
      if (prefixes.size >= MAXIMUM_PREFIXES) forgetPrefixes();
      prefix = { warmedAt: null, warming: null, failures: 0, siblings: new Set() };
      prefixes.set(key, prefix);
    }
    return prefix;
  }

  function forgetPrefixes(): void {
    const idle = [...prefixes].filter(([, prefix]) => prefix.warming === null && prefix.siblings.size === 0);
    idle.sort(([, x], [, y]) => (x.warmedAt ?? 0) - (y.warmedAt ?? 0));
    for (const [key] of idle.slice(0, MAXIMUM_PREFIXES / 2)) prefixes.delete(key);
  }

  function enqueue(flight: Flight): void {
    const pool = poolOf(flight.work);
    let queue = pool.queues.get(flight.work.request);
    if (queue === undefined) pool.queues.set(flight.work.request, queue = new Set());
    queue.add(flight);
  }

  function admit(flight: Flight): void {
    const key = prefixKey(flight.work);
    if (key === null) return enqueue(flight);
    const prefix = prefixOf(key);
    if (prefix.warmedAt !== null && now() - prefix.warmedAt < PREFIX_WARM_MS) return enqueue(flight);
    if (prefix.warming !== null) {
      prefix.siblings.add(flight);
    } else {
      prefix.warming = flight;
      enqueue(flight);
    }
  }

  function release(prefix: Prefix): void {
    for (const sibling of prefix.siblings) enqueue(sibling);
    prefix.siblings.clear();
  }

  /** The warm-up has ended without an answer: the next sibling takes over, or all go. */
  function handOver(flight: Flight, failed: boolean): void {
    const key = prefixKey(flight.work);
    const prefix = key === null ? undefined : prefixes.get(key);
    if (prefix === undefined || prefix.warming !== flight) return;
    prefix.warming = null;
    if (failed) prefix.failures++;
    const [next] = prefix.siblings;
    if (next === undefined) {
      prefix.failures = 0;
    } else if (prefix.failures >= FAILED_WARMUPS) {
      prefix.failures = 0;
      release(prefix);
    } else {
      prefix.siblings.delete(next);
      prefix.warming = next;
      enqueue(next);
    }
  }

  function answered(flight: Flight): void {
    flight.answered = true;
    const key = prefixKey(flight.work);
    if (key === null) return;
    const prefix = prefixOf(key);
    prefix.warmedAt = now();
    prefix.failures = 0;
    if (prefix.warming === flight) prefix.warming = null;
    if (prefix.warming === null && prefix.siblings.size > 0) {
      release(prefix);
      pump(poolOf(flight.work));
    }
  }

  function rateLimited(pool: Pool, flight: Flight): void {
    if (flight.generation !== pool.generation) return;
    pool.generation++;
    pool.successes = 0;
    pool.limit = Math.max(1, Math.floor(pool.limit / 2));
  }

  function pump(pool: Pool): void {
    while (pool.running < pool.limit) {
      const turn = pool.queues.entries().next().value;
      if (turn === undefined) return;
      const [request, queue] = turn;
      const [flight] = queue;
      pool.queues.delete(request);
      if (flight === undefined) continue;
      queue.delete(flight);
      if (queue.size > 0) pool.queues.set(request, queue); // behind the others
      start(pool, flight);
    }
  }

  function start(pool: Pool, flight: Flight): void {
    pool.running++;
    flight.running = true;
    flight.generation = pool.generation;
    let limited = false;
    const slot: Slot = {
      signal: flight.controller.signal,
      answered: () => answered(flight),
      rateLimited: () => {
        limited = true;
        rateLimited(pool, flight);
      },
    };
    const ended = (): void => {
      pool.running--;
      flight.running = false;
      forget(flight);
      if (
        flight.answered && !limited && pool.limit < pool.concurrency && ++pool.successes >= 2 * pool.limit
      ) {
        pool.successes = 0;
        pool.limit++;
      }
      handOver(flight, !flight.controller.signal.aborted);
      pump(pool);
    };
    // Two handlers, not `finally`: the pool moves on before anyone who waited is told.
    Promise.resolve().then(() => {
      slot.signal.throwIfAborted(); // everybody may have left since it got its slot
      return flight.work.call(slot);
    }).then(
      (value) => {
        ended();
        flight.resolve(value);
      },
      (reason) => {
        ended();
        flight.reject(reason);
      },
    );
  }

  function forget(flight: Flight): void {
    const key = joinKey(flight.work);
    if (key !== null && flights.get(key) === flight) flights.delete(key);
  }

  function leave(flight: Flight, reason: unknown): void {
    if (--flight.waiters > 0) return;
    forget(flight);
    flight.controller.abort(reason);
    if (flight.running) return; // its slot is free only when the call has really ended
    const pool = poolOf(flight.work);
    const queue = pool.queues.get(flight.work.request);
    queue?.delete(flight);
    if (queue?.size === 0) pool.queues.delete(flight.work.request);
    const key = prefixKey(flight.work);
    if (key !== null) prefixes.get(key)?.siblings.delete(flight);
    handOver(flight, false);
    pump(pool);
  }

  function newFlight(work: Work): Flight {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    promise.catch(() => {}); // whoever waits handles it; nobody may be left when it is aborted
    const controller = new AbortController();
    return {
      work,
      controller,
      promise,
      resolve,
      reject,
      waiters: 0,
      running: false,
      answered: false,
      generation: 0,
    };
  }

  function run<T>(call: ScheduledCall<T>): Promise<{ readonly value: T; readonly joined: boolean }> {
    const { signal } = call;
    if (signal.aborted) return Promise.reject(signal.reason);
    const key = joinKey(call);
    const joinable = key === null ? undefined : flights.get(key);
    const flight = joinable ?? newFlight(call);
    flight.waiters++;
    const result = new Promise<{ readonly value: T; readonly joined: boolean }>((resolve, reject) => {
      const onAbort = (): void => {
        leave(flight, signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      const settled = (): void => signal.removeEventListener("abort", onAbort);
      flight.promise.then(
        (value) => {
          settled();
          resolve({ value: value as T, joined: joinable !== undefined });
        },
        (reason) => {
          settled();
          reject(reason);
        },
      );
    });
    if (joinable === undefined) {
      if (key !== null) flights.set(key, flight);
      admit(flight);
      pump(poolOf(call));
    }
    return result;
  }

  return {
    kind: "scheduler",
    run,
    status: () =>
      [...pools].map(([pool, { running, limit, concurrency, queues }]) => {
        let waiting = 0;
        for (const queue of queues.values()) waiting += queue.size;
        for (const [key, prefix] of prefixes) {
          if (key.startsWith(`${pool}\0`)) waiting += prefix.siblings.size;
        }
        return { pool, running, waiting, limit, concurrency };
      }),
  };
}
