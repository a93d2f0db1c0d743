/**
 * Callers that want the same thing at the same time share one piece of work.
 *
 * @module
 */

interface Running {
  readonly promise: Promise<unknown>;
  readonly controller: AbortController;
  waiting: number;
}

const running = new WeakMap<object, Map<string, Running>>();

/**
 * Runs `work` unless the same key is under way for this owner, and waits for it. The work is aborted once nobody waits
 * for it any more; a caller who leaves earlier takes nobody with them.
 *
 * @param owner whose keys these are
 * @param signal of this caller
 * @throws what the work throws, or the signal's reason when this caller leaves
 */
export async function joinWork<T>(
  owner: object,
  key: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  let own = running.get(owner);
  if (own === undefined) running.set(owner, own = new Map());
  let entry = own.get(key);
  if (entry === undefined) {
    const controller = new AbortController();
    const promise = work(controller.signal).finally(() => {
      if (own.get(key) === entry) own.delete(key);
    });
    entry = { promise, controller, waiting: 0 };
    own.set(key, entry);
    // Whoever waits is told; this only keeps a failure that nobody waits for any more from being unhandled.
    promise.catch(() => {});
  }
  entry.waiting++;
  const left = Promise.withResolvers<never>();
  const leave = (): void => left.reject(signal?.reason);
  signal?.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([entry.promise as Promise<T>, left.promise]);
  } finally {
    signal?.removeEventListener("abort", leave);
    if (--entry.waiting === 0) {
      if (own.get(key) === entry) own.delete(key);
      entry.controller.abort(signal?.reason ?? new DOMException("nobody waits any more", "AbortError"));
    }
  }
}
