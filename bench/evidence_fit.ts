/**
 * How the group weights of the evidence judge were fitted: logistic regression on pairs of a passing and a failing run of
 * one task, without intercept. A run's features enter as differences in units of their spread within a task, clipped,
 * summed by group with fixed signs; the groups' weights are pulled towards 0.3. Each pair counts with one over the
 * square root of its task's pairs.
 *
 * `bench/evidence_fit_test.ts` runs it on the published numbers and compares with the weights that ship.
 *
 * @module
 */
import type { FeatureName, Features } from "../verifier/judges/evidence/features.ts";
import { isMixed, type NumberTask } from "./evidence_data.ts";

/** Signs of the features by group. */
export type Groups = Readonly<Record<string, Readonly<Partial<Record<FeatureName, number>>>>>;

/** What the fit gives. */
export interface Fit {
  /** Weight of each group, in the order of the groups. */
  readonly weights: readonly number[];
  /** Spread of each feature within a task. */
  readonly deviations: Readonly<Partial<Record<FeatureName, number>>>;
}

const CLIP = 1.5;
const PRIOR = 0.3;
const PENALTY = 10;

/** Tasks whose texts carry a mark that asks not to be trained on: measured on, never fitted. */
const MARKED = new Set([
  "2.0/break-filter-js-from-html",
  "2.0/custom-memory-heap-crash",
  "2.0/llm-inference-batching-scheduler",
  "2.0/extract-moves-from-video",
  "2.1/break-filter-js-from-html",
  "2.1/custom-memory-heap-crash",
  "2.1/llm-inference-batching-scheduler",
  "2.1/extract-moves-from-video",
  "2.1/build-pov-ray",
  "2.1/mteb-leaderboard",
]);

/** Fits group weights on tasks that were not kept out. */
export function fitGroups(all: readonly NumberTask[], groups: Groups): Fit {
  const tasks = all.filter(({ keptOut, set, name }) => !keptOut && !MARKED.has(`${set}/${name}`));
  const deviations: Partial<Record<FeatureName, number>> = {};
  for (const name of Object.values(groups).flatMap((features) => Object.keys(features) as FeatureName[])) {
    deviations[name] = spreadWithin(tasks, name);
  }
  const rows: { readonly x: readonly number[]; readonly weight: number }[] = [];
  for (const { rewards, features } of tasks.filter(({ rewards }) => isMixed(rewards))) {
    const passing = features.filter((_, i) => rewards[i]! > 0);
    const failing = features.filter((_, i) => rewards[i] === 0);
    const weight = (passing.length * failing.length) ** -0.5;
    for (const a of passing) {
      for (const b of failing) rows.push({ x: composites(a, b, groups, deviations), weight });
    }
  }
  return { weights: logistic(rows, Object.keys(groups).length), deviations };
}

/** Root of the mean variance within a task. */
function spreadWithin(tasks: readonly NumberTask[], name: FeatureName): number {
  const variances = tasks.filter(({ features }) => features.length > 1).map(({ features }) => {
    const values = features.map((run) => run[name]!);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  });
  return Math.sqrt(variances.reduce((sum, value) => sum + value, 0) / variances.length) + 1e-6;
}

function composites(
  a: Features,
  b: Features,
  groups: Groups,
  deviations: Fit["deviations"],
): readonly number[] {
  return Object.values(groups).map((features) => {
    const members = Object.entries(features) as [FeatureName, number][];
    const total = members.reduce((sum, [name, sign]) => {
      const difference = (a[name]! - b[name]!) / deviations[name]!;
      return sum + sign * Math.max(-CLIP, Math.min(CLIP, difference));
    }, 0);
    return total / Math.sqrt(members.length);
  });
}

/** Newton's method on the penalised likelihood that every row is a win. */
function logistic(
  rows: readonly { readonly x: readonly number[]; readonly weight: number }[],
  size: number,
): readonly number[] {
  const weights = Array.from({ length: size }, () => PRIOR);
  for (let round = 0; round < 50; round++) {
    const gradient = weights.map((weight) => -PENALTY * (weight - PRIOR));
    const curvature = weights.map((_, i) => weights.map((_, j) => i === j ? PENALTY : 0));
    for (const { x, weight } of rows) {
      const chance = 1 / (1 + Math.exp(-x.reduce((sum, value, i) => sum + value * weights[i]!, 0)));
      for (let i = 0; i < size; i++) {
        gradient[i]! += weight * (1 - chance) * x[i]!;
        for (let j = 0; j < size; j++) curvature[i]![j]! += weight * chance * (1 - chance) * x[i]! * x[j]!;
      }
    }
    const step = solve(curvature, gradient);
    step.forEach((value, i) => weights[i]! += value);
    if (Math.max(...step.map(Math.abs)) < 1e-10) break;
  }
  return weights;
}

/** Solves a symmetric positive definite system by elimination; both arguments are used up. */
function solve(matrix: number[][], right: number[]): readonly number[] {
  const size = right.length;
  for (let i = 0; i < size; i++) {
    for (let row = i + 1; row < size; row++) {
      const factor = matrix[row]![i]! / matrix[i]![i]!;
      for (let column = i; column < size; column++) matrix[row]![column]! -= factor * matrix[i]![column]!;
      right[row]! -= factor * right[i]!;
    }
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let column = i + 1; column < size; column++) right[i]! -= matrix[i]![column]! * right[column]!;
    right[i]! /= matrix[i]![i]!;
  }
  return right;
}
