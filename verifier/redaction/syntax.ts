/**
 * The subset of regular expressions that redaction patterns may use, as a tree.
 *
 * Characters, `.`, classes `[…]`, the escapes `\d \w \s \D \W \S \b \B \t \n \r`, `\xhh`, `\uhhhh`, escaped punctuation,
 * `^` and `$`, groups `(…)` and `(?:…)`, `|`, and the repetitions `? * + {n} {n,} {n,m}`.
 *
 * @module
 */

/** Code points as sorted, disjoint, inclusive ranges. */
export type CharSet = readonly (readonly [number, number])[];

/** A part of a pattern. `least` is the number of characters that it reads at least. */
export type Node =
  | { readonly kind: "empty"; readonly source: string; readonly least: 0; readonly first: null }
  | {
    readonly kind: "chars";
    readonly source: string;
    readonly set: CharSet;
    readonly least: 1;
    readonly first: CharSet;
  }
  | {
    readonly kind: "sequence";
    readonly parts: readonly Node[];
    readonly least: number;
    readonly first: CharSet | null;
  }
  | {
    readonly kind: "choice";
    readonly options: readonly Node[];
    readonly least: number;
    readonly first: CharSet | null;
  }
  | {
    readonly kind: "repeat";
    readonly part: Node;
    readonly from: number;
    /** `Infinity` for `*`, `+` and `{n,}`. */
    readonly to: number;
    readonly least: number;
    readonly first: CharSet | null;
  };

/** What is wrong with a pattern, as "must …". */
export class PatternFault extends Error {
  override readonly name = "PatternFault";
}

const LAST = 0x10ffff;

/** Sorted and merged. */
function setOf(ranges: readonly (readonly [number, number])[]): CharSet {
  const merged: [number, number][] = [];
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return merged;
}

function complement(set: CharSet): CharSet {
  const result: [number, number][] = [];
  let next = 0;
  for (const [low, high] of set) {
    if (low > next) result.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= LAST) result.push([next, LAST]);
  return result;
}

/** Whether no character is in both. */
export function isDisjoint(a: CharSet, b: CharSet): boolean {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const [low, high] = a[i]!;
    const [from, to] = b[j]!;
    if (high < from) i++;
    else if (to < low) j++;
    else return false;
  }
  return true;
}

/** Every character that a part may read somewhere. */
export function alternatives(node: Node): CharSet {
  switch (node.kind) {
    case "empty":
      return [];
    case "chars":
      return node.set;
    case "sequence":
      return setOf(node.parts.flatMap(alternatives));
    case "choice":
      return setOf(node.options.flatMap(alternatives));
    case "repeat":
      return alternatives(node.part);
  }
}

const DIGITS: CharSet = [[48, 57]];
/** `\w`. */
export const WORD: CharSet = [[48, 57], [65, 90], [95, 95], [97, 122]];
const SPACE: CharSet = setOf([
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]);
const CLASSES: Readonly<Record<string, CharSet>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };
/** What ends a line for `.`, `^` and `$`. */
export const LINE_ENDS: CharSet = [[10, 10], [13, 13], [0x2028, 0x2029]];
const DOT = complement(LINE_ENDS);
const DEEPEST = 20;

/**
 * Parses a pattern. @param most the largest number in braces
 * @throws {PatternFault}
 */
