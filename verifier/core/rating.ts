/**
 * Strengths, slot bias and noise from scored calls. The model, its variances and where they come from are documented in
 * `core/src/rating.rs`.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import { call } from "./runtime.ts";

/** One scored call as the rating sees it: `difference` = score in slot A - score in slot B, -1 to 1. */
export interface Observation {
  /** Candidate in slot A. */
  readonly a: number;
  /** Candidate in slot B, another one. */
  readonly b: number;
  /** Number of the criterion, 0-based. */
  readonly criterion: number;
  /** Score in slot A minus score in slot B, -1 to 1. */
  readonly difference: number;
  /** Relative weight of the criterion (mean 1); the call's noise variance is divided by it. */
  readonly weight?: number;
}

/** Posterior of the linear Gaussian model. */
export interface Rating {
  /** Posterior means per candidate, score units. */
  readonly strength: Float64Array;
  /** Posterior standard deviations times the learnt noise scale. */
  readonly standardError: Float64Array;
  /** Probability of being this judge's own best; sums to 1. */
  readonly probabilityBest: Float64Array;
  /** What slot A gains over slot B, score units; positive: this judge favours slot A. */
  readonly slotBias: number;
  /** How much noisier the calls are than the model expects; 1 without calls. */
  readonly noiseScale: number;
  /** Share of the pair differences that the strengths don't explain, 0 to 1; `null` without a cycle. */
  readonly cycleResidual: number | null;
}

const FIELDS = 5;

function flat(observations: readonly Observation[]): Float64Array {
  const out = new Float64Array(FIELDS * observations.length);
  observations.forEach(({ a, b, criterion, difference, weight = 1 }, i) => {
    const at = FIELDS * i;
    out[at] = a;
    out[at + 1] = b;
    out[at + 2] = criterion;
    out[at + 3] = difference;
    out[at + 4] = weight;
  });
  return out;
}

/**
 * Rates `count` candidates from scored calls; order of the observations doesn't matter (the result is the same bit for
 * bit). Defined for no observations, ties, disconnected pairs and one candidate.
 *
 * @param count up to 1,000
 * @param priorMeans strengths expected beforehand, score units; default 0
 * @throws {AssayError} `invalid_request` naming the field: an index out of range, a difference outside -1 to 1, a weight
 * that isn't positive, another number of prior means
 *
 * @example
 * ```ts
 * import { rate } from "./rating.ts";
 *
 * const rating = rate(2, [
 *   { a: 0, b: 1, criterion: 0, difference: 0.4 },
 *   { a: 1, b: 0, criterion: 0, difference: -0.2 },
 * ]);
 * console.log(rating.strength[0]! > rating.strength[1]!); // true
 * ```
 */
export function rate(
  count: number,
  observations: readonly Observation[],
  priorMeans?: readonly number[],
): Rating {
  const means = Float64Array.from(priorMeans ?? []);
  if (priorMeans !== undefined) checkMeans(count, means);
  const calls = flat(observations);
  const out = call((core) => core.rate(count, calls, means));
  const [slotBias, noiseScale, cycleResidual] = out as unknown as [number, number, number];
  return {
    strength: out.slice(3, 3 + count),
    standardError: out.slice(3 + count, 3 + 2 * count),
    probabilityBest: out.slice(3 + 2 * count),
    slotBias,
    noiseScale,
    cycleResidual: Number.isNaN(cycleResidual) ? null : cycleResidual,
  };
}

/**
 * Probability that the pick really passes, from a judge's measured pair accuracy and base rate.
 *
 * @param calibration `pairAccuracy`: share of labelled pass/fail pairs that one call per criterion orders right, between
 * 0 and 1 (at 0.5 or below the judge tells nothing and the answer is the pass rate); `passRate`: share of candidates that
 * pass, 0 to 1
 * @returns 0 to 1; deterministic (all outcomes are summed up to 16 candidates, sampled with a fixed seed above)
 * @throws {AssayError} `invalid_request` as {@linkcode rate}, or for a pick or calibration out of range
 */
export function probabilityRight(
  count: number,
  observations: readonly Observation[],
  pick: number,
  calibration: { pairAccuracy: number; passRate: number },
  priorMeans?: readonly number[],
): number {
  const means = Float64Array.from(priorMeans ?? []);
  if (priorMeans !== undefined) checkMeans(count, means);
  const calls = flat(observations);
  const { pairAccuracy, passRate } = calibration;
  return call((core) => core.probabilityRight(count, calls, means, pick, pairAccuracy, passRate));
}

/** The core takes an empty list for "none"; a caller who gives one for several candidates made a mistake. */
function checkMeans(count: number, means: Float64Array): void {
  if (means.length === 0 && count !== 0) {
    throw AssayError.field("/priorMeans", `must be as many as the candidates (${count})`, 0);
  }
}
