/** `assay statistics`: what was judged, and what it cost. @module */
import {
  STATISTIC_GROUPS,
  type StatisticGroup,
  type StatisticGrouping,
  type Statistics,
  type StatisticSums,
} from "../verifier/decisions/statistics.ts";
import { type Command, printJson, printLines, printOf } from "./command.ts";
import { EXIT } from "./failure.ts";
import { UsageError } from "./io.ts";
import { optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS } from "./options.ts";
import type { Print } from "./report.ts";
import { count, money, plural, table } from "./table.ts";
import { escapeText, wrap } from "./text.ts";

const OPTIONS: readonly OptionName[] = ["from", "to", "group", ...PLACE_OPTIONS, ...PRINT_OPTIONS];

/** `statistics`. */
export const statisticsCommand: Command = {
  name: "statistics",
  summary: "what was judged: calls, tokens, money, cache, missing scores",
  options: OPTIONS,
  help: `Usage: deno task assay statistics [--from TIME] [--to TIME] [--group NAME]

Adds up every invocation that judged something, by day, verb, judge, session or
rubric. Records are kept for 400 days. Times are UTC. A rate is a dash where
there is nothing to divide by, and money is unknown where any of it is.

Examples:
  deno task assay statistics --group judge
  deno task assay statistics --from 2026-12-01 --to 2026-12-31 --json

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    if (args.positionals.length > 0) {
      throw new UsageError(`statistics takes no words: ${escapeText(args.positionals[0]!)}`);
    }
    const given = args.text("group") ?? "day";
    const group = STATISTIC_GROUPS.find((name) => name === given);
    if (group === undefined) {
      throw new UsageError(`--group must be one of ${STATISTIC_GROUPS.join(", ")}: ${escapeText(given)}`);
    }
    const [from, to] = [args.text("from"), args.text("to")];
    const backend = await open(args, io);
    try {
      const found = await backend.statistics({
        group,
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      }, io.signal);
      if (args.flag("json")) printJson(io, found);
      else printLines(io, statisticsLines(found, printOf(args, io)));
      return EXIT.fine;
    } finally {
      await backend.close();
    }
  },
};

const TITLES: Readonly<Record<StatisticGrouping, string>> = {
  day: "Day",
  verb: "Verb",
  judge: "Judge",
  session: "Session",
  rubric: "Rubric",
};

const percent = (share: number | null): string => share === null ? "–" : `${Math.round(share * 100)}%`;

function cells(name: string, sums: StatisticSums): readonly string[] {
  return [
    name,
    count(sums.invocations),
    count(sums.failed),
    count(sums.calls),
    percent(sums.cacheHitRate),
    percent(sums.prefixCacheHitRate),
    percent(sums.unscoredRate),
    sums.usd === null ? "unknown" : money(sums.usd),
  ];
}

/** Statistics for people. */
export function statisticsLines(found: Statistics, { style, columns }: Print): readonly string[] {
  const time = (iso: string): string => iso.slice(0, 16).replace("T", " ");
  const lines = [style.dim(`${time(found.from)} to ${time(found.to)} UTC`), ""];
  if (found.total.invocations === 0) lines.push("Nothing was judged in this time.");
  else {
    const rows = found.groups.map((group: StatisticGroup) => cells(escapeText(group.key ?? "(none)"), group));
    const [head, ...body] = table(
      [
        { title: TITLES[found.group], flexible: true },
        { title: "Runs", align: "right" },
        { title: "Failed", align: "right" },
        { title: "Calls", align: "right" },
        { title: "Cache", align: "right" },
        { title: "Prefix", align: "right" },
        { title: "Unscored", align: "right" },
        { title: "Cost", align: "right" },
      ],
      [...rows, cells("Total", found.total)],
      columns,
    );
    lines.push(
      style.dim(head!),
      ...body.slice(0, -1),
      style.bold(body.at(-1)!),
      "",
      ...totalLines(found.total, columns),
    );
  }
  if (found.corrupt > 0) {
    lines.push(style.warn(`Warning: ${plural(found.corrupt, "record")} can't be read and not counted`));
  }
  return lines;
}

function totalLines(total: StatisticSums, columns: number): readonly string[] {
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts).sort(([, x], [, y]) => y - x).map(([name, n]) => `${escapeText(name)} ${count(n)}`)
      .join(", ");
  const row = (name: string, text: string): string =>
    wrap(`${name.padEnd(9)} ${text}`, columns, " ".repeat(10));
  return [
    row(
      "Tokens",
      `${count(total.inputTokens)} in (${count(total.cachedInputTokens)} cached), ${
        count(total.outputTokens)
      } out`,
    ),
    ...(total.usdUnknown === 0 ? [] : [
      row("Cost", `${money(total.usdKnown)} known; unknown for ${plural(total.usdUnknown, "run")}`),
    ]),
    ...(total.meanMs === null ? [] : [
      row("Time", `${count(Math.round(total.meanMs))} ms a run, at most ${count(total.longestMs)} ms`),
    ]),
    ...(Object.keys(total.channels).length === 0 ? [] : [row("Channels", list(total.channels))]),
    ...(Object.keys(total.unscored).length === 0 ? [] : [row("Unscored", list(total.unscored))]),
    ...(Object.keys(total.problems).length === 0 ? [] : [row("Problems", list(total.problems))]),
  ];
}
