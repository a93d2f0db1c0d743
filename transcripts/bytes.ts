/**
 * Bytes of a file to text: UTF-8 only, byte-order mark dropped, everything else refused with the place.
 *
 * @module
 */
import { type Place, TranscriptError } from "./error.ts";

/**
 * The text of a UTF-8 file, without its byte-order mark.
 * @throws {TranscriptError} for UTF-16 and UTF-32 files, for bytes that aren't UTF-8 (with the place of the first one),
 * for files that are empty or blank, and for files that are mostly NUL (binary files)
 */
export function decodeText(bytes: Uint8Array, file: string): string {
  if (bytes.length === 0) throw new TranscriptError(file, "the file is empty");
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new TranscriptError(
      file,
      "the file is UTF-16 (it starts with that byte-order mark); save it as UTF-8",
    );
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const offset = firstInvalidByte(bytes);
    const shown = (bytes[offset] ?? 0).toString(16).padStart(2, "0");
    throw new TranscriptError(
      file,
      `the file isn't UTF-8: byte 0x${shown} at offset ${offset} starts no valid character`,
      placeOf(new TextDecoder().decode(bytes.subarray(0, offset)), Infinity),
    );
  }
  if (!/\S/.test(text)) throw new TranscriptError(file, "the file holds nothing but blank space");
  if (mostlyNul(bytes)) throw new TranscriptError(file, "the file looks binary: many of its bytes are NUL");
  return text;
}

/** Line and column of a character offset; an offset past the end means the end. */
export function placeOf(text: string, offset: number): Place {
  const end = Math.min(offset, text.length);
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: end - lineStart + 1 };
}

/** One NUL in a log is a curiosity; one in fifty is a core dump. */
function mostlyNul(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, 65_536);
  let count = 0;
  for (const byte of head) if (byte === 0) count++;
  return count * 50 > head.length;
}

/** Offset of the first byte at which strict decoding fails: the longest valid prefix, found by bisection. */
function firstInvalidByte(bytes: Uint8Array): number {
  const decodes = (end: number): boolean => {
    try {
      // A stream may end inside a character, so a cut between its bytes doesn't count as invalid.
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  let valid = 0;
  let invalid = bytes.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (middle <= bytes.length && decodes(middle)) valid = middle;
    else invalid = middle;
  }
  // `valid` bytes decode as a stream; an unfinished character at their end starts earlier.
  let start = valid;
  for (let back = 1; back <= 3 && back <= valid; back++) {
    const byte = bytes[valid - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      if (length > back) start = valid - back;
      break;
    }
  }
  return Math.min(start, bytes.length - 1);
}
