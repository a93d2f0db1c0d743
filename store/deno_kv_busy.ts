/**
 * Patience with a database that another process is writing to.
 *
 * Deno KV waits for no lock: while the command line writes to the store of a running server, one of them gets
 * "database is locked" at once. Nothing has happened then, so the same operation may simply be tried again.
 *
 * @module
 */

/** Longer than any commit; whoever holds the lock longer hangs. */
const PATIENCE_MS = 10_000;
const LONGEST_WAIT_MS = 50;

/** Runs one operation again for as long as the database is locked, at most about 10 s. @throws what `run` throws */
export async function whenFree<T>(
  run: () => Promise<T>,
  wait: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<T> {
  let waited = 0;
  for (let attempt = 0;; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (waited >= PATIENCE_MS || !isBusy(error)) throw error;
      const ms = 1 + Math.random() * Math.min(LONGEST_WAIT_MS, 2 ** attempt);
      waited += ms;
      await wait(ms);
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database (?:table )?is locked|database is busy/i.test(error.message);
}
