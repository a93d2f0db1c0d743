/**
 * The fitted numbers of the evidence judge, typed.
 *
 * @module
 */
import weights from "./weights.json" with { type: "json" };
import type { FeatureName } from "./features.ts";

/** What a criterion can look at. */
export type EvidenceGroup =
  | "effort"
  | "scripts"
  | "failures"
  | "stalls"
  | "ending"
  | "verification"
  | "coverage"
  | "outputs"
  | "agreement";

/** What a criterion is about, as far as evidence can tell. */
export type EvidenceAspect = "specification" | "errors" | "output" | "verification" | "completeness";

/** Logistic model of one run: `bias + sum(weight * clip((value - mean) / deviation, 2))`. */
export interface LevelModel {
  readonly bias: number;
  /** `[weight, mean, deviation]` by feature. */
  readonly features: Readonly<Partial<Record<FeatureName, readonly number[]>>>;
}

/** Logistic model of "A is better than B". */
export interface PairModel {
  /** Factor on the fitted logit, which was too sure of itself on unseen tasks. */
  readonly shrink: number;
  /** How much more finished a run must look (progress logits) before it counts, and the slope from there. */
  readonly unfinished: { readonly dead: number; readonly slope: number };
  /** Differences are clipped at so many deviations. */
  readonly clip: number;
  readonly groups: Readonly<
    Partial<
      Record<EvidenceGroup, {
        readonly weight: number;
        /** `[sign, deviation within a task]` by feature. */
        readonly features: Readonly<Partial<Record<FeatureName, readonly number[]>>>;
      }>
    >
  >;
  readonly criteria: Readonly<Record<EvidenceAspect, readonly string[]>>;
  /** Chance that a whole run passes. */
  readonly pass: LevelModel;
  /** How far along a prefix looks. */
  readonly progress: LevelModel;
}

/** `pair`: two runs alone. `list`: the same with the agreement between three or more. */
export interface EvidenceWeights {
  readonly pair: PairModel;
  readonly list: PairModel;
}

/**
 * The weights that ship with Assay: 12 features that pointed the same way in all parts of the data. Fitted by
 * `bench/evidence_fit.ts`, measured by `bench/evidence.ts`.
 */
export const EVIDENCE_WEIGHTS: EvidenceWeights = weights;

/** Short name of a set of weights, part of a judge's identity (two 32-bit hashes of its JSON; tells sets apart, proves nothing). */
export function fingerprint(weights: EvidenceWeights): string {
  const text = JSON.stringify(weights);
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let at = 0; at < text.length; at++) {
    low = Math.imul(low ^ text.charCodeAt(at), 0x01000193);
    high = Math.imul(high ^ text.charCodeAt(at), 0x85ebca6b);
  }
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}
