/**
 * Reads a rendered prompt back, the way a model would: headings, delimited blocks, criterion, checkpoints. Nothing
 * else reaches the evidence judge.
 *
 * A block ends only at the line with its own token, so what stands inside can neither end it nor open another one.
 *
 * @module
 */
import { HEADINGS } from "../../core.ts";

/** One delimited block. */
export interface PromptBlock {
  /** Names the text: keyed and derived from it, so equal tokens mean equal texts. */
  readonly token: string;
  readonly text: string;
}

/** A pairwise prompt. */
export interface PairwisePrompt {
  readonly kind: "pairwise";
  readonly task: PromptBlock;
  readonly a: PromptBlock;
  readonly b: PromptBlock;
  readonly criterion: PromptCriterion;
}

/** The criterion as the prompt states it. */
export interface PromptCriterion {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** A progress prompt. */
export interface ProgressPrompt {
  readonly kind: "progress";
  readonly task: PromptBlock;
  readonly steps: PromptBlock;
  /** Step number of `<c1>`, `<c2>`, …: ascending, 1-based. */
  readonly checkpoints: readonly number[];
}

/** Why a prompt can't be read: it is none of the verifier's. */
export class UnreadablePrompt extends Error {
  override readonly name = "UnreadablePrompt";
}

const OPENING = "<<<DATA ";
const ENDING = "<<<END ";
const CLOSE = ">>>";
const ANSWER_HEADING = "\n## Answer\n";
const CHECKPOINT = /^Checkpoint (\d+): after step (\d+)$/;

/**
 * Reads prefix and suffix of one call. Linear in their length.
 * @throws {UnreadablePrompt} naming what is missing
 */
export function readPrompt(prefix: string, suffix: string): PairwisePrompt | ProgressPrompt {
  const blocks = readBlocks(prefix);
  const block = (heading: string): PromptBlock => {
    const found = blocks.get(heading);
    if (found === undefined) throw new UnreadablePrompt(`the prompt has no block under "${heading}"`);
    return found;
  };
  const task = block(HEADINGS.task);
  if (blocks.has(HEADINGS.steps)) {
    return { kind: "progress", task, steps: block(HEADINGS.steps), checkpoints: readCheckpoints(suffix) };
  }
  return {
    kind: "pairwise",
    task,
    a: block(HEADINGS.a),
    b: block(HEADINGS.b),
    criterion: readCriterion(suffix),
  };
}

/** Blocks by the line above them. */
function readBlocks(prompt: string): ReadonlyMap<string, PromptBlock> {
  const blocks = new Map<string, PromptBlock>();
  for (let at = 0;;) {
    const found = prompt.startsWith(OPENING, at) ? at - 1 : prompt.indexOf("\n" + OPENING, at);
    if (found < -1 || (found === -1 && !prompt.startsWith(OPENING, at))) return blocks;
    const opening = found + 1;
    const lineEnd = prompt.indexOf("\n", opening);
    if (lineEnd < 0 || !prompt.startsWith(CLOSE, lineEnd - CLOSE.length)) {
      throw new UnreadablePrompt("a block's opening line is cut off");
    }
    const token = prompt.slice(opening + OPENING.length, lineEnd - CLOSE.length);
    const end = closingLine(prompt, `\n${ENDING}${token}${CLOSE}`, lineEnd);
    if (end === null) throw new UnreadablePrompt(`the block ${token} has no end`);
    const headingEnd = Math.max(0, found);
    const heading = prompt.slice(prompt.lastIndexOf("\n", headingEnd - 1) + 1, headingEnd);
    // The first block of a heading counts, as blocks come in a fixed order.
    if (!blocks.has(heading)) blocks.set(heading, { token, text: prompt.slice(lineEnd + 1, end.start) });
    at = end.after;
  }
}

/** Where the line `\n<<<END token>>>` stands; an empty text has it directly behind the opening line's end. */
function closingLine(prompt: string, line: string, from: number): { start: number; after: number } | null {
  for (let start = from;;) {
    start = prompt.indexOf(line, start);
    if (start < 0) return null;
    const after = start + line.length;
    if (after === prompt.length || prompt[after] === "\n") return { start: Math.max(start, from + 1), after };
    start = after;
  }
}

function readCriterion(suffix: string): PromptCriterion {
  const at = ("\n" + suffix).indexOf("\n" + HEADINGS.criterion);
  if (at < 0) throw new UnreadablePrompt(`the prompt has no line "${HEADINGS.criterion}…"`);
  const [first = "", second = "", ...rest] = suffix.slice(at + HEADINGS.criterion.length).split("\n");
  const id = second.startsWith(HEADINGS.criterionId) ? second.slice(HEADINGS.criterionId.length) : "";
  const body = "\n" + rest.join("\n");
  const answer = body.lastIndexOf(ANSWER_HEADING);
  return { id, name: first, description: (answer < 0 ? body : body.slice(0, answer)).trim() };
}

function readCheckpoints(suffix: string): readonly number[] {
  const checkpoints: number[] = [];
  for (const line of suffix.split("\n")) {
    const match = CHECKPOINT.exec(line);
    if (match === null) continue;
    if (Number(match[1]) !== checkpoints.length + 1) {
      throw new UnreadablePrompt(`checkpoint ${match[1]} is out of order`);
    }
    checkpoints.push(Number(match[2]));
  }
  if (checkpoints.length === 0) throw new UnreadablePrompt("the prompt lists no checkpoints");
  return checkpoints;
}
