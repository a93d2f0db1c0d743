/**
 * The configuration's text as JSON.
 *
 * @module
 */
import { AssayError } from "../errors.ts";

/** Parses the document; a byte order mark is fine. @throws {AssayError} `invalid_json` that says where and quotes nothing */
export function parseDocument(text: string): unknown {
  const json = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(json);
  } catch {
    // The engine's message quotes the text around the fault, which may be a key: only the place is told.
    const before = json.slice(0, faultPosition(json)).split("\n");
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    throw new AssayError(
      "invalid_json",
      `Cannot read the configuration: it must be JSON, and it is not at ${place}.`,
    );
  }
}

/** Where a text stops being the beginning of any JSON text: by halving, as engines don't always say. */
function faultPosition(json: string): number {
  const isBeginning = (length: number): boolean => {
    try {
      JSON.parse(json.slice(0, length));
      return true;
    } catch (error) {
      const { message } = error as Error;
      return /end of JSON input|Unterminated/.test(message) || message.includes(`at position ${length} `);
    }
  };
  let good = 0;
  let bad = json.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBeginning(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
