import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { mean, rankOrder, standardError, weightedMean, winnerOf } from "./math.ts";

Deno.test("means and standard errors of too little are null", () => {
  assertEquals([mean([]), weightedMean([]), standardError([1]), mean([3])], [null, null, null, 3]);
  assertAlmostEquals(standardError([1, 3])!, 1);
  assertAlmostEquals(weightedMean([{ value: 1, weight: 3 }, { value: 0, weight: 1 }])!, 0.75);
});

Deno.test("a difference within the tolerance is a tie", () => {
  assertEquals([winnerOf(0.5, 0.5 + 1e-10), winnerOf(0.5, 0.6), winnerOf(0.6, 0.5)], ["tie", "B", "A"]);
});

Deno.test("rankOrder() ranks by falling value, ties by index, whatever the last bits say", () => {
  assertEquals(rankOrder([0.1, 0.3, 0.2]), [1, 2, 0]);
  assertEquals(rankOrder([0.2, 0.2 + 1e-13, 0.1 + 0.1]), [0, 1, 2]);
  fc.assert(fc.property(fc.array(fc.double({ min: -1, max: 1, noNaN: true })), (values) => {
    const order = rankOrder(values);
    assertEquals([...order].sort((x, y) => x - y), values.map((_, i) => i));
    order.forEach((index, i) => assert(i === 0 || values[index]! <= values[order[i - 1]!]! + 1e-9));
  }));
});
