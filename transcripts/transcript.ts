/**
 * Turns a file's bytes into a trajectory. Formats are told apart by content; a file's name serves for messages and, when
 * the content alone could be either, to decide between broken JSON and plain text.
 *
 * Structured formats become chat messages, never rendered text: the verifier renders them and quotes what looks like its
 * own markers, so that what an agent told and what was observed stay apart.
 *
 * @module
 */
import type { ChatMessage, TrajectoryInput } from "../verifier/types.ts";
import { looksLikeAtif, readAtif } from "./atif.ts";
import { decodeText } from "./bytes.ts";
import { looksLikeMessages, readChat } from "./chat.ts";
import { readSessionLog } from "./dsh_session.ts";
import { isSessionHeader } from "./dsh_session_rows.ts";
import { TranscriptError } from "./error.ts";
import { parseJson } from "./json.ts";
import { isRecord, jsonKind, type Source } from "./source.ts";

export { TranscriptError } from "./error.ts";

/** `assay` is a trajectory as the HTTP API takes it: `{ "text" }` or `{ "steps": [text, …] }`. */
export type TranscriptFormat = "atif" | "chat" | "assay" | "dsh" | "text";

/** What a file says. */
export interface Transcript {
  /** The run's own name, when the file carries one. */
  readonly id: string | null;
  /** What the agent was asked, when the file says it. The trajectory holds what came after it. */
  readonly task: string | null;
  /** `https:` or `data:` URLs that stood beside the task text. */
  readonly images: readonly string[];
  /** Ready for a request; without an `id`, which is the caller's to choose. */
  readonly trajectory: Exclude<TrajectoryInput, string>;
  /** Ground truth of the run (usually 0 or 1), when the file carries one. The judge never sees it. */
  readonly reward: number | null;
  readonly format: TranscriptFormat;
  /** What was replaced, left out or looks odd; for people. */
  readonly warnings: readonly string[];
}

/**
 * Reads a Terminal-Bench or ATIF run, a DeepSeek Harness session log, a chat transcript (OpenAI or Anthropic messages, as JSON or JSON Lines), a
 * trajectory as the HTTP API takes it, or plain text.
 * @param file name for messages, for example the path; a `.json` or `.jsonl` ending forbids the reading as plain text
 * @throws {TranscriptError} and nothing else, for any bytes
 */
export function readTranscript(bytes: Uint8Array, file: string): Transcript {
  const text = decodeText(bytes, file);
  try {
    return readDecoded(text, file);
  } catch (error) {
    // JSON that nests a hundred thousand levels deep overflows the stack wherever it is walked.
    if (error instanceof RangeError) throw new TranscriptError(file, "the JSON nests too deep to be read");
    throw error;
  }
}

function readDecoded(text: string, file: string): Transcript {
  const named = /\.(?:jsonl?|ndjson)$/i.test(file);
  const first = text.trimStart()[0];
  if (!named && first !== "{" && first !== "[") return plain(text);
  const warnings: string[] = [];
  const lines = jsonLines(text);
  if (lines !== null) {
    if (isSessionHeader(lines.first)) return readSession(text, file);
    // A structured log of some program is plain text to us, unless its name or its records say otherwise.
    if (!named && !isRecordOfOurs(lines.first)) return plain(text);
    const records = lines.parse(file).map((record) => wellFormed(record, text, warnings));
    if (records.every((record) => isRecord(record) && isTrajectoryRecord(record))) {
      throw new TranscriptError(
        file,
        `the file holds ${records.length} trajectories; put each in its own file`,
      );
    }
    const source = { file, pointer: "", warnings, lines: true };
    return assemble(readChat(records, source), source);
  }
  // Logs may well begin with a bracket: without a telling name, only what starts like a document must be JSON.
  if (!named && !/^\s*(?:\{\s*(?:"|\})|\[\s*(?:[{"\]]))/.test(text)) {
    try {
      JSON.parse(text);
    } catch (error) {
      if (error instanceof SyntaxError) return plain(text);
      throw error;
    }
  }
  const value = wellFormed(parseJson(text, file), text, warnings);
  if (isSessionHeader(value)) return readSession(text, file);
  return readValue(value, { file, pointer: "", warnings, lines: false });
}

function readValue(value: unknown, source: Source): Transcript {
  if (typeof value === "string") return assemble({ trajectory: { text: value }, format: "assay" }, source);
  if (looksLikeMessages(value)) return assemble(readChat(value, source), source);
  if (!isRecord(value)) {
    throw new TranscriptError(
      source.file,
      `this JSON is no trajectory: expected an object or an array of messages, found ${jsonKind(value)}`,
    );
  }
  // JSON Lines of one line.
  if (typeof value.role === "string" && !isTrajectoryRecord(value)) {
    return assemble(readChat([value], source), source);
  }
  const outer = { record: value };
  if (value.trajectory !== undefined) {
    return assemble(
      { ...readBody(value.trajectory, { ...source, pointer: "/trajectory" }), ...outer },
      source,
    );
  }
  return assemble({ ...readBody(value, source), ...outer }, source);
}

