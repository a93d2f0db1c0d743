/**
 * JSON with errors that say where. The engine's own parser does the work; only when it fails is the text scanned again
 * for the place, because engines name the position in some messages and not in others.
 *
 * @module
 */
import { placeOf } from "./bytes.ts";
import { TranscriptError } from "./error.ts";

/**
 * The value of a JSON text.
 * @param firstLine line number of the text's first line in its file (for JSON Lines)
 * @throws {TranscriptError} with line and column
 */
export function parseJson(text: string, file: string, firstLine = 1): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const offset = jsonErrorOffset(text);
    const place = placeOf(text, offset);
    throw new TranscriptError(file, describe(text, offset), {
      line: place.line + firstLine - 1,
      column: place.column,
    });
  }
}

function describe(text: string, offset: number): string {
  if (offset >= text.trimEnd().length) return "the JSON is cut off here";
  const rest = text.slice(offset, offset + 9);
  const notANumber = /^(?:-?Infinity|NaN)/.exec(rest);
  if (notANumber) return `${notANumber[0]} is not JSON (write null where a number is unknown)`;
  const point = text.codePointAt(offset)!;
  const shown = point < 0x20 || point === 0x7f
    ? `control character U+${point.toString(16).toUpperCase().padStart(4, "0")}`
    : JSON.stringify(String.fromCodePoint(point).toWellFormed());
  return `this is not JSON: unexpected ${shown}`;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** A number that the end of the text cut off in its middle. */
const CUT_NUMBER = /-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d*)?)?$/y;
// deno-lint-ignore no-control-regex
const STRING_PART = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const BLANK = /[ \t\n\r]*/y;

/** Offset at which a text stops being JSON (its length when it is cut off). Linear, without recursion. */
export function jsonErrorOffset(text: string): number {
  let at = 0;
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const string = (): boolean => {
    if (text[at] !== '"') return false;
    at++;
    for (;;) {
      match(STRING_PART);
      if (text[at] === '"') {
        at++;
        return true;
      }
      if (text[at] === "\\") {
        if (at + 1 >= text.length) at = text.length;
        else if (match(ESCAPE)) continue;
      }
      return false;
    }
  };
  const word = (expected: string): boolean => {
    if (text.startsWith(expected, at)) at += expected.length;
    else if (expected.startsWith(text.slice(at))) at = text.length; // cut off inside the word
    else return false;
    return true;
  };
  const open: string[] = [];
  // What may come next: a value, a first value or an end, a key, a first key or an end, or what follows a value.
  let expect: "value" | "firstValue" | "key" | "firstKey" | "after" = "value";
  for (;;) {
    match(BLANK);
    const next = text[at];
    if (next === undefined) return text.length;
    if (expect === "after") {
      const inside = open.at(-1);
      if (inside === undefined) return at;
      if (next === ",") {
        at++;
        expect = inside === "{" ? "key" : "value";
      } else if (next === (inside === "{" ? "}" : "]")) {
        at++;
        open.pop();
      } else return at;
    } else if (expect === "key" || expect === "firstKey") {
      if (next === "}" && expect === "firstKey") {
        at++;
        open.pop();
        expect = "after";
        continue;
      }
      if (!string()) return at;
      match(BLANK);
      if (text[at] !== ":") return at;
      at++;
      expect = "value";
    } else if (next === "]" && expect === "firstValue") {
      at++;
      open.pop();
      expect = "after";
    } else if (next === "{" || next === "[") {
      at++;
      open.push(next);
      expect = next === "{" ? "firstKey" : "firstValue";
    } else {
      const fine = next === '"'
        ? string()
        : next === "t"
        ? word("true")
        : next === "f"
        ? word("false")
        : next === "n"
        ? word("null")
        : match(CUT_NUMBER) || match(NUMBER);
      if (!fine) return at;
      expect = "after";
    }
  }
}
