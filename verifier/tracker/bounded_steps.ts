/**
 * A long run within a budget of characters: the newest steps whole, the oldest shortened, and what is missing counted.
 *
 * @module
 */

/** Characters of a run that a prompt shows by default. */
export const DEFAULT_PROMPT_CHARACTERS = 120_000;
/** A shortened step keeps about so many characters, half of them from its end. */
export const SHORTENED_STEP = 600;
/** Share of the budget that is kept for steps that are not shown whole. */
const SHARE_FOR_SHORTENED = 0.25;

/** What a prompt doesn't show. All zero when everything is shown. */
export interface Shortened {
  /** Steps that are shown as head and tail. */
  readonly steps: number;
  /** Oldest steps that are not shown at all. */
  readonly leftOut: number;
  /** Characters (UTF-16 units) that are not shown, of both kinds. */
  readonly characters: number;
}

/** Bounded steps in order. */
export interface BoundedSteps {
  /** Where steps are left out, the first entry only says how many. */
  readonly texts: readonly string[];
  /** Index into the original steps of each text; `null` for the note about steps that are left out. */
  readonly origins: readonly (number | null)[];
  readonly shortened: Shortened;
}

/**
 * Keeps steps within a budget. Up to the budget nothing changes. Above it the newest steps stay whole up to three
 * quarters of the budget; older ones are cut to about {@linkcode SHORTENED_STEP} characters, newest first, until the
 * rest is used up; what is older still is left out. The newest step is always shown, at least in part.
 *
 * @param texts one text per step, oldest first
 * @param budget characters (UTF-16 units), at least 1,000
 * @throws {RangeError} for a smaller budget
 */
export function boundSteps(texts: readonly string[], budget: number): BoundedSteps {
  if (!Number.isSafeInteger(budget) || budget < 1000) {
    throw new RangeError(
      `Cannot bound steps to ${budget} characters: the budget must be an integer from 1000`,
    );
  }
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total <= budget) {
    return {
      texts,
      origins: texts.map((_, i) => i),
      shortened: { steps: 0, leftOut: 0, characters: 0 },
    };
  }
  const shown: string[] = [];
  const origins: (number | null)[] = [];
  // The note about steps that are left out must fit as well.
  const usable = budget - 100;
  const forWhole = Math.floor(usable * (1 - SHARE_FOR_SHORTENED));
  let used = 0;
  let at = texts.length - 1;
  let steps = 0;
  let characters = 0;
  for (; at >= 0; at--) {
    const text = texts[at]!;
    if (used + text.length > forWhole) {
      if (shown.length > 0) break;
      const cut = headAndTail(text, forWhole);
      steps++;
      characters += cut.omitted;
      used += cut.text.length;
      shown.push(cut.text);
    } else {
      used += text.length;
      shown.push(text);
    }
    origins.push(at);
  }
  for (; at >= 0; at--) {
    const text = texts[at]!;
    const cut = text.length <= SHORTENED_STEP ? { text, omitted: 0 } : headAndTail(text, SHORTENED_STEP);
    if (used + cut.text.length > usable) break;
    used += cut.text.length;
    if (cut.omitted > 0) steps++;
    characters += cut.omitted;
    shown.push(cut.text);
    origins.push(at);
  }
  const leftOut = at + 1;
  if (leftOut > 0) {
    const omitted = texts.slice(0, leftOut).reduce((sum, text) => sum + text.length, 0);
    characters += omitted;
    shown.push(
      `(The oldest ${leftOut} ${leftOut === 1 ? "step is" : "steps are"} left out: ${omitted} characters.)`,
    );
    origins.push(null);
  }
  return {
    texts: shown.reverse(),
    origins: origins.reverse(),
    shortened: { steps, leftOut, characters },
  };
}

/**
 * Head and tail of a text around a note that counts what is missing. The result is at most `length` long (at least 100)
 * and cuts no surrogate pair.
 */
export function headAndTail(
  text: string,
  length: number,
): { readonly text: string; readonly omitted: number } {
  if (text.length <= length) return { text, omitted: 0 };
  const room = Math.max(0, length - 60);
  let head = Math.ceil(room / 2);
  let tail = text.length - Math.floor(room / 2);
  if (isHigh(text.charCodeAt(head - 1))) head--;
  if (isLow(text.charCodeAt(tail))) tail++;
  const omitted = tail - head;
  return {
    text: `${text.slice(0, head)}\n… (${omitted} characters left out) …\n${text.slice(tail)}`,
    omitted,
  };
}

/** Of images in order of their steps the newest `limit`, and how many are left out. */
export function newestImages(
  lists: readonly (readonly string[])[],
  limit: number,
): { readonly lists: readonly (readonly string[])[]; readonly dropped: number } {
  let room = limit;
  let dropped = 0;
  const kept = lists.toReversed().map((images) => {
    const shown = images.slice(Math.max(0, images.length - room));
    room -= shown.length;
    dropped += images.length - shown.length;
    return shown;
  }).reverse();
  return { lists: kept, dropped };
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
