/**
 * Redaction patterns that a caller gives: a subset of regular expressions that can't be made to run away.
 *
 * The engine tries every start in a text, and from each start every way to read the text along the pattern. So a
 * pattern is taken only if, from each start, there is but a bounded number of ways and each is short: repetitions end
 * after {@linkcode MOST_REPETITIONS}, nothing repeated holds a repetition or a choice, and two repetitions that could
 * share characters have something between them that neither can read. Look-around and back-references are refused.
 *
 * @module
 */
import { AssayError } from "./errors.ts";
import { REDACTED } from "./redact.ts";
import {
  alternatives,
  type CharSet,
  isDisjoint,
  type Node,
  parsePattern,
  PatternFault,
} from "./redact_syntax.ts";

/** Most patterns of one request. */
export const MOST_PATTERNS = 16;
/** Most characters of one pattern. */
export const LONGEST_PATTERN = 500;
/** What `*`, `+` and `{n,}` repeat at most, and the largest number in braces. */
export const MOST_REPETITIONS = 256;
/** Ways that choices with equal beginnings may multiply to. */
const MOST_WAYS = 64;

/** Takes what the patterns match out of a text. */
export interface PatternRedactor {
  /** @returns the text with `[redacted]` in place of every match, and how many there were */
  (text: string): { readonly text: string; readonly count: number };
}

/**
 * Checks and compiles patterns. They are matched case-sensitively; `^` and `$` are the ends of lines; `.` is any
 * character but a line end.
 *
 * @param path JSON pointer of the list, for errors
 * @throws {AssayError} `invalid_request` naming the pattern and what is wrong with it
 */
export function compilePatterns(patterns: readonly string[], path: string): PatternRedactor {
  if (patterns.length > MOST_PATTERNS) {
    throw AssayError.field(path, `must have at most ${MOST_PATTERNS} patterns`, patterns.length);
  }
  const compiled = patterns.map((pattern, i) => compilePattern(pattern, `${path}/${i}`));
  return (text) => {
    let count = 0;
    let result = text;
    for (const pattern of compiled) {
      result = result.replace(pattern, () => {
        count++;
        return REDACTED;
      });
    }
    return { text: result, count };
  };
}

function compilePattern(pattern: string, at: string): RegExp {
  const refuse = (message: string): never => {
    throw AssayError.field(at, message, pattern);
  };
  if (pattern === "") refuse("must not be empty");
  if (pattern.length > LONGEST_PATTERN) refuse(`must have at most ${LONGEST_PATTERN} characters`);
  let node: Node;
  try {
    node = parsePattern(pattern, MOST_REPETITIONS);
    checkRepetitions(node);
    if (waysOf(node) > MOST_WAYS) {
      throw new PatternFault("must not hold so many choices with equal beginnings");
    }
    if (node.least === 0) throw new PatternFault("must not match the empty text");
    // What the engine runs is written anew from what was understood, so the two can't differ.
    return new RegExp(write(node), "gmu");
  } catch (error) {
    if (error instanceof PatternFault) return refuse(error.message);
    return refuse("must be a regular expression");
  }
}

/** Sets of the repetitions that could still grow at this place. */
type Growing = readonly CharSet[];

/** @throws {PatternFault} for two repetitions that could share characters */
function checkRepetitions(node: Node, before: Growing = []): Growing {
  switch (node.kind) {
    case "empty":
      return before;
    case "chars":
      // A repetition that can't read this character has ended here for good.
      return before.filter((set) => !isDisjoint(set, node.set));
    case "sequence":
      return node.parts.reduce<Growing>((growing, part) => checkRepetitions(part, growing), before);
    case "choice":
      return node.options.flatMap((option) => checkRepetitions(option, before));
    case "repeat": {
      const { part, from, to } = node;
      if (part.kind !== "chars" && !isFixed(part)) {
        throw new PatternFault("must not repeat what holds a repetition or a choice, as (a+)+ and (a|b)+ do");
      }
      const fixed = from === to;
      if (fixed) {
        let growing = before;
        for (let i = 0; i < Math.min(from, 4); i++) growing = checkRepetitions(part, growing);
        return growing;
      }
      const set = alternatives(part);
      if (before.some((other) => !isDisjoint(other, set))) {
        throw new PatternFault(
          "must not hold two repetitions that could share characters with nothing between that neither matches, " +
            "as .*.* and \\d+\\w+ do",
        );
      }
      // With at least one round it also ends what stands before it.
      return [...(from > 0 ? [] : before), set];
    }
  }
}

/** Whether a part is read in one way only: no repetition of changing length, no choice. */
function isFixed(node: Node): boolean {
  switch (node.kind) {
    case "empty":
    case "chars":
      return true;
    case "sequence":
      return node.parts.every(isFixed);
    case "choice":
      return false;
    case "repeat":
      return node.from === node.to && isFixed(node.part);
  }
}

/** In how many ways choices with overlapping beginnings can multiply. */
function waysOf(node: Node): number {
  switch (node.kind) {
    case "empty":
    case "chars":
      return 1;
    case "sequence":
      return node.parts.reduce((ways, part) => Math.min(1e9, ways * waysOf(part)), 1);
    case "repeat":
      return waysOf(node.part);
    case "choice": {
      const own = node.options.reduce((sum, option) => sum + waysOf(option), 0);
      const firsts = node.options.map((option) => option.first);
      const apart = firsts.every((a, i) =>
        a !== null && firsts.every((b, j) => i === j || (b !== null && isDisjoint(a, b)))
      );
      return apart ? Math.max(...node.options.map(waysOf)) : own;
    }
  }
}

function write(node: Node): string {
  switch (node.kind) {
    case "empty":
      return node.source;
    case "chars":
      return node.source;
    case "sequence":
      return node.parts.map(write).join("");
    case "choice":
      return `(?:${node.options.map(write).join("|")})`;
    case "repeat":
      return `(?:${write(node.part)}){${node.from},${node.to}}${node.lazy ? "?" : ""}`;
  }
}
