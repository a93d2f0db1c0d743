import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { count, money, number, plural, signed, table } from "./table.ts";
import { escapeText, width } from "./text.ts";

Deno.test("table() aligns wide characters and cuts the flexible column", () => {
  assertEquals(
    table(
      [{ title: "#", align: "right" }, { title: "Name", flexible: true }, { title: "N", align: "right" }],
      [
        ["1", "日本", "10"],
        ["12", "abcdefghijklm", "2"],
      ],
      16,
    ),
    [" #  Name       N", " 1  日本      10", "12  abcd…klm   2"],
  );
});

Deno.test("table() fits 80 columns whatever stands in the flexible column", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 200 }).map(escapeText), { minLength: 1 }),
      (names) => {
        const lines = table(
          [{ title: "Name", flexible: true }, { title: "Best" }, { title: "Strength", align: "right" }],
          names.map((name) => [name, "12 %", "+0.123"]),
          80,
        );
        assertEquals(lines.length, names.length + 1);
        for (const line of lines) assert(width(line) <= 80, line);
      },
    ),
  );
});

Deno.test("numbers have a dash where there is none, a sign where it matters, and no negative zero", () => {
  assertEquals([number(null), number(0.125), number(-0.001), number(1, 0)], ["–", "0.13", "0.00", "1"]);
  assertEquals([signed(0.2), signed(-0.2), signed(null), signed(-0.0001)], ["+0.20", "-0.20", "–", "+0.00"]);
  assertEquals([count(1234567), plural(1, "call"), plural(2, "call")], ["1,234,567", "1 call", "2 calls"]);
  assertEquals([money(null), money(0), money(0.00012), money(1.5)], [
    "cost unknown",
    "no cost",
    "$0.00012",
    "$1.50",
  ]);
});
