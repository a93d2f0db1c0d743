/**
 * Options of all commands, and how arguments are read: unknown names are errors that name the nearest known one.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { nearestName } from "../verifier/request_errors.ts";
import { UsageError } from "./io.ts";
import { escapeText, wrap } from "./text.ts";

/** One option. */
export interface Option {
  /** Placeholder of its value in help texts; without one it is a switch. */
  readonly value?: string;
  /** May be given more than once. */
  readonly multiple?: boolean;
  readonly help: string;
}

/** Every option that some command takes. */
export const OPTIONS = {
  task: { value: "TEXT|@FILE", help: "what the agent was asked; default: what the files say" },
  context: { value: "TEXT|@FILE", help: "more that the judge may know" },
  criteria: { value: "NAME|FILE|JSON", help: "rubric: built-in name, file or JSON (default general)" },
  note: { value: "TEXT|@FILE", help: "ground-truth note, instead of the rubric's" },
  repeats: { value: "N", help: "judged calls per pair and criterion (default 2; select 1)" },
  judge: { value: "NAME", multiple: true, help: "judge profile; several times: an ensemble of up to 5" },
  model: { value: "NAME", help: "model, instead of the profile's" },
  effort: { value: "NAME", help: "reasoning effort, instead of the profile's" },
  "max-tokens": { value: "N", help: "output tokens of one call" },
  temperature: { value: "X", help: "sampling temperature, 0 to 2" },
  channel: { value: "NAME", help: "least that is accepted: any, logprobs or continuation" },
  seed: { value: "N", help: "everything random derives from it (default 0)" },
  "budget-calls": { value: "N", help: "refuse when more calls would be needed" },
  "budget-tokens": { value: "N", help: "refuse when more tokens would be needed" },
  "budget-usd": { value: "X", help: "refuse when it would cost more dollars" },
  deadline: { value: "TIME", help: "stop buying after this time: 90s, 10m, 500ms" },
  cache: { value: "MODE", help: "score cache: use (default), refresh or off" },
  images: { value: "URL|FILE", multiple: true, help: "image that belongs to the task; repeatable" },
  mode: { value: "NAME", help: "schedule: pivot (default), round_robin or upstream" },
  pivots: { value: "N", help: "pivots of the second round (default 2)" },
  prior: { value: "NAME", help: "none (default), or agreement between the candidates" },
  checkpoints: { value: "N,N,…", help: "score after these steps (default: up to 12 of them)" },
  causal: { help: "score every checkpoint from its own prefix" },
  verb: { value: "NAME", help: "only decisions of this verb" },
  limit: { value: "N", help: "most rows (default 20)" },
  texts: { help: "also print the prompts and answers that were kept" },
  from: { value: "TIME", help: "first day or time, such as 2026-12-01 (default 30 days ago)" },
  to: { value: "TIME", help: "last day, or first time that is left out (default now)" },
  group: { value: "NAME", help: "day (default), verb, judge, session or rubric" },
  step: { value: "TEXT|@FILE", help: "the step to append, instead of FILE" },
  key: { value: "KEY", help: "idempotency key of this step: the same again appends nothing" },
  "expected-length": { value: "N", help: "refuse when the tracker has another length" },
  retry: { value: "N", help: "score step N again instead of appending one" },
  "prompt-characters": { value: "N", help: "shorten old steps above this (default 120000)" },
  acceptance: { help: "measure the finished work instead of its progress" },
  floor: {
    value: "ID=X",
    multiple: true,
    help: "least score of one criterion (default the threshold); repeatable",
  },
  n: { value: "N", help: "drafts, 2 to 8 (default 3)" },
  generator: { value: "NAME", help: "judge profile that writes the drafts (default the server's)" },
  "draft-tokens": { value: "N", help: "most output tokens of one draft" },
  threshold: { value: "X", help: "least mean score that is accepted (default 0.65)" },
  range: { value: "FROM-TO", help: "only these events of a log: 12-80, 12- or -80" },
  redact: {
    value: "REGEX",
    multiple: true,
    help: "take out secrets and what matches, before judging; repeatable",
  },
  "max-characters": { value: "N", help: "shorten old steps above this (default 200000)" },
  "dry-run": { help: "print calls, tokens and cost, and buy nothing" },
  json: { help: "print the result as JSON, as the HTTP API gives it" },
  svg: { value: "FILE", help: "also write a picture" },
  config: { value: "FILE", help: "configuration (default $ASSAY_CONFIG, assay.config.json)" },
  store: { value: "PATH", help: "score cache: a file, or memory" },
  server: { value: "URL", help: "ask this server (token: ASSAY_TOKEN) instead of judging here" },
  "idempotency-key": { value: "KEY", help: "with --server: the same key again buys nothing again" },
  host: { value: "NAME", help: "address to listen on (default 127.0.0.1)" },
  port: { value: "N", help: "port to listen on (default 8787; 0 takes a free one)" },
  "stop-with-stdin": { help: "end when standard input ends, as it does with the program that started it" },
  "no-color": { help: "no colours (also NO_COLOR)" },
  quiet: { help: "no progress and no explanations" },
  help: { help: "this text" },
} as const satisfies Readonly<Record<string, Option>>;

