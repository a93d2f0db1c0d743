/**
 * The acceptance rule against `sessionAccepted` of dsh-llm-verifier 0.7.0 (the rule of 0.4.0), with the differences
 * that are meant listed one by one.
 *
 * `verificationVerdict` of the same file reads the text of one command's output and steers process selection there. We
 * have no such function: whether a check passed is for the judge to grade. Its vectors are not run; that the embedded
 * judge tells a failed from a passed run apart is `evidence_test.ts`'s.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { applyRule, type MeasuredCriterion } from "../../verifier/gate/rule.ts";

const FILE = new URL("../../../shared/golden/dsh_llm_verifier.json", import.meta.url);
const text = await Deno.readTextFile(FILE).catch(() => null);

interface Vector {
  readonly evidence: {
    readonly score: number | "NaN";
    readonly winner: "A" | "B" | "tie";
    readonly criteria?: readonly { readonly id: string; readonly score: number }[];
  };
  readonly threshold: number;
  readonly value: boolean;
  readonly failed: readonly { readonly id: string }[] | readonly string[];
}

/** What ours says instead, and why. */
const DIFFERENT: ReadonlyMap<string, { readonly decision: string; readonly why: string }> = new Map([
  ["missing criteria", { decision: "open", why: "a mean without its criteria was measured by nobody" }],
  ["empty criteria", { decision: "open", why: "the same: nothing was measured, so nothing is accepted" }],
  ["score 0", {
    decision: "steer",
    why:
      "theirs is told who won; work scored 0 can't be above any baseline, so ours says that it didn't beat it",
  }],
  ["NaN", {
    decision: "open",
    why: "a score that is no number is missing, and a missing score never steers",
  }],
]);

function kindOf({ evidence }: Vector): string | null {
  if (evidence.score === "NaN") return "NaN";
  if (evidence.criteria === undefined) return "missing criteria";
  if (evidence.criteria.length === 0) return "empty criteria";
  return evidence.score === 0 ? "score 0" : null;
}

Deno.test({
  name: text === null
    ? "golden sessionAccepted vectors (skipped: ../shared/golden is absent)"
    : "the rule says what sessionAccepted says, but for four differences that are meant",
  ignore: text === null,
  fn: () => {
    const { groups } = JSON.parse(text!) as {
      groups: { sessionAccepted: { vectors: readonly Vector[]; count: number } };
    };
    const { vectors, count } = groups.sessionAccepted;
    assertEquals(vectors.length, count);
    const met = new Set<string>();
    for (const vector of vectors) {
      const { evidence, threshold } = vector;
      const beats = evidence.winner === "A";
      const given = evidence.criteria ?? [];
      const criteria = given.map(({ id, score }): MeasuredCriterion => ({
        id,
        name: id,
        weight: 1,
        score,
        // Theirs is told who won; a baseline just below, or level, says the same.
        baseline: beats ? Math.max(0, score - 0.5) : score,
        unscored: 0,
      }));
      const kind = kindOf(vector);
      const work = kind === "NaN"
        ? [{ id: "a", name: "a", weight: 1, score: NaN, baseline: 0, unscored: 0 }]
        : criteria;
      const { decision, failing } = applyRule(work, { threshold });
      if (kind !== null) {
        met.add(kind);
        assertEquals(decision, DIFFERENT.get(kind)!.decision, `${kind}: ${DIFFERENT.get(kind)!.why}`);
        continue;
      }
      assertEquals(decision, vector.value ? "accept" : "steer", JSON.stringify(evidence));
      assertEquals(failing.length, vector.failed.length);
    }
    assertEquals(met, new Set(DIFFERENT.keys()));
  },
});
