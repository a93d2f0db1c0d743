/**
 * Which call of its decision one is: told by the verb, shown to people, and what a replay puts the calls together by.
 *
 * @module
 */

/** Which call of its decision one is. */
export interface CallLabel {
  /** Which of several works within one verb, for example `baseline`; absent for the verb's own. */
  readonly part?: string;
  /** Id of the criterion. */
  readonly criterion?: string;
  /** 0-based. */
  readonly repeat: number;
  /** True when the pair's side B stood in slot A. */
  readonly swapped?: boolean;
  /** Index of the candidate that is side A. */
  readonly a?: number;
  /** Index of the candidate that is side B. */
  readonly b?: number;
  /** Round of the schedule, from 1. */
  readonly round?: number;
  /** 1-based steps that the tags stand for, in their order. */
  readonly steps?: readonly number[];
  /** Which judge of an ensemble, 0-based. */
  readonly judge?: number;
}

/** A call in words: `correctness, repeat 2, 3 against 5, swapped, round 1`. */
export function labelText(label: CallLabel): string {
  const { part, criterion, repeat, swapped, a, b, round, steps, judge } = label;
  const shown = steps === undefined || steps.length === 0
    ? undefined
    : steps.length === 1
    ? `step ${steps[0]}`
    : `steps ${steps[0]} to ${steps.at(-1)}`;
  return [
    part === undefined ? undefined : `${part}:`,
    criterion ?? shown ?? "call",
    ...(criterion === undefined || shown === undefined ? [] : [shown]),
    ...(a === undefined || b === undefined ? [] : [`${a} against ${b}`]),
    `repeat ${repeat + 1}`,
    ...(swapped ? ["swapped"] : []),
    ...(round === undefined ? [] : [`round ${round}`]),
    ...(judge === undefined ? [] : [`judge ${judge + 1}`]),
  ].filter((word) => word !== undefined).join(", ").replace(/:, /, ": ");
}

/** Order of calls in a record: by part, round, pair, step, repeat, criterion and judge. */
export function compareLabels(x: CallLabel, y: CallLabel): number {
  const text = (a = "", b = ""): number => a < b ? -1 : a > b ? 1 : 0;
  const number = (a = -1, b = -1): number => a - b;
  return text(x.part, y.part) || number(x.round, y.round) || number(x.a, y.a) || number(x.b, y.b) ||
    number(x.steps?.[0], y.steps?.[0]) || number(x.repeat, y.repeat) || text(x.criterion, y.criterion) ||
    number(x.judge, y.judge);
}
