/** `assay probe`: one real scored call per judge. @module */
import type { JudgeProbe } from "../verifier/probe.ts";
import { type Command, printJson, printLines, printOf } from "./command.ts";
import { EXIT } from "./failure.ts";
import { UsageError } from "./io.ts";
import { optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS } from "./options.ts";
import type { Print } from "./report.ts";
import { number, table } from "./table.ts";
import { escapeText, oneLine, wrap } from "./text.ts";

const OWN: readonly OptionName[] = ["judge"];
const OPTIONS = [...OWN, ...PLACE_OPTIONS, ...PRINT_OPTIONS] as const;

/** `assay probe`; see its help. */
export const probeCommand: Command = {
  name: "probe",
  summary: "asks every judge for one real score",
  options: OPTIONS,
  help: `Usage: deno task assay probe [--judge NAME] [options]

Buys one judged call per judge and shows whether a score came back, over which
channel, and how long it took. What was learnt about a judge before is forgotten
first. Exits with 3 when a judge gave no score.

Examples:
  deno task assay probe
  deno task assay probe --judge deepseek --config assay.config.json

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    if (args.positionals.length > 0) {
      throw new UsageError(
        `probe takes no words (did you mean --judge ${escapeText(args.positionals[0]!)}?)`,
      );
    }
    const judges = args.texts("judge");
    if (judges.length > 1) throw new UsageError("probe takes one --judge, or none for all");
    const backend = await open(args, io);
    try {
      const probes = await backend.probe(judges[0], io.signal);
      if (args.flag("json")) printJson(io, { judges: probes });
      else printLines(io, probeLines(probes, printOf(args, io)));
      return probes.every(({ ok }) => ok) ? EXIT.fine : EXIT.failed;
    } finally {
      await backend.close();
    }
  },
};

/** The answers for people. */
export function probeLines(probes: readonly JudgeProbe[], print: Print): readonly string[] {
  const { style, columns } = print;
  const [head, ...body] = table(
    [
      { title: "Judge" },
      { title: "Works" },
      { title: "Score", align: "right" },
      { title: "Letter mass", align: "right" },
      { title: "Channel" },
      { title: "Time", align: "right" },
    ],
    probes.map(({ judge, ok, score, channel, latencyMs }) => [
      escapeText(judge),
      ok ? "yes" : "no",
      number(score?.kind === "scored" ? score.value : null),
      number(score?.kind === "scored" ? score.letterMass : null),
      channel ?? "–",
      `${latencyMs} ms`,
    ]),
    columns,
  );
  const lines = [style.dim(head!), ...body];
  for (const { judge, detail, code } of probes) {
    if (detail === undefined && code === undefined) continue;
    const text = [code, detail].filter((part) => part !== undefined).join(": ");
    lines.push(style.bad(wrap(`${escapeText(judge)}: ${oneLine(text)}`, columns, "  ")));
  }
  return lines;
}
