/**
 * What counts as evidence in a log, as patterns.
 *
 * Every pattern here runs in linear time on any input: no look-around, no unbounded part that can start inside
 * itself. ASCII classes only: `\s`, `^` and `$` of JavaScript also know Unicode spaces and line separators, the
 * classes below don't, so that a figure can be reproduced in any regular expression dialect. (`\w`, `\d` and `\b` are
 * ASCII in JavaScript as long as `u` and `i` aren't combined; `i` alone folds ASCII letters only.)
 *
 * @module
 */

/** A failure that an output admits. */
export const FAILURE = new RegExp(
  [
    "Traceback \\(most recent",
    "\\b[A-Z][A-Za-z]*(?:Error|Exception)\\b",
    "(?:^|\\n)[ \\t\\r\\f\\v]*(?:fatal|error|ERROR|Error)\\b[: ]",
    "\\berror: ",
    "\\bSegmentation fault",
    "\\bcore dumped",
    "\\bpanicked at",
    "\\bFAILED\\b",
    "\\bFAIL\\b",
    "\\bassertion failed",
    "\\bNo such file or directory",
    "\\b[Cc]ommand not found",
    "\\bPermission denied",
    "\\bundefined reference",
    "\\bcannot (?:find|open|stat|access)\\b",
    "\\bENOENT\\b",
  ].join("|"),
);

/** A word that says something went well. */
export const PASS_WORD =
  /\b(?:pass(?:ed|es)?|PASS|OK|ok|success(?:ful(?:ly)?)?|verified|all (?:tests|checks)|matches|correct|identical|True|valid)\b/;

/** A value that is rarely what was wanted. */
export const NEGATIVE_WORD = /\b(?:[Ff]alse|NaN|nan|None)\b/;

/** An output of something that did not end by itself. */
export const TIMED_OUT =
  /\btimed? ?out\b|\btimeout(?:expired|error)?\b|\bstill running\b|exit code (?:124|137)\b|\bkilled\b/i;

/** A command that checks something. `^` is the start of the step's commands, not of a line. */
export const VERIFYING = new RegExp(
  "\\b(?:pytest|unittest|ctest|cargo test|go test|npm (?:run )?test|make (?:test|check)|assert\\b|verif\\w*|validat\\w*" +
    "|check\\w*|diff|cmp|md5sum|sha\\d+sum|curl|compar\\w*|expected|allclose|test_\\w+|\\w+_test)\\b" +
    "|(?:^|[/ ])tests?\\b|\\[ -[fesdx] |\\btest -[fesdx]\\b|\\bbash -n\\b|py_compile|--check\\b",
  "i",
);

/** Words about checking, counted. */
export const CHECK_WORD = /\bverif\w*|\bvalid\w*|\bshould\b|\bassert\w*|\bexpect\w*|\btest -|\bcheck\w*/gi;

/** Signs of analysis code typed into a command, counted. */
export const CODE_WORD =
  /\bprint\w*[ \t\n\r\f\v]*\(|\bdef |\bimport |\benumerate\(|\.split\(|\bfor \w+ in\b/g;

/** Clean-up, counted. */
export const CLEAN_UP = /\brm -|pycache/g;

/** `[write] {json}`: a tool call that is not a shell line. */
export const TOOL_CALL = /^\[(\w+)\] ?\{/;

/** A command that prints its own words and nothing else. */
export const SELF_SPEAKING = /^[ \t\n\r\f\v]*(?:echo|printf)\b[^;&|\n]*$/;

/** Start of a here-document; the group is the word that ends it. */
export const HEREDOC = /<<-?[ \t]*["'\\]?([A-Za-z_][A-Za-z_0-9]*)/;

/** A command that prints or stores text and looks at nothing else. */
export const PRINTING = /^[ \t\r]*(?:cat|cd|chmod|echo|mkdir|printf|tee|touch|true)(?:[ \t\r]|$)/;

/** Numbers and identifiers, for the overlap between candidates. */
export const OVERLAP_TOKEN = /-?\d+(?:\.\d+)?|[A-Za-z_][A-Za-z_0-9]{2,}/g;

/** Number of matches of a global pattern. */
export function countMatches(pattern: RegExp, text: string): number {
  pattern.lastIndex = 0;
  let count = 0;
  while (pattern.exec(text) !== null) count++;
  return count;
}

const SURROGATE = /[\ud800-\udfff]/;

/** Length in code points: an emoji counts once, as in any language that doesn't store text as UTF-16. */
export function codePointLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let length = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      length--;
      at++;
    }
  }
  return length;
}

/** The last `count` code points. */
export function lastCodePoints(text: string, count: number): string {
  const units = text.slice(-count);
  if (!SURROGATE.test(units)) return units;
  let at = text.length;
  for (let left = count; left > 0 && at > 0; left--) {
    at--;
    const pair = at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 &&
      (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
    if (pair) at--;
  }
  return text.slice(at);
}

/** The first `count` code points. */
export function firstCodePoints(text: string, count: number): string {
  const units = text.slice(0, count);
  if (!SURROGATE.test(units)) return units;
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left--) {
    const pair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    at += pair ? 2 : 1;
  }
  return text.slice(0, at);
}
