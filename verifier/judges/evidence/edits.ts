/**
 * Does a command write a file that belongs to the result (and not a log, a test or scratch file)?
 *
 * @module
 */
import { TOOL_CALL } from "./patterns.ts";

const EDIT_TOOLS = new Set([
  "write",
  "edit",
  "multi_edit",
  "multiedit",
  "apply_patch",
  "str_replace",
  "create",
  "insert",
  "write_file",
  "edit_file",
]);

const PATH_ARGUMENT = /"(?:file_path|path|filename|file)"[ \t\n\r\f\v]*:[ \t\n\r\f\v]*"([^"]+)"/;

/** Each finds a path in group 1. Repeated flags are bounded so that a run of flags can't cost quadratic time. */
const WRITES: readonly RegExp[] = [
  /(?:^|[^0-9&>])>{1,2}[ \t\n\r\f\v]*["']?((?:\/|\.\/|~\/)?[\w./+-]*[\w+-])["']?/g,
  /\btee[ \t\n\r\f\v]+(?:-a[ \t\n\r\f\v]+)?["']?([\w./+-]+)/g,
  /\b(?:cp|mv|install)[ \t\n\r\f\v]+(?:-\w+[ \t\n\r\f\v]+){0,16}[^ \t\n\r\f\v]+[ \t\n\r\f\v]+((?:\/|\.\/)[\w./+-]+)/g,
  /open\([ \t\n\r\f\v]*[rbf]?["']([^"']+)["'][ \t\n\r\f\v]*,[ \t\n\r\f\v]*["'][wa]/g,
  /Path\([ \t\n\r\f\v]*["']([^"']+)["'][ \t\n\r\f\v]*\)\.write_/g,
];

const PATCH = /\b(?:git apply|patch -p|patch <)/;

const SCRATCH =
  /^\/tmp|\/tmp\/|\.(?:log|out|err)$|(?:^|\/)(?:test|debug|check|verify|tmp|scratch)[\w-]*\.\w+$/;

const STREAM_EDITOR = /\b(?:sed|perl)[ \t\n\r\f\v]+/g;
const FLAG = /-\w+/y;
const BLANKS = /[ \t\n\r\f\v]+/y;
const SEGMENT_END = /[|;&\n]/g;
/** What ends a segment's last word if that word is a file: `name.ext`. */
const ENDS_IN_EXTENSION = /[\w-]\.\w+$/;
const MOST_FLAGS = 16;

/** True when the command edits a file of the result. */
export function editsProduct(command: string): boolean {
  const tool = TOOL_CALL.exec(command);
  if (tool !== null) {
    if (!EDIT_TOOLS.has((tool[1] ?? "").toLowerCase())) return false;
    const path = PATH_ARGUMENT.exec(command)?.[1];
    return path === undefined || !SCRATCH.test(path);
  }
  if (PATCH.test(command)) return true;
  for (const pattern of WRITES) {
    for (const match of command.matchAll(pattern)) {
      if (isProductPath(match[1] ?? "")) return true;
    }
  }
  return streamEdits(command).some(isProductPath);
}

function isProductPath(path: string): boolean {
  return !path.startsWith("/dev/") && !/^\d+$/.test(path) && !SCRATCH.test(path);
}

/**
 * Files edited in place by `sed -i` or `perl -pi`: the last word before `|`, `;`, `&` or the end of the line, if it
 * has an extension or a slash. Written out because a pattern for this is quadratic on a long line.
 */
function streamEdits(command: string): string[] {
  const paths: string[] = [];
  let segment: { readonly end: number; readonly wordStart: number; readonly wordEnd: number } | null = null;
  for (const match of command.matchAll(STREAM_EDITOR)) {
    const flagEnds = inPlaceFlags(command, match.index + match[0].length);
    const last = flagEnds.at(-1);
    if (last === undefined) continue;
    if (segment === null || last > segment.end) segment = segmentFrom(command, last);
    for (let i = flagEnds.length - 1; i >= 0; i--) {
      const path = lastPath(command, Math.max(flagEnds[i]!, segment.wordStart), segment.wordEnd);
      if (path === null) continue;
      paths.push(path);
      break;
    }
  }
  return paths;
}

/** Where each leading flag that holds an `i` ends, those on the last flag's line. */
function inPlaceFlags(command: string, from: number): number[] {
  const ends: number[] = [];
  let at = from;
  for (let count = 0; count < MOST_FLAGS; count++) {
    FLAG.lastIndex = at;
    const flag = FLAG.exec(command);
    if (flag === null) break;
    at = FLAG.lastIndex;
    if (flag[0].includes("i")) ends.push(at);
    BLANKS.lastIndex = at;
    const blanks = BLANKS.exec(command);
    if (blanks === null) break;
    // The file must stand on the flag's own line.
    if (blanks[0].includes("\n")) ends.length = 0;
    at = BLANKS.lastIndex;
  }
  return ends;
}

/** The segment that `from` lies in, and its last word of path characters. */
function segmentFrom(command: string, from: number): { end: number; wordStart: number; wordEnd: number } {
  SEGMENT_END.lastIndex = from;
  const end = SEGMENT_END.exec(command)?.index ?? command.length;
  let wordEnd = end;
  while (wordEnd > from && isBlank(command.charCodeAt(wordEnd - 1))) wordEnd--;
  let wordStart = wordEnd;
  while (wordStart > 0 && isPathCharacter(command.charCodeAt(wordStart - 1))) wordStart--;
  return { end, wordStart, wordEnd };
}

function lastPath(command: string, start: number, end: number): string | null {
  if (start >= end) return null;
  const word = command.slice(start, end);
  if (ENDS_IN_EXTENSION.test(word)) return word;
  const slash = word.indexOf("/");
  return slash >= 0 && slash < word.length - 1 ? word.slice(slash) : null;
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isPathCharacter(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) ||
    code === 95 || code === 46 || code === 47 || code === 43 || code === 45;
}
