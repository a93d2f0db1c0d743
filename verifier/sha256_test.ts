import { assertEquals } from "@std/assert";
import { sha256Now, SHORT_MESSAGE_BYTES } from "./sha256.ts";

/** What the runtime's own gives. */
async function known(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

Deno.test("sha256Now() is the runtime's SHA-256 for every length around its blocks, and for long messages", async () => {
  const lengths = [...Array.from({ length: 260 }, (_, i) => i), 4095, SHORT_MESSAGE_BYTES, 100_003];
  for (const length of lengths) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 197 + length * 31 + (i >> 3)) & 0xff);
    assertEquals(sha256Now(bytes), await known(bytes), `${length} bytes`);
    assertEquals(sha256Now(bytes.fill(0xff)), await known(bytes), `${length} times 0xff`);
  }
});

Deno.test("sha256Now() of the standard's own examples", () => {
  const digest = (text: string) => sha256Now(new TextEncoder().encode(text));
  assertEquals(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assertEquals(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});
