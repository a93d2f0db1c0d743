import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { cleanText, shortenText, Warnings } from "./text.ts";

Deno.test("cleanText() replaces lone surrogates and NUL and says how many where", () => {
  const warnings = new Warnings();
  assertEquals(cleanText("a\ud800b\0c\0\udc00", "/a", warnings), "a\ufffdb\ufffdc\ufffd\ufffd");
  assertEquals(warnings.list(), ["/a: replaced 2 lone surrogates and 2 NUL characters by U+FFFD"]);
});

Deno.test("cleanText() leaves ANSI escapes, bidirectional marks and pairs alone", () => {
  const warnings = new Warnings();
  const text = "\u001b[31mred\u001b[0m \u202eevil \u{1f600}\r\n";
  assertEquals(cleanText(text, "/a", warnings), text);
  assertEquals(warnings.list(), []);
});

Deno.test("cleanText() always gives well-formed text of the same length without NUL", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((c) => String.fromCharCode(c)) }),
      (text) => {
        const cleaned = cleanText(text, "/a", new Warnings());
        assert(cleaned.isWellFormed() && !cleaned.includes("\0"));
        assertEquals(cleaned.length, text.length);
      },
    ),
  );
});

Deno.test("shortenText() keeps to the length and cuts no pair in two", () => {
  assertEquals(shortenText("abc", 3), "abc");
  assertEquals(shortenText("abcd", 3), "ab…");
  assertEquals(shortenText("a\u{1f600}bc", 3), "a…");
});

Deno.test("warnings are kept once and counted past fifty", () => {
  const warnings = new Warnings();
  for (let i = 0; i < 60; i++) warnings.add(`w${i}`);
  warnings.add("w0");
  assertEquals(warnings.list().length, 51);
  assertEquals(warnings.list()[50], "10 more warnings");
});