/** The name of one option. */
export type OptionName = keyof typeof OPTIONS;

/** Options that every verb takes. */
export const VERB_OPTIONS: readonly OptionName[] = [
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
  "budget-calls",
  "budget-tokens",
  "budget-usd",
  "deadline",
  "cache",
  "images",
  "redact",
  "dry-run",
  "idempotency-key",
];

/** Options about where the judging happens. */
export const PLACE_OPTIONS: readonly OptionName[] = ["config", "store", "server"];
/** Options about what is printed. */
export const PRINT_OPTIONS: readonly OptionName[] = ["json", "no-color", "quiet", "help"];

/** Arguments after reading. */
export interface Arguments {
  readonly positionals: readonly string[];
  /** The value of an option, `undefined` when it wasn't given. */
  text(name: OptionName): string | undefined;
  /** All values of an option that may be repeated. */
  texts(name: OptionName): readonly string[];
  flag(name: OptionName): boolean;
  /** A number; what kind is checked with the request. @throws {UsageError} for what is no number */
  number(name: OptionName): number | undefined;
}

/** Reads arguments. @throws {UsageError} naming the argument, and the nearest known option */
export function readArguments(
  args: readonly string[],
  known: readonly OptionName[],
  command: string,
): Arguments {
  const options: Record<string, { type: "string" | "boolean"; multiple?: boolean; short?: string }> = {};
  for (const name of known) {
    const option: Option = OPTIONS[name];
    options[name] = { type: option.value === undefined ? "boolean" : "string" };
  }
  if (known.includes("help")) options.help = { type: "boolean", short: "h" };
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const option: Option | undefined = known.includes(token.name as OptionName)
      ? OPTIONS[token.name as OptionName]
      : undefined;
    if (option === undefined) throw unknownOption(token.rawName, token.name, known, command);
    const before = values.get(token.name);
    if (before !== undefined && !option.multiple && option.value !== undefined) {
      throw new UsageError(`--${token.name} is given twice`);
    }
    if (option.value === undefined) {
      if (token.value !== undefined) {
        throw new UsageError(`--${token.name} is a switch and takes no value: ${escapeText(token.value)}`);
      }
      values.set(token.name, []);
      continue;
    }
    if (token.value === undefined) throw new UsageError(`--${token.name} needs a value: ${option.value}`);
    if (!token.inlineValue && token.value.startsWith("--")) {
      throw new UsageError(
        `--${token.name} needs a value, but is followed by ${escapeText(token.value)} ` +
          `(if that is the value, write --${token.name}=…)`,
      );
    }
    values.set(token.name, [...(before ?? []), token.value]);
  }
  const text = (name: OptionName) => values.get(name)?.[0];
  return {
    positionals,
    text,
    texts: (name) => values.get(name) ?? [],
    flag: (name) => values.has(name),
    number: (name) => {
      const given = text(name);
      if (given === undefined) return undefined;
      const value = Number(given);
      if (given.trim() === "" || Number.isNaN(value)) {
        throw new UsageError(`--${name} must be a number: ${escapeText(given)}`);
      }
      return value;
    },
  };
}

function unknownOption(raw: string, name: string, known: readonly OptionName[], command: string): UsageError {
  const near = nearestName(name, known);
  const elsewhere = name in OPTIONS ? ` (it belongs to other commands)` : "";
  return new UsageError(
    `${command} has no option ${escapeText(raw)}${elsewhere}${
      near === null || elsewhere !== "" ? "" : `: did you mean --${near}?`
    }`,
  );
}

/** Milliseconds of `90s`, `10m`, `1h`, `500ms` or a bare number of seconds. @throws {UsageError} */
export function readDuration(text: string, name: OptionName): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  if (match === null) {
    throw new UsageError(`--${name} must be a time such as 90s, 10m or 500ms: ${escapeText(text)}`);
  }
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2] ?? "s"]!;
  return Math.round(Number(match[1]) * unit);
}

/** Help lines of options, for 80 columns. */
export function optionHelp(names: readonly OptionName[]): string {
  const rows = names.map((name) => {
    const option: Option = OPTIONS[name];
    return [`--${name}${option.value === undefined ? "" : ` ${option.value}`}`, option.help] as const;
  });
  return rows.map(([left, right]) => {
    const indent = " ".repeat(27);
    return left.length > 24
      ? `  ${left}\n${indent}${wrap(right, 80 - 27, indent)}`
      : `  ${left.padEnd(25)}${wrap(right, 80 - 27, indent)}`;
  }).join("\n");
}
