/**
 * One signal out of the caller's abort and the request's deadline, which knows which of the two it was.
 *
 * @module
 */

/** The signal of one request. */
export interface Cancellation {
  /** Aborts with the caller's reason, or with a `TimeoutError` at the deadline. */
  readonly signal: AbortSignal;
  /** What ended it, or `null` while it runs. */
  cause(): "aborted" | "timeout" | null;
  /** The request is over: lets go of timer and listener, and calls off what is still open. */
  close(): void;
}

/** Puts abort and deadline together. @param deadlineMs from now */
export function createCancellation(outer?: AbortSignal, deadlineMs?: number): Cancellation {
  const controller = new AbortController();
  let cause: "aborted" | "timeout" | null = null;
  const end = (why: "aborted" | "timeout", reason: unknown): void => {
    if (cause !== null) return;
    cause = why;
    controller.abort(reason);
  };
  const onAbort = (): void => end("aborted", outer?.reason);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener("abort", onAbort, { once: true });
  const timer = deadlineMs === undefined ? undefined : setTimeout(
    () => end("timeout", new DOMException(`the deadline of ${deadlineMs} ms has passed`, "TimeoutError")),
    deadlineMs,
  );
  return {
    signal: controller.signal,
    cause: () => cause,
    close() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
      // Nothing is open after a verdict; after an exception nobody would read what is bought from here on.
      controller.abort(new DOMException("the request is over", "AbortError"));
    },
  };
}
