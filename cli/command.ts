/**
 * What a command is, and what the verbs' commands share.
 *
 * @module
 */
import type { CallOptions, PlanResult } from "../verifier/types.ts";
import type { Backend } from "./backend.ts";
import { describeFailure, EXIT } from "./failure.ts";
import { type Io } from "./io.ts";
import { type Arguments, type OptionName } from "./options.ts";
import { makeProgress } from "./progress.ts";
import { planLines, type Print } from "./report.ts";
import { makeStyle } from "./style.ts";
import { checkSvg, writeSvg } from "./svg.ts";

/** Opens the backend that the arguments name. */
export type OpenBackend = (args: Arguments, io: Io) => Promise<Backend>;

/** One command. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Shown by `--help`; fits 80 columns. */
  readonly help: string;
  readonly options: readonly OptionName[];
  /** @returns the exit status */
  readonly run: (args: Arguments, io: Io, open: OpenBackend) => Promise<number>;
}

/** How a command prints, from its options and the terminal. */
export function printOf(args: Arguments, io: Io): Print {
  const colours = io.outIsTerminal && !args.flag("no-color") && !io.env("NO_COLOR") &&
    io.env("TERM") !== "dumb";
  return { columns: io.columns, style: makeStyle(colours), quiet: args.flag("quiet") };
}

/** Prints lines to standard output. */
export function printLines(io: Io, lines: readonly string[]): void {
  io.out(lines.join("\n") + "\n");
}

/** Prints a result for programs. */
export function printJson(io: Io, value: unknown): void {
  io.out(JSON.stringify(value, null, 2) + "\n");
}

/** A failure whose request fields are told in the words of the command line. */
export class NamedFailure extends Error {
  override readonly name = "NamedFailure";
  readonly files: Readonly<Record<string, string>>;

  constructor(cause: unknown, files: Readonly<Record<string, string>>) {
    super(describeFailure(cause, files).lines[0], { cause });
    this.files = files;
  }
}

/**
 * Runs one verb with progress on the terminal.
 * @param files command-line names of the request's fields that hold trajectories
 */
export async function runVerb<Result>(
  args: Arguments,
  io: Io,
  open: OpenBackend,
  files: Readonly<Record<string, string>>,
  verb: (backend: Backend, options: CallOptions) => Promise<Result>,
): Promise<Result> {
  await checkSvg(args.text("svg"));
  const backend = await open(args, io);
  const drawn = io.errIsTerminal && !args.flag("quiet") && io.env("TERM") !== "dumb";
  const progress = makeProgress(drawn ? io.err : null);
  try {
    return await verb(backend, { signal: io.signal, onEvent: progress.onEvent });
  } catch (error) {
    if (io.signal.aborted) throw io.signal.reason;
    throw new NamedFailure(error, files);
  } finally {
    progress.end();
    await backend.close();
  }
}

/** How a verb's result is shown. */
export interface Shown<Result> {
  /** The result for people. */
  readonly lines: (result: Result, print: Print) => readonly string[];
  /** The picture of `--svg`; `null` when this result has none. */
  readonly svg?: (result: Result) => string | null;
  /** Exit status, default 0. */
  readonly status?: (result: Result) => number;
}

/**
 * Runs one verb and prints what it answers: the plan of a dry run, or the result as JSON or for people.
 * @returns the exit status
 */
export async function answerVerb<Result extends object>(
  args: Arguments,
  io: Io,
  open: OpenBackend,
  files: Readonly<Record<string, string>>,
  verb: (backend: Backend, options: CallOptions) => Promise<Result | PlanResult>,
  shown: Shown<Result>,
): Promise<number> {
  const result = await runVerb(args, io, open, files, verb);
  if (isPlan(result)) {
    printPlan(io, args, result);
    return EXIT.fine;
  }
  if (args.flag("json")) printJson(io, result);
  else printLines(io, shown.lines(result, printOf(args, io)));
  // Last: what was paid for must not be lost with a picture that can't be written.
  const picture = shown.svg?.(result) ?? null;
  if (picture !== null) await writeSvg(args.text("svg"), () => picture);
  return shown.status?.(result) ?? EXIT.fine;
}

/** Whether a verb answered with a plan (of a dry run). */
export function isPlan(result: object): result is PlanResult {
  return "plan" in result;
}

/** Prints a dry run's plan. */
export function printPlan(io: Io, args: Arguments, result: PlanResult): void {
  if (args.flag("json")) printJson(io, result);
  else printLines(io, ["Nothing was bought (--dry-run). It would take about:", ...planLines(result.plan)]);
}
