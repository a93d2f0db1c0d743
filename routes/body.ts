/**
 * Reads a request's body: media type, size counted on the stream, UTF-8, JSON.
 *
 * @module
 */
import { AssayError } from "../verifier/errors.ts";
import { HttpError } from "./problem.ts";
import { parseJson } from "./json.ts";

/**
 * The JSON document in a request's body.
 *
 * @param limitBytes more bytes than this are refused while they arrive, whatever `Content-Length` says
 * @throws {AssayError} `unsupported_media_type`, `body_too_large` or `invalid_json`
 */
export async function readJson(request: Request, limitBytes: number): Promise<unknown> {
  checkMediaType(request.headers);
  const announced = Number(request.headers.get("content-length") ?? "0");
  if (announced > limitBytes) {
    await request.body?.cancel();
    throw tooLarge(limitBytes);
  }
  return parseJson(await readText(request.body, limitBytes));
}

/** The same, but no body at all, as `curl -X POST` sends it, is an empty object. @throws {AssayError} as `readJson` */
export async function readOptionalJson(request: Request, limitBytes: number): Promise<unknown> {
  const { headers, body } = request;
  const isAbsent = !headers.has("content-type") && !headers.has("transfer-encoding") &&
    (body === null || Number(headers.get("content-length") ?? "0") === 0);
  return isAbsent ? {} : await readJson(request, limitBytes);
}

/**
 * The bytes of a request's body, as they came.
 *
 * @throws {AssayError} `body_too_large`
 */
export async function readBytes(request: Request, limitBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(request.headers.get("content-length") ?? "0");
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let total = 0;
  try {
    if (announced > limitBytes) throw tooLarge(limitBytes);
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw brokenOff(total, cause);
      });
      if (done) break;
      total += value.byteLength;
      if (total > limitBytes) throw tooLarge(limitBytes);
      pieces.push(value);
    }
  } catch (error) {
    // What is still to come must not be waited for; a second failure here would hide the first.
    await reader.cancel().catch(() => {});
    throw error;
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function checkMediaType(headers: Headers): void {
  const header = headers.get("content-type");
  const [type = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8).replaceAll(
    '"',
    "",
  );
  if (type !== "application/json" || (charset !== undefined && charset !== "utf-8" && charset !== "utf8")) {
    throw new HttpError(
      "unsupported_media_type",
      `Content-Type must be application/json in UTF-8: current value is ${
        header === null ? "absent" : quoted(header)
      }.`,
      { headers: { accept: "application/json" } },
    );
  }
  const encoding = headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "" && encoding !== "identity") {
    throw new HttpError(
      "unsupported_media_type",
      `Content-Encoding must be absent or identity: current value is ${quoted(encoding)}.`,
      { headers: { "accept-encoding": "identity" } },
    );
  }
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function tooLarge(limitBytes: number): AssayError {
  return new AssayError(
    "body_too_large",
    `The body must be at most ${limitBytes} bytes (server.bodyLimitBytes).`,
  );
}

/** Nobody may be left to read this, but it is the caller's connection that failed and not this server. */
function brokenOff(bytes: number, cause: unknown): AssayError {
  const message = `the body broke off after ${bytes} bytes`;
  return new AssayError("invalid_json", `The connection failed: ${message}.`, {
    errors: [{ path: "", message }],
    cause,
  });
}

/** Decodes while bytes arrive, so that a large body is held once as text and never once more as bytes. */
async function readText(body: ReadableStream<Uint8Array> | null, limitBytes: number): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const pieces: string[] = [];
  const reader = body.getReader();
  let total = 0;
  let unfinished: Uint8Array = new Uint8Array(0);
  try {
    while (true) {
      const { done, value } = await reader.read().catch((cause) => {
        throw brokenOff(total, cause);
      });
      if (done) break;
      const start = total - unfinished.length;
      total += value.byteLength;
      if (total > limitBytes) throw tooLarge(limitBytes);
      try {
        pieces.push(decoder.decode(value, { stream: true }));
      } catch {
        throw notUtf8(join(unfinished, value), start);
      }
      unfinished = unfinishedTail(join(unfinished, value.subarray(-3)));
    }
    try {
      pieces.push(decoder.decode());
    } catch {
      throw notUtf8(unfinished, total - unfinished.length);
    }
  } catch (error) {
    // What is still to come must not be waited for; a second failure here would hide the first.
    await reader.cancel().catch(() => {});
    throw error;
  }
  return pieces.join("");
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

/** The last bytes that start a sequence without finishing it (0 to 3 bytes). */
function unfinishedTail(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.slice(-back) : new Uint8Array(0);
  }
  return new Uint8Array(0);
}

function notUtf8(bytes: Uint8Array, start: number): AssayError {
  const at = firstInvalid(bytes);
  const byte = bytes[at];
  const what = byte === undefined
    ? "the body ends inside a character"
    : `byte 0x${byte.toString(16).padStart(2, "0")}`;
  const message = `the body must be UTF-8: ${what} at offset ${start + at}`;
  return new AssayError("invalid_json", `${message[0]?.toUpperCase()}${message.slice(1)}.`, {
    errors: [{ path: "", message }],
  });
}

/** Index of the first byte that no UTF-8 sequence can hold there; the length when the text only ends too early. */
function firstInvalid(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) {
      at++;
      continue;
    }
    const needed = lead >= 0xc2 && lead <= 0xdf
      ? 1
      : lead >= 0xe0 && lead <= 0xef
      ? 2
      : lead >= 0xf0 && lead <= 0xf4
      ? 3
      : 0;
    if (needed === 0) return at;
    // Overlong forms, surrogates and what lies past U+10FFFF show in the second byte.
    const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    for (let k = 1; k <= needed; k++) {
      const next = bytes[at + k];
      if (next === undefined) return bytes.length;
      if (next < (k === 1 ? low : 0x80) || next > (k === 1 ? high : 0xbf)) return at;
    }
    at += needed + 1;
  }
  return bytes.length;
}
