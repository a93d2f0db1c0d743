import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { compareKeys, keyBytes, lifetime, pageSize, prefixBytes, prefixEnd } from "./keys.ts";

const wellFormed = fc.string({ unit: "grapheme", maxLength: 12 });

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

Deno.test("compareKeys() orders strings as their UTF-8 bytes", () => {
  const encoder = new TextEncoder();
  fc.assert(fc.property(wellFormed, wellFormed, (a, b) => {
    assertEquals(Math.sign(compareKeys(a, b)), Math.sign(compareBytes(encoder.encode(a), encoder.encode(b))));
  }));
  assert(compareKeys("\uffff", "\u{10000}") < 0);
  assert("\uffff" > "\u{10000}", "plain comparison would say the opposite");
});

Deno.test("prefixEnd() lies after every key with the prefix and before the next one", () => {
  const encoder = new TextEncoder();
  fc.assert(fc.property(wellFormed.filter((s) => s !== ""), wellFormed, (prefix, rest) => {
    const end = prefixEnd(encoder.encode(prefix))!;
    assert(compareBytes(encoder.encode(prefix + rest), end) < 0);
  }));
  assertEquals(prefixEnd(new Uint8Array()), null);
});

Deno.test("keyBytes() takes 512 bytes and refuses 513, nothing and a lone surrogate", () => {
  assertEquals(keyBytes("k".repeat(512)).length, 512);
  assertThrows(() => keyBytes("k".repeat(513)), RangeError, "it has 513");
  assertThrows(() => keyBytes("日".repeat(171)), RangeError, "it has 513");
  assertThrows(() => keyBytes(""), RangeError, "empty key");
  assertThrows(() => keyBytes("a\ud800"), RangeError, "lone surrogate");
  assertThrows(() => keyBytes(7 as unknown as string), RangeError, "must be a string");
  assertEquals(prefixBytes("").length, 0);
});

Deno.test("pageSize() and lifetime() refuse what makes no sense", () => {
  for (const limit of [0, -1, 1.5, 1001, NaN, Infinity]) {
    assertThrows(() => pageSize(limit), RangeError, String(limit));
  }
  assertEquals(pageSize(undefined), 1000);
  for (const ms of [0, -1, NaN, Infinity]) assertThrows(() => lifetime(ms), RangeError, String(ms));
  assertEquals(lifetime(undefined), null);
  assertEquals(lifetime(5), 5);
});
