/**
 * A DeepSeek Harness session log as events: lines to JSON, packed rows counted, numbers restored, and everything that
 * can't be read counted and named instead of ending the reading.
 *
 * @module
 */
import { TranscriptError } from "./error.ts";
import { isRecord, jsonKind } from "./source.ts";

/** Newest format that is known. */
export const NEWEST_SESSION_VERSION = 4;

type Fields = Readonly<Record<string, unknown>>;

/** First line of a log. */
export interface SessionHeader {
  /** 0 to 4. */
  readonly version: number;
  readonly id: string | null;
  readonly cwd: string | null;
  /** Events at the start that belong to the session this one was forked from (formats 0 and 1). */
  readonly seedLength: number;
  /** Whether the log starts with another session's events (formats 2 and up). */
  readonly isSeeded: boolean;
}

/** One event. */
export interface SessionEvent {
  readonly type: string;
  readonly seq: number;
  readonly data: Fields;
  readonly surfaceOp: unknown;
  readonly sourceEventSeqs: readonly number[];
}

/** A line that was left out. */
export interface BadLine {
  /** 1-based. */
  readonly line: number;
  readonly why: string;
}

/** A log, read line by line. */
export interface SessionRows {
  readonly header: SessionHeader;
  /** In the order of the file, without the packed rows and the chunks of streams. */
  readonly events: readonly SessionEvent[];
  /** All events, members of packed rows included. */
  readonly eventCount: number;
  readonly lines: number;
  readonly bad: readonly BadLine[];
  /** Types that no known format has, with their counts. */
  readonly unknown: ReadonlyMap<string, number>;
  /** Events whose number doesn't follow the one before. */
  readonly outOfOrder: number;
}

const PACKED: Readonly<Record<string, string>> = {
  "text-chunks": "texts",
  "reasoning-chunks": "texts",
  "tool-call-chunks": "args",
};

/** Families whose members may be new without changing what happened. */
const KNOWN_FAMILIES = new Set([
  "agent",
  "agent-preset",
  "approval",
  "assistant",
  "command",
  "compaction",
  "deliverables",
  "developer",
  "feedback",
  "goal",
  "hook",
  "llm",
  "model",
  "permission",
  "plan",
  "request",
  "sandbox",
  "schedule",
  "session",
  "session-log-deepseek",
  "skill",
  "step",
  "subagent",
  "system",
  "team",
  "todo",
  "tool",
  "tool-workflow",
  "turn",
  "user",
  "web",
]);

/**
 * Reads the lines of a log.
 * @param file name for messages
 * @throws {TranscriptError} for what is no session log (naming the line), and for formats newer than 4
 */
export function readSessionRows(text: string, file: string): SessionRows {
  const lines = text.split("\n");
  const bad: BadLine[] = [];
  const events: SessionEvent[] = [];
  const unknown = new Map<string, number>();
  let header: SessionHeader | null = null;
  let eventCount = 0;
  let next = 0;
  let outOfOrder = 0;
  let count = 0;
  for (const [index, raw] of lines.entries()) {
    const line = index === 0 && raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw;
    if (line.trim() === "") continue;
    count++;
    const number = index + 1;
    const value = parseLine(line);
    if (header === null) {
      header = readHeader(value, file, number);
      continue;
    }
    if (!isRecord(value) || typeof value.type !== "string") {
      bad.push({
        line: number,
        why: value === undefined
          ? "no complete JSON"
          : isRecord(value)
          ? `"type" is ${jsonKind(value.type)}`
          : `${jsonKind(value)} instead of an event`,
      });
      continue;
    }
    const packed = PACKED[value.type];
    const size = packed === undefined ? 1 : packedSize(value, packed);
    if (size === 0) {
      bad.push({ line: number, why: `a row of ${value.type} without its members` });
      continue;
    }
    const given = packed === undefined ? value.seq : value.seq0;
    const seq = Number.isSafeInteger(given) && (given as number) >= 0 ? given as number : next;
    if (seq !== next) outOfOrder++;
    next = seq + size;
    eventCount += size;
    if (packed !== undefined || value.type === "assistant/chunk") continue;
    if (!KNOWN_FAMILIES.has(value.type.split("/")[0] ?? "") || !value.type.includes("/")) {
      // Whoever wrote it says that nothing depends on it.
      if (value.ignorable === true) continue;
      const name = value.type.slice(0, 60).toWellFormed();
      if (unknown.size < 20 || unknown.has(name)) unknown.set(name, (unknown.get(name) ?? 0) + 1);
      continue;
    }
    events.push({
      type: value.type,
      seq,
      data: isRecord(value.data) ? value.data : {},
      surfaceOp: value.surfaceOp,
      sourceEventSeqs: Array.isArray(value.sourceEventSeqs)
        ? value.sourceEventSeqs.filter((each): each is number => Number.isSafeInteger(each))
        : [],
    });
  }
  if (header === null) throw new TranscriptError(file, "the session log is empty");
  return { header, events, eventCount, lines: count, bad, unknown, outOfOrder };
}

/** The value of one line, `undefined` for what is no JSON. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Whether a value is the first line of a session log, of whatever version. */
export function isSessionHeader(value: unknown): value is Fields {
  return isRecord(value) && value.type === "session" && typeof value.version === "number";
}

function readHeader(value: unknown, file: string, line: number): SessionHeader {
  const place = { line, column: 1 };
  if (!isSessionHeader(value)) {
    const found = value === undefined
      ? "something that is no JSON"
      : isRecord(value)
      ? `"type": ${JSON.stringify(value.type)?.slice(0, 40) ?? "nothing"}`
      : jsonKind(value);
    throw new TranscriptError(
      file,
      `this is no DeepSeek Harness session log: its first line must be {"type":"session","version":…}, found ${found}`,
      place,
    );
  }
  const { version, id, cwd, seedLength, isSeeded } = value;
  if (!Number.isInteger(version) || (version as number) < 0 || (version as number) > NEWEST_SESSION_VERSION) {
    throw new TranscriptError(
      file,
      `session logs of format ${version} are not known here: 0 to ${NEWEST_SESSION_VERSION} are`,
      place,
    );
  }
  return {
    version: version as number,
    id: typeof id === "string" ? id : null,
    cwd: typeof cwd === "string" ? cwd : null,
    seedLength: Number.isSafeInteger(seedLength) && (seedLength as number) > 0 ? seedLength as number : 0,
    isSeeded: isSeeded === true,
  };
}

/** How many events a packed row stands for; 0 for a malformed one. */
function packedSize(row: Fields, list: string): number {
  if (!isRecord(row.data)) return 0;
  const members = row.data[list];
  const { dt } = row.data;
  if (!Array.isArray(members) || members.length === 0 || !members.every((each) => typeof each === "string")) {
    return 0;
  }
  return Array.isArray(dt) && dt.length === members.length - 1 ? members.length : 0;
}
