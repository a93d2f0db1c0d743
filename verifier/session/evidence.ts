/**
 * A session in any of its forms as evidence: the task, and one text per step, without secrets.
 *
 * @module
 */
import { readSessionLog, type SessionRange } from "../../transcripts/dsh_session.ts";
import { TranscriptError } from "../../transcripts/error.ts";
import { readContent } from "../../transcripts/source.ts";
import { chatSteps } from "../chat_messages.ts";
import { renderSteps } from "../core.ts";
import { AssayError } from "../errors.ts";
import { createRedactor } from "../redaction/redactor.ts";
import type { SessionRequest, SessionSource } from "./requests.ts";
import { cleanText, type Warnings } from "../text.ts";
import type { ChatMessage, Step } from "../types.ts";

/** A session, ready to be shown. */
export interface Evidence {
  readonly task: string;
  /** The request's context, which may quote the session. */
  readonly context: string | undefined;
  readonly steps: readonly { readonly text: string; readonly images: readonly string[] }[];
  readonly source: SessionSource;
}

const OWN_TOOL = /^(?:verifier|verify)_/;
const TASK_LEFT_OUT = "/log: left out the first user message (the task)";

/**
 * Reads a request's session.
 * @throws {AssayError} `invalid_request` for a log that is none, a message of an unknown shape, a pattern that isn't
 * accepted, a missing task, or a session in which the agent did nothing
 */
export function readEvidence(request: SessionRequest, warnings: Warnings): Evidence {
  const redactor = createRedactor(request.redact);
  if (request.range !== undefined) checkRange(request);
  const { clean } = redactor;
  const read = request.log !== undefined
    ? readLog(
      request.log,
      { ...request.range, ...(request.task === undefined ? {} : { task: request.task }) },
      warnings,
    )
    : request.messages !== undefined
    ? readMessages(request.messages as readonly ChatMessage[], warnings)
    : readSteps(request.steps ?? [], warnings);
  const task = request.task ?? read.task;
  if (task === null || task.trim() === "") {
    throw AssayError.field("/task", `must be given, as ${read.path} has no message of the user that says it`);
  }
  const steps = read.structured === null
    ? read.plain.map(({ text, images }) => ({ text: clean(text), images }))
    : renderSteps(read.structured.map(redactor.step)).map((text, i) => ({
      text: withoutHeader(text),
      images: read.structured?.[i]?.images ?? [],
    }));
  if (steps.every(({ text, images }) => text.trim() === "" && images.length === 0)) {
    const [path, value] = request.range === undefined ? [read.path] : ["/range", request.range];
    throw AssayError.field(
      path,
      "must hold at least one step of the agent: there is nothing to judge",
      value,
    );
  }
  return {
    task: clean(cleanText(task, "/task", warnings)),
    context: request.context === undefined
      ? undefined
      : clean(cleanText(request.context, "/context", warnings)),
    steps,
    source: { ...read.source, steps: steps.length, redacted: redactor.count().patterns },
  };
}

interface Read {
  readonly path: string;
  readonly task: string | null;
  /** Steps of a log or a chat; `null` when the request has texts. */
  readonly structured: readonly Step[] | null;
  readonly plain: readonly { readonly text: string; readonly images: readonly string[] }[];
  readonly source: Omit<SessionSource, "steps" | "redacted">;
}

function checkRange({ range, log }: SessionRequest): void {
  if (log === undefined) throw AssayError.field("/range", "must only be given with a log", range);
  if (range?.from !== undefined && range.to !== undefined && range.from > range.to) {
    throw AssayError.field("/range/from", `must be at most ${range.to}, the end of the range`, range.from);
  }
}

