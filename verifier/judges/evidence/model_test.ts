import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { FEATURE_LABELS, type FeatureName, type Features } from "./features.ts";
import {
  comparePair,
  letterDistribution,
  levelLogit,
  progressScore,
  scorePair,
  softWins,
  spreadOf,
} from "./model.ts";
import { EVIDENCE_WEIGHTS, type EvidenceAspect, type EvidenceGroup } from "./weights.ts";

const MODEL = EVIDENCE_WEIGHTS.pair;
const NAMES = (Object.keys(FEATURE_LABELS) as FeatureName[]).filter((name) => !name.startsWith("agree_"));
const value = fc.double({ min: 0, max: 12, noNaN: true });
const run: fc.Arbitrary<Features> = fc.array(value, { minLength: NAMES.length, maxLength: NAMES.length })
  .map((values) => Object.fromEntries(NAMES.map((name, i) => [name, values[i]!])));
const aspect = fc.constantFrom<EvidenceAspect | null>(
  null,
  "specification",
  "errors",
  "output",
  "verification",
  "completeness",
);

Deno.test("letterDistribution() has the asked mean, adds up to 1 and has one hump", () => {
  fc.assert(
    fc.property(
      fc.double({ min: -0.5, max: 1.5, noNaN: true }),
      fc.double({ min: 0.08, max: 0.2, noNaN: true }),
      (score, spread) => {
        const letters = letterDistribution(score, spread);
        assertEquals(letters.length, 20);
        assertAlmostEquals(letters.reduce((sum, p) => sum + p, 0), 1, 1e-12);
        const mean = letters.reduce((sum, p, i) => sum + p * (1 - i / 19), 0);
        assertAlmostEquals(mean, Math.min(0.98, Math.max(0.02, score)), 1e-9);
        const top = letters.indexOf(Math.max(...letters));
        for (let i = 1; i < 20; i++) {
          if (i <= top) assert(letters[i]! >= letters[i - 1]!);
          else assert(letters[i]! <= letters[i - 1]!);
        }
      },
    ),
  );
});

Deno.test("comparePair() mirrors, and equal runs are a tie", () => {
  fc.assert(fc.property(run, run, aspect, (a, b, of) => {
    const there = comparePair(a, b, MODEL, of);
    const back = comparePair(b, a, MODEL, of);
    assertAlmostEquals(there.logit, -back.logit, 1e-9);
    assertAlmostEquals(there.unfinished, -back.unfinished, 1e-9);
    assert(comparePair(a, a, MODEL, of).logit === 0);
  }));
});

Deno.test("scorePair() orders the scores as the logit says and keeps them within 0 and 1", () => {
  fc.assert(fc.property(run, run, aspect, (a, b, of) => {
    const verdict = comparePair(a, b, MODEL, of);
    const { scoreA, scoreB, probabilityA, spread } = scorePair(a, b, verdict, MODEL);
    assert(scoreA >= 0 && scoreA <= 1 && scoreB >= 0 && scoreB <= 1);
    assert(Math.sign(scoreA - scoreB) === Math.sign(verdict.logit) || Math.abs(verdict.logit) < 1e-9);
    assertEquals(spread, spreadOf(probabilityA));
  }));
});

Deno.test("softWins() adds up to half the number of runs", () => {
  fc.assert(fc.property(fc.array(run, { minLength: 2, maxLength: 6 }), (runs) => {
    const wins = softWins(runs, MODEL);
    assertAlmostEquals(wins.reduce((sum, win) => sum + win, 0), runs.length / 2, 1e-9);
  }));
});

Deno.test("progressScore() is the logistic of the level", () => {
  fc.assert(fc.property(run, (features) => {
    const score = progressScore(features, MODEL);
    assertAlmostEquals(Math.log(score / (1 - score)), levelLogit(features, MODEL.progress), 1e-6);
  }));
});

Deno.test("the shipped weights name known features and groups only", () => {
  for (const model of [EVIDENCE_WEIGHTS.pair, EVIDENCE_WEIGHTS.list]) {
    const groups = Object.values(model.groups);
    const named = [...groups.map(({ features }) => features), model.pass.features, model.progress.features]
      .flatMap((features) => Object.keys(features));
    for (const name of named) assert(name in FEATURE_LABELS, name);
    for (const group of Object.values(model.criteria).flat()) {
      assert(model.groups[group as EvidenceGroup], group);
    }
  }
  assertEquals(
    Object.values(EVIDENCE_WEIGHTS.pair.groups).flatMap(({ features }) => Object.keys(features)).length,
    12,
  );
});
