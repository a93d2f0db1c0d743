/** `assay decisions`: what was judged, and whether it would be judged the same today. @module */
import { type DecisionCall, type DecisionRecord, labelText } from "../verifier/decisions/decisions.ts";
import type { DecisionPage } from "../verifier/decisions/store.ts";
import type { Replay } from "../verifier/decisions/replay.ts";
import { nearestName } from "../verifier/request_errors.ts";
import type { Score } from "../verifier/types.ts";
import type { Backend } from "./backend.ts";
import { type Command, printJson, printLines, printOf } from "./command.ts";
import { EXIT } from "./failure.ts";
import { type Io, UsageError } from "./io.ts";
import { type Arguments, optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS } from "./options.ts";
import { type Print, usageLine } from "./report.ts";
import { count, number, plural, table } from "./table.ts";
import { escapeLines, escapeText, fit, oneLine, pad, wrap } from "./text.ts";

const ACTIONS = ["list", "show", "replay"] as const;
const OPTIONS: readonly OptionName[] = ["verb", "limit", "texts", ...PLACE_OPTIONS, ...PRINT_OPTIONS];
const DEFAULT_ROWS = 20;
/** The server's own limit of a page. */
const MOST_ROWS = 500;
/** Calls that are drawn; `--json` has them all. */
const MOST_CALLS = 40;
const MOST_DIFFERENCES = 30;

