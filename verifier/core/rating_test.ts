import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AssayError } from "../errors.ts";
import { type Observation, probabilityRight, rate } from "./rating.ts";

const call = (a: number, b: number, difference: number, criterion = 0): Observation => ({
  a,
  b,
  criterion,
  difference,
});

Deno.test("rate() gives the reference filter's posterior for repeats in both slot orders", () => {
  const rating = rate(3, [
    call(0, 1, 0.4),
    call(1, 0, -0.1),
    call(0, 1, 0.35),
    call(2, 1, -0.6, 1),
    call(1, 2, 0.2, 1),
  ]);
  const strength = [0.10933146127441463, 0.016874564528095198, -0.1262060258025098];
  strength.forEach((s, i) => assertAlmostEquals(rating.strength[i]!, s, 1e-10));
  assertAlmostEquals(rating.slotBias, 0.002543833115879546, 1e-10);
  assertAlmostEquals(rating.noiseScale, 1.02072005921624, 1e-10);
  assertAlmostEquals(rating.standardError[0]!, Math.sqrt(0.02001416263737587) * 1.02072005921624, 1e-10);
  assertEquals(rating.cycleResidual, null);
});

Deno.test("rate() weighs a call by its criterion's weight", () => {
  const rating = rate(3, [
    { ...call(0, 1, 0.3), weight: 2 },
    { ...call(1, 0, 0.1, 1), weight: 0.5 },
    { ...call(2, 0, 0.5), weight: 1.5 },
    { ...call(2, 0, 0.1), weight: 0.25 },
  ]);
  const strength = [-0.0344590038212855, -0.0769945391318145, 0.1114535429531];
  strength.forEach((s, i) => assertAlmostEquals(rating.strength[i]!, s, 1e-10));
});

Deno.test("rate() is defined for none, one, ties and candidates that were never compared", () => {
  assertEquals(rate(0, []).strength.length, 0);
  assertEquals([...rate(1, []).probabilityBest], [1]);
  const none = rate(3, []);
  assertEquals([...none.strength], [0, 0, 0]);
  assertEquals([none.slotBias, none.noiseScale, none.cycleResidual], [0, 1, null]);
  const ties = rate(3, [call(0, 1, 0), call(1, 2, 0), call(2, 0, 0)]);
  assertEquals([...ties.strength], [0, 0, 0]);
  assertEquals(ties.cycleResidual, null);
  const apart = rate(4, [call(0, 1, 0.5), call(2, 3, -0.5)]);
  assert(apart.strength.every(Number.isFinite));
  assert(apart.strength[0]! > apart.strength[1]! && apart.strength[3]! > apart.strength[2]!);
});

Deno.test("rate() keeps a candidate that always wins within the score range", () => {
  const rating = rate(5, [1, 2, 3, 4].flatMap((b) => [0, 1, 2].map((c) => call(0, b, 1, c))));
  assert(rating.strength[0]! < 1 && rating.probabilityBest[0]! > 0.99);
});

Deno.test("rate() shows rock-paper-scissors as cycle residual", () => {
  const swing = (a: number, b: number) => [call(a, b, 0.5), call(b, a, -0.5)];
  const rating = rate(3, [...swing(0, 1), ...swing(1, 2), ...swing(2, 0)]);
  assertAlmostEquals(rating.cycleResidual!, 1, 1e-12);
  rating.strength.forEach((s) => assertAlmostEquals(s, 0, 1e-12));
});

Deno.test("rate() gives the same bits in whatever order the calls come", () => {
  const observation = fc.record({
    a: fc.integer({ min: 0, max: 4 }),
    step: fc.integer({ min: 1, max: 4 }),
    criterion: fc.integer({ min: 0, max: 2 }),
    difference: fc.double({ min: -1, max: 1, noNaN: true }),
  }).map(({ a, step, criterion, difference }) => call(a, (a + step) % 5, difference, criterion));
  fc.assert(fc.property(fc.array(observation, { maxLength: 25 }), (calls) => {
    const rating = rate(5, calls);
    assertEquals(rate(5, calls.toReversed()), rating);
    assertAlmostEquals(rating.probabilityBest.reduce((x, y) => x + y, 0), 1, 1e-12);
    const right = probabilityRight(5, calls, 2, { pairAccuracy: 0.77, passRate: 0.4 });
    assert(right >= 0 && right <= 1);
  }));
});

Deno.test("rate() and probabilityRight() name bad input", () => {
  const path = (run: () => unknown) => assertThrows(run, AssayError).errors[0]?.path;
  assertEquals(path(() => rate(1001, [])), "/count");
  assertEquals(path(() => rate(2, [call(0, 2, 0)])), "/observations/0/b");
  assertEquals(path(() => rate(2, [call(0, 1, 0), call(-1, 1, 0)])), "/observations/1/a");
  assertEquals(path(() => rate(2, [call(0, 0, 0)])), "/observations/0/b");
  assertEquals(path(() => rate(2, [call(0, 1, NaN)])), "/observations/0/difference");
  assertEquals(path(() => rate(2, [{ ...call(0, 1, 0), weight: 0 }])), "/observations/0/weight");
  assertEquals(path(() => rate(2, [call(0, 1, 0, 0.5)])), "/observations/0/criterion");
  assertEquals(path(() => rate(2, [], [0])), "/priorMeans");
  assertEquals(path(() => rate(2, [], [])), "/priorMeans");
  assertEquals(path(() => rate(2, [], [0, Infinity])), "/priorMeans/1");
  const right = (pick: number, pairAccuracy: number, passRate: number) => () =>
    probabilityRight(2, [], pick, { pairAccuracy, passRate });
  assertEquals(path(right(2, 0.7, 0.5)), "/pick");
  assertEquals(path(right(0, 1, 0.5)), "/calibration/pairAccuracy");
  assertEquals(path(right(0, 0.7, NaN)), "/calibration/passRate");
});

Deno.test("probabilityRight() starts from the pass rate and follows the evidence", () => {
  const calibration = { pairAccuracy: 0.76, passRate: 0.4 };
  assertAlmostEquals(probabilityRight(3, [], 0, calibration), 0.4, 1e-12);
  const calls = [call(0, 1, 0.6), call(0, 2, 0.5), call(1, 2, -0.1)];
  const [first, second] = [0, 1].map((pick) => probabilityRight(3, calls, pick, calibration));
  assert(first! > 0.5 && second! < 0.4);
  assertEquals(probabilityRight(3, calls, 0, { pairAccuracy: 0.5, passRate: 0.4 }), 0.4);
  assert(probabilityRight(3, [], 0, calibration, [0.05, 0, -0.05]) > 0.4);
});
