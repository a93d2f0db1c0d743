/**
 * What the readers of structured formats share.
 *
 * @module
 */
import type { ChatMessage } from "../verifier/types.ts";

/** Where a reader is, for its messages. */
export interface Source {
  readonly file: string;
  /** JSON pointer of the value being read. */
  readonly pointer: string;
  /** True for JSON Lines, where an array index is a line. */
  readonly lines: boolean;
  /** Collects warnings. */
  readonly warnings: string[];
}

/** A JSON object (not an array, not null). */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What kind of JSON value this is, for messages: `an array`, `a number`, … */
export function jsonKind(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/**
 * The messages without the task's own. The verifier drops the first user message before the agent's first by itself
 * (it is the task of a chat), so where another one would then stand first, the task is left in for it to drop.
 */
export function withoutTask(messages: readonly ChatMessage[], taskAt: number): readonly ChatMessage[] {
  if (taskAt === -1) return messages;
  const rest = messages.toSpliced(taskAt, 1);
  const first = rest.find((message) => message.role === "user" || message.role === "assistant");
  return first?.role === "user" ? messages : rest;
}

/** Converters leave `$31` and the like where a user message couldn't be carried over. */
export function isStub(text: string): boolean {
  return text.startsWith("$") && text.length < 5;
}

/** Text and images of a message's content: a string, or the parts of OpenAI, Anthropic and ATIF. */
export interface Content {
  readonly text: string;
  readonly images: readonly string[];
  /** Kinds of parts that were not understood. */
  readonly skipped: readonly string[];
}

/** Reads a message's content; `null` and absent content are empty. */
export function readContent(content: unknown): Content {
  if (content === null || content === undefined) return { text: "", images: [], skipped: [] };
  if (typeof content === "string") return { text: content, images: [], skipped: [] };
  if (!Array.isArray(content)) return { text: JSON.stringify(content), images: [], skipped: [] };
  const texts: string[] = [];
  const images: string[] = [];
  const skipped: string[] = [];
  for (const part of content) {
    if (typeof part === "string") texts.push(part);
    else if (isRecord(part) && typeof part.text === "string") texts.push(part.text);
    else {
      const url = imageUrl(part);
      if (url !== null) images.push(url);
      else skipped.push(isRecord(part) && typeof part.type === "string" ? part.type : jsonKind(part));
    }
  }
  return { text: texts.join("\n"), images, skipped };
}

function imageUrl(part: unknown): string | null {
  if (!isRecord(part)) return null;
  if (part.type === "image_url") {
    const image = part.image_url;
    const url = isRecord(image) ? image.url : image;
    return typeof url === "string" ? url : null;
  }
  if (part.type !== "image" || !isRecord(part.source)) return null;
  const { type, url, media_type, data } = part.source;
  if (type === "url" && typeof url === "string") return url;
  if (typeof media_type === "string" && typeof data === "string") return `data:${media_type};base64,${data}`;
  return null;
}
