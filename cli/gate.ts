/** `assay gate`: is finished work accepted? @module */
import type { GateResult } from "../verifier/gate/requests.ts";
import { answerVerb, type Command } from "./command.ts";
import { EXIT } from "./failure.ts";
import { type Input } from "./inputs.ts";
import { UsageError } from "./io.ts";
import { optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS, VERB_OPTIONS } from "./options.ts";
import { footLines, headLines, type Print } from "./report.ts";
import { readRun } from "./request.ts";
import { plural } from "./table.ts";
import { escapeLines, escapeText, fit, wrap } from "./text.ts";
import { judgesLines, verdictLines } from "./verdict.ts";

const OWN: readonly OptionName[] = ["threshold", "floor"];
const OPTIONS = [...VERB_OPTIONS, ...OWN, ...PLACE_OPTIONS, ...PRINT_OPTIONS] as const;

/** `assay gate`; see its help. */
export const gateCommand: Command = {
  name: "gate",
  summary: "whether finished work is accepted, and what it lacks",
  options: OPTIONS,
  help: `Usage: deno task assay gate FILE [options]

Measures one trajectory against an attempt in which nothing was done. Accepted
is what beats it, has a mean of at least the threshold, and every criterion at
its floor. When that can't be measured (judge down, key refused, too slow, over
budget) the gate stays open and says why.

Exit status: 0 accepted or open, 1 not accepted, 2 wrong usage, 3 failed.

Examples:
  deno task assay gate run.json --criteria coding
  deno task assay gate run.json --threshold 0.6 --floor error_signals=0.8
  cat run.txt | deno task assay gate - --task @task.md --json

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    const { input, task, notes, fields } = await readRun("gate", args, io);
    const threshold = args.number("threshold");
    const floors = readFloors(args.texts("floor"));
    const request = {
      ...fields,
      trajectory: input.trajectory,
      ...(threshold === undefined ? {} : { threshold }),
      ...(floors === null ? {} : { floors }),
    };
    const files = { "/trajectory": escapeText(input.file) };
    const names = { "/trajectory": input.id };
    return await answerVerb(args, io, open, files, async (backend, options) => {
      const result = await backend.gate(request, options);
      // The gate answers an abort with a note; who pressed Ctrl-C gets what Ctrl-C does.
      if (io.signal.aborted) throw io.signal.reason;
      return result;
    }, {
      lines: (result, print) => gateLines(result, task, input, notes, { ...print, names }),
      status: ({ decision }) => decision === "steer" ? EXIT.negative : EXIT.fine,
    });
  },
};

/** `id=0.8` each; whether they fit the rubric is checked with the request. */
export function readFloors(values: readonly string[]): Readonly<Record<string, number>> | null {
  if (values.length === 0) return null;
  const floors: Record<string, number> = {};
  for (const value of values) {
    const match = /^([^=]+)=(.+)$/.exec(value);
    const floor = Number(match?.[2]);
    const id = match?.[1]?.trim() ?? "";
    if (id === "" || Number.isNaN(floor)) {
      throw new UsageError(
        `--floor must be a criterion's id and its least score, such as output_match=0.8: ${
          escapeText(value)
        }`,
      );
    }
    if (Object.hasOwn(floors, id)) throw new UsageError(`--floor names ${escapeText(id)} twice`);
    Object.defineProperty(floors, id, { value: floor, enumerable: true });
  }
  return floors;
}

/** The decision for people. */
export function gateLines(
  result: GateResult,
  task: string,
  input: Input,
  notes: readonly string[],
  print: Print,
): readonly string[] {
  const { style, columns } = print;
  const lines = [
    ...headLines(task, result.judge, print),
    `${style.dim("Work ")}  ${fit(escapeText(input.id), columns - 7, "middle")}`,
    "",
    ...verdictLines(result, print),
    ...judgesLines(result.judges, result.agreement, String, print),
  ];
  if (result.steer !== undefined && !print.quiet) {
    lines.push("", style.dim("What an agent would be told:"));
    lines.push(
      ...escapeLines(result.steer).split("\n").map((line) =>
        line === "" ? "" : wrap(`  ${line}`, columns, line.startsWith("  > ") ? "    > " : "    ")
      ),
    );
  }
  if (lines.at(-1) !== "") lines.push("");
  const missing = result.unscored === 0 ? null : `${plural(result.unscored, "score")} missing`;
  return [...lines, ...footLines(result, missing, notes, print)];
}
