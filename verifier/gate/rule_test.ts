import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { applyRule, DEFAULT_THRESHOLD, type MeasuredCriterion } from "./rule.ts";

const criterion = (
  id: string,
  score: number | null,
  more: Partial<MeasuredCriterion> = {},
): MeasuredCriterion => (
  {
    id,
    name: id,
    weight: 1,
    score,
    baseline: score === null ? null : 0,
    unscored: score === null ? 1 : 0,
    ...more,
  }
);
const unit = fc.double({ min: 0, max: 1, noNaN: true });
const measured = fc.array(
  fc.record({
    score: fc.option(unit),
    baseline: fc.option(unit),
    weight: fc.double({ min: 0.01, max: 10, noNaN: true }),
    unscored: fc.nat(2),
  }),
  { minLength: 1, maxLength: 6 },
).map((list) => list.map((own, i) => criterion(`c${i}`, own.score, own)));
const limits = fc.record({
  threshold: unit,
  floors: fc.dictionary(fc.constantFrom("c0", "c1", "c2", "toString", "__proto__"), unit),
});

Deno.test("the rule accepts at the threshold, and steers below it", () => {
  const limits = { threshold: DEFAULT_THRESHOLD };
  assertEquals(
    applyRule([criterion("a", 0.65), criterion("b", 0.65), criterion("c", 0.65)], limits).decision,
    "accept",
  );
  const low = applyRule([criterion("a", 0.9), criterion("b", 0.64)], limits);
  assertEquals([low.decision, low.failing], ["steer", [{ id: "b", name: "b", score: 0.64, floor: 0.65 }]]);
  // Letters G and H of a judge that gives one letter only.
  assertEquals(applyRule([criterion("a", 13 / 19)], limits).decision, "accept");
  assertEquals(applyRule([criterion("a", 12 / 19)], limits).decision, "steer");
});

Deno.test("a floor of its own lets a criterion be weaker or demands more of it, the mean stays as demanded", () => {
  const work = [criterion("a", 0.9), criterion("b", 0.5)];
  assertEquals(applyRule(work, { threshold: 0.65 }).decision, "steer");
  assertEquals(applyRule(work, { threshold: 0.65, floors: { b: 0.5 } }).decision, "accept");
  assertEquals(
    applyRule(work, { threshold: 0.65, floors: { a: 0.95, b: 0.5 } }).failing.map(({ id }) => id),
    ["a"],
  );
  const mean = applyRule([criterion("a", 0.7), criterion("b", 0.5)], { threshold: 0.65, floors: { b: 0 } });
  assertEquals([mean.decision, mean.failing], ["steer", []]);
});

Deno.test("work that does not beat the empty baseline is never accepted", () => {
  const tie = applyRule([criterion("a", 1, { baseline: 1 })], { threshold: 0.5 });
  assertEquals([tie.decision, tie.beatsBaseline], ["steer", false]);
  assertEquals(applyRule([criterion("a", 0, { baseline: 0 })], { threshold: 0 }).decision, "steer");
});

Deno.test("weights move the mean", () => {
  const work = [criterion("a", 1, { weight: 3 }), criterion("b", 0.2, { weight: 1 })];
  assertEquals(applyRule(work, { threshold: 0.65, floors: { b: 0 } }).score, 0.8);
});

Deno.test("what is no score from 0 to 1 counts as missing", () => {
  for (const score of [NaN, Infinity, -0.1, 1.1, null]) {
    const verdict = applyRule([criterion("a", score, { baseline: 0, unscored: 0 }), criterion("b", 0.1)], {
      threshold: 0.65,
    });
    assertEquals([verdict.decision, verdict.score], ["open", null], String(score));
  }
  assertEquals(applyRule([], { threshold: 0 }).decision, "open");
});

Deno.test("the rule never steers while a part has no score", () => {
  fc.assert(fc.property(measured, limits, (criteria, limits) => {
    const missing = criteria.some(({ score, baseline, unscored }) =>
      score === null || baseline === null || unscored > 0
    );
    const { decision } = applyRule(criteria, limits);
    if (missing) assert(decision !== "steer");
    if (criteria.some(({ score, baseline }) => score === null || baseline === null)) {
      assertEquals(decision, "open");
    }
    if (!missing) assert(decision !== "open");
  }));
});

Deno.test("better scores, lower limits and a weaker baseline never turn an acceptance into anything else", () => {
  fc.assert(
    fc.property(
      measured,
      limits,
      fc.array(unit, { minLength: 6, maxLength: 6 }),
      unit,
      (criteria, limits, lifts, ease) => {
        fc.pre(applyRule(criteria, limits).decision === "accept");
        const better = criteria.map((own, i) => ({
          ...own,
          score: own.score! + (1 - own.score!) * (lifts[i] ?? 0),
          baseline: own.baseline! * ease,
        }));
        assertEquals(applyRule(better, limits).decision, "accept");
        const floors = Object.fromEntries(
          Object.entries(limits.floors).map(([id, floor]) => [id, floor * ease]),
        );
        assertEquals(applyRule(criteria, { threshold: limits.threshold * ease, floors }).decision, "accept");
      },
    ),
    { numRuns: 100 },
  );
});

Deno.test("the verdict does not depend on the order of the criteria", () => {
  fc.assert(fc.property(measured, limits, (criteria, limits) => {
    const forth = applyRule(criteria, limits);
    const back = applyRule(criteria.toReversed(), limits);
    assertEquals(back.decision, forth.decision);
    assertEquals(back.failing.toReversed(), forth.failing);
  }));
});
