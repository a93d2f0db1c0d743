import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { boundSteps, headAndTail, SHORTENED_STEP } from "./bounded_steps.ts";

Deno.test("boundSteps() changes nothing within the budget", () => {
  const texts = ["a".repeat(500), "b".repeat(500)];
  assertEquals(boundSteps(texts, 1000), {
    texts,
    origins: [0, 1],
    shortened: { steps: 0, leftOut: 0, characters: 0 },
  });
});

Deno.test("boundSteps() keeps the newest whole, shortens older ones and leaves the oldest out, with counts", () => {
  const texts = Array.from({ length: 40 }, (_, i) => `step ${i} `.padEnd(2000, String(i % 10)));
  const { texts: shown, origins, shortened } = boundSteps(texts, 20_000);
  assertEquals(shown.at(-1), texts[39]);
  assertEquals(origins.at(-1), 39);
  assertEquals(origins[0], null);
  assertEquals(
    shown[0],
    `(The oldest ${shortened.leftOut} steps are left out: ${shortened.leftOut * 2000} characters.)`,
  );
  const whole = shown.filter((text) => text.length === 2000).length;
  assertEquals(whole, 7); // three quarters of 19,900 characters
  const cut = shown.slice(1, -whole);
  assert(cut.length > 0 && cut.every((text) => text.length <= SHORTENED_STEP));
  assertStringIncludes(cut[0]!, "characters left out");
  assertEquals(shortened.steps, cut.length);
  assertEquals(shortened.steps + shortened.leftOut + whole, 40);
});

Deno.test("boundSteps() shows one step that is larger than the budget as head and tail", () => {
  const { texts, shortened } = boundSteps(["x".repeat(50_000) + "THE END"], 10_000);
  assertEquals(texts.length, 1);
  assert(texts[0]!.endsWith("THE END") && texts[0]!.length <= 10_000);
  assertEquals(shortened.steps, 1);
});

Deno.test("boundSteps() refuses a budget in which nothing could be shown", () => {
  for (const budget of [0, 999, 1000.5, NaN]) assertThrows(() => boundSteps(["x"], budget), RangeError);
});

Deno.test("boundSteps() never exceeds the budget, keeps the order and counts every character", () => {
  fc.assert(fc.property(
    fc.array(fc.nat(5000), { minLength: 1, maxLength: 60 }),
    fc.integer({ min: 1000, max: 60_000 }),
    (lengths, budget) => {
      const texts = lengths.map((length) => "y".repeat(length));
      const total = lengths.reduce((x, y) => x + y, 0);
      const { texts: shown, origins, shortened } = boundSteps(texts, budget);
      assert(shown.reduce((sum, text) => sum + text.length, 0) <= budget);
      const kept = shown.join("").replaceAll(/[^y]/g, "").length;
      // The notes hold no y.
      assertEquals(kept + shortened.characters, total);
      const numbers = origins.filter((origin) => origin !== null);
      assertEquals(numbers, Array.from({ length: numbers.length }, (_, i) => shortened.leftOut + i));
      assertEquals(numbers.at(-1), texts.length - 1);
    },
  ));
});

Deno.test("headAndTail() cuts no surrogate pair", () => {
  fc.assert(fc.property(fc.integer({ min: 100, max: 140 }), fc.boolean(), (length, shifted) => {
    const text = (shifted ? "x" : "") + "😀".repeat(200);
    const cut = headAndTail(text, length);
    assert(cut.text.isWellFormed() && cut.text.length <= length);
  }));
});
