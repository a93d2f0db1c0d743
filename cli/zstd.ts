/**
 * Files compressed with Zstandard, as DeepSeek Harness writes its session logs: one frame per write, one after the
 * other. The runtime's decompressor stops after the first frame, so the frames are cut apart first (RFC 8878).
 *
 * @module
 */
import { zstdDecompressSync } from "node:zlib";
import { UsageError } from "./io.ts";
import { escapeText } from "./text.ts";

const MAGIC = 0xfd2fb528;
/** Skippable frames have the magic numbers 0x184D2A50 to 0x184D2A5F. */
const SKIPPABLE = 0x184d2a50;
/** Most bytes that a file may unpack to. */
export const MOST_UNPACKED = 512 * 1024 * 1024;

/** Whether a file starts like a Zstandard frame. */
export function isZstd(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && word(bytes, 0) === MAGIC;
}

/** An unpacked file. */
export interface Unpacked {
  readonly bytes: Uint8Array;
  /** Set when the last frame is torn: what stands before it was unpacked. */
  readonly torn: string | null;
}

/**
 * Unpacks all frames.
 * @param file name for messages
 * @throws {UsageError} for a frame that is corrupt, for more than `MOST_UNPACKED` bytes, and where this Deno has no Zstandard
 */
export function unpackZstd(bytes: Uint8Array, file: string, most: number = MOST_UNPACKED): Unpacked {
  if (typeof zstdDecompressSync !== "function") {
    throw new UsageError(
      `${
        escapeText(file)
      } is compressed with Zstandard, which this Deno can't unpack; unpack it with zstd -d`,
    );
  }
  const parts: Uint8Array[] = [];
  let total = 0;
  let at = 0;
  let frames = 0;
  let torn: string | null = null;
  while (at < bytes.length) {
    const end = frameEnd(bytes, at);
    if (end === null) {
      throw new UsageError(`${escapeText(file)}: what stands at byte ${at} is no Zstandard frame`);
    }
    if (end > bytes.length) {
      torn = `the last frame (at byte ${at}) is cut off: ${bytes.length - at} bytes were left out`;
      break;
    }
    if (word(bytes, at) === MAGIC) {
      let part: Uint8Array;
      try {
        part = zstdDecompressSync(bytes.subarray(at, end), { maxOutputLength: most - total + 1 });
      } catch (error) {
        if (error instanceof RangeError || (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") {
          throw tooLarge(file, most);
        }
        throw new UsageError(`${escapeText(file)}: the Zstandard frame at byte ${at} is corrupt`);
      }
      total += part.length;
      if (total > most) throw tooLarge(file, most);
      parts.push(part);
      frames++;
    }
    at = end;
  }
  if (frames === 0) throw new UsageError(`${escapeText(file)}: ${torn ?? "there is no Zstandard frame"}`);
  const unpacked = new Uint8Array(total);
  let to = 0;
  for (const part of parts) {
    unpacked.set(part, to);
    to += part.length;
  }
  return { bytes: unpacked, torn };
}

function tooLarge(file: string, most: number): UsageError {
  return new UsageError(`${escapeText(file)} unpacks to more than ${most} bytes`);
}

/** Little-endian. */
function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24) >>> 0;
}

/** Where a frame ends, which lies past the bytes for a torn one; `null` for what is no frame. */
function frameEnd(bytes: Uint8Array, start: number): number | null {
  const torn = bytes.length + 1;
  if (start + 4 > bytes.length) return torn;
  const magic = word(bytes, start);
  if ((magic & ~0xf) >>> 0 === SKIPPABLE) {
    return start + 8 > bytes.length ? torn : start + 8 + word(bytes, start + 4);
  }
  if (magic !== MAGIC) return null;
  if (start + 5 > bytes.length) return torn;
  const descriptor = bytes[start + 4]!;
  const single = (descriptor & 0x20) !== 0;
  const contentSize = [single ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  const dictionary = [0, 1, 2, 4][descriptor & 3]!;
  let at = start + 5 + (single ? 0 : 1) + dictionary + contentSize;
  for (;;) {
    if (at + 3 > bytes.length) return torn;
    const header = bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16;
    const type = header >> 1 & 3;
    if (type === 3) return null;
    // A block of one repeated byte holds that byte alone.
    at += 3 + (type === 1 ? 1 : header >> 3);
    if ((header & 1) === 1) break;
  }
  return at + ((descriptor & 4) !== 0 ? 4 : 0);
}
