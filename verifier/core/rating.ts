/**
 * Strengths, slot bias and noise from scored calls.
 *
 * @module
 */

const todo = (): never => {
  throw new Error("the core is not built yet");
};

/** One scored call as the rating sees it: `difference` = score in slot A - score in slot B, -1 to 1. */
export interface Observation {
  readonly a: number;
  readonly b: number;
  readonly criterion: number;
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
  readonly slotBias: number;
  readonly noiseScale: number;
  /** Share of the pair differences that the strengths don't explain, 0 to 1; `null` without a cycle. */
  readonly cycleResidual: number | null;
}

/** Rates `count` candidates from scored calls; order of the observations doesn't matter. `priorMeans` default to 0. */
export function rate(
  _count: number,
  _observations: readonly Observation[],
  _priorMeans?: readonly number[],
): Rating {
  return todo();
}

/** Probability that the pick really passes, from a judge's measured pair accuracy and base rate. */
export function probabilityRight(
  _count: number,
  _observations: readonly Observation[],
  _pick: number,
  _calibration: { pairAccuracy: number; passRate: number },
  _priorMeans?: readonly number[],
): number {
  return todo();
}
