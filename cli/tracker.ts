/** `assay tracker`: follow a run step by step. @module */
import { nearestName } from "../verifier/request_errors.ts";
import type { TrackerResult, TrackerStep, TrackerUpdateResult } from "../verifier/tracker/requests.ts";
import type { Backend } from "./backend.ts";
import {
  type Command,
  isPlan,
  NamedFailure,
  printJson,
  printLines,
  printOf,
  printPlan,
  runVerb,
} from "./command.ts";
import { EXIT } from "./failure.ts";
import { MAXIMUM_FILE_BYTES, readFile, textOrFile } from "./inputs.ts";
import { type Io, UsageError } from "./io.ts";
import { type Arguments, optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS } from "./options.ts";
import { type Print, usageLine } from "./report.ts";
import { readImages, sharedFields } from "./request.ts";
import { number, plural, table } from "./table.ts";
import { escapeText, fit, oneLine, wrap } from "./text.ts";

const ACTIONS = ["start", "update", "result", "delete"] as const;
const OPTIONS: readonly OptionName[] = [
  "task",
  "context",
  "criteria",
  "note",
  "repeats",
  "judge",
  "model",
  "effort",
  "max-tokens",
  "temperature",
  "channel",
  "seed",
  "deadline",
  "images",
  "redact",
  "prompt-characters",
  "step",
  "key",
  "expected-length",
  "retry",
  "dry-run",
  ...PLACE_OPTIONS,
  ...PRINT_OPTIONS,
];

/** The command. */
export const trackerCommand: Command = {
  name: "tracker",
  summary: "follow a run step by step: start, update, result, delete",
  options: OPTIONS,
  help: `Usage: deno task assay tracker start --task TEXT [options]
       deno task assay tracker update ID FILE|- | --step TEXT | --retry N
       deno task assay tracker result ID
       deno task assay tracker delete ID

start fixes task, criteria and judge, and prints the tracker's ID. update
stores one step and scores the run up to it; a step whose scoring fails stays,
without a score, and --retry N (or the same --key and step again) scores it
later. Trackers survive restarts of whatever they are stored in.

Examples:
  ID=$(deno task assay tracker start --task "Fix the build" --quiet)
  deno task assay tracker update $ID --step "[Command] make" --key step-1
  make 2>&1 | deno task assay tracker update $ID -
  deno task assay tracker result $ID

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    const [given, ...rest] = args.positionals;
    const action = ACTIONS.find((name) => name === given);
    if (action === undefined) {
      const near = given === undefined ? null : nearestName(given, ACTIONS);
      throw new UsageError(
        `tracker needs an action: start, update, result or delete` +
          (near === null ? "" : ` (did you mean ${near}?)`),
      );
    }
    if (action === "start") {
      if (rest.length > 0) throw new UsageError(`tracker start takes no more words: ${escapeText(rest[0]!)}`);
      return await withBackend(args, io, open, (backend) => start(args, io, backend));
    }
    const [id, ...more] = rest;
    if (id === undefined) throw new UsageError(`tracker ${action} needs the tracker's ID`);
    if (action === "update") return await update(id, more, args, io, open);
    if (more.length > 0) {
      throw new UsageError(`tracker ${action} takes no more words: ${escapeText(more[0]!)}`);
    }
    return await withBackend(args, io, open, async (backend) => {
      if (action === "delete") {
        await backend.trackers.delete(id, io.signal);
        if (args.flag("json")) printJson(io, { id, deleted: true });
        else if (!args.flag("quiet")) printLines(io, [`Deleted ${escapeText(id)}`]);
        return EXIT.fine;
      }
      const result = await backend.trackers.read(id, io.signal);
      if (args.flag("json")) printJson(io, result);
      else printLines(io, resultLines(result, printOf(args, io)));
      return EXIT.fine;
    });
  },
};

async function withBackend(
  args: Arguments,
  io: Io,
  open: Parameters<Command["run"]>[2],
  work: (backend: Backend) => Promise<number>,
): Promise<number> {
  const backend = await open(args, io);
  try {
    return await work(backend);
  } catch (error) {
    if (io.signal.aborted) throw io.signal.reason;
    throw new NamedFailure(error, {});
  } finally {
    await backend.close();
  }
}

async function start(args: Arguments, io: Io, backend: Backend): Promise<number> {
  const task = await textOrFile(args.text("task"), "task");
  if (task === undefined) throw new UsageError("tracker start needs the task: --task TEXT or --task @FILE");
  const images = await readImages(args.texts("images"));
  const promptCharacters = args.number("prompt-characters");
  const { dryRun: _, ...shared } = await sharedFields(args);
  const started = await backend.trackers.start({
    task,
    ...(images.length > 0 ? { images } : {}),
    ...(promptCharacters === undefined ? {} : { promptCharacters }),
    ...shared,
  }, io.signal);
  if (args.flag("json")) printJson(io, started);
  else if (args.flag("quiet")) printLines(io, [started.id]);
  else {
    const { store } = await backend.status(io.signal);
    printLines(io, [
      started.id,
      ...started.warnings.map((warning) => `Warning: ${oneLine(warning)}`),
      ...(store.kind === "memory" && backend.place === "this process"
        ? ["Warning: the store is memory, so this tracker ends with this command"]
        : []),
    ]);
  }
  return EXIT.fine;
}

