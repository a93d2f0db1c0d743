import { assert, assertEquals, assertThrows } from "@std/assert";
import { figure, median, quantile, row, table } from "./harness.ts";

Deno.test("row() checks a figure against its target, and what wasn't measured keeps none", () => {
  assertEquals(row("a", 5, "ms", { atMost: 5 }).ok, true);
  assertEquals(row("a", 5.1, "ms", { atMost: 5 }).ok, false);
  assertEquals(row("a", 5, "1/s", { atLeast: 6 }).ok, false);
  assertEquals(row("a", null, "ms", { atMost: 5 }).ok, false);
  assertEquals(row("a", NaN, "ms", { atMost: 5 }).ok, false);
  assertEquals(row("a", 5, "ms").ok, null);
});

Deno.test("median() and quantile() interpolate and refuse an empty list", () => {
  assertEquals(median([3, 1, 2]), 2);
  assertEquals(median([4, 1, 2, 3]), 2.5);
  assertEquals(quantile([0, 10], 0.95), 9.5);
  assertThrows(() => median([]), RangeError, "nothing");
});

Deno.test("figure() shows three significant digits", () => {
  assertEquals([0, 0.012345, 1.2345, 123.4, 12345, null].map(figure), [
    "0.00",
    "0.0123",
    "1.23",
    "123",
    "12345",
    "-",
  ]);
});

Deno.test("table() stays within 80 columns and says loudly what was missed", () => {
  const rows = [
    row(
      "a rather long name of a benchmark that says what it does in many words",
      12.3,
      "ms",
      { atMost: 5 },
      "word ".repeat(40).trim(),
    ),
    row("short", null, "kB", null, "not measured: no such file"),
  ];
  const text = table(rows);
  assert(text.split("\n").every((line) => line.length <= 80), text);
  assert(text.includes("MISSED") && text.includes("not measured"));
});
