/**
 * Prompts, delimiters and rendered steps.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import type { Criterion, Step } from "../types.ts";
import { call, callJson, joinTexts } from "./runtime.ts";

/**
 * Fixed lines of the prompts that a parser may rely on; `core/src/prompts.rs` says where they stand. Each block's
 * opening line follows directly on its heading line.
 */
export const HEADINGS = {
  task: "## Task",
  context: "## Context",
  a: "## Trajectory A",
  b: "## Trajectory B",
  steps: "## Steps",
  /** Start of a line: the criterion's name follows. */
  criterion: "## Criterion: ",
  /** Start of the line under it: the criterion's id follows. */
  criterionId: "Id: ",
} as const;

/** Version of the prompt texts: part of every cache key and every stored decision. */
export function promptVersion(): string {
  return call((core) => core.promptVersion());
}

/** Version of the core (decoder, schedules, ratings): part of every cache key. */
export function coreVersion(): string {
  return call((core) => core.coreVersion());
}

/**
 * Wraps untrusted text in a block whose delimiter is keyed by the server's secret and the text (HMAC-SHA-256):
 * deterministic, and not forgeable by the text inside. The block is `<<<DATA token>>>`, the text and
 * `<<<END token>>>` on lines of their own, without a line end behind it; the token is 16 hexadecimal digits.
 * Lone surrogates in the text become U+FFFD.
 * @throws {AssayError} `invalid_request` when the secret is empty
 */
export function delimitBlock(secret: string, text: string): string {
  const wellFormed = text.toWellFormed();
  const token = call((core) => core.blockToken(secret, wellFormed));
  return `<<<DATA ${token}>>>\n${wellFormed}\n<<<END ${token}>>>`;
}

/**
 * {@linkcode delimitBlock} for long texts: the token is the HMAC of the text's SHA-256, which the runtime computes ten
 * times faster than WebAssembly can. As little forgeable, since a text can't hold the token of its own digest.
 * @param digest SHA-256 of the text's UTF-8, lower-case hex
 * @returns the block and its token
 * @throws {AssayError} `invalid_request` when the secret is empty
 */
export function delimitHashed(
  secret: string,
  text: string,
  digest: string,
): { readonly block: string; readonly token: string } {
  for (let round = 0;; round++) {
    const token = call((core) => core.blockToken(secret, `sha256:${digest}:${round}`));
    // A chance of 2^-64 per position: not worth knowing, but cheap to rule out for good.
    if (text.includes(token)) continue;
    return { block: `<<<DATA ${token}>>>\n${text}\n<<<END ${token}>>>`, token };
  }
}

/** Fixed texts around the blocks of a pairwise prompt, in order. The prefix is their interleaving with the blocks. */
export interface PairwiseFrame {
  readonly beforeTask: string;
  /** Empty without a context. */
  readonly beforeContext: string;
  readonly beforeA: string;
  readonly beforeB: string;
  readonly afterB: string;
}

/**
 * The frame of a pairwise prompt: role and ground-truth note, headings, scale. `proposal` is for unexecuted work.
 * @throws {AssayError} `invalid_request` when `images` is no count
 */
export function pairwiseFrame(
  options: {
    groundTruthNote: string;
    hasContext: boolean;
    images: number;
    stage: "trajectory" | "proposal";
  },
): PairwiseFrame {
  requireCount("/images", options.images);
  const { groundTruthNote, hasContext, images, stage } = options;
  return callJson((core) => core.pairwiseFrame(groundTruthNote, hasContext, images, stage === "proposal"));
}

/** Criterion and output contract of a pairwise prompt. */
export function pairwiseSuffix(criterion: Criterion): string {
  const { id, name, description } = criterion;
  return call((core) => core.pairwiseSuffix(id, name, description));
}

/** Fixed texts of a progress prompt: `beforeTask` + block(task) + `beforeSteps` + block(steps) + `afterSteps`; the suffix lists the checkpoints. */
export interface ProgressFrame {
  readonly beforeTask: string;
  /** Empty without a context. */
  readonly beforeContext: string;
  readonly beforeSteps: string;
  readonly afterSteps: string;
}

/**
 * The frame of a progress prompt. The criteria say what "done" means.
 * @throws {AssayError} `invalid_request` when `images` is no count
 */
export function progressFrame(
  options: { groundTruthNote: string; criteria: readonly Criterion[]; hasContext: boolean; images: number },
): ProgressFrame {
  requireCount("/images", options.images);
  const { groundTruthNote, criteria, hasContext, images } = options;
  const [joined, lengths] = joinTexts(criteria.flatMap((c) => [c.id, c.name, c.description]));
  return callJson((core) => core.progressFrame(groundTruthNote, joined, lengths, hasContext, images));
}

/**
 * Checkpoint list and output contract of a progress prompt. `checkpoints` are 1-based step numbers, ascending.
 * @throws {AssayError} `invalid_request` naming the checkpoint that isn't ascending or not within 1 … `stepCount`
 */
export function progressSuffix(checkpoints: readonly number[], stepCount: number): string {
  requireCount("/stepCount", stepCount);
  checkpoints.forEach((checkpoint, i) => requireCount(`/checkpoints/${i}`, checkpoint));
  return call((core) => core.progressSuffix(Uint32Array.from(checkpoints), stepCount));
}

/**
 * A best-of-N draft prompt; only the last line `Draft i of N` varies. The request stands in it as an instruction;
 * a context that isn't trusted must come as a block ({@linkcode delimitBlock}).
 * @throws {AssayError} `invalid_request` unless 1 <= `draft` <= `drafts`, or for a blank request
 */
export function draftPrompt(
  options: { request: string; context?: string; draft: number; drafts: number },
): string {
  requireCount("/draft", options.draft);
  requireCount("/drafts", options.drafts);
  const { request, context, draft, drafts } = options;
  return call((core) => core.draftPrompt(request, context, draft, drafts));
}

/**
 * Quotes every line that looks like the renderer's step, command or output marker with `> `, whatever line separator
 * stands before it. Quoting twice changes nothing.
 */
export function quoteMarkers(text: string): string {
  return call((core) => core.quoteMarkers(text));
}

/**
 * Renders structured steps. Each rendered step starts with `--- Agent Step n ---`, then the message, `[Command] …`
 * lines and `[Output]` blocks; lines of the agent's or the tools' text that look like these markers are quoted with `> `.
 * @returns one string per step; the trajectory's text is their concatenation
 * @throws {AssayError} `invalid_request` when `firstNumber` is no whole number from 0
 */
export function renderSteps(steps: readonly Step[], firstNumber = 1): readonly string[] {
  requireCount("/firstNumber", firstNumber);
  const [joined, lengths] = joinTexts(steps.flatMap((s) => [s.message, ...s.commands, ...s.outputs]));
  const counts = Uint32Array.from(
    steps.flatMap(({ commands, outputs }) => [commands.length, outputs.length]),
  );
  return callJson((core) => core.renderSteps(joined, lengths, counts, firstNumber));
}

/** Numbers cross into wasm as 32-bit integers; anything else would be cut down silently. */
function requireCount(path: string, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
    throw AssayError.field(path, "must be a whole number from 0 to 4294967295", value);
  }
}