async function update(
  id: string,
  files: readonly string[],
  args: Arguments,
  io: Io,
  open: Parameters<Command["run"]>[2],
): Promise<number> {
  const retry = args.number("retry");
  const written = await textOrFile(args.text("step"), "step");
  if (files.length + (written === undefined ? 0 : 1) + (retry === undefined ? 0 : 1) !== 1) {
    throw new UsageError(
      "tracker update needs exactly one of FILE (- is standard input), --step and --retry",
    );
  }
  const text = written ?? (files[0] === undefined ? undefined : await readStep(files[0], io));
  const images = await readImages(args.texts("images"));
  const expectedLength = args.number("expected-length");
  const body = {
    ...(text === undefined ? {} : { step: images.length > 0 ? { text, images } : text }),
    ...(retry === undefined ? {} : { retry }),
    ...(expectedLength === undefined ? {} : { expectedLength }),
    ...(args.flag("dry-run") ? { dryRun: true } : {}),
  };
  const key = args.text("key");
  const result = await runVerb(
    args,
    io,
    open,
    {},
    (backend, options) =>
      backend.trackers.update(id, body, key === undefined ? options : { ...options, idempotencyKey: key }),
  );
  if (isPlan(result)) printPlan(io, args, result);
  else if (args.flag("json")) printJson(io, result);
  else printLines(io, updateLines(result, printOf(args, io)));
  return EXIT.fine;
}

async function readStep(file: string, io: Io): Promise<string> {
  const bytes = file === "-" ? await io.readStdin(MAXIMUM_FILE_BYTES) : await readFile(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${file === "-" ? "standard input" : escapeText(file)} is not UTF-8 text`);
  }
}

const ADVICE = {
  rising: "rising: go on",
  plateau: "plateau: the last steps changed little",
  falling: "falling: it was better before",
  done: "done: it looks finished",
} as const;

function stateText({ state, unscored }: TrackerStep): string {
  if (state === "pending") return "not scored yet";
  if (unscored === undefined) return "";
  return `unscored: ${unscored.reason}${
    unscored.detail === undefined ? "" : `, ${oneLine(unscored.detail)}`
  }`;
}

/** One update for people. */
export function updateLines(result: TrackerUpdateResult, print: Print): readonly string[] {
  const { style, columns } = print;
  const { step, advice, shortened, judge } = result;
  const head = `Step ${step.index}  ${style.bold(number(step.score))}`;
  const lines = [
    advice === null ? head : `${head}  ${ADVICE[advice]}`,
    ...(step.state === "scored" ? [] : [style.warn(wrap(`Warning: ${stateText(step)}`, columns, "  "))]),
  ];
  if (step.state !== "scored") {
    lines.push(
      wrap(
        `The step is stored. Score it with: tracker update ${escapeText(result.id)} --retry ${step.index}`,
        columns,
        "  ",
      ),
    );
  }
  if (shortened.characters > 0) {
    lines.push(wrap(
      `Note: the prompt shows ${
        plural(shortened.steps, "old step")
      } shortened and leaves out ${shortened.leftOut} ` +
        `(${plural(shortened.characters, "character")} in all)`,
      columns,
      "  ",
    ));
  }
  for (const warning of result.warnings) {
    lines.push(style.warn(wrap(`Warning: ${oneLine(warning)}`, columns, "  ")));
  }
  if (!print.quiet && judge !== null) lines.push(style.dim(`Used   ${usageLine(result.usage, judge.kind)}`));
  return lines;
}

/** A whole tracker for people. */
export function resultLines(result: TrackerResult, print: Print): readonly string[] {
  const { style, columns } = print;
  const room = Math.max(10, columns - 30);
  const [head, ...body] = table(
    [
      { title: "Step", align: "right" },
      { title: "Score", align: "right" },
      { title: "±", align: "right" },
      { title: "", flexible: true },
    ],
    result.steps.map((step) => [
      String(step.index),
      number(step.score),
      number(step.standardError),
      step.score === null ? stateText(step) : "█".repeat(Math.round(step.score * room)),
    ]),
    columns,
  );
  const last = result.curve.at(-1);
  const lines = [
    `${style.dim("Task ")}  ${fit(oneLine(result.task), columns - 7)}`,
    `${style.dim("Since")}  ${escapeText(result.createdAt)}, ${plural(result.length, "step")}`,
    "",
    style.dim(head!),
    ...body,
    "",
    style.bold(`Last ${number(last?.score)}${result.advice === null ? "" : `, ${ADVICE[result.advice]}`}`),
  ];
  for (const warning of result.warnings) {
    lines.push(style.warn(wrap(`Warning: ${oneLine(warning)}`, columns, "  ")));
  }
  return lines;
}