/** `decisions list`, `show` and `replay`. */
export const decisionsCommand: Command = {
  name: "decisions",
  summary: "what was judged, and whether it holds today: list, show, replay",
  options: OPTIONS,
  help: `Usage: deno task assay decisions list [--verb NAME] [--limit N]
       deno task assay decisions show ID [--texts]
       deno task assay decisions replay ID

Every comparison, selection or other verb that judged something is kept with
the scores and letter distributions of all its calls, failures too: the newest
200 of each verb, session and tracker. ID is the result's id, or latest.

show draws each letter distribution from A to T, left to right. replay decodes
the stored answers again with this version, derives the verdict from them and
says where it differs (numbers by more than 1e-12). Nothing is bought. Exit
status of replay: 0 the same, 1 different.

Examples:
  deno task assay decisions list --verb select
  deno task assay decisions show latest --texts
  deno task assay decisions replay latest --server http://127.0.0.1:8787

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    const [given = "list", ...rest] = args.positionals;
    const action = ACTIONS.find((name) => name === given);
    if (action === undefined) {
      const near = nearestName(given, ACTIONS);
      throw new UsageError(
        `decisions has no action ${escapeText(given)}: it has list, show and replay` +
          (near === null ? "" : ` (did you mean ${near}?)`),
      );
    }
    if (action === "list" && rest.length > 0) {
      throw new UsageError(`decisions list takes no more words: ${escapeText(rest[0]!)}`);
    }
    if (action !== "list" && rest.length !== 1) {
      throw new UsageError(`decisions ${action} needs one id, or latest`);
    }
    const backend = await open(args, io);
    try {
      if (action === "list") return await list(args, io, backend);
      const id = await findId(rest[0]!, args, io, backend);
      return action === "show" ? await show(id, args, io, backend) : await replay(id, args, io, backend);
    } finally {
      await backend.close();
    }
  },
};

async function list(args: Arguments, io: Io, backend: Backend): Promise<number> {
  const limit = args.number("limit") ?? DEFAULT_ROWS;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ROWS) {
    throw new UsageError(`--limit must be a whole number from 1 to ${MOST_ROWS}: ${limit}`);
  }
  const verb = args.text("verb");
  const found: DecisionPage["decisions"][number][] = [];
  let corrupt = 0;
  let cursor: string | null | undefined;
  while (cursor !== null && found.length < limit) {
    const page: DecisionPage = await backend.decisions({
      limit: limit - found.length,
      ...(verb === undefined ? {} : { verb }),
      ...(cursor === undefined ? {} : { cursor }),
    }, io.signal);
    found.push(...page.decisions);
    corrupt += page.corrupt;
    cursor = page.cursor;
  }
  const page = { decisions: found, cursor: cursor ?? null, corrupt };
  if (args.flag("json")) printJson(io, page);
  else printLines(io, listLines(page, printOf(args, io)));
  return EXIT.fine;
}

async function findId(word: string, args: Arguments, io: Io, backend: Backend): Promise<string> {
  if (word !== "latest") return word;
  const verb = args.text("verb");
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page: DecisionPage = await backend.decisions({
      limit: 1,
      ...(verb === undefined ? {} : { verb }),
      ...(cursor === undefined ? {} : { cursor }),
    }, io.signal);
    const [newest] = page.decisions;
    if (newest !== undefined) return newest.id;
    cursor = page.cursor;
  }
  throw new UsageError(
    `there are no decisions${verb === undefined ? "" : ` of the verb ${escapeText(verb)}`} yet`,
  );
}

async function show(id: string, args: Arguments, io: Io, backend: Backend): Promise<number> {
  const record = await backend.decision(id, io.signal);
  if (args.flag("json")) printJson(io, record);
  else printLines(io, decisionLines(record, args.flag("texts"), printOf(args, io)));
  return EXIT.fine;
}

async function replay(id: string, args: Arguments, io: Io, backend: Backend): Promise<number> {
  const found = await backend.replay(id, io.signal);
  if (args.flag("json")) printJson(io, found);
  else printLines(io, replayLines(found, printOf(args, io)));
  return found.equal ? EXIT.fine : EXIT.negative;
}

/** Date and time of a row, in UTC. */
const shortTime = (iso: string): string => iso.slice(0, 16).replace("T", " ");

/** The list for people. */
export function listLines(page: DecisionPage, print: Print): readonly string[] {
  const { style, columns } = print;
  const lines: string[] = [];
  if (page.decisions.length === 0) lines.push("There are no decisions yet.");
  else {
    const [head, ...body] = table(
      [{ title: "Decision" }, { title: "UTC" }, { title: "Verb" }, { title: "Calls", align: "right" }, {
        title: "Outcome",
        flexible: true,
      }],
      page.decisions.map(({ id, startedAt, verb, usage, problem, unscored }) => {
        const missing = Object.values(unscored).reduce((sum, parts) => sum + parts, 0);
        return [
          escapeText(id),
          escapeText(shortTime(startedAt)),
          escapeText(verb),
          count(usage.calls + usage.cacheHits),
          problem === null ? missing === 0 ? "fine" : `${missing} unscored` : escapeText(problem),
        ];
      }),
      columns,
    );
    lines.push(style.dim(head!), ...body);
  }
  if (page.cursor !== null && page.decisions.length > 0) {
    lines.push("", style.dim("There are more: --limit shows up to 500."));
  }
  if (page.corrupt > 0) {
    lines.push(
      style.warn(
        `Warning: ${plural(page.corrupt, "record")} can't be read and ${
          page.corrupt === 1 ? "is" : "are"
        } left out`,
      ),
    );
  }
  return lines;
}

/** One decision for people. */
export function decisionLines(record: DecisionRecord, texts: boolean, print: Print): readonly string[] {
  const { style, columns } = print;
  const row = (name: string, value: string): string =>
    `${style.dim(name.padEnd(8))}  ${fit(value, columns - 10)}`;
  const judges = [...new Set(record.calls.map(({ judge }) => judge))].map(escapeText).join(", ");
  const lines = [
    row("Decision", escapeText(record.id)),
    row("Verb", escapeText(record.verb + (record.topic === record.verb ? "" : ` of ${record.topic}`))),
    row("UTC", `${escapeText(shortTime(record.startedAt))}, took ${count(record.durationMs)} ms`),
    row("Judge", judges),
    row("Used", usageLine(record.usage, "")),
    row("Core", `${escapeText(record.coreVersion)}, prompts ${escapeText(record.promptVersion)}`),
    ...(record.problem === null ? resultRows(record.result ?? {}, row) : [
      style.bad(
        wrap(
          `Failed    ${escapeText(record.problem.code)}: ${oneLine(record.problem.detail)}`,
          columns,
          "          ",
        ),
      ),
    ]),
  ];
  for (const call of record.calls.slice(0, MOST_CALLS)) lines.push("", ...callLines(call, texts, print));
  if (record.calls.length > MOST_CALLS) {
    lines.push(
      "",
      style.dim(`… and ${plural(record.calls.length - MOST_CALLS, "more call")}: --json shows all`),
    );
  }
  return lines;
}

/** The result's plain fields: its numbers, names and flags. */
function resultRows(
  result: Readonly<Record<string, unknown>>,
  row: (name: string, value: string) => string,
): readonly string[] {
  const shown = Object.entries(result).flatMap(([name, value]) => {
    if (["id", "verb", "unscored"].includes(name) || (typeof value === "object" && value !== null)) return [];
    const text = typeof value === "number" && !Number.isInteger(value)
      ? number(value, 3)
      : oneLine(String(value));
    return [`${escapeText(name)} ${value === null ? "–" : text}`];
  });
  return shown.length === 0 ? [] : [row("Result", shown.join(", "))];
}

function callLines(call: DecisionCall, texts: boolean, { style, columns }: Print): readonly string[] {
  const head = `${escapeText(labelText(call.label))}${call.cached ? " (cached)" : ""}`;
  const widest = Math.max(...call.tags.map((tag) => tag.length), 0);
  const lines = [style.bold(fit(head, columns))];
  call.tags.forEach((tag, i) => {
    const score = call.scores[i];
    const name = pad(
      escapeText(call.label.steps?.[i] === undefined ? tag : `step ${call.label.steps[i]}`),
      Math.max(widest, 8),
    );
    lines.push(fit(`  ${name}  ${score === undefined ? "–" : scoreText(score)}`, columns));
  });
  if (!texts) return lines;
  for (const [title, text] of [["Prompt", call.prompt], ["Answer", call.output]] as const) {
    if (text === undefined || text === "") continue;
    lines.push(style.dim(`  ${title}`), ...escapeLines(text).split("\n").map((line) => `    ${line}`));
  }
  return lines;
}

function scoreText(score: Score): string {
  if (score.kind === "unscored") {
    return `unscored: ${score.reason}${score.detail === undefined ? "" : ` (${oneLine(score.detail)})`}`;
  }
  const { letters, letterMass, entropy } = score;
  if (letters === null) return `${number(score.value, 3)}  sampled letter only`;
  return `${number(score.value, 3)}  ${letterBars(letters)}  mass ${number(letterMass)}, entropy ${
    number(entropy)
  }`;
}

const BARS = "▁▂▃▄▅▆▇█";

/** A to T as 20 bars, the likeliest letter's the highest; a dot is less than half a percent. */
export function letterBars(letters: readonly number[]): string {
  const highest = Math.max(...letters);
  return letters.map((share) => share < 0.005 ? "·" : BARS[Math.min(7, Math.floor(8 * share / highest))])
    .join("");
}

/** What a replay found, for people. */
export function replayLines(replay: Replay, { style, columns }: Print): readonly string[] {
  const { stored, now } = replay.coreVersion;
  const what = replay.scope === "verdict"
    ? "scores and verdict"
    : "scores (its verdict can't be derived from them)";
  const versions = stored === now
    ? `core ${escapeText(now)}`
    : `stored by core ${escapeText(stored)}, derived by ${escapeText(now)}`;
  if (replay.equal) {
    return [style.good("Equal."), wrap(`${plural(replay.calls, "call")}, ${what}, ${versions}.`, columns)];
  }
  const [head, ...body] = table(
    [{ title: "Where", flexible: true }, { title: "Stored", align: "right" }, {
      title: "Now",
      align: "right",
    }],
    replay.differences.slice(0, MOST_DIFFERENCES).map(({ path, stored, now }) => [
      escapeText(path),
      fit(valueText(stored), 20),
      fit(valueText(now), 20),
    ]),
    columns,
  );
  const more = replay.total - Math.min(replay.differences.length, MOST_DIFFERENCES);
  return [
    style.bad("Different."),
    wrap(
      `${plural(replay.total, "difference")} in ${plural(replay.calls, "call")}, ${what}, ${versions}.`,
      columns,
    ),
    "",
    style.dim(head!),
    ...body,
    ...(more > 0 ? [style.dim(`… and ${count(more)} more`)] : []),
  ];
}

function valueText(value: unknown): string {
  return typeof value === "number"
    ? String(Number(value.toPrecision(12)))
    : oneLine(JSON.stringify(value) ?? "–");
}
