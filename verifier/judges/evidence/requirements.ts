/**
 * The literals a task names: paths, quoted strings, flags, identifiers, numbers.
 *
 * @module
 */

/** Distinct literals of a task, each non-empty. */
export interface Requirements {
  readonly paths: ReadonlySet<string>;
  readonly quoted: ReadonlySet<string>;
  /** All of them: paths, quoted strings, flags, identifiers and numbers of two or more characters. */
  readonly all: ReadonlySet<string>;
}

/**
 * More literals than this are not looked for (the first ones are kept): no real task names so many, and a made-up
 * one must not cost its size times the trajectory's.
 */
export const MOST_LITERALS = 512;

/** A task's text is read up to here; more is not the instruction any more. */
const MOST_CHARACTERS = 1_000_000;

/** Where a harness's own advice begins; it names nothing that this task wants. */
const ADVICE =
  /(?:^|\n)[ \t\r\f\v]*(?:You can execute bash commands|## Recommended Workflow|## Important Rules)/;

const ABSOLUTE_PATH = /(?:\/[\w.+-]+)+/y;
const NAME_CHARACTERS = /[\w+-]+/y;
const EXTENSION = /\.[A-Za-z]\w{0,9}\b/y;
const NUMBER = /(?:^|[^\w.-])(-?\d+(?:\.\d+)?)\b/g;
const FLAG = /(?:^|[ \t\n\r\f\v])(--?[A-Za-z][\w-]+)/g;
const QUOTED = /`([^`\n]{2,60})`|"([^"\n]{2,40})"|'([^'\n]{2,40})'/gu;
const IDENTIFIER = /\b(?:[a-z]+_[a-z_0-9]+|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|[A-Z]{3,})\b/g;

/** Literals of a task. Linear in the text. */
export function readRequirements(task: string): Requirements {
  const advice = ADVICE.exec(task);
  const text = task.slice(0, Math.min(advice?.index ?? task.length, MOST_CHARACTERS));
  const paths = new Set<string>();
  for (const path of namedPaths(text)) {
    if (path.length > 3) paths.add(path.replace(/\.+$/, ""));
  }
  const quoted = new Set<string>();
  for (const match of text.matchAll(QUOTED)) {
    const words = (match[1] ?? match[2] ?? match[3] ?? "").trim();
    if (words !== "") quoted.add(words);
  }
  const all = new Set([...paths, ...quoted]);
  for (const match of text.matchAll(FLAG)) all.add(match[1]!);
  for (const match of text.matchAll(IDENTIFIER)) all.add(match[0]);
  for (const match of text.matchAll(NUMBER)) {
    if (match[1]!.replace(/^-/, "").length > 1) all.add(match[1]!);
  }
  return { paths: firstOf(paths), quoted: firstOf(quoted), all: firstOf(all) };
}

function firstOf(literals: Set<string>): ReadonlySet<string> {
  return literals.size <= MOST_LITERALS ? literals : new Set([...literals].slice(0, MOST_LITERALS));
}

/**
 * Absolute paths (not behind a word character or dot) and file names with an extension, left to right. Written out
 * because a pattern for the file names is quadratic on a long hyphenated run.
 */
function* namedPaths(text: string): Generator<string> {
  const match = (pattern: RegExp, at: number): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? null;
  };
  let nameEnd = 0; // end of a run of name characters that no extension follows
  let before = NaN; // the character before `at`
  let skip = 0;
  for (let at = 0; at < text.length; at += skip) {
    const here = text.charCodeAt(at);
    skip = 1;
    let pathAt = at;
    let path = at === 0 && here === SLASH ? match(ABSOLUTE_PATH, at) : null;
    if (path === null && text.charCodeAt(at + 1) === SLASH && !isWordCharacter(here) && here !== DOT) {
      path = match(ABSOLUTE_PATH, ++pathAt);
    }
    if (path !== null) {
      yield path;
      skip = pathAt + path.length - at;
    } else if (at >= nameEnd && isWordCharacter(here) !== isWordCharacter(before)) {
      const name = match(NAME_CHARACTERS, at);
      const extension = name === null ? null : match(EXTENSION, at + name.length);
      if (name !== null && extension !== null) {
        yield name + extension;
        skip = name.length + extension.length;
      } else if (name !== null) {
        nameEnd = at + name.length;
      }
    }
    before = text.charCodeAt(at + skip - 1);
  }
}

const SLASH = 47;
const DOT = 46;

function isWordCharacter(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) ||
    code === 95;
}
