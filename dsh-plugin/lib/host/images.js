// @ts-check
/**
 * Images of a session as data URLs, for judges that read images.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { throwIfAborted, untilAborted } from "./abort.js";

/** @typedef {import("./events.js").Fields} Fields */
/** @typedef {import("./session_log.js").HostContext} HostContext */

/** What judges and the server take. */
const MEDIA_TYPES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
const MAX_BYTES = 20 * 1024 * 1024;
/** Of one request's images together: base64 makes a third more of it, and the server takes 64 MiB. */
const MAX_TOTAL_BYTES = 36 * 1024 * 1024;

/**
 * Reads the newest images of a list of references. What can't be read or sent is left out with its reason, and never
 * fails the call.
 *
 * @param {HostContext} ctx
 * @param {readonly Fields[]} refs References from image blocks, oldest first; repeated ones are sent once.
 * @param {{ signal?: AbortSignal | undefined, limit?: number }} [options]
 * @returns {Promise<{ urls: string[], skipped: { reason: string }[] }>} URLs oldest first.
 * @throws {import("../server/errors.js").VerifierError} `aborted`
 */
export async function readImages(ctx, refs, { signal, limit = 16 } = {}) {
  /** @type {{ reason: string }[]} */
  const skipped = [];
  const newest = [...new Map(refs.map((ref) => [ref.attachmentId, ref])).values()];
  for (const ref of newest.splice(0, Math.max(0, newest.length - limit))) {
    skipped.push({ reason: `${nameOf(ref)}: only the newest ${limit} images are sent` });
  }
  const attachments = ctx.get("attachments");
  if (attachments === undefined && newest.length > 0) {
    return {
      urls: [],
      skipped: [
        ...skipped,
        ...newest.map((ref) => ({ reason: `${nameOf(ref)}: the host stores no attachments` })),
      ],
    };
  }
  /** @type {string[]} */
  const urls = [];
  let total = 0;
  for (const ref of newest.toReversed()) {
    const refusal = refuse(ref.mediaType, Number(ref.bytes), total);
    if (refusal !== null) {
      skipped.push({ reason: `${nameOf(ref)}: ${refusal}` });
      continue;
    }
    try {
      const { data, ref: stored } = await untilAborted(() => attachments.readImage(ref, signal), signal);
      const mediaType = stored?.mediaType ?? ref.mediaType;
      const late = refuse(mediaType, data.byteLength, total);
      if (late !== null) {
        skipped.push({ reason: `${nameOf(ref)}: ${late}` });
        continue;
      }
      total += data.byteLength;
      const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
      urls.unshift(`data:${mediaType};base64,${base64}`);
    } catch (error) {
      throwIfAborted(signal);
      skipped.push({ reason: `${nameOf(ref)}: ${error instanceof Error ? error.message : String(error)}` });
    }
  }
  return { urls, skipped };
}

/** @param {unknown} mediaType @param {number} bytes @param {number} total @returns {string | null} */
function refuse(mediaType, bytes, total) {
  if (typeof mediaType !== "string" || !MEDIA_TYPES.has(mediaType)) {
    return `${mediaType} is not among png, jpeg, webp and gif`;
  }
  if (bytes > MAX_BYTES) return `${bytes} bytes are more than ${MAX_BYTES}`;
  if (total + bytes > MAX_TOTAL_BYTES) return `the images together are above ${MAX_TOTAL_BYTES} bytes`;
  return null;
}

/** @param {Fields} ref @returns {string} */
function nameOf({ name, attachmentId }) {
  return `image ${typeof name === "string" && name !== "" ? JSON.stringify(name) : String(attachmentId)}`;
}
