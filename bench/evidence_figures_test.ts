import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import {
  averaged,
  byStrength,
  type Outcome,
  outcome,
  pairDifference,
  pairFigure,
  pickFigure,
} from "./evidence_figures.ts";

Deno.test("outcome() counts pairs of a passing and a failing run, ties half, and shares a tied pick", () => {
  assertEquals(outcome([1, 0, 0], byStrength([2, 1, 3])), { right: 1, pairs: 2, pick: 0 });
  assertEquals(outcome([1, 0, 0], byStrength([3, 1, 2])), { right: 2, pairs: 2, pick: 1 });
  assertEquals(outcome([1, 0], byStrength([0, 0])), { right: 0.5, pairs: 1, pick: 0.5 });
  assertEquals(outcome([1, 1], byStrength([0, 1])), { right: 0, pairs: 0, pick: 1 });
});

Deno.test("averaged() is one outcome for the lists of one task", () => {
  const two = [{ right: 1, pairs: 2, pick: 0 }, { right: 2, pairs: 2, pick: 1 }];
  assertEquals(averaged(two), { right: 1.5, pairs: 2, pick: 0.5 });
});

const outcomes: readonly Outcome[] = Array.from(
  { length: 20 },
  (_, i) => ({ right: i % 4, pairs: 4, pick: i % 2 }),
);

Deno.test("figures hold the value within an interval that is the same on every run", () => {
  for (const figure of [pairFigure, pickFigure]) {
    const [value, low, high] = figure(outcomes);
    assert(low < value && value < high && low >= 0 && high <= 1);
    assertEquals(figure(outcomes), [value, low, high]);
  }
  assertAlmostEquals(pairFigure(outcomes)[0], 1.5 / 4);
  assertAlmostEquals(pickFigure(outcomes)[0], 0.5);
  // Without tasks there is no figure.
  assert(pairFigure([]).every(Number.isNaN));
});

Deno.test("pairDifference() compares two rankers on the same tasks", () => {
  assertEquals(pairDifference(outcomes, outcomes), [0, 0, 0]);
  const better = outcomes.map((one) => ({ ...one, right: one.right + 1 }));
  const [value, low, high] = pairDifference(better, outcomes);
  for (const share of [value, low, high]) assertAlmostEquals(share, 0.25);
});
