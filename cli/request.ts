/**
 * Options to the fields of a request. Values are only carried over: what they must be is said once, by the request's
 * schema, and its errors are told in the names of the options (see `failure.ts`).
 *
 * @module
 */
import { BUILT_IN_RUBRICS } from "../verifier/rubrics.ts";
import { agreeOnTask, type Input, readFile, readInputs, readTextFile, textOrFile } from "./inputs.ts";
import { type Io, UsageError } from "./io.ts";
import { type Arguments, readDuration } from "./options.ts";
import { escapeText } from "./text.ts";

/** The trajectories of one task that a command names, and what its request says besides them. */
export interface Runs {
  readonly inputs: readonly Input[];
  readonly task: string;
  /** What should be said about how they were read. */
  readonly notes: readonly string[];
  /** Task, images and the shared fields that were given. */
  readonly fields: Record<string, unknown> & { readonly task: string };
}

/**
 * Reads the trajectories, their task and everything else that verbs on trajectories share.
 * @param check refuses a number of trajectories that the command can't take
 * @throws {UsageError} as the check, `readInputs` and `agreeOnTask` do
 */
export async function readRuns(
  args: Arguments,
  io: Io,
  check: (inputs: readonly Input[]) => void = () => {},
): Promise<Runs> {
  const { inputs, notes } = await readInputs(args.positionals, io);
  check(inputs);
  const task = agreeOnTask(inputs, await textOrFile(args.text("task"), "task"));
  const images = [...task.images, ...await readImages(args.texts("images"))];
  return {
    inputs,
    task: task.task,
    notes: [...notes, ...task.notes],
    fields: { task: task.task, ...(images.length > 0 ? { images } : {}), ...await sharedFields(args) },
  };
}

/** The same of a command that takes exactly one trajectory. */
export async function readRun(
  command: string,
  args: Arguments,
  io: Io,
): Promise<Omit<Runs, "inputs"> & { readonly input: Input }> {
  if (args.positionals.length === 0) {
    throw new UsageError(`${command} needs a trajectory: ${command} FILE`);
  }
  const runs = await readRuns(args, io, ({ length }) => {
    if (length !== 1) throw new UsageError(`${command} takes one trajectory, and got ${length}`);
  });
  return { ...runs, input: runs.inputs[0]! };
}

/** The shared fields that were given; absent ones are left to the schema's defaults. */
export async function sharedFields(args: Arguments): Promise<Record<string, unknown>> {
  const deadline = args.text("deadline");
  const budget = compact({
    calls: args.number("budget-calls"),
    tokens: args.number("budget-tokens"),
    usd: args.number("budget-usd"),
  });
  const criteria = args.text("criteria");
  const redact = args.texts("redact");
  return compact({
    context: await textOrFile(args.text("context"), "context"),
    criteria: criteria === undefined ? undefined : await readCriteria(criteria),
    groundTruthNote: await textOrFile(args.text("note"), "note"),
    repeats: args.number("repeats"),
    judge: judgeChoice(args),
    channel: args.text("channel"),
    seed: args.number("seed"),
    budget: Object.keys(budget).length === 0 ? undefined : budget,
    deadlineMs: deadline === undefined ? undefined : readDuration(deadline, "deadline"),
    cache: args.text("cache"),
    redact: redact.length > 0 ? redact : undefined,
    dryRun: args.flag("dry-run") ? true : undefined,
  });
}

function compact(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function judgeChoice(args: Arguments): unknown {
  const profiles = args.texts("judge");
  const overrides = compact({
    model: args.text("model"),
    effort: args.text("effort"),
    maxTokens: args.number("max-tokens"),
    temperature: args.number("temperature"),
  });
  if (Object.keys(overrides).length === 0) {
    return profiles.length > 1 ? profiles : profiles[0];
  }
  if (profiles.length > 1) {
    throw new UsageError(
      "--model, --effort, --max-tokens and --temperature change one judge, and --judge names several",
    );
  }
  return profiles[0] === undefined ? overrides : { profile: profiles[0], ...overrides };
}

/** A rubric's name, its JSON, or the text of its file. @throws {UsageError} for a file that can't be read */
export async function readCriteria(value: string): Promise<string> {
  if (BUILT_IN_RUBRICS.has(value.trim()) || /^\s*[[{]/.test(value) || value.includes("\n")) return value;
  if (/[/\\]|\.(?:md|markdown|txt|json)$/i.test(value) || await exists(value)) {
    const text = await readTextFile(value);
    if (text.trim() === "") throw new UsageError(`the rubric ${escapeText(value)} is empty`);
    // One line without a heading would be taken for a rubric's name.
    return /[\n#]|^\s*[[{]/.test(text) ? text : text + "\n";
  }
  return value;
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
};

/** URLs as they are; files as `data:` URLs. @throws {UsageError} for a file of another kind */
export async function readImages(values: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(values.map(async (value) => {
    if (/^(?:https?|data):/i.test(value)) return value;
    const type = IMAGE_TYPES[value.slice(value.lastIndexOf(".") + 1).toLowerCase()];
    if (type === undefined) {
      throw new UsageError(
        `--images must be an https: URL or a png, jpeg, webp or gif file: ${escapeText(value)}`,
      );
    }
    return `data:${type};base64,${(await readFile(value)).toBase64()}`;
  }));
}
