/**
 * DeepSeek Harness session logs, formats 0 to 4: the task, and what the agent said, did and observed.
 *
 * What counts as the work: the agent's messages, its tool calls with the results that name them, calls that a program
 * of the agent made, and what the user said later. Left out and counted: system and plugin messages (steering among
 * them), reasoning, the verifier's own calls, and what a fork inherited. A surface that was replaced is gone and the new one
 * stands in its place, except where the host only compacted its history: that shortens what the model sees, not what
 * happened.
 *
 * @module
 */
import type { ChatMessage } from "../verifier/types.ts";
import { type CallDraft, foldSession, type NodeDraft } from "./dsh_session_fold.ts";
import { type BadLine, isSessionHeader, readSessionRows } from "./dsh_session_rows.ts";

/** What is counted while a log is read. */
export interface SessionCounts {
  readonly lines: number;
  readonly events: number;
  readonly turns: number;
  /** Model calls that were begun (`step/start`). */
  readonly modelRequests: number;
  /** Calls of tools, without nested ones. */
  readonly toolCalls: number;
  /** Calls that programs of the agent made. */
  readonly nestedCalls: number;
  /** Surfaces that stand in place of others. */
  readonly replacements: number;
  /** Those of them in which the host compacted its history. */
  readonly compactions: number;
  /** Lines that can't be read. */
  readonly badLines: number;
  /** Events of types that no known format has. */
  readonly unknownEvents: number;
}

/** Whom a message that was left out came from, and how many there were. */
export type LeftOut = Readonly<Record<string, number>>;

/** A log, read. */
export interface SessionLog {
  /** Format, 0 to 4. */
  readonly version: number;
  readonly id: string | null;
  /** First message of the user; `null` when there is none. */
  readonly task: string | null;
  /** Chat messages in OpenAI's shape; the task isn't among them. */
  readonly messages: readonly ChatMessage[];
  /** First and last sequence number of what `messages` holds; `null` when it is empty. */
  readonly range: { readonly from: number; readonly to: number } | null;
  readonly counts: SessionCounts;
  readonly leftOut: LeftOut;
  readonly warnings: readonly string[];
}

/** Which part of a log is read (sequence numbers, both included), and as an answer to what. */
export interface SessionRange {
  readonly from?: number;
  /** The log is read as if it ended here. */
  readonly to?: number;
  /** A task that isn't the log's own: then every message of the user is kept but one that says the same. */
  readonly task?: string;
}

/** Whether a text starts like a session log, of whatever format. */
export function isSessionLog(text: string): boolean {
  const start = text.trimStart();
  const end = start.indexOf("\n");
  const first = end === -1 ? start : start.slice(0, end);
  if (!first.startsWith("{") || first.length > 1_000_000) return false;
  try {
    return isSessionHeader(JSON.parse(first));
  } catch {
    return false;
  }
}

/**
 * Reads a log: one JSON value a line.
 * @param file name for messages
 * @throws {TranscriptError} and nothing else, for any text
 */
export function readSessionLog(text: string, file: string, range: SessionRange = {}): SessionLog {
  const rows = readSessionRows(text, file);
  const folded = foldSession(rows, range);
  const { from = 0 } = range;
  const own = folded.nodes.filter((node) => !node.hidden && node.seq > folded.seedEnd);
  const users = own.filter((node) => node.kind === "user");
  const task = users.find((node) => node.seq >= from) ?? users.findLast((node) => node.seq < from) ??
    folded.nodes.findLast((node) => node.kind === "user" && !node.hidden) ?? null;
  const said = range.task?.trim();
  const told = said === undefined
    ? task
    : users.find(({ seq, text }) => seq >= from && text.trim() === said) ?? null;
  const shown = own.filter((node) => node !== told && node.seq >= from && hasContent(node));
  const warnings = [...describeBad(rows.bad), ...folded.warnings];
  if (rows.unknown.size > 0) {
    warnings.push(
      `event types that no known format has were left out: ${
        [...rows.unknown].map(([type, count]) => `${JSON.stringify(type)} (${count})`).join(", ")
      }`,
    );
  }
  if (rows.outOfOrder > 0) {
    warnings.push(`${rows.outOfOrder} events don't follow the number before them: parts may be missing`);
  }
  if (said === undefined && task !== null && task.seq <= folded.seedEnd) {
    warnings.push(
      "the fork has no message of the user; the task is the last one of the session it was forked from",
    );
  }
  let firstSeq = Infinity;
  let lastSeq = -1;
  for (const node of shown) {
    firstSeq = Math.min(firstSeq, node.seq);
    lastSeq = Math.max(lastSeq, node.seq);
    for (const call of node.calls) lastSeq = Math.max(lastSeq, call.resultSeq ?? call.seq);
  }
  return {
    version: rows.header.version,
    id: rows.header.id,
    task: task?.text ?? null,
    messages: toMessages(shown),
    range: shown.length === 0 ? null : { from: firstSeq, to: lastSeq },
    counts: {
      lines: rows.lines,
      events: rows.eventCount,
      ...folded.counts,
      badLines: rows.bad.length,
      unknownEvents: [...rows.unknown.values()].reduce((sum, count) => sum + count, 0),
    },
    leftOut: Object.fromEntries(folded.leftOut),
    warnings,
  };
}

function hasContent(node: NodeDraft): boolean {
  return node.kind === "user" ? node.text.trim() !== "" : node.text.trim() !== "" || node.calls.length > 0;
}

function describeBad(bad: readonly BadLine[]): readonly string[] {
  if (bad.length === 0) return [];
  const shown = bad.slice(0, 5).map(({ line, why }) => `line ${line}: ${why}`).join("; ");
  const rest = bad.length > 5 ? `; and ${bad.length - 5} more` : "";
  return [
    `${bad.length} ${bad.length === 1 ? "line" : "lines"} can't be read and were left out (${shown}${rest})`,
  ];
}

/** Ids are made anew: models repeat theirs from call to call. */
function toMessages(nodes: readonly NodeDraft[]): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  let id = 0;
  for (const node of nodes) {
    if (node.kind === "user") {
      messages.push({ role: "user", content: node.text });
      continue;
    }
    const calls = node.calls.flatMap((call) => [call, ...call.nested.filter(({ isOwn }) => !isOwn)])
      .map((call) => ({ call, id: `call_${++id}` }));
    messages.push({
      role: "assistant",
      content: node.text,
      ...(calls.length === 0 ? {} : {
        tool_calls: calls.map(({ call, id }) => ({
          id,
          type: "function",
          function: { name: call.name, arguments: safeArguments(call.arguments) },
        })),
      }),
    });
    for (const { call, id } of calls) {
      if (call.output !== null) messages.push({ role: "tool", tool_call_id: id, content: outputText(call) });
    }
  }
  return messages;
}

function outputText(call: CallDraft): string {
  return call.failed ? `[error] ${call.output ?? ""}` : call.output ?? "";
}

/** Arguments as JSON text that can be read and written again, however deep they nest. */
function safeArguments(given: unknown): string {
  try {
    if (typeof given !== "string") return JSON.stringify(given ?? {});
    try {
      JSON.stringify(JSON.parse(given));
    } catch (error) {
      // Models do write broken JSON, and that is what the agent did; only nesting can't be walked further on.
      if (error instanceof RangeError) throw error;
    }
    return given;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return '"(arguments that nest too deep to be shown)"';
  }
}
