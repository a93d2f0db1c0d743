/**
 * Live progress as server-sent events: what a verb reports while it runs, keep-alives, and exactly one last event.
 *
 * @module
 */

/** One server-sent event before it has an id. */
export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
  /** Default: a running number. */
  readonly id?: string;
}

/** What an event stream works with. */
export interface EventStreamOptions {
  /** Does the work. Reports through `emit`; what it returns is sent last. A rejection before the first event rejects the whole response. */
  readonly run: (emit: (event: ServerEvent) => void, signal: AbortSignal) => Promise<ServerEvent>;
  /** Turns a failure into the last event. */
  readonly onFailure: (error: unknown) => ServerEvent;
  /** The caller's connection; its abort aborts the work. */
  readonly signal: AbortSignal;
  /** A comment is sent when nothing else was for this long. @default 10000 */
  readonly keepAliveMs?: number;
}

/**
 * Starts the work and answers once it has something to say: with a stream, or, when the work fails before its first
 * event, by rejecting, so that the caller can still answer with an ordinary status. Silent work gets its stream
 * after `keepAliveMs`.
 *
 * Events wait in memory for a slow reader. That is bounded by the work itself, which reports each paid call once.
 */
export async function eventStream(options: EventStreamOptions): Promise<Response> {
  const keepAliveMs = options.keepAliveMs ?? 10_000;
  const abort = new AbortController();
  const signal = AbortSignal.any([options.signal, abort.signal]);
  const queue = new EventQueue();

  const work = options.run((event) => queue.push(event), signal).then(
    (last) => queue.end(last),
    (error) => {
      if (!queue.touched) throw error;
      // Once the reader has gone, nobody is left to be told, and its leaving is why the work failed.
      if (!queue.ended) queue.end(options.onFailure(error));
    },
  );
  const gone = () => queue.close();
  options.signal.addEventListener("abort", gone, { once: true });
  const stop = () => options.signal.removeEventListener("abort", gone);

  const timer = timeout(keepAliveMs);
  try {
    await Promise.race([work, queue.ready(), timer.promise]);
  } catch (error) {
    stop();
    throw error;
  } finally {
    timer.clear();
  }
  // From here on the status is sent, so a failure can only be the last event.
  queue.touched = true;

  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const timer = timeout(keepAliveMs);
      try {
        await Promise.race([queue.ready(), timer.promise]);
        const text = queue.take();
        if (text !== undefined) {
          controller.enqueue(encoder.encode(text));
        } else if (queue.ended) {
          stop();
          controller.close();
        } else {
          controller.enqueue(encoder.encode(": keep-alive\n\n"));
        }
      } finally {
        timer.clear();
      }
    },
    cancel(reason) {
      stop();
      queue.close();
      abort.abort(reason ?? new DOMException("the reader went away", "AbortError"));
    },
  }, { highWaterMark: 1 });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      // no-transform keeps proxies and the runtime from compressing, which would hold events back.
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    },
  });
}

function timeout(milliseconds: number): { promise: Promise<undefined>; clear: () => void } {
  let id: ReturnType<typeof setTimeout> | undefined;
  const promise = new Promise<undefined>((resolve) => {
    id = setTimeout(() => resolve(undefined), milliseconds);
  });
  return { promise, clear: () => clearTimeout(id) };
}

/** Formatted events in order, handed out one at a time. */
class EventQueue {
  /** Whether anything was said or promised: from then on a failure is an event. */
  touched = false;
  ended = false;
  #texts: string[] = [];
  #id = 0;
  #wake: (() => void)[] = [];

  push({ event, data, id }: ServerEvent): void {
    if (this.ended) return;
    this.touched = true;
    this.#texts.push(`id: ${id ?? ++this.#id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    this.#notify();
  }

  end(last: ServerEvent): void {
    this.push(last);
    this.close();
  }

  close(): void {
    this.ended = true;
    this.#notify();
  }

  /** Resolves when there is something to take, or the end. */
  ready(): Promise<void> {
    if (this.#texts.length > 0 || this.ended) return Promise.resolve();
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  /** The next event's text, if there is one. */
  take(): string | undefined {
    return this.#texts.shift();
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
