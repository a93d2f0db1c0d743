import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ulid } from "./ulid.ts";

Deno.test("ulid() writes the time as the specification's example does", () => {
  assertEquals(ulid(1469918176385).slice(0, 10), "01ARYZ6S41");
  assertEquals(ulid(0).slice(0, 10), "0000000000");
  assertEquals(ulid(2 ** 48 - 1).slice(0, 10), "7ZZZZZZZZZ");
});

Deno.test("ulid() has 26 digits of Crockford's alphabet and sorts by time", () => {
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(fc.property(time, time, (a, b) => {
    assertMatch(ulid(a), /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    if (a < b) assert(ulid(a) < ulid(b));
  }));
});

Deno.test("ulid() never repeats itself and uses every digit", () => {
  const ids = Array.from({ length: 10_000 }, () => ulid(1));
  assertEquals(new Set(ids).size, ids.length);
  assertEquals(new Set(ids.flatMap((id) => [...id.slice(10)])).size, 32);
});

Deno.test("ulid() refuses a time that it can't write", () => {
  for (const time of [-1, 0.5, NaN, Infinity, 2 ** 48]) {
    assertThrows(() => ulid(time), RangeError, String(time));
  }
});
