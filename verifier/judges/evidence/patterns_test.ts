import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { codePointLength, firstCodePoints, lastCodePoints } from "./patterns.ts";

const text = fc.array(fc.constantFrom("a", "é", "😀", "\ud800", "\udc00", "\n"), { maxLength: 12 })
  .map((pieces) => pieces.join(""));

Deno.test("lengths and cuts count code points, lone surrogates included", () => {
  fc.assert(fc.property(text, fc.integer({ min: 1, max: 14 }), (text, count) => {
    const points = [...text];
    assertEquals(codePointLength(text), points.length);
    assertEquals(firstCodePoints(text, count), points.slice(0, count).join(""));
    assertEquals(lastCodePoints(text, count), points.slice(-count).join(""));
  }));
});
