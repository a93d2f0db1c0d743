/**
 * What a request's `redact` asks for: known secrets and its own patterns are taken out of every text before anything is
 * rendered, compared, hashed, cached or judged.
 *
 * @module
 */
import { compilePatterns } from "./patterns.ts";
import { redact, REDACTED } from "./redact.ts";
import type { Warnings } from "../text.ts";
import type { Step } from "../types.ts";

/** Takes secrets and what a request's patterns match out of its texts, and counts the places. */
export interface Redactor {
  /**
   * The text with `[redacted]` in place of what was taken out.
   * @throws {AssayError} `invalid_request` for a pattern that is too complicated for this text
   */
  clean(text: string): string;
  /** A structured step, so that what is rendered around its parts stays whole. @throws {AssayError} as `clean` does */
  step(step: Step): Step;
  /** Places so far. */
  count(): RedactedPlaces;
}

/** How much was taken out. */
export interface RedactedPlaces {
  /** What the patterns matched. */
  readonly patterns: number;
  /** Secrets of known kinds. */
  readonly secrets: number;
}

/**
 * @param patterns the request's
 * @param takeOut takes known secrets out
 * @throws {AssayError} `invalid_request` naming the pattern (`/redact/0`) and what is wrong with it
 */
export function createRedactor(
  patterns: readonly string[],
  takeOut: (text: string) => string = redact,
): Redactor {
  const match = compilePatterns(patterns, "/redact");
  const counter = { patterns: 0, secrets: 0 };
  const clean = (text: string): string => {
    const { text: left, count } = match(text);
    counter.patterns += count;
    const without = takeOut(left);
    // A secret may stand where one was taken out before: those places count once.
    if (without !== left) counter.secrets += Math.max(0, marks(without) - marks(left));
    return without;
  };
  return {
    clean,
    step: (step) => ({
      ...step,
      message: clean(step.message),
      commands: step.commands.map(clean),
      outputs: step.outputs.map(clean),
    }),
    count: () => ({ ...counter }),
  };
}

/** The redactor of a request; `null` where it has no `redact`, so that nothing of it is changed. @throws as `createRedactor` */
export function redactorOf(
  { redact: patterns }: { readonly redact?: readonly string[] },
  takeOut: ((text: string) => string) | undefined,
): Redactor | null {
  return patterns === undefined ? null : createRedactor(patterns, takeOut);
}

/** Says in a result how many places were taken out; nothing where there were none. */
export function warnOfRedacted(redactor: Redactor, warnings: Warnings): void {
  const { patterns, secrets } = redactor.count();
  const places = patterns + secrets;
  if (places > 0) warnings.add(`${places} ${places === 1 ? "place was" : "places were"} taken out (redact)`);
}

function marks(text: string): number {
  return text.split(REDACTED).length - 1;
}
