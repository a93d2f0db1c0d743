/**
 * Trajectories from files, folders and standard input, and the task they share.
 *
 * @module
 */
import { basename, join } from "@std/path";
import { readTranscript, type Transcript } from "../transcripts/transcript.ts";
import { MAXIMUM_CANDIDATES } from "../verifier/requests.ts";
import type { TrajectoryInput } from "../verifier/types.ts";
import { type Io, UsageError } from "./io.ts";
import { escapeText, fit, oneLine } from "./text.ts";
import { isZstd, unpackZstd } from "./zstd.ts";

/** Largest file that is read: the server's default body limit, and far beyond what a judge can be shown. */
export const MAXIMUM_FILE_BYTES = 64 * 1024 * 1024;

const TRAJECTORY_FILE = /\.(?:json|jsonl|ndjson|txt|log)$/i;

/** One trajectory from outside. */
export interface Input {
  /** As it was named on the command line or found in the folder. */
  readonly file: string;
  /** What to call it: the run's own name, else the file's. */
  readonly id: string;
  readonly transcript: Transcript;
  /** For the request. */
  readonly trajectory: Exclude<TrajectoryInput, string>;
}

/** Trajectories and what should be said about how they were found. */
export interface Inputs {
  readonly inputs: readonly Input[];
  readonly notes: readonly string[];
}

/**
 * Reads files, every trajectory file of folders (not of their subfolders; in order of name), and `-`.
 * @throws {UsageError} naming the path; TranscriptError from the reader
 */
export async function readInputs(paths: readonly string[], io: Io): Promise<Inputs> {
  const notes: string[] = [];
  const files: string[] = [];
  for (const path of paths) {
    if (path === "-") {
      if (files.includes("-")) throw new UsageError("standard input (-) can be read only once");
      files.push(path);
    } else if ((await stat(path)).isDirectory) files.push(...await listFolder(path, notes));
    else files.push(path);
  }
  if (files.length > MAXIMUM_CANDIDATES) {
    throw new UsageError(`${files.length} trajectories are too many: the limit is ${MAXIMUM_CANDIDATES}`);
  }
  const inputs: Input[] = [];
  for (const file of files) {
    const bytes = file === "-" ? await io.readStdin(MAXIMUM_FILE_BYTES) : await readFile(file);
    const transcript = readTranscript(unpack(bytes, file, notes), file === "-" ? "standard input" : file);
    for (const warning of transcript.warnings) notes.push(`${file}: ${warning}`);
    inputs.push(toInput(file, transcript));
  }
  return { inputs: distinct(inputs), notes };
}

/** A file's bytes, unpacked where they are compressed. */
function unpack(bytes: Uint8Array, file: string, notes: string[]): Uint8Array {
  if (!isZstd(bytes)) return bytes;
  const unpacked = unpackZstd(bytes, file);
  if (unpacked.torn !== null) notes.push(`${file}: ${unpacked.torn}`);
  return unpacked.bytes;
}

function toInput(file: string, transcript: Transcript): Input {
  const name = file === "-" ? "standard input" : basename(file).replace(/\.[^.]+$/, "") || basename(file);
  const id = (transcript.id ?? name).slice(0, 200).toWellFormed();
  return { file, id, transcript, trajectory: { ...transcript.trajectory, id } };
}

/** Runs of one name are told apart by their files. */
function distinct(inputs: readonly Input[]): readonly Input[] {
  const names = new Map<string, number>();
  for (const { id } of inputs) names.set(id, (names.get(id) ?? 0) + 1);
  return inputs.map((input) => {
    if (names.get(input.id) === 1) return input;
    const id = input.file.slice(-200).toWellFormed();
    return { ...input, id, trajectory: { ...input.trajectory, id } };
  });
}

async function stat(path: string): Promise<Deno.FileInfo> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    throw new UsageError(`cannot read ${escapeText(path)}: ${reason(error)}`);
  }
}

