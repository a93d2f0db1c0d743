/**
 * Prompts, delimiters and rendered steps.
 *
 * @module
 */
import type { Criterion, Step } from "../types.ts";
import { call } from "./runtime.ts";

const todo = (): never => {
  throw new Error("the core is not built yet");
};

/** Version of the prompt texts: part of every cache key and every stored decision. */
export function promptVersion(): string {
  return todo();
}

/** Version of the core (decoder, schedules, ratings): part of every cache key. */
export function coreVersion(): string {
  return call((core) => core.coreVersion());
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