/** A trajectory proper: ATIF steps, messages, text, or steps as text. */
function readBody(body: unknown, source: Source): Reading {
  if (typeof body === "string") return { trajectory: { text: body }, format: "assay" };
  if (looksLikeMessages(body)) return readChat(body, source);
  if (isRecord(body)) {
    if (looksLikeAtif(body)) return readAtif(body, source);
    if (body.messages !== undefined) {
      return readChat(body.messages, { ...source, pointer: `${source.pointer}/messages` });
    }
    if (Array.isArray(body.steps)) return readTextSteps(body.steps, source);
    if (typeof body.text === "string") return { trajectory: { text: body.text }, format: "assay" };
  }
  const found = isRecord(body)
    ? `an object with ${
      Object.keys(body).length === 0 ? "no keys" : `the keys ${Object.keys(body).slice(0, 8).join(", ")}`
    }`
    : jsonKind(body);
  throw new TranscriptError(
    source.file,
    `this JSON is no trajectory: expected "trajectory", "messages", "steps" or "text" at ${
      source.pointer || "the top"
    }, found ${found}`,
  );
}

function readTextSteps(steps: readonly unknown[], source: Source): Reading {
  const read = steps.map((step, index) => {
    if (typeof step === "string") return step;
    if (isRecord(step) && typeof step.text === "string") {
      const images = Array.isArray(step.images)
        ? step.images.filter((url): url is string => typeof url === "string")
        : [];
      return images.length === 0 ? step.text : { text: step.text, images };
    }
    throw new TranscriptError(
      source.file,
      `${source.pointer}/steps/${index} must be a text, { "text" } or an ATIF step with a "source", found ${
        jsonKind(step)
      }`,
    );
  });
  if (read.length === 0) throw new TranscriptError(source.file, `${source.pointer}/steps is empty`);
  return { trajectory: { steps: read }, format: "assay" };
}

/** What a format's reader found. */
export interface Reading {
  readonly trajectory: Exclude<TrajectoryInput, string>;
  readonly format: TranscriptFormat;
  readonly task?: string | null;
  readonly images?: readonly string[];
  /** The outer object, which carries the reward and the run's name. */
  readonly record?: Readonly<Record<string, unknown>>;
}

function assemble(reading: Reading, source: Source): Transcript {
  const record = reading.record ?? {};
  const name = [record.trial_name, record.id, record.name]
    .find((value): value is string => typeof value === "string" && value.trim() !== "");
  const task = typeof record.task === "string" && record.task.trim() !== ""
    ? record.task
    : reading.task ?? null;
  return {
    id: name ?? null,
    task,
    images: reading.images ?? [],
    trajectory: reading.trajectory,
    reward: readReward(record.reward, source),
    format: reading.format,
    warnings: source.warnings,
  };
}

function readReward(reward: unknown, source: Source): number | null {
  if (reward === undefined || reward === null) return null;
  if (typeof reward === "number" && Number.isFinite(reward)) return reward;
  if (typeof reward === "boolean") return reward ? 1 : 0;
  source.warnings.push(`"reward" is ${jsonKind(reward)}, not a number; it is not shown`);
  return null;
}

function plain(text: string): Transcript {
  return {
    id: null,
    task: null,
    images: [],
    trajectory: { text },
    reward: null,
    format: "text",
    warnings: [],
  };
}

/** Splits JSON Lines: `null` unless the first line alone is a JSON object and something follows it. */
function jsonLines(text: string): { first: unknown; parse(file: string): unknown[] } | null {
  const trimmed = text.trimStart();
  const end = trimmed.indexOf("\n");
  if (trimmed[0] !== "{" || end === -1 || trimmed.slice(end).trim() === "") return null;
  let first: unknown;
  try {
    first = JSON.parse(trimmed.slice(0, end));
  } catch {
    return null;
  }
  const parse = (file: string): unknown[] => {
    const records: unknown[] = [];
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() !== "") records.push(parseJson(line, file, index + 1));
    }
    return records;
  };
  return { first, parse };
}

function isRecordOfOurs(record: unknown): boolean {
  return isRecord(record) && (typeof record.role === "string" || isTrajectoryRecord(record));
}

function isTrajectoryRecord(record: Readonly<Record<string, unknown>>): boolean {
  return record.role === undefined &&
    (Array.isArray(record.messages) || Array.isArray(record.steps) || record.trajectory !== undefined);
}

/** A session log as the trajectory of its agent. */
function readSession(text: string, file: string): Transcript {
  const log = readSessionLog(text, file);
  if (!log.messages.some(({ role }) => role === "assistant")) {
    throw new TranscriptError(file, "the session has no message of the agent: there is nothing to judge");
  }
  const warnings = [...log.warnings];
  const messages = wellFormed(log.messages, text, warnings) as readonly ChatMessage[];
  // The verifier takes the first message of the user for the task and drops it, so one has to stand there.
  const first = messages[0]?.role === "user" ? [{ role: "user", content: log.task ?? "" }] : [];
  return assemble({
    trajectory: { messages: [...first, ...messages] },
    format: "dsh",
    task: log.task?.toWellFormed() ?? null,
    record: { id: log.id },
  }, { file, pointer: "", warnings, lines: true });
}

/**
 * Lone surrogates (`"\ud83d"` without its second half) are no text: no judge could be sent them. Each is replaced by
 * U+FFFD. Decoded UTF-8 has none, so only files with such an escape are walked.
 */
function wellFormed(value: unknown, text: string, warnings: string[]): unknown {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return value;
  let replaced = 0;
  const walk = (node: unknown): unknown => {
    if (typeof node === "string") {
      if (node.isWellFormed()) return node;
      replaced++;
      return node.toWellFormed();
    }
    if (Array.isArray(node)) return node.map(walk);
    if (isRecord(node)) {
      return Object.fromEntries(
        Object.entries(node).map(([key, child]) => [key.toWellFormed(), walk(child)]),
      );
    }
    return node;
  };
  const result = walk(value);
  if (replaced > 0) {
    const message = "text with lone surrogates: each was replaced by U+FFFD";
    if (!warnings.includes(message)) warnings.push(message);
  }
  return result;
}
