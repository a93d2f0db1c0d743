/** `assay status`: judges, versions and store. @module */
import type { BudgetStatus } from "../verifier/budget/budget.ts";
import type { ProfileInfo } from "../verifier/judges/judge.ts";
import type { StatusInfo } from "./backend.ts";
import { type Command, printJson, printLines, printOf } from "./command.ts";
import { EXIT } from "./failure.ts";
import { UsageError } from "./io.ts";
import { optionHelp, PLACE_OPTIONS, PRINT_OPTIONS } from "./options.ts";
import { type Print, usageLine } from "./report.ts";
import { table } from "./table.ts";
import { escapeText, oneLine, wrap } from "./text.ts";

const OPTIONS = [...PLACE_OPTIONS, ...PRINT_OPTIONS] as const;

/** `assay status`; see its help. */
export const statusCommand: Command = {
  name: "status",
  summary: "judges, versions and store, here or on a server",
  options: OPTIONS,
  help: `Usage: deno task assay status [options]

Shows the judges that the configuration defines, whether their keys are set, and
what was learnt about them. Asks no judge and costs nothing; probe asks them.

Examples:
  deno task assay status
  deno task assay status --config assay.config.json
  ASSAY_TOKEN=… deno task assay status --server https://assay.example.org

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    if (args.positionals.length > 0) {
      throw new UsageError(`status takes no words: ${escapeText(args.positionals[0]!)}`);
    }
    const backend = await open(args, io);
    try {
      const status = await backend.status(io.signal);
      if (args.flag("json")) printJson(io, status);
      else printLines(io, statusLines(status, backend.place, printOf(args, io)));
      return status.store.healthy ? EXIT.fine : EXIT.failed;
    } finally {
      await backend.close();
    }
  },
};

/** The status for people. */
export function statusLines(status: StatusInfo, place: string, print: Print): readonly string[] {
  const { style, columns } = print;
  const [head, ...body] = table(
    [{ title: "Judge" }, { title: "Kind" }, { title: "Model", flexible: true }, { title: "Host" }, {
      title: "Key",
    }],
    status.judges.map((judge) => [
      escapeText(judge.name) + (judge.isDefault ? " *" : ""),
      escapeText(judge.kind),
      escapeText(judge.model),
      escapeText(judge.host ?? "–"),
      keyText(judge),
    ]),
    columns,
  );
  const lines = [
    `${style.dim("Place ")}  ${escapeText(place)}`,
    `${style.dim("Core  ")}  ${escapeText(status.coreVersion)}, prompts ${escapeText(status.promptVersion)}`,
    `${style.dim("Store ")}  ${escapeText(status.store.kind)}${
      status.store.healthy
        ? ""
        : style.bad(` not usable: ${oneLine(status.store.detail ?? "no reason given")}`)
    }`,
    ...(status.uptimeSeconds === undefined ? [] : [`${style.dim("Up    ")}  ${status.uptimeSeconds} s`]),
    ...(status.usage === undefined ? [] : [`${style.dim("Used  ")}  ${usageLine(status.usage, "")}`]),
    ...(status.budget ? [`${style.dim("Budget")}  ${budgetText(status.budget)}`] : []),
    "",
    style.dim(head!),
    ...body,
    "",
    style.dim("* the default judge"),
  ];
  for (const { name, learnt } of status.judges) {
    const list = Object.entries(learnt).map(([what, value]) => `${what}: ${value}`);
    if (list.length > 0) {
      lines.push(wrap(`${escapeText(name)} has shown: ${escapeText(list.join(", "))}`, columns, "  "));
    }
  }
  return lines;
}

/** `40 (and 6 held) of 100 calls, $0.1 of $0.5 today (UTC)`. */
function budgetText({ limits, spent, held }: BudgetStatus): string {
  const parts = (["calls", "tokens", "usd"] as const).flatMap((unit) => {
    const limit = limits[unit];
    if (limit === null) return [];
    const shown = (amount: number) => unit === "usd" ? `$${Number(amount.toFixed(4))}` : String(amount);
    const under = held[unit] > 0 ? ` (and ${shown(held[unit])} held)` : "";
    return [`${shown(spent[unit])}${under} of ${shown(limit)}${unit === "usd" ? "" : ` ${unit}`}`];
  });
  return `${parts.join(", ")} today (UTC)`;
}

function keyText(judge: ProfileInfo): string {
  if (judge.host === null) return "not needed";
  return judge.hasKey ? "set" : "none";
}
