/**
 * Terminal-Bench runs: `{ reward, trajectory: { steps } }` in the Agent Trajectory Interchange Format (ATIF) and the
 * dialects converted to it.
 *
 * A step of the agent becomes one assistant message with its tool calls, and one tool message per observed result.
 * The first user message that is no stub is the task. Reasoning content, metrics and time stamps are left out: the judge
 * grades what was said, done and observed.
 *
 * @module
 */
import type { ChatMessage } from "../verifier/types.ts";
import { TranscriptError } from "./error.ts";
import { isRecord, isStub, jsonKind, readContent, type Source, withoutTask } from "./source.ts";
import type { Reading } from "./transcript.ts";

/** An object whose steps name their source. */
export function looksLikeAtif(body: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(body.steps) &&
    body.steps.some((step) => isRecord(step) && typeof step.source === "string");
}

/** Reads `{ steps: [{ source, message, tool_calls?, observation? }] }`. @throws {TranscriptError} naming the faulty step */
export function readAtif(body: Readonly<Record<string, unknown>>, source: Source): Reading {
  const steps = body.steps as readonly unknown[];
  const messages: ChatMessage[] = [];
  const images: string[] = [];
  let task: string | null = null;
  let agentSteps = 0;
  let taskAt = -1;
  for (const [index, step] of steps.entries()) {
    const pointer = `${source.pointer}/steps/${index}`;
    if (!isRecord(step)) {
      throw new TranscriptError(source.file, `${pointer} must be an object, found ${jsonKind(step)}`);
    }
    const content = readContent(step.message);
    warnSkipped(content.skipped, pointer, source);
    if (step.source === "agent") {
      agentSteps++;
      messages.push(...agentMessages(step, content, pointer, source));
    } else if (step.source === "user") {
      if (task === null && agentSteps === 0) {
        if (isStub(content.text) || content.text === "") continue;
        task = content.text;
        images.push(...content.images);
        taskAt = messages.length;
        messages.push({ role: "user", content: content.text });
      } else messages.push({ role: "user", content: withImages(content) });
    } else if (step.source === "system") {
      // Before the first agent step this is set-up, which isn't the agent's work.
      if (agentSteps > 0) messages.push({ role: "system", content: withImages(content) });
    } else {
      throw new TranscriptError(
        source.file,
        `${pointer}/source must be "user", "agent" or "system", found ${
          JSON.stringify(step.source)?.slice(0, 40)
        }`,
      );
    }
  }
  if (agentSteps === 0) {
    throw new TranscriptError(source.file, "the run has no step of the agent: there is nothing to judge");
  }
  return { trajectory: { messages: withoutTask(messages, taskAt) }, format: "atif", task, images };
}

function withImages(content: { readonly text: string; readonly images: readonly string[] }): unknown {
  if (content.images.length === 0) return content.text;
  return [
    { type: "text", text: content.text },
    ...content.images.map((url) => ({ type: "image_url", image_url: { url } })),
  ];
}

function warnSkipped(kinds: readonly string[], pointer: string, source: Source): void {
  if (kinds.length > 0) source.warnings.push(`${pointer}: left out what can't be read (${kinds.join(", ")})`);
}

function agentMessages(
  step: Readonly<Record<string, unknown>>,
  content: { readonly text: string; readonly images: readonly string[] },
  pointer: string,
  source: Source,
): ChatMessage[] {
  const calls = list(step.tool_calls, `${pointer}/tool_calls`, source);
  const observation = step.observation;
  if (observation !== undefined && observation !== null && !isRecord(observation)) {
    throw new TranscriptError(
      source.file,
      `${pointer}/observation must be an object, found ${jsonKind(observation)}`,
    );
  }
  const results = list(observation?.results, `${pointer}/observation/results`, source);
  // Ids are made anew: files repeat theirs from step to step, or have none.
  const stepName = pointer.slice(pointer.lastIndexOf("/") + 1);
  const identifiers = calls.map((_, index) => `call_${stepName}_${index + 1}`);
  const assistant: Record<string, unknown> & { role: string } = {
    role: "assistant",
    content: withImages(content),
  };
  if (calls.length > 0) {
    assistant.tool_calls = calls.map((call, index) => ({
      id: identifiers[index],
      type: "function",
      function: {
        name: callName(call),
        arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}),
      },
    }));
  }
  return [assistant, ...resultMessages(calls, results, identifiers, pointer, source)];
}

function callName(call: Readonly<Record<string, unknown>>): string {
  for (const name of [call.function_name, call.tool_name, call.name]) {
    if (typeof name === "string" && name !== "") return name;
  }
  return "tool";
}

/** One tool message per answered call. Results name their call, or belong to the calls in order. */
function resultMessages(
  calls: readonly Readonly<Record<string, unknown>>[],
  results: readonly Readonly<Record<string, unknown>>[],
  identifiers: readonly string[],
  pointer: string,
  source: Source,
): ChatMessage[] {
  const answered = new Map<number, string[]>();
  const orphans: string[] = [];
  for (const [index, result] of results.entries()) {
    const content = readContent(result.content);
    warnSkipped(content.skipped, `${pointer}/observation/results/${index}`, source);
    if (content.images.length > 0) {
      source.warnings.push(`${pointer}/observation/results/${index}: images in outputs are not shown`);
    }
    if (result.subagent_trajectory_ref !== undefined && result.subagent_trajectory_ref !== null) {
      source.warnings.push(`${pointer}/observation/results/${index}: the sub-agent's own run is not shown`);
    }
    let call = typeof result.source_call_id === "string"
      ? calls.findIndex((candidate) => candidate.tool_call_id === result.source_call_id)
      : -1;
    if (call === -1) call = calls.findIndex((_, candidate) => !answered.has(candidate));
    if (call === -1) call = calls.length - 1;
    if (call === -1) orphans.push(content.text);
    else answered.set(call, [...(answered.get(call) ?? []), content.text]);
  }
  const messages: ChatMessage[] = [];
  for (const [call, texts] of [...answered].sort(([a], [b]) => a - b)) {
    messages.push({ role: "tool", tool_call_id: identifiers[call]!, content: texts.join("\n") });
  }
  if (orphans.length > 0) {
    // The verifier's steps have no output without a command, and told text earns no credit as evidence.
    messages.push({ role: "user", content: orphans.join("\n") });
    source.warnings.push(`${pointer}/observation: answers no tool call; shown as told text`);
  }
  return messages;
}

function list(value: unknown, pointer: string, source: Source): readonly Readonly<Record<string, unknown>>[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    throw new TranscriptError(source.file, `${pointer} must be an array, found ${jsonKind(value)}`);
  }
  for (const [index, item] of value.entries()) {
    if (!isRecord(item)) {
      throw new TranscriptError(
        source.file,
        `${pointer}/${index} must be an object, found ${jsonKind(item)}`,
      );
    }
  }
  return value as readonly Readonly<Record<string, unknown>>[];
}
