/**
 * The Rust core as typed functions. Calls carry numbers, typed arrays or one string; errors are values on the wasm
 * side and `AssayError`s here; a wasm trap fails this one call and the next one gets a fresh instance.
 *
 * @module
 */
import type { Criterion, Score, Step, TokenLogprob } from "./types.ts";

const todo = (): never => {
  throw new Error("the core is not built yet");
};

/** Version of the prompt texts: part of every cache key and every stored decision. */
export function promptVersion(): string {
  return todo();
}

/** Version of the core (decoder, schedules, ratings): part of every cache key. */
export function coreVersion(): string {
  return todo();
}

/**
 * Wraps untrusted text in a block whose delimiter is keyed by the server's secret and the text (HMAC-SHA-256):
 * deterministic, and not forgeable by the text inside.
 */
export function delimitBlock(_secret: string, _text: string): string {
  return todo();
}

/** Fixed texts around the blocks of a pairwise prompt, in order. The prefix is their interleaving with the blocks. */
export interface PairwiseFrame {
  readonly beforeTask: string;
  readonly beforeContext: string;
  readonly beforeA: string;
  readonly beforeB: string;
  readonly afterB: string;
}

/** The frame of a pairwise prompt: role and ground-truth note, headings, scale. `proposal` is for unexecuted work. */
export function pairwiseFrame(
  _options: {
    groundTruthNote: string;
    hasContext: boolean;
    images: number;
    stage: "trajectory" | "proposal";
  },
): PairwiseFrame {
  return todo();
}

/** Criterion and output contract of a pairwise prompt. */
export function pairwiseSuffix(_criterion: Criterion): string {
  return todo();
}

/** Fixed texts of a progress prompt: `beforeTask` + block(task) + `beforeSteps` + block(steps) + `afterSteps`; the suffix lists the checkpoints. */
export interface ProgressFrame {
  readonly beforeTask: string;
  readonly beforeContext: string;
  readonly beforeSteps: string;
  readonly afterSteps: string;
}

/** The frame of a progress prompt. */
export function progressFrame(
  _options: { groundTruthNote: string; criteria: readonly Criterion[]; hasContext: boolean; images: number },
): ProgressFrame {
  return todo();
}

/** Checkpoint list and output contract of a progress prompt. `checkpoints` are 1-based step numbers, ascending. */
export function progressSuffix(_checkpoints: readonly number[], _stepCount: number): string {
  return todo();
}

/** A best-of-N draft prompt; only the last line `Draft i of N` varies. */
export function draftPrompt(
  _options: { request: string; context?: string; draft: number; drafts: number },
): string {
  return todo();
}

/** A probe prompt with the real request shape: a tiny pair whose answer is obvious. */
export function quoteMarkers(_text: string): string {
  return todo();
}

/**
 * Renders structured steps. Each rendered step starts with `--- Agent Step n ---`, then the message, `[Command] …`
 * lines and `[Output]` blocks; lines of the agent's or the tools' text that look like these markers are quoted with `> `.
 * @returns one string per step; the trajectory's text is their concatenation
 */
export function renderSteps(_steps: readonly Step[], _firstNumber = 1): readonly string[] {
  return todo();
}

/** What rubric Markdown says, or why it can't be read. @throws {AssayError} `invalid_request` naming heading and line */
export function parseRubricMarkdown(
  _markdown: string,
): {
  readonly groundTruthNote: string;
  readonly criteria: readonly Criterion[];
  readonly warnings: readonly string[];
} {
  return todo();
}

/** Unique ids for names: slug (lower case, non-alphanumerics to `_`, at most 40 characters), then `_2`, `_3`. Pinned ids are kept. */
export function criterionIds(
  _items: readonly { readonly name: string; readonly id?: string }[],
): readonly string[] {
  return todo();
}

/** Less letter mass than this is `low_letter_mass`. */
export const MINIMUM_LETTER_MASS = 0.5;

/** Direction of the scale: pairwise A = 1 … T = 0, progress A = 0 … T = 1. */
export type Direction = "pairwise" | "progress";

/**
 * Scores at the last complete tag of each name, from tokens with alternatives (channel `logprobs`).
 * Linear in the number of tokens. Never throws for a strange answer: it is `unscored` with a reason.
 */
export function decodeTokens(
  _tokens: readonly TokenLogprob[],
  _tags: readonly string[],
  _direction: Direction,
): readonly Score[] {
  return todo();
}

/** Score of one token's distribution (channel `continuation`): the token after an open tag. */
export function decodeLetter(_token: TokenLogprob, _direction: Direction): Score {
  return todo();
}

/** The sampled letters in the last complete tag of each name (channel `explicit_tag`). */
export function decodeText(_text: string, _tags: readonly string[], _direction: Direction): readonly Score[] {
  return todo();
}

/** A directed pair: `[shown in slot A, shown in slot B]`. */
export type Pair = readonly [number, number];

/** Seeded random ring over `count` candidates: `count` pairs for 3 or more, one for two, none below. */
export function ringPairs(_count: number, _seed: number): readonly Pair[] {
  return todo();
}

/** Pivot round: every non-pivot against every pivot and the pivots among themselves, without pairs in `bought`; slots balanced over both. */
export function pivotPairs(
  _count: number,
  _pivots: readonly number[],
  _bought: readonly Pair[],
): readonly Pair[] {
  return todo();
}

/** Every unordered pair once, slots balanced, order and orientation seeded. */
export function roundRobinPairs(_count: number, _seed: number): readonly Pair[] {
  return todo();
}

/** The published reference's ring (both directions for two candidates), CPython Mersenne Twister. */
export function upstreamRing(_count: number, _seed: number): readonly Pair[] {
  return todo();
}

/** The published reference's pivot round: pivots in slot B, duplicates of ring pairs kept. */
export function upstreamPivotRound(_count: number, _pivots: readonly number[]): readonly Pair[] {
  return todo();
}

/** Seeded shuffle of 0 … count-1 (CPython's `random.Random(seed).shuffle`). */
export function shuffledIndices(_count: number, _seed: number): readonly number[] {
  return todo();
}

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
