/**
 * Reads chat transcripts in OpenAI's and Anthropic's shape as steps: what the agent said, did and observed.
 *
 * @module
 */
import { AssayError } from "./errors.ts";
import { isImageUrl } from "./requests.ts";
import { cleanText, type Warnings } from "./text.ts";
import type { ChatMessage, Step } from "./types.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Call {
  readonly id: string | null;
  readonly name: string;
  readonly command: string;
  output: string | null;
}

interface Draft {
  message: string[];
  calls: Call[];
  images: string[];
}

/** Text and images of a message's content, and the blocks that mean something else to the caller. */
interface Content {
  readonly text: string[];
  readonly images: string[];
  readonly blocks: { readonly type: string; readonly fields: Fields; readonly path: string }[];
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Steps of a transcript. Each assistant message is one step; tool results join the call they answer, by id (by name
 * for OpenAI's old functions), parallel calls included. System messages, the first user message (it is the task) and
 * reasoning blocks are left out with one counted warning; later user messages are told text before the next step.
 *
 * @throws {AssayError} `invalid_request` naming the message of an unknown shape, or a result without its call
 */
export function chatSteps(
  messages: readonly ChatMessage[],
  path: string,
  warnings: Warnings,
): readonly Step[] {
  const steps: Draft[] = [];
  const open = new Map<string, Call>();
  const left = { system: 0, task: 0, reasoning: 0 };
  let told: Draft = { message: [], calls: [], images: [] };

  const newStep = (): Draft => {
    const step = { message: told.message, calls: [], images: told.images };
    told = { message: [], calls: [], images: [] };
    steps.push(step);
    return step;
  };
  const addCall = (step: Draft, id: unknown, name: unknown, args: unknown, at: string): void => {
    if (typeof name !== "string" || name === "") {
      throw AssayError.field(at, "must be a tool call with a name", args);
    }
    const call: Call = {
      id: typeof id === "string" ? id : null,
      name,
      command: cleanText(commandText(name, args, at), at, warnings),
      output: null,
    };
    step.calls.push(call);
    if (call.id !== null) {
      if (open.has(call.id)) {
        throw AssayError.field(at, "must not repeat the id of an open tool call", call.id);
      }
      open.set(call.id, call);
    }
  };
  const addResult = (id: unknown, content: Content, failed: boolean, at: string): void => {
    const last = steps.at(-1);
    const call = typeof id === "string"
      ? open.get(id)
      : last?.calls.find((candidate) => candidate.id === null && candidate.output === null);
    if (call === undefined || last === undefined) {
      throw AssayError.field(at, "must answer an earlier tool call by its id", id ?? null);
    }
    if (call.id !== null) open.delete(call.id);
    call.output = (failed ? "[error] " : "") + content.text.join("\n");
    last.images.push(...content.images);
  };

  messages.forEach((message, i) => {
    const at = `${path}/${i}`;
    switch (message.role) {
      case "system":
      case "developer":
        left.system++;
        return;
      case "user": {
        const content = readContent(message.content, `${at}/content`, warnings, ["tool_result"]);
        for (const block of content.blocks) {
          const inner = readContent(block.fields.content ?? "", `${block.path}/content`, warnings, []);
          addResult(block.fields.tool_use_id, inner, block.fields.is_error === true, block.path);
        }
        const text = content.text.join("\n");
        if (text === "" && content.images.length === 0) return;
        if (steps.length === 0 && left.task === 0) {
          left.task++;
          return;
        }
        if (text !== "") told.message.push(`User: ${text}`);
        told.images.push(...content.images);
        return;
      }
      case "assistant": {
        const content = readContent(message.content ?? "", `${at}/content`, warnings, [
          "tool_use",
          "thinking",
          "redacted_thinking",
        ]);
        const step = newStep();
        const text = [...content.text, ...(typeof message.refusal === "string" ? [message.refusal] : [])]
          .join("\n");
        if (text !== "") step.message.push(text);
        step.images.push(...content.images);
        if (typeof message.reasoning_content === "string" && message.reasoning_content !== "") {
          left.reasoning++;
        }
        for (const block of content.blocks) {
          if (block.type === "tool_use") {
            addCall(step, block.fields.id, block.fields.name, block.fields.input, block.path);
          } else left.reasoning++;
        }
        readToolCalls(message, at, (id, name, args, where) => addCall(step, id, name, args, where));
        return;
      }
      case "tool":
      case "function": {
        const content = readContent(message.content ?? "", `${at}/content`, warnings, []);
        addResult(message.tool_call_id ?? undefined, content, false, at);
        return;
      }
      default:
        throw AssayError.field(
          `${at}/role`,
          "must be one of system, developer, user, assistant, tool, function",
          message.role,
        );
    }
  });
  if (told.message.length > 0 || told.images.length > 0) newStep();
  reportLeftOut(left, path, warnings);
  reportUnanswered(steps, path, warnings);
  return steps.map(finishStep);
}

const isOpen = (call: Call): boolean => call.output === null;

function reportUnanswered(steps: readonly Draft[], path: string, warnings: Warnings): void {
  const count = steps.reduce((sum, step) => sum + step.calls.filter(isOpen).length, 0);
  if (count === 0) return;
  const where = steps.flatMap((step, i) => step.calls.some(isOpen) ? [i + 1] : []);
  const listed = where.slice(0, 10).join(", ") + (where.length > 10 ? ", …" : "");
  warnings.add(
    `${path}: ${count} tool ${count === 1 ? "call has" : "calls have"} no result (step${
      where.length === 1 ? "" : "s"
    } ${listed})`,
  );
}

function finishStep(step: Draft): Step {
  const lastAnswered = step.calls.findLastIndex((call) => !isOpen(call));
  // Outputs stand in the order of the commands, so a gap before a later output must stay visible as a gap.
  const outputs = step.calls.slice(0, lastAnswered + 1).map((call) => call.output ?? "(no output recorded)");
  return {
    message: step.message.join("\n\n"),
    commands: step.calls.map((call) => call.command),
    outputs,
    ...(step.images.length > 0 ? { images: step.images } : {}),
  };
}

function reportLeftOut(
  left: { readonly system: number; readonly task: number; readonly reasoning: number },
  path: string,
  warnings: Warnings,
): void {
  const parts = [
    ...(left.system > 0 ? [`${left.system} system ${left.system === 1 ? "message" : "messages"}`] : []),
    ...(left.task > 0 ? ["the first user message (the task)"] : []),
    ...(left.reasoning > 0
      ? [`${left.reasoning} reasoning ${left.reasoning === 1 ? "block" : "blocks"}`]
      : []),
  ];
  if (parts.length > 0) warnings.add(`${path}: left out ${parts.join(", ")}`);
}

function readToolCalls(
  message: Fields,
  at: string,
  add: (id: unknown, name: unknown, args: unknown, at: string) => void,
): void {
  const calls = message.tool_calls;
  if (calls !== undefined && calls !== null) {
    if (!Array.isArray(calls)) throw AssayError.field(`${at}/tool_calls`, "must be an array", calls);
    calls.forEach((call: unknown, i) => {
      const where = `${at}/tool_calls/${i}`;
      if (!isFields(call)) throw AssayError.field(where, "must be an object", call);
      if (isFields(call.function)) add(call.id, call.function.name, call.function.arguments, where);
      else if (isFields(call.custom)) add(call.id, call.custom.name, call.custom.input, where);
      else {add(
          call.id ?? call.tool_call_id,
          call.tool_name ?? call.function_name ?? call.name,
          call.arguments,
          where,
        );}
    });
  }
  if (isFields(message.function_call)) {
    add(undefined, message.function_call.name, message.function_call.arguments, `${at}/function_call`);
  }
}

function readContent(
  content: unknown,
  path: string,
  warnings: Warnings,
  special: readonly string[],
): Content {
  const result: Content = { text: [], images: [], blocks: [] };
  if (content === null || content === undefined) return result;
  if (typeof content === "string") {
    if (content !== "") result.text.push(cleanText(content, path, warnings));
    return result;
  }
  if (!Array.isArray(content)) {
    throw AssayError.field(path, "must be a string or an array of content blocks", content);
  }
  content.forEach((block: unknown, i) => {
    const at = `${path}/${i}`;
    if (typeof block === "string") {
      result.text.push(cleanText(block, at, warnings));
      return;
    }
    if (!isFields(block)) throw AssayError.field(at, "must be a content block", block);
    const type = typeof block.type === "string" ? block.type : "";
    if (["text", "input_text", "output_text"].includes(type) && typeof block.text === "string") {
      result.text.push(cleanText(block.text, `${at}/text`, warnings));
    } else if (type === "refusal" && typeof block.refusal === "string") {
      result.text.push(cleanText(block.refusal, `${at}/refusal`, warnings));
    } else if (type === "image_url" || type === "image") {
      result.images.push(readImage(block, at));
      result.text.push("[image]");
    } else if (special.includes(type)) {
      result.blocks.push({ type, fields: block, path: at });
    } else {
      throw AssayError.field(
        at,
        `must be a content block of a known type (text, image${special.map((name) => `, ${name}`).join("")})`,
        block.type ?? null,
      );
    }
  });
  return result;
}

function readImage(block: Fields, at: string): string {
  const source = isFields(block.source) ? block.source : null;
  const url = source === null
    ? (isFields(block.image_url) ? block.image_url.url : block.image_url)
    : source.type === "base64"
    ? `data:${source.media_type};base64,${source.data}`
    : source.url;
  if (typeof url !== "string" || !isImageUrl(url)) {
    throw AssayError.field(
      at,
      "must hold an https: or base64 data: image (png, jpeg, webp, gif)",
      url ?? null,
    );
  }
  return url;
}

// Arguments that only say how long to wait are no part of the command.
const TIMING = new Set(["duration", "timeout", "timeout_ms", "timeoutMs", "wait"]);
const COMMAND_FIELDS = ["command", "keystrokes", "cmd", "code", "script"];

/** One call as one command: the bare command of a shell-like tool, else the tool's name and its arguments. */
function commandText(name: string, args: unknown, at: string): string {
  let value = args;
  if (typeof args === "string") {
    try {
      value = JSON.parse(args);
    } catch {
      return `${name} ${args}`; // models do write broken JSON; it is what the agent did
    }
  }
  if (value === undefined || value === null) return name;
  if (typeof value === "string") return `${name} ${value}`;
  if (!isFields(value)) throw AssayError.field(at, "must have arguments that are a JSON object", value);
  const keys = Object.keys(value).filter((key) => !TIMING.has(key));
  const only = keys.length === 1 ? keys[0] : undefined;
  if (only !== undefined && COMMAND_FIELDS.includes(only)) {
    const command = value[only];
    if (typeof command === "string") return command;
    if (Array.isArray(command) && command.every((part) => typeof part === "string")) return command.join(" ");
  }
  return keys.length === 0 ? name : `${name} ${JSON.stringify(value)}`;
}
