/**
 * From features to numbers: the pair logit, the level of each side, the letter distribution, the progress of a prefix.
 *
 * Source of the formulas: logistic regression on differences of features in units of their spread within a task,
 * grouped so that correlated features share one weight; fitted on Terminal-Bench runs (see `weights.ts`).
 *
 * @module
 */
import type { FeatureName, Features } from "./features.ts";
import type { EvidenceAspect, EvidenceGroup, LevelModel, PairModel } from "./weights.ts";

/** What one feature says about a pair; positive: A is better. */
export interface Term {
  /** Which feature. */
  readonly feature: FeatureName;
  /** Its value for A. */
  readonly a: number;
  /** Its value for B. */
  readonly b: number;
  /** What it adds to the log-odds before shrinking. */
  readonly term: number;
}

/** What the evidence says about a pair. */
export interface PairVerdict {
  /** Log-odds that A is better. */
  readonly logit: number;
  /** What every feature adds before shrinking, strongest first (ties by name). */
  readonly terms: readonly Term[];
  /** The part of the logit that comes from one run looking unfinished beside the other; positive: B does. */
  readonly unfinished: number;
  /** One side acted and the other never did: that alone decides. */
  readonly onlyOneActed: boolean;
}

/** Scores of both sides with their letter distributions. */
export interface PairScores {
  /** Chance that A is the better one, 0 to 1. */
  readonly probabilityA: number;
  /** Score of A, 0 to 1. */
  readonly scoreA: number;
  /** Score of B, 0 to 1. */
  readonly scoreB: number;
  /** Standard deviation of the letters, in score units. A convention: widest where the evidence is undecided. */
  readonly spread: number;
  /** Probabilities of the letters A to T for A; they add up to 1. */
  readonly lettersA: readonly number[];
  /** The same for B. */
  readonly lettersB: readonly number[];
}

const LETTERS = 20;
/** A run that never acted can't win against one that did. */
const NEVER_ACTED_LOGIT = 4;
const LEVEL_CLIP = 2;
const LOWEST_SCORE = 0.02;

/** Compares two runs on one aspect (`null`: on everything). */
export function comparePair(
  a: Features,
  b: Features,
  model: PairModel,
  aspect: EvidenceAspect | null = null,
): PairVerdict {
  const groups = new Map<string, number>();
  const terms: Term[] = [];
  for (const [group, { weight, features }] of Object.entries(model.groups)) {
    const members = Object.entries(features) as [FeatureName, readonly number[]][];
    // Agreement is known in lists only.
    if (members.some(([name]) => a[name] === undefined || b[name] === undefined)) continue;
    let total = 0;
    for (const [name, [sign = 0, deviation = 1]] of members) {
      const difference = clip((a[name]! - b[name]!) / deviation, model.clip);
      const term = weight * sign * difference / Math.sqrt(members.length);
      total += term;
      terms.push({ feature: name, a: a[name]!, b: b[name]!, term });
    }
    groups.set(group, total);
  }
  terms.sort((x, y) =>
    Math.abs(y.term) - Math.abs(x.term) || (x.feature < y.feature ? -1 : x.feature > y.feature ? 1 : 0)
  );
  if (hasActed(a) !== hasActed(b)) {
    return {
      logit: hasActed(a) ? NEVER_ACTED_LOGIT : -NEVER_ACTED_LOGIT,
      terms,
      unfinished: 0,
      onlyOneActed: true,
    };
  }
  let logit = 0;
  for (const total of groups.values()) logit += total;
  const own = aspect === null ? [] : model.criteria[aspect].filter((group) => groups.has(group));
  if (own.length > 0) {
    const weight = (group: string) => model.groups[group as EvidenceGroup]?.weight ?? 0;
    const squares = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + weight(name) ** 2, 0);
    const scale = Math.sqrt(squares(groups.keys()) / squares(own));
    logit = 0.5 * logit + 0.5 * scale * own.reduce((sum, group) => sum + groups.get(group)!, 0);
  }
  // Short runs look good until one sees that they stopped half-way.
  const lead = levelLogit(a, model.progress) - levelLogit(b, model.progress);
  const unfinished = Math.sign(lead) *
    Math.max(0, Math.abs(lead) - model.unfinished.dead) * model.unfinished.slope;
  return { logit: model.shrink * (logit + unfinished), terms, unfinished, onlyOneActed: false };
}

/** Whether a run did anything that can be observed. */
export function hasActed(features: Features): boolean {
  return (features.log_chars ?? 0) > 0;
}

/** Scores of a compared pair: both runs' mean level, pulled apart by the pair's logit. */
export function scorePair(a: Features, b: Features, verdict: PairVerdict, model: PairModel): PairScores {
  const level = (levelLogit(a, model.pass) + levelLogit(b, model.pass)) / 2;
  const probabilityA = sigmoid(verdict.logit);
  const spread = spreadOf(probabilityA);
  const scoreA = sigmoid(level + verdict.logit / 2);
  const scoreB = sigmoid(level - verdict.logit / 2);
  return {
    probabilityA,
    scoreA,
    scoreB,
    spread,
    lettersA: letterDistribution(scoreA, spread),
    lettersB: letterDistribution(scoreB, spread),
  };
}

/** Progress of a prefix, 0 to 1. Orders the prefixes of one run; not a probability of passing. */
export function progressScore(features: Features, model: PairModel): number {
  return sigmoid(levelLogit(features, model.progress));
}

/** Log-odds of one run by itself. */
export function levelLogit(features: Features, model: LevelModel): number {
  let logit = model.bias;
  for (const [name, [weight = 0, mean = 0, deviation = 1]] of Object.entries(model.features)) {
    logit += weight * clip(((features[name as FeatureName] ?? 0) - mean) / deviation, LEVEL_CLIP);
  }
  return logit;
}

/** Share of the others that each run beats, in expectation: the mean probability of winning its pairs. */
export function softWins(all: readonly Features[], model: PairModel): readonly number[] {
  return all.map((a, i) => {
    const wins = all.reduce((sum, b, j) => j === i ? sum : sum + sigmoid(comparePair(a, b, model).logit), 0);
    return wins / Math.max(1, all.length - 1);
  });
}

/** Spread of the letters for a decision of this probability. */
export function spreadOf(probability: number): number {
  return 0.08 + 0.48 * probability * (1 - probability);
}

/**
 * Probabilities of the letters, best (value 1) first, worst (value 0) last: a normal distribution on the 20 values
 * whose mean is `score` (clamped to 0.02 to 0.98); its centre is found by bisection.
 */
export function letterDistribution(score: number, spread: number): readonly number[] {
  const target = clampScore(score);
  const values = Array.from({ length: LETTERS }, (_, i) => 1 - i / (LETTERS - 1));
  let low = -3;
  let high = 4;
  let masses: number[] = [];
  for (let round = 0; round < 60; round++) {
    const centre = (low + high) / 2;
    const nearest = Math.min(...values.map((value) => Math.abs(value - centre)));
    masses = values.map((value) =>
      Math.exp(-0.5 * ((value - centre) / spread) ** 2 + 0.5 * (nearest / spread) ** 2)
    );
    const mean = values.reduce((sum, value, i) => sum + value * masses[i]!, 0) / total(masses);
    if (mean < target) low = centre;
    else high = centre;
  }
  const mass = total(masses);
  return masses.map((value) => value / mass);
}

function clampScore(score: number): number {
  return Math.min(1 - LOWEST_SCORE, Math.max(LOWEST_SCORE, score));
}

/** Logistic function, its argument clipped to ±30. */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-clip(x, 30)));
}

function clip(x: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, x));
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
