/**
 * Request bodies as JSON, strictly: a fault is named by place and reason, a repeated or dangerous name is refused
 * instead of silently winning or losing, and nesting is bounded.
 *
 * @module
 */
import { AssayError } from "../verifier/errors.ts";

/** Arrays and objects may nest this deep. */
export const MAXIMUM_DEPTH = 100;
/**
 * Values in one body, of all levels together; an empty array or object counts twice. A body of empty arrays costs many times its size in memory and half a
 * minute of parsing; a thousand candidates of a hundred messages each have fewer values than this.
 */
export const MAXIMUM_VALUES = 2_000_000;

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COMMA = 44;

/** What stands open at a place in the text: an object (`names` seen so far) or an array (`names` is null). */
interface Frame {
  readonly names: Set<string> | null;
  name: string;
  index: number;
}

/**
 * Parses a JSON text (RFC 8259).
 *
 * @param text at most one leading byte order mark is tolerated
 * @throws {AssayError} `invalid_json` naming line, column and reason: a syntax error, `NaN` or `Infinity`, a name
 * that stands twice in one object, the name `__proto__`, more than {@linkcode MAXIMUM_DEPTH} levels or more than
 * {@linkcode MAXIMUM_VALUES} values
 */
export function parseJson(text: string): unknown {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  checkStructure(body);
  try {
    return JSON.parse(body);
  } catch {
    throw new SyntaxLocator(body).locate();
  }
}

/** Index of the quote that ends the string whose first character is at `start`, or -1. Linear in the length. */
function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start);
  while (quote !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH && quote - 1 - backslashes >= start) {
      backslashes++;
    }
    if (backslashes % 2 === 0) return quote;
    quote = text.indexOf('"', quote + 1);
  }
  return -1;
}

/**
 * Depth and names, before `JSON.parse` allocates anything. Jumps over strings, so its cost is that of the structure.
 * Faulty syntax is none of its business: it leaves that to `JSON.parse`.
 */
function checkStructure(text: string): void {
  const stack: Frame[] = [];
  let expectsName = false;
  let values = 1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = stringEnd(text, i + 1);
      if (end === -1) return;
      if (expectsName) {
        const frame = stack[stack.length - 1];
        const name = readName(text, i, end);
        if (name === null || frame === undefined || frame.names === null) return;
        checkName(text, i, stack, frame.names, name);
        frame.name = name;
        expectsName = false;
      }
      i = end;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (stack.length === MAXIMUM_DEPTH) {
        throw fault(text, i, "", `arrays and objects must nest at most ${MAXIMUM_DEPTH} levels deep`);
      }
      values++;
      stack.push({ names: code === OPEN_BRACE ? new Set() : null, name: "", index: 0 });
      expectsName = code === OPEN_BRACE;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      stack.pop();
      expectsName = false;
    } else if (code === COMMA) {
      const frame = stack[stack.length - 1];
      if (frame === undefined) return;
      frame.index++;
      if (++values > MAXIMUM_VALUES) {
        throw fault(text, i, "", `the document must have at most ${MAXIMUM_VALUES} values`);
      }
      expectsName = frame.names !== null;
    }
  }
}

function readName(text: string, start: number, end: number): string | null {
  const raw = text.slice(start + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(text.slice(start, end + 1)) as string;
  } catch {
    return null;
  }
}

function checkName(text: string, at: number, stack: Frame[], names: Set<string>, name: string): void {
  if (name === "__proto__" || names.has(name)) {
    const path = `${pointer(stack.slice(0, -1))}/${escapePointer(name)}`;
    throw fault(
      text,
      at,
      path,
      name === "__proto__"
        ? 'the name "__proto__" is not allowed'
        : `the name ${JSON.stringify(shorten(name))} stands twice in one object`,
    );
  }
  names.add(name);
}

function pointer(stack: readonly Frame[]): string {
  return stack.map((frame) => `/${frame.names === null ? frame.index : escapePointer(frame.name)}`).join("");
}

function escapePointer(name: string): string {
  return shorten(name).replaceAll("~", "~0").replaceAll("/", "~1");
}

function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

/** An `invalid_json` error that says where: lines and columns count from 1, columns in UTF-16 code units. */
function fault(text: string, at: number, path: string, reason: string): AssayError {
  let line = 1;
  let lineStart = 0;
  for (let next = text.indexOf("\n"); next !== -1 && next < at; next = text.indexOf("\n", lineStart)) {
    line++;
    lineStart = next + 1;
  }
  const message = `${reason} (line ${line}, column ${at - lineStart + 1})`;
  return new AssayError("invalid_json", `The body is not acceptable JSON: ${message}.`, {
    errors: [{ path, message }],
  });
}

/**
 * Finds the first fault in a text that `JSON.parse` refused. Runs only then, so it is written to be clear, not
 * fast. Engines word their own messages differently, and some quote the body; these texts are the same everywhere.
 */
