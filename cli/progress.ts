/**
 * The progress bar: on standard error, only on a terminal.
 *
 * @module
 */
import type { ProgressEvent } from "../verifier/types.ts";

/** Draws progress events; `end` clears the line. */
export interface Progress {
  readonly onEvent: (event: ProgressEvent) => void;
  readonly end: () => void;
}

const CELLS = 24;

/** @param write receives the line, starting with a carriage return; `null` for no bar at all */
export function makeProgress(write: ((text: string) => void) | null, now: () => number = Date.now): Progress {
  if (write === null) return { onEvent: () => {}, end: () => {} };
  const started = now();
  let total = 0;
  let done = 0;
  let unscored = 0;
  let drawn = -Infinity;
  let shown = false;
  const draw = (): void => {
    const filled = total === 0 ? 0 : Math.min(CELLS, Math.round(CELLS * done / total));
    const seconds = Math.floor((now() - started) / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const missing = unscored === 0 ? "" : `  ${unscored} unscored`;
    write(
      `\r\u001b[2K[${"#".repeat(filled)}${
        "-".repeat(CELLS - filled)
      }] ${done}/${total} calls  ${time}${missing}`,
    );
    shown = true;
    drawn = now();
  };
  return {
    onEvent: (event) => {
      if (event.type === "plan") total = event.plan.calls;
      else if (event.type === "call") {
        total = Math.max(event.total, event.done);
        done = Math.max(done, event.done);
        unscored += event.scores.filter((score) => score.kind === "unscored").length;
      } else return;
      // A judge that answers in a microsecond must not make a terminal the bottleneck.
      if (now() - drawn >= 50 || done === total) draw();
    },
    end: () => {
      if (shown) write("\r\u001b[2K");
      shown = false;
    },
  };
}