export function parsePattern(pattern: string, most: number): Node {
  if (!pattern.isWellFormed()) throw new PatternFault("must be well-formed text");
  const text = [...pattern];
  let at = 0;

  function choice(depth: number): Node {
    if (depth > DEEPEST) throw new PatternFault(`must nest groups at most ${DEEPEST} deep`);
    const options = [sequence(depth)];
    while (text[at] === "|") {
      at++;
      options.push(sequence(depth));
    }
    if (options.length === 1) return options[0]!;
    const firsts = options.map(({ first }) => first);
    return {
      kind: "choice",
      options,
      least: Math.min(...options.map(({ least }) => least)),
      first: firsts.some((first) => first === null) ? null : setOf(firsts.flatMap((first) => first ?? [])),
    };
  }

  function sequence(depth: number): Node {
    const parts: Node[] = [];
    while (at < text.length && text[at] !== "|" && text[at] !== ")") parts.push(repeated(depth));
    let first: CharSet | null = null;
    for (const part of parts) {
      if (part.kind === "empty") continue;
      // An optional beginning may be anything of what follows; that is not worth telling apart.
      first = part.least > 0 ? part.first : null;
      break;
    }
    return { kind: "sequence", parts, least: parts.reduce((sum, { least }) => sum + least, 0), first };
  }

  function repeated(depth: number): Node {
    let part = single(depth);
    const range = repetition();
    if (range === null) return part;
    if (part.kind === "empty") throw new PatternFault("must not repeat what reads nothing");
    if (text[at] === "?") {
      throw new PatternFault(
        "must not use lazy repetitions: name what they stop at, as [^>]+ instead of .+?",
      );
    }
    const [from, to] = range;
    part = {
      kind: "repeat",
      part,
      from,
      to,
      least: from * part.least,
      first: from > 0 ? part.first : null,
    };
    if (repetition() !== null) throw new PatternFault("must not repeat a repetition");
    return part;
  }

  function repetition(): readonly [number, number] | null {
    const sign = text[at];
    if (sign === "?" || sign === "*" || sign === "+") {
      at++;
      return sign === "?" ? [0, 1] : [sign === "+" ? 1 : 0, Infinity];
    }
    if (sign !== "{") return null;
    const match = /^\{(\d{1,6})(?:(,)(\d{0,6}))?\}/.exec(text.slice(at, at + 20).join(""));
    if (match === null) throw new PatternFault("must have numbers in braces, or \\{ for the sign itself");
    at += match[0].length;
    const from = Number(match[1]);
    const to = match[2] === undefined ? from : match[3] === "" ? Infinity : Number(match[3]);
    if (from > most || (to > most && to !== Infinity)) {
      throw new PatternFault(`must repeat nothing more than ${most} times`);
    }
    if (to < from || to === 0) throw new PatternFault("must have a range in braces that isn't empty");
    return [from, to];
  }

  function single(depth: number): Node {
    const sign = text[at++]!;
    switch (sign) {
      case "(": {
        if (text[at] === "?") {
          if (text[at + 1] !== ":") {
            throw new PatternFault("must not look ahead or behind, nor name groups: only (…) and (?:…)");
          }
          at += 2;
        }
        const inner = choice(depth + 1);
        if (text[at] !== ")") throw new PatternFault("must close every group");
        at++;
        return inner;
      }
      case "[":
        return charClass();
      case ".":
        return chars(".", DOT);
      case "^":
      case "$":
        return { kind: "empty", source: sign, least: 0, first: null };
      case "\\":
        return escape();
      case "*":
      case "+":
      case "?":
      case "{":
        throw new PatternFault("must have something before a repetition");
      case "]":
      case "}":
        return chars(`\\${sign}`, pointSet(sign));
      default:
        return chars(sign === "/" ? "\\/" : sign, pointSet(sign));
    }
  }

  function escape(): Node {
    const sign = text[at++];
    if (sign === undefined) throw new PatternFault("must not end with a backslash");
    if (sign === "b" || sign === "B") return { kind: "empty", source: `\\${sign}`, least: 0, first: null };
    const set = CLASSES[sign];
    if (set !== undefined) return chars(`\\${sign}`, set);
    const code = codeOf(sign);
    return chars(sourceOf(code), [[code, code]]);
  }

  /** The code point of an escape whose sign was read. */
  function codeOf(sign: string): number {
    if (sign === "x" || sign === "u") {
      const digits = text.slice(at, at + (sign === "x" ? 2 : 4)).join("");
      if (!/^(?:[0-9a-f]{2}|[0-9a-f]{4})$/i.test(digits) || digits.length !== (sign === "x" ? 2 : 4)) {
        throw new PatternFault("must have \\xhh or \\uhhhh with hexadecimal digits");
      }
      at += digits.length;
      const code = parseInt(digits, 16);
      if (code >= 0xd800 && code <= 0xdfff) throw new PatternFault("must not name half of a surrogate pair");
      return code;
    }
    if (sign === "0" && /\d/.test(text[at] ?? "")) throw new PatternFault("must not use octal escapes");
    const control = CONTROLS[sign];
    if (control !== undefined) return control;
    if (/[1-9k]/.test(sign)) throw new PatternFault("must not refer back to a group");
    if (/[A-Za-z0-9]/.test(sign)) throw new PatternFault(`must not use the escape \\${sign}`);
    return sign.codePointAt(0)!;
  }

  function charClass(): Node {
    const negated = text[at] === "^";
    if (negated) at++;
    const ranges: (readonly [number, number])[] = [];
    for (;;) {
      const low = member();
      if (low === null) break;
      if (typeof low !== "number") {
        ranges.push(...low);
        continue;
      }
      if (text[at] !== "-" || text[at + 1] === "]" || text[at + 1] === undefined) {
        ranges.push([low, low]);
        continue;
      }
      at++;
      const high = member();
      if (typeof high !== "number" || high < low) {
        throw new PatternFault("must have ranges such as a-z in classes");
      }
      ranges.push([low, high]);
    }
    const set = negated ? complement(setOf(ranges)) : setOf(ranges);
    if (set.length === 0) throw new PatternFault("must not have a class that nothing is in");
    const inner = set.map(([low, high]) =>
      low === high ? sourceOf(low) : `${sourceOf(low)}-${sourceOf(high)}`
    );
    return chars(`[${inner.join("")}]`, set);
  }

  /** One member of a class: a code point, a set, or `null` at its end. */
  function member(): number | CharSet | null {
    const sign = text[at++];
    if (sign === undefined) throw new PatternFault("must close every class");
    if (sign === "]") return null;
    if (sign !== "\\") return sign.codePointAt(0)!;
    const escaped = text[at++];
    if (escaped === undefined) throw new PatternFault("must close every class");
    if (escaped === "b") return 8;
    return CLASSES[escaped] ?? codeOf(escaped);
  }

  const root = choice(0);
  if (at < text.length) throw new PatternFault("must open every group that it closes");
  return root;
}

function pointSet(sign: string): CharSet {
  const code = sign.codePointAt(0)!;
  return [[code, code]];
}

function chars(source: string, set: CharSet): Node {
  return { kind: "chars", source, set, least: 1, first: set };
}

/** A code point in a form that means itself everywhere in a pattern. */
function sourceOf(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
