/**
 * Image bytes in `data:` URLs, for judges that want them apart.
 *
 * @module
 */

/** Formats that judges read. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** The format that the first bytes show (12 are enough), or `null` for anything else: a guess would be sent as a lie. */
export function sniffImageType(bytes: Uint8Array): ImageType | null {
  const starts = (...expected: number[]): boolean => expected.every((byte, i) => bytes[i] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png";
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0x47, 0x49, 0x46, 0x38) && (bytes[4] === 0x37 || bytes[4] === 0x39) && bytes[5] === 0x61) {
    return "image/gif";
  }
  const webp = [0x57, 0x45, 0x42, 0x50].every((byte, i) => bytes[8 + i] === byte);
  return starts(0x52, 0x49, 0x46, 0x46) && webp ? "image/webp" : null;
}

/** Format and base64 text of an image `data:` URL, by its bytes rather than its label; `null` for anything else. */
export function readDataUrl(url: string): { readonly mimeType: ImageType; readonly base64: string } | null {
  const comma = url.slice(0, 64).indexOf(",");
  if (comma < 0 || !/^data:image\/[a-z]+;base64$/i.test(url.slice(0, comma))) return null;
  const base64 = url.slice(comma + 1);
  let head: string;
  try {
    head = atob(base64.slice(0, 24));
  } catch {
    return null;
  }
  const mimeType = sniffImageType(Uint8Array.from(head, (character) => character.charCodeAt(0)));
  return mimeType === null ? null : { mimeType, base64 };
}
