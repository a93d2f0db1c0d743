/**
 * Where two values differ.
 *
 * @module
 */

/** Numbers closer than this are equal: more than rounding in another order of sums, less than any grade can mean. */
export const REPLAY_TOLERANCE = 1e-12;
const MOST_LISTED = 1000;
/** Told for people, in words that may change. */
const UNCOMPARED: ReadonlySet<string> = new Set(["detail"]);

/** One place where a stored and a newly derived value differ. */
export interface Difference {
  /** JSON pointer. */
  readonly path: string;
  /** `null` where there is none. */
  readonly stored: unknown;
  readonly now: unknown;
}

/** Collects differences. */
export class Differences {
  readonly list: Difference[] = [];
  total = 0;

  /** Adds the places where two values differ. Missing and `null` are the same; `detail` fields are not compared. */
  compare(path: string, stored: unknown, now: unknown): void {
    if (typeof stored === "number" && typeof now === "number") {
      if (Math.abs(stored - now) <= REPLAY_TOLERANCE) return;
    } else if (Array.isArray(stored) && Array.isArray(now) && stored.length === now.length) {
      stored.forEach((value, i) => this.compare(`${path}/${i}`, value, now[i]));
      return;
    } else if (isRecord(stored) && isRecord(now)) {
      for (const name of new Set([...Object.keys(stored), ...Object.keys(now)])) {
        if (!UNCOMPARED.has(name)) this.compare(`${path}/${name}`, stored[name], now[name]);
      }
      return;
    } else if ((stored ?? null) === (now ?? null)) return;
    this.total++;
    if (this.list.length < MOST_LISTED) this.list.push({ path, stored: stored ?? null, now: now ?? null });
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
