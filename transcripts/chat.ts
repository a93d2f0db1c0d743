/**
 * Chat transcripts: OpenAI or Anthropic messages. The messages go to the verifier as they are, which knows both shapes;
 * here only the frame is checked and the task is found.
 *
 * @module
 */
import type { ChatMessage } from "../verifier/types.ts";
import { TranscriptError } from "./error.ts";
import { isRecord, isStub, jsonKind, readContent, type Source, withoutTask } from "./source.ts";
import type { Reading } from "./transcript.ts";

/** A non-empty array whose items are objects, the first with a `role`. */
export function looksLikeMessages(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && isRecord(value[0]) && typeof value[0].role === "string";
}

/**
 * Reads an array of messages. The first user message that is no stub is the task, if it comes before the agent's first.
 * @throws {TranscriptError} naming the faulty message
 */
export function readChat(value: unknown, source: Source): Reading {
  if (!Array.isArray(value)) {
    throw new TranscriptError(
      source.file,
      `${source.pointer} must be an array of messages, found ${jsonKind(value)}`,
    );
  }
  const images: string[] = [];
  let task: string | null = null;
  let assistants = 0;
  let taskAt = -1;
  for (const [index, message] of value.entries()) {
    const name = source.lines ? `message ${index + 1}` : `${source.pointer}/${index}`;
    if (!isRecord(message) || typeof message.role !== "string") {
      throw new TranscriptError(
        source.file,
        isRecord(message)
          ? `${name} must have a "role" that is a text, found ${jsonKind(message.role)}`
          : `${name} must be an object with a "role", found ${jsonKind(message)}`,
      );
    }
    const { role } = message;
    if (role === "assistant") assistants++;
    else if (role === "user" && task === null && assistants === 0) {
      const content = readContent(message.content);
      if (!content.skipped.includes("tool_result") && !isStub(content.text) && content.text.trim() !== "") {
        task = content.text;
        taskAt = index;
        images.push(...content.images);
      }
    }
  }
  if (assistants === 0) {
    throw new TranscriptError(
      source.file,
      "the chat has no message with the role assistant: there is nothing to judge",
    );
  }
  const messages = withoutTask(value as readonly ChatMessage[], taskAt);
  return { trajectory: { messages }, format: "chat", task, images };
}