/** A file's bytes. @throws {UsageError} naming the path and the reason */
export async function readFile(path: string): Promise<Uint8Array> {
  const { isDirectory, size } = await stat(path);
  if (isDirectory) throw new UsageError(`cannot read ${escapeText(path)}: it is a folder`);
  if (size > MAXIMUM_FILE_BYTES) {
    throw new UsageError(
      `${escapeText(path)} is too large: ${size} bytes, the limit is ${MAXIMUM_FILE_BYTES}`,
    );
  }
  try {
    return await Deno.readFile(path);
  } catch (error) {
    throw new UsageError(`cannot read ${escapeText(path)}: ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such file or folder";
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
    return "permission denied";
  }
  return error instanceof Error ? error.message.split("\n", 1)[0]! : String(error);
}

async function listFolder(folder: string, notes: string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const other: string[] = [];
  const folders: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    const isFolder = entry.isSymlink ? (await stat(path)).isDirectory : entry.isDirectory;
    if (isFolder) folders.push(entry.name);
    else if (TRAJECTORY_FILE.test(entry.name)) found.push(path);
    else other.push(entry.name);
  }
  const shown = escapeText(folder);
  if (found.length === 0) {
    const near = folders.toSorted()[0];
    throw new UsageError(
      `${shown} holds no trajectory files (.json, .jsonl, .txt, .log)` +
        (near === undefined
          ? ""
          : `; it has ${folders.length} subfolders, which are not searched: try ${
            escapeText(join(folder, near))
          }`),
    );
  }
  if (other.length > 0) {
    notes.push(
      `${folder}: ${other.length} other files are left alone (${other.toSorted().slice(0, 3).join(", ")}${
        other.length > 3 ? ", …" : ""
      })`,
    );
  }
  return found.toSorted();
}

/** The task to judge on, and images that stood beside it. */
export interface TaskText {
  readonly task: string;
  readonly images: readonly string[];
  readonly notes: readonly string[];
}

/**
 * The given task, else the one that the files agree on.
 * @throws {UsageError} when no file has one, or two differ
 */
export function agreeOnTask(inputs: readonly Input[], given: string | undefined): TaskText {
  const stated = inputs.filter(({ transcript }) => transcript.task !== null);
  const first = stated[0];
  const images = first?.transcript.images ?? [];
  if (given !== undefined) {
    const differs = stated.some(({ transcript }) => transcript.task!.trim() !== given.trim());
    const notes = differs
      ? ["the files state another task than --task; the judge sees the one from --task"]
      : [];
    return { task: given, images: differs ? [] : images, notes };
  }
  if (first === undefined) {
    throw new UsageError(
      `no task text in ${
        inputs.length === 1 ? escapeText(inputs[0]!.file) : "the files"
      }: give it with --task TEXT or --task @FILE`,
    );
  }
  const task = first.transcript.task!;
  const other = stated.find(({ transcript }) => transcript.task!.trim() !== task.trim());
  if (other !== undefined) {
    throw new UsageError(
      "the files are about different tasks; pick one with --task\n" +
        [first, other].map(({ file, transcript }) =>
          `  ${escapeText(file)}: ${fit(oneLine(transcript.task!), 60)}`
        ).join("\n"),
    );
  }
  const silent = inputs.length - stated.length;
  const notes = silent === 0
    ? []
    : [`${silent} of ${inputs.length} files state no task; they are judged on the task of the others`];
  return { task, images, notes };
}

/** The value of an option that may be `@FILE`. @throws {UsageError} */
export async function textOrFile(value: string | undefined, name: string): Promise<string | undefined> {
  if (value === undefined || !value.startsWith("@")) return value;
  const path = value.slice(1);
  if (path === "") throw new UsageError(`--${name} @ needs a file name`);
  return await readTextFile(path);
}

/** A UTF-8 file's text without its byte-order mark. @throws {UsageError} */
export async function readTextFile(path: string): Promise<string> {
  const bytes = await readFile(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${escapeText(path)} is not UTF-8 text`);
  }
}
