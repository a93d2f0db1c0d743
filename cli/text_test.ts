import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { escapeLines, escapeText, fit, oneLine, pad, width, wrap } from "./text.ts";

const anyText = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" }));
// deno-lint-ignore no-control-regex
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

Deno.test("escapeText() and oneLine() let nothing through that moves the cursor or the reading order", () => {
  fc.assert(fc.property(anyText, (text) => {
    for (const shown of [escapeText(text), oneLine(text)]) {
      assert(!HARMFUL.test(shown), JSON.stringify(shown));
      assert(shown.isWellFormed());
    }
    assert(!HARMFUL.test(escapeLines(text).replaceAll("\n", "")));
  }));
  assertEquals(escapeText("a\u001b]0;title\u0007b\u202ec\n"), "a\\u{1b}]0;title\\u{7}b\\u{202e}c\\n");
  assertEquals(escapeText("zwj stays: 👩‍💻, 中文"), "zwj stays: 👩‍💻, 中文");
  assertEquals(escapeText("\ud800"), "\ufffd");
});

Deno.test("fit() never takes more columns than it is given, and leaves alone what fits", () => {
  fc.assert(
    fc.property(
      anyText.map(escapeText),
      fc.nat(60),
      fc.constantFrom("end", "middle"),
      (text, columns, where) => {
        const shown = fit(text, columns, where as "end" | "middle");
        assert(width(shown) <= columns, `${JSON.stringify(shown)} takes ${width(shown)} of ${columns}`);
        if (width(text) <= columns) assertEquals(shown, text);
      },
    ),
  );
  assertEquals(fit("abcdefgh", 5), "abcd…");
  assertEquals(fit("abcdefgh", 5, "middle"), "ab…gh");
  assertEquals(fit("日本語文字", 5), "日本…");
  assertEquals(fit("x".repeat(30_000_000), 4), "xxx…");
});

Deno.test("pad() fills up in columns, not characters", () => {
  assertEquals(pad("日本", 6) + "|", "日本  |");
  assertEquals(pad("7", 3, "right"), "  7");
});

Deno.test("wrap() keeps every word and stays within the columns, also for words that don't fit", () => {
  fc.assert(fc.property(anyText.map(oneLine), fc.integer({ min: 8, max: 80 }), (text, columns) => {
    const lines = wrap(text, columns, "  ").split("\n");
    for (const line of lines) assert(width(line) <= columns, JSON.stringify(line));
    assertEquals(lines.join("").replaceAll(" ", ""), text.replaceAll(" ", ""));
  }));
});