function readLog(text: string, range: SessionRange, warnings: Warnings): Read {
  let log;
  try {
    log = readSessionLog(text, "log", range);
  } catch (error) {
    if (!(error instanceof TranscriptError)) throw error;
    throw AssayError.field("/log", error.message);
  }
  for (const warning of log.warnings) warnings.add(`/log: ${warning}`);
  // The reader of chats takes the first message of the user for the task, so one has to stand there.
  const messages = [{ role: "user", content: "task" }, ...log.messages];
  const structured = chatSteps(messages, "/log", {
    add: (warning: string) => {
      if (warning !== TASK_LEFT_OUT) warnings.add(warning);
    },
  } as Warnings);
  const { version, id, counts, leftOut } = log;
  return {
    path: "/log",
    task: log.task,
    structured,
    plain: [],
    source: { kind: "dsh", version, id, range: log.range, counts, leftOut },
  };
}

function readMessages(messages: readonly ChatMessage[], warnings: Warnings): Read {
  const first = messages.find(({ role }) => role === "user" || role === "assistant");
  const task = first?.role === "user" ? readContent(first.content).text : "";
  const { kept, own } = withoutOwnCalls(messages);
  return {
    path: "/messages",
    task: task.trim() === "" ? null : task,
    structured: chatSteps(kept, "/messages", warnings),
    plain: [],
    source: {
      kind: "messages",
      version: null,
      id: null,
      range: null,
      counts: null,
      leftOut: own > 0 ? { "the verifier's own calls": own } : {},
    },
  };
}

function readSteps(steps: NonNullable<SessionRequest["steps"]>, warnings: Warnings): Read {
  return {
    path: "/steps",
    task: null,
    structured: null,
    plain: steps.map((step, i) => ({
      text: cleanText(typeof step === "string" ? step : step.text, `/steps/${i}`, warnings),
      images: typeof step === "string" ? [] : step.images ?? [],
    })),
    source: { kind: "steps", version: null, id: null, range: null, counts: null, leftOut: {} },
  };
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Calls of the verifier and their results, in both shapes, are no evidence: they would tell the judge its own verdicts. */
function withoutOwnCalls(
  messages: readonly ChatMessage[],
): { readonly kept: readonly ChatMessage[]; readonly own: number } {
  const ids = new Set<unknown>();
  const nameOf = (call: unknown): unknown =>
    !isFields(call) ? undefined : isFields(call.function) ? call.function.name : call.name ?? call.tool_name;
  const isOwn = (call: unknown): boolean => {
    const name = nameOf(call);
    if (typeof name !== "string" || !OWN_TOOL.test(name) || !isFields(call)) return false;
    ids.add(call.id ?? call.tool_call_id);
    return true;
  };
  let own = 0;
  const kept = messages.flatMap((message): ChatMessage[] => {
    if (message.role === "tool" && ids.has(message.tool_call_id)) return [];
    const calls = message.tool_calls;
    const blocks = message.content;
    const changed: Record<string, unknown> = {};
    if (Array.isArray(calls)) {
      const others = calls.filter((call) => !isOwn(call));
      own += calls.length - others.length;
      if (others.length < calls.length) changed.tool_calls = others;
    }
    if (Array.isArray(blocks)) {
      const others = blocks.filter((block) => {
        if (!isFields(block)) return true;
        if (block.type === "tool_use" && isOwn(block)) {
          own++;
          return false;
        }
        return block.type !== "tool_result" || !ids.has(block.tool_use_id);
      });
      if (others.length < blocks.length) changed.content = others;
    }
    if (Object.keys(changed).length === 0) return [message];
    const left = { ...message, ...changed };
    return isEmpty(left) ? [] : [left];
  });
  return { kept, own };
}

function isEmpty({ content, tool_calls: calls }: ChatMessage): boolean {
  const none = (list: unknown): boolean =>
    list === undefined || list === null || list === "" ||
    (Array.isArray(list) && list.length === 0);
  return none(content) && none(calls);
}

/** `renderSteps` writes a header line, and so does whatever shows a list of steps. */
function withoutHeader(text: string): string {
  return text.slice(text.indexOf("\n") + 1).replace(/\n+$/, "\n");
}
