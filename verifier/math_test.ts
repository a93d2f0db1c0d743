import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { mean, sigmoid, standardError, standardised, weightedMean, winnerOf } from "./math.ts";

Deno.test("means and standard errors of too little are null", () => {
  assertEquals([mean([]), weightedMean([]), standardError([1]), mean([3])], [null, null, null, 3]);
  assertAlmostEquals(standardError([1, 3])!, 1);
  assertAlmostEquals(weightedMean([{ value: 1, weight: 3 }, { value: 0, weight: 1 }])!, 0.75);
});

Deno.test("a difference within the tolerance is a tie", () => {
  assertEquals([winnerOf(0.5, 0.5 + 1e-10), winnerOf(0.5, 0.6), winnerOf(0.6, 0.5)], ["tie", "B", "A"]);
});

Deno.test("soft wins of both sides sum to one", () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1, max: 1, noNaN: true }),
      (x) => assertAlmostEquals(sigmoid(x) + sigmoid(-x), 1),
    ),
  );
});

Deno.test("standardised values have mean 0 and deviation 1, and zeros where nothing differs", () => {
  assertEquals(standardised([2, 2]), [0, 0]);
  fc.assert(fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 2 }), (values) => {
    const scores = standardised(values);
    assertAlmostEquals(mean(scores)!, 0, 1e-9);
    if (new Set(values).size > 1) assert(Math.abs(mean(scores.map((x) => x * x))! - 1) < 1e-9);
  }));
});
