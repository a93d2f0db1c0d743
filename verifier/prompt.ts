/**
 * Prompts: every untrusted text is delimited and hashed once per request and shared by all pairs; the prefix of a
 * (task, A, B) is put together once and shared by all its criteria and repeats.
 *
 * @module
 */
import {
  delimitHashed,
  pairwiseFrame,
  pairwiseSuffix,
  progressFrame,
  progressSuffix,
  promptVersion,
} from "./core.ts";
import { sha256Now, SHORT_MESSAGE_BYTES } from "./sha256.ts";
import type { Criterion } from "./types.ts";

/** One untrusted text, ready to stand in a prompt. */
export interface PromptText {
  /** The text between its keyed delimiters. */
  readonly block: string;
  /** Token and SHA-256 of the text: equal iff `block` is. */
  readonly digest: string;
  /** UTF-8 bytes of `block`. */
  readonly bytes: number;
}

/** Everything up to the criterion, and what identifies it. */
export interface PromptPrefix {
  /** Fixed texts and blocks, put together. */
  readonly text: string;
  /** SHA-256, hex, over the prompt version, the fixed texts and the digests of the blocks: equal iff the text is. */
  readonly digest: string;
  /** UTF-8 bytes of `text`. */
  readonly bytes: number;
}

/** Lower-case hex SHA-256 of bytes or of a text's UTF-8. */
export async function sha256Hex(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  if (bytes.length <= SHORT_MESSAGE_BYTES) return sha256Now(bytes);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  let hex = "";
  for (const byte of digest) hex += byte.toString(16).padStart(2, "0");
  return hex;
}

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes, so each half adds one.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** Delimits and hashes one untrusted text. @param secret the server's delimiter secret */
export async function promptText(secret: string, text: string): Promise<PromptText> {
  const wellFormed = text.toWellFormed();
  const encoded = new TextEncoder().encode(wellFormed);
  const digest = await sha256Hex(encoded);
  const { block, token } = delimitHashed(secret, wellFormed, digest);
  // Everything around the text in a block is ASCII.
  return { block, digest: `${token}:${digest}`, bytes: encoded.length + block.length - wellFormed.length };
}

/** Lower-case hex SHA-256 of the UTF-8 of the text in a block. */
export function textSha256({ digest }: PromptText): string {
  return digest.slice(digest.indexOf(":") + 1);
}

async function join(parts: readonly (string | PromptText)[]): Promise<PromptPrefix> {
  let text = "";
  let bytes = 0;
  const identity: string[] = [promptVersion()];
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      bytes += utf8Length(part);
      identity.push(`text:${part}`);
    } else {
      text += part.block;
      bytes += part.bytes;
      identity.push(`block:${part.digest}`);
    }
  }
  return { text, digest: await sha256Hex(JSON.stringify(identity)), bytes };
}

/** What all prompts of one request share. */
export interface PromptSubject {
  /** What the agent was asked. */
  readonly task: PromptText;
  /** More that the judge may know. */
  readonly context: PromptText | null;
  /** Trusted text of the rubric. */
  readonly groundTruthNote: string;
}

/** Pairwise prefix of one slot order. @param images how many images go with the prompt */
export function pairwisePrefix(
  subject: PromptSubject,
  slotA: PromptText,
  slotB: PromptText,
  images: number,
  stage: "trajectory" | "proposal" = "trajectory",
): Promise<PromptPrefix> {
  const frame = pairwiseFrame({
    groundTruthNote: subject.groundTruthNote,
    hasContext: subject.context !== null,
    images,
    stage,
  });
  return join([
    frame.beforeTask,
    subject.task,
    ...(subject.context === null ? [] : [frame.beforeContext, subject.context]),
    frame.beforeA,
    slotA,
    frame.beforeB,
    slotB,
    frame.afterB,
  ]);
}

/** Progress prefix: the steps as one block. */
export function progressPrefix(
  subject: PromptSubject,
  steps: PromptText,
  criteria: readonly Criterion[],
  images: number,
): Promise<PromptPrefix> {
  const frame = progressFrame({
    groundTruthNote: subject.groundTruthNote,
    criteria,
    hasContext: subject.context !== null,
    images,
  });
  return join([
    frame.beforeTask,
    subject.task,
    ...(subject.context === null ? [] : [frame.beforeContext, subject.context]),
    frame.beforeSteps,
    steps,
    frame.afterSteps,
  ]);
}

export { pairwiseSuffix, progressSuffix };
