/**
 * Reading the plain session logs that a host under test leaves.
 *
 * @module
 */
import { join } from "@std/path";

/** One record of a log. `data` is whatever the host wrote. */
export interface LogEvent {
  readonly type: string;
  readonly seq: number;
  readonly time: number;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

/** A session's log. */
export interface SessionLog {
  readonly header: {
    readonly id: string;
    readonly delegationDepth?: number;
    readonly parentSession?: string;
    readonly agentPreset?: string;
    readonly [name: string]: unknown;
  };
  readonly events: readonly LogEvent[];
}

/** The outcome of one call of a tool. */
export interface ToolOutcome {
  readonly name: string;
  readonly callId: string;
  readonly isError: boolean;
  readonly text: string;
  /** From `tool/call` to `tool/result` in milliseconds. */
  readonly ms: number;
}

/** Every session under a DSH home, oldest first. */
export async function readSessions(home: string): Promise<readonly SessionLog[]> {
  const found: SessionLog[] = [];
  const walk = async (folder: string): Promise<void> => {
    for await (const entry of Deno.readDir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory) await walk(path);
      else if (entry.name === "session.jsonl") found.push(await readSession(path));
    }
  };
  try {
    await walk(join(home, "sessions"));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort((a, b) => Number(a.header.createdAt) - Number(b.header.createdAt));
}

async function readSession(path: string): Promise<SessionLog> {
  const lines = (await Deno.readTextFile(path)).split("\n").filter((line) => line !== "");
  const [header, ...events] = lines.map((line) => JSON.parse(line));
  return { header, events };
}

/** The calls of tools with their results, in the order of the results. */
export function toolOutcomes({ events }: SessionLog): readonly ToolOutcome[] {
  const calls = new Map(
    events.filter(({ type }) => type === "tool/call").map((event) => [event.data.callId as string, event]),
  );
  return events.filter(({ type }) => type === "tool/result").flatMap((event) =>
    (event.data.message.content as { toolCallId: string; content: { text?: string }[]; isError?: boolean }[])
      .map((block) => ({
        name: String(calls.get(block.toolCallId)?.data.name),
        callId: block.toolCallId,
        isError: block.isError === true,
        text: block.content.map((part) => part.text ?? "").join(""),
        ms: event.time - (calls.get(block.toolCallId)?.time ?? event.time),
      }))
  );
}

/** A message of the gate's in a log. */
export interface GateMessage {
  /** `review` is a steer too: of an automatic review. */
  readonly purpose: "steer" | "review" | "notice";
  readonly text: string;
  readonly summary: string;
  /** Of a notice: why, as a short code. */
  readonly reason: string | undefined;
  readonly turn: number;
}

/** Messages that the gate put into the conversation, in their order. */
export function gateMessages({ events }: SessionLog): readonly GateMessage[] {
  let turn = 0;
  const found: GateMessage[] = [];
  for (const { type, data } of events) {
    if (type === "turn/start") turn = data.turn;
    if (type !== "user/message" || data.source?.plugin !== "assay-verify-gate") continue;
    found.push({
      turn,
      purpose: data.source.purpose ?? "steer",
      reason: data.source.reason,
      summary: String(data.source.summary ?? ""),
      text: (data.content as { text?: string }[]).map((part) => part.text ?? "").join(""),
    });
  }
  return found;
}

/** How the turns ended, for example `["completed"]`. */
export function turnEnds({ events }: SessionLog): readonly string[] {
  return events.filter(({ type }) => type === "turn/end").map(({ data }) => String(data.reason.kind));
}
