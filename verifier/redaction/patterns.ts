/**
 * Redaction patterns that a caller gives: a subset of regular expressions, matched in linear time.
 *
 * Patterns that would make an ordinary engine run away are refused all the same, so that they can be used with other
 * tools: nothing repeated holds a repetition or a choice, and two repetitions that could share characters have
 * something between them that neither can read. Look-around and back-references are refused.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import { REDACTED } from "./redact.ts";
import { createMatcher, type Matcher } from "./match.ts";
import { alternatives, type CharSet, isDisjoint, type Node, parsePattern, PatternFault } from "./syntax.ts";

/** Most patterns of one request. */
export const MOST_PATTERNS = 16;
/** Most characters of one pattern. */
export const LONGEST_PATTERN = 500;
/** The largest number in braces. */
export const MOST_REPETITIONS = 256;
/** Ways that choices with equal beginnings may multiply to. */
const MOST_WAYS = 64;

/** Takes what the patterns match out of a text. */
export interface PatternRedactor {
  /**
   * @returns the text with `[redacted]` in place of whatever lies in some match, and how many places there were
   * @throws {AssayError} `invalid_request` for a pattern that is too complicated for this text
   */
  (text: string): { readonly text: string; readonly count: number };
}

/**
 * Checks and compiles patterns. They are matched case-sensitively; `^` and `$` are the ends of lines; `.` is any
 * character but a line end. Everything that lies in some match is taken out, overlapping matches included.
 *
 * @param path JSON pointer of the list, for errors
 * @throws {AssayError} `invalid_request` naming the pattern and what is wrong with it
 */
export function compilePatterns(patterns: readonly string[], path: string): PatternRedactor {
  if (patterns.length > MOST_PATTERNS) {
    throw AssayError.field(path, `must have at most ${MOST_PATTERNS} patterns`, patterns.length);
  }
  const matchers = patterns.map((pattern, i) => compilePattern(pattern, `${path}/${i}`));
  return (text) => {
    let count = 0;
    let result = text;
    matchers.forEach((matcher, i) => {
      let ranges: ReturnType<Matcher["find"]>;
      try {
        ranges = matcher.find(result);
      } catch (error) {
        if (!(error instanceof PatternFault)) throw error;
        throw AssayError.field(`${path}/${i}`, error.message, patterns[i]);
      }
      count += ranges.length;
      let at = 0;
      const parts: string[] = [];
      for (const [start, end] of ranges) {
        parts.push(result.slice(at, start), REDACTED);
        at = end;
      }
      if (ranges.length > 0) result = parts.join("") + result.slice(at);
    });
    return { text: result, count };
  };
}

function compilePattern(pattern: string, at: string): Matcher {
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
    return createMatcher(node);
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
