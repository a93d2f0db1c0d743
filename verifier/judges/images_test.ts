import { assertEquals } from "@std/assert";
import { readDataUrl, sniffImageType } from "./images.ts";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13];

Deno.test("sniffImageType() knows the four formats and guesses nothing", () => {
  assertEquals(sniffImageType(bytes(...PNG)), "image/png");
  assertEquals(sniffImageType(bytes(0xff, 0xd8, 0xff, 0xe0)), "image/jpeg");
  assertEquals(sniffImageType(new TextEncoder().encode("GIF87a")), "image/gif");
  assertEquals(sniffImageType(new TextEncoder().encode("GIF89a")), "image/gif");
  assertEquals(sniffImageType(new TextEncoder().encode("RIFF\u0001\u0002\u0003\u0004WEBP")), "image/webp");
  for (const text of ["", "BM", "GIF88a", "RIFFxxxxWAVE", "<svg>", "%PDF"]) {
    assertEquals(sniffImageType(new TextEncoder().encode(text)), null, text);
  }
});

Deno.test("readDataUrl() goes by the bytes, not by the label", () => {
  const base64 = btoa(String.fromCharCode(...PNG));
  assertEquals(readDataUrl(`data:image/jpeg;base64,${base64}`), { mimeType: "image/png", base64 });
  for (
    const url of [
      "",
      "https://a/b.png",
      "data:image/png,abc",
      `data:text/plain;base64,${base64}`,
      "data:image/png;base64,!!!!",
      "data:image/png;base64,QUJD",
    ]
  ) {
    assertEquals(readDataUrl(url), null, url);
  }
});