class SyntaxLocator {
  readonly #text: string;
  #at = 0;
  #path: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  locate(): AssayError {
    try {
      this.#space();
      if (this.#at === this.#text.length) this.#fail("it is empty");
      this.#value();
      this.#space();
      if (this.#at < this.#text.length) {
        this.#fail(`unexpected ${this.#here()} after the end of the document`);
      }
    } catch (error) {
      if (error instanceof AssayError) return error;
      throw error;
    }
    throw new Error("JSON.parse refused a text without a fault");
  }

  #fail(reason: string): never {
    throw fault(this.#text, this.#at, this.#path.join(""), reason);
  }

  #here(): string {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) return "end of the body";
    const printable = code > 0x20 && code !== 0x7f &&
      (code < 0x80 || /[\p{L}\p{N}]/u.test(String.fromCodePoint(code)));
    return printable
      ? `"${String.fromCodePoint(code)}"`
      : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  }

  #space(): void {
    while (/[ \t\n\r]/.test(this.#text.charAt(this.#at))) this.#at++;
  }

  #value(): void {
    const character = this.#text.charAt(this.#at);
    if (character === "{") return this.#object();
    if (character === "[") return this.#array();
    if (character === '"') return void this.#string();
    if (character === "-" || (character >= "0" && character <= "9")) return this.#number();
    const word = this.#word(this.#at);
    if (word === "true" || word === "false" || word === "null") {
      this.#at += word.length;
      return;
    }
    if (word === "NaN" || word === "Infinity") this.#fail(`${word} is not a JSON value`);
    if (word === "undefined" || word === "None") {
      this.#fail(`${word} is not a JSON value; use null or leave it out`);
    }
    if (word === "True" || word === "False") {
      this.#fail(`${word} is not a JSON value; use ${word.toLowerCase()}`);
    }
    if (character === "'") this.#fail("strings must stand in double quotes");
    if (character === "/") this.#fail("comments are not allowed in JSON");
    this.#fail(`a value is expected, found ${this.#here()}`);
  }

  #word(at: number): string {
    return /^[A-Za-z_$]{0,20}/.exec(this.#text.slice(at, at + 20))?.[0] ?? "";
  }

  #object(): void {
    this.#at++;
    this.#space();
    if (this.#text.charAt(this.#at) === "}") return void this.#at++;
    while (true) {
      this.#space();
      if (this.#text.charAt(this.#at) !== '"') {
        this.#fail(`a name in double quotes is expected, found ${this.#here()}`);
      }
      const start = this.#at;
      this.#string();
      this.#path.push(`/${escapePointer(readName(this.#text, start, this.#at - 1) ?? "")}`);
      this.#space();
      if (this.#text.charAt(this.#at) !== ":") {
        this.#fail(`":" is expected after a name, found ${this.#here()}`);
      }
      this.#at++;
      this.#space();
      this.#value();
      this.#path.pop();
      if (!this.#more("}")) return;
      this.#space();
      if (this.#text.charAt(this.#at) === "}") this.#fail('a comma before "}" is not allowed');
    }
  }

  #array(): void {
    this.#at++;
    this.#space();
    if (this.#text.charAt(this.#at) === "]") return void this.#at++;
    for (let index = 0;; index++) {
      this.#path.push(`/${index}`);
      this.#space();
      if (index > 0 && this.#text.charAt(this.#at) === "]") this.#fail('a comma before "]" is not allowed');
      this.#value();
      this.#path.pop();
      if (!this.#more("]")) return;
    }
  }

  /** After an element: true behind a comma, false behind `close`. */
  #more(close: string): boolean {
    this.#space();
    const character = this.#text.charAt(this.#at);
    if (character !== "," && character !== close) {
      this.#fail(`"," or "${close}" is expected, found ${this.#here()}`);
    }
    this.#at++;
    return character === ",";
  }

  #string(): void {
    this.#at++;
    while (true) {
      const character = this.#text.charAt(this.#at);
      if (character === "") this.#fail("a string has no end");
      if (character === '"') return void this.#at++;
      if (character < " ") this.#fail(`${this.#here()} must be escaped inside a string`);
      if (character === "\\") {
        const escape = /^\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/.exec(this.#text.slice(this.#at, this.#at + 6));
        if (escape === null) {
          this.#fail('a backslash must start one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX');
        }
        this.#at += escape[0].length;
      } else {
        this.#at++;
      }
    }
  }

  #number(): void {
    if (this.#text.charAt(this.#at) === "-" && this.#word(this.#at + 1) === "Infinity") {
      this.#fail("-Infinity is not a JSON value");
    }
    const pattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    const end = match === null ? this.#at : pattern.lastIndex;
    if (match === null || /[0-9.eE+-]/.test(this.#text.charAt(end))) {
      this.#fail("a number must look like -12.5e3, without leading zeros or a bare point");
    }
    this.#at = end;
  }
}
