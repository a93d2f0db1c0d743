/**
 * A tracker's log as events: first what happened, then what happens, in an order that a reader can resume.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import type { Environment } from "../environment.ts";
import { adviceOf } from "../track.ts";
import type { TrackerEvent } from "./requests.ts";
import { stepView } from "./scoring.ts";
import { openTrackers } from "./store.ts";

/** What a reader has been told: the resumable part of an event stream. */
export interface EventPosition {
  /** Steps up to here were told. */
  readonly told: number;
  /** Those of them whose score was not told yet. */
  readonly open: readonly number[];
}

const MAXIMUM_ID_LENGTH = 100_000;

/** A position as an event's id: `7` (all scores told) or `7;5,6` (all but two). */
export function formatEventId({ told, open }: EventPosition): string {
  return open.length === 0 ? String(told) : `${told};${open.join(",")}`;
}

/** @throws {AssayError} `invalid_request` for what was no id of an event here */
export function parseEventId(id: string): EventPosition {
  const match = id.length <= MAXIMUM_ID_LENGTH ? /^(\d{1,10})(?:;(\d{1,10}(?:,\d{1,10})*))?$/.exec(id) : null;
  const told = Number(match?.[1]);
  const open = match?.[2] === undefined ? [] : match[2].split(",").map(Number);
  if (match === null || open.some((index) => index < 1 || index > told)) {
    throw AssayError.field("/Last-Event-ID", "must be the id of an event of this stream", id);
  }
  return { told, open: [...new Set(open)].sort((a, b) => a - b) };
}

/** How a log is followed. */
export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Where a former stream ended. */
  readonly from?: EventPosition;
  /** The store is looked at so often for what other processes write. @default 1000 */
  readonly pollMs?: number;
  /** The stream ends after this time. @default 300000 */
  readonly lifeMs?: number;
}

/** Why a stream ended. */
export type EndOfEvents = "time" | "deleted" | "aborted";

/**
 * Reports `start`, then each step when it is stored and each score when it is there: a failed scoring (state
 * `unscored`) is told too, and again when it was repeated. Returns at the end of the stream's life, when the tracker is
 * deleted, or when the reader goes.
 *
 * @param emit gets each event with the id from which a later stream can go on
 * @throws {AssayError} `not_found` before the first event
 */
export async function followTracker(
  environment: Environment,
  id: string,
  emit: (event: TrackerEvent, eventId: string) => void,
  options: FollowOptions,
): Promise<EndOfEvents> {
  const { signal, pollMs = 1000, lifeMs = 300_000 } = options;
  const trackers = openTrackers(environment.store);
  const start = await trackers.start(id);
  let told = options.from?.told ?? 0;
  const open = new Set(options.from?.open ?? []);
  // Failures that were told, by their attempt, so that only a new attempt is told again.
  const failures = new Map<number, number>();
  const position = (): string => formatEventId({ told, open: [...open] });
  emit({ type: "start", id, task: start.task, createdAt: start.createdAt }, position());

  let changed = false;
  let wake = (): void => {};
  const stop = trackers.watch(id, () => {
    changed = true;
    wake();
  });
  const leave = (): void => wake();
  signal.addEventListener("abort", leave, { once: true });
  const end = performance.now() + lifeMs;
  try {
    for (;;) {
      changed = false;
      try {
        await trackers.start(id);
      } catch (error) {
        if (error instanceof AssayError && error.code === "not_found") return "deleted";
        throw error;
      }
      await tellNews();
      if (signal.aborted) return "aborted";
      const left = end - performance.now();
      if (left <= 0) return "time";
      if (!changed) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, Math.min(pollMs, left));
        await promise;
        clearTimeout(timer);
      }
      if (signal.aborted) return "aborted";
    }
  } finally {
    stop();
    signal.removeEventListener("abort", leave);
  }

  async function tellNews(): Promise<void> {
    const log = await trackers.log(id);
    for (let index = told + 1; index <= log.length; index++) {
      told = index;
      const step = log.steps.get(index);
      if (step === undefined) continue;
      open.add(index);
      emit({ type: "step", step: stepView(step, null) }, position());
    }
    for (const index of [...open].sort((a, b) => a - b)) {
      const step = log.steps.get(index);
      const score = step === undefined ? null : await trackers.score(id, index);
      if (step === undefined) open.delete(index);
      if (step === undefined || score === null) continue;
      if (score.score === null && failures.get(index) === score.attempts) continue;
      if (score.score === null) failures.set(index, score.attempts);
      else open.delete(index);
      emit(
        { type: "score", step: stepView(step, score), advice: score.advice ?? adviceOf([score.score]) },
        position(),
      );
    }
  }
}
