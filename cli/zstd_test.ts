import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { zstdCompressSync } from "node:zlib";
import { UsageError } from "./io.ts";
import { isZstd, unpackZstd } from "./zstd.ts";

const pack = (text: string): Uint8Array => new Uint8Array(zstdCompressSync(new TextEncoder().encode(text)));
const join = (...parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const SKIPPED = Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9);

Deno.test("frames one after the other are all unpacked, skippable ones skipped", () => {
  const random = Array.from({ length: 300_000 }, (_, i) => String.fromCharCode(33 + (i * i * 7919) % 90))
    .join("");
  const packed = join(pack("one\n"), SKIPPED, pack(""), pack("x".repeat(1_000_000)), pack(random));
  assert(isZstd(packed));
  const { bytes, torn } = unpackZstd(packed, "f");
  assertEquals([text(bytes) === "one\n" + "x".repeat(1_000_000) + random, torn], [true, null]);
});

Deno.test("a torn last frame leaves what stands before it, and says so", () => {
  const last = pack("two\n".repeat(1000));
  for (const cut of [1, 3, 5, last.length - 1]) {
    const { bytes, torn } = unpackZstd(join(pack("one\n"), last.subarray(0, cut)), "f");
    assertEquals(text(bytes), "one\n");
    assert(torn?.includes(`${cut} bytes were left out`), torn ?? "not torn");
  }
  assertThrows(() => unpackZstd(pack("one").subarray(0, 6), "f"), UsageError, "cut off");
});

Deno.test("what is no frame, a corrupt one and a bomb are refused", () => {
  assert(!isZstd(new TextEncoder().encode("{}")) && !isZstd(new Uint8Array(2)));
  assertThrows(
    () => unpackZstd(join(pack("one"), Uint8Array.of(1, 2, 3, 4, 5)), "f"),
    UsageError,
    "no Zstandard frame",
  );
  assertThrows(() => unpackZstd(pack("x".repeat(100_000)), "f", 1000), UsageError, "more than 1000 bytes");
});

Deno.test("any bytes behind the magic number end in bytes or in a usage error", () => {
  const magic = [0x28, 0xb5, 0x2f, 0xfd];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (tail) => {
      try {
        unpackZstd(Uint8Array.from([...magic, ...tail]), "f", 100_000);
      } catch (error) {
        assert(error instanceof UsageError, String(error));
      }
    }),
    { numRuns: 1000 },
  );
});
