/**
 * The command line as a function: arguments and surroundings in, exit status out.
 *
 * @module
 */
import { startFailure } from "../runtime/deno.ts";
import { nearestName } from "../verifier/request_errors.ts";
import type { Backend } from "./backend.ts";
import { bestOfNCommand } from "./best_of_n.ts";
import { type Command, NamedFailure, type OpenBackend } from "./command.ts";
import { compareCommand } from "./compare.ts";
import { criteriaCommand } from "./criteria.ts";
import { decisionsCommand } from "./decisions.ts";
import { describeFailure, EXIT, type Failure } from "./failure.ts";
import { gateCommand } from "./gate.ts";
import { type Io, UsageError } from "./io.ts";
import { localBackend } from "./local.ts";
import { type Arguments, readArguments } from "./options.ts";
import { probeCommand } from "./probe.ts";
import { remoteBackend } from "./remote.ts";
import { reviewsCommand } from "./reviews.ts";
import { selectCommand } from "./select.ts";
import { sessionCommand } from "./session.ts";
import { serveCommand } from "./serve.ts";
import { statisticsCommand } from "./statistics.ts";
import { statusCommand } from "./status.ts";
import { makeStyle } from "./style.ts";
import { escapeLines, escapeText } from "./text.ts";
import { trackerCommand } from "./tracker.ts";
import { trackCommand } from "./track.ts";
import { versionCommand } from "./version.ts";

/** Every command by its name. */
export const COMMANDS: readonly Command[] = [
  compareCommand,
  selectCommand,
  trackCommand,
  trackerCommand,
  sessionCommand,
  gateCommand,
  bestOfNCommand,
  criteriaCommand,
  decisionsCommand,
  statisticsCommand,
  reviewsCommand,
  statusCommand,
  probeCommand,
  serveCommand,
  versionCommand,
];

/** Named by the project's plan, not built yet. */
const LATER = ["bench", "eval"];

/** The list of commands. */
export function overview(): string {
  return `Assay judges the work of AI agents by a judge's distribution over its grades.

Usage: deno task assay COMMAND [arguments] [options]

Commands:
${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join("\n")}
  help       this text, or the help of a command: help select

Try it (no key and no network needed):
  deno task assay select examples/merge-people
  deno task assay track examples/progress/roman.json

Every command has --help. Exit status: 0 fine, 1 not accepted, 2 wrong usage or
input, 3 judge or server failed, 130 interrupted.
`;
}

/** The backend that the arguments name. */
export async function openBackend(args: Arguments, io: Io): Promise<Backend> {
  const server = args.text("server");
  const idempotencyKey = args.text("idempotency-key");
  if (server === undefined) {
    if (idempotencyKey !== undefined) {
      throw new UsageError("--idempotency-key needs --server: here the score cache keeps what was bought");
    }
    return await localBackend({ config: args.text("config"), store: args.text("store") }, io);
  }
  for (const name of ["config", "store"] as const) {
    if (args.text(name) !== undefined) throw new UsageError(`--${name} and --server exclude each other`);
  }
  return remoteBackend(server, io.env("ASSAY_TOKEN"), idempotencyKey);
}

/** Runs one command line. Never throws. @returns the exit status */
export async function run(argv: readonly string[], io: Io, open: OpenBackend = openBackend): Promise<number> {
  try {
    return await dispatch(argv, io, open);
  } catch (error) {
    if (io.signal.aborted) {
      io.err("interrupted\n");
      return EXIT.interrupted;
    }
    const failure = toFailure(error);
    const style = makeStyle(
      io.errIsTerminal && !io.env("NO_COLOR") && io.env("TERM") !== "dumb" && !argv.includes("--no-color"),
    );
    const [first, ...rest] = failure.lines;
    io.err([style.bad("assay: ") + first, ...rest].join("\n") + "\n");
    if (io.env("ASSAY_DEBUG")) {
      const cause = error instanceof NamedFailure ? error.cause : error;
      io.err(`${cause instanceof Error ? cause.stack : cause}\n`);
    }
    return failure.status;
  }
}

async function dispatch(argv: readonly string[], io: Io, open: OpenBackend): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h") {
    io.out(overview());
    return name === undefined ? EXIT.usage : EXIT.fine;
  }
  if (name === "help") {
    const [topic] = rest.filter((word) => !word.startsWith("-"));
    io.out(topic === undefined ? overview() : find(topic).help);
    return EXIT.fine;
  }
  const command = find(name === "--version" ? "version" : name);
  // Asking for help must work however broken the rest is.
  const end = rest.indexOf("--");
  const words = end === -1 ? rest : rest.slice(0, end);
  if (words.includes("--help") || words.includes("-h")) {
    io.out(command.help);
    return EXIT.fine;
  }
  return await command.run(readArguments(rest, command.options, command.name), io, open);
}

function find(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found !== undefined) return found;
  if (name.startsWith("-")) {
    throw new UsageError(`the command comes first, then its options: ${escapeText(name)}`);
  }
  if (LATER.includes(name)) throw new UsageError(`the command ${name} comes with a later version`);
  const near = nearestName(name, [...COMMANDS.map((command) => command.name), "help"]);
  throw new UsageError(
    `there is no command ${escapeText(name)}: ${
      near === null ? "see deno task assay help" : `did you mean ${near}?`
    }`,
  );
}

function toFailure(error: unknown): Failure {
  if (error instanceof NamedFailure) return describeFailure(error.cause, error.files);
  const start = startFailure(error);
  const failure = describeFailure(error);
  // What a configuration lacks is told in whole sentences by whoever read it.
  if (start !== null && start.includes("\n")) return { lines: [escapeLines(start)], status: EXIT.usage };
  if (start !== null && failure.lines[0]?.startsWith("unexpected failure")) {
    return { lines: [escapeLines(start)], status: EXIT.usage };
  }
  return failure;
}
