/** `assay compare`: which of two trajectories is better. @module */
import type { CompareResult } from "../verifier/types.ts";
import { answerVerb, type Command } from "./command.ts";
import { type Input } from "./inputs.ts";
import { UsageError } from "./io.ts";
import { optionHelp, PLACE_OPTIONS, PRINT_OPTIONS, VERB_OPTIONS } from "./options.ts";
import { footLines, headLines, type Print, unscoredOf, unscoredText } from "./report.ts";
import { readRuns } from "./request.ts";
import { number, signed, table } from "./table.ts";
import { escapeText, fit, wrap } from "./text.ts";
import { judgesLines } from "./verdict.ts";

const OPTIONS = [...VERB_OPTIONS, ...PLACE_OPTIONS, ...PRINT_OPTIONS] as const;

/** `assay compare`; see its help. */
export const compareCommand: Command = {
  name: "compare",
  summary: "which of two trajectories is better, and by how much",
  options: OPTIONS,
  help: `Usage: deno task assay compare A B [options]

Judges one pair. A and B are trajectory files (Terminal-Bench or ATIF JSON, chat
JSON or JSON Lines, plain text), or - for standard input. A folder that holds
exactly two trajectory files stands for both.

Examples:
  deno task assay compare run1.json run2.json
  deno task assay compare a.txt b.txt --task @task.md --criteria coding
  deno task assay compare a.json b.json --judge deepseek --repeats 4 --dry-run

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    if (args.positionals.length === 0) throw new UsageError("compare needs two trajectories: compare A B");
    const { inputs, task, notes, fields } = await readRuns(args, io, ({ length }) => {
      if (length === 2) return;
      throw new UsageError(
        `compare needs exactly two trajectories, and got ${length}` +
          (length > 2 ? "; select picks the best of more" : ""),
      );
    });
    const [a, b] = inputs as [Input, Input];
    const request = { ...fields, a: a.trajectory, b: b.trajectory };
    const files = { "/a": escapeText(a.file), "/b": escapeText(b.file) };
    const names = { "/a": a.id, "/b": b.id };
    return await answerVerb(args, io, open, files, (backend, options) => backend.compare(request, options), {
      lines: (result, print) => compareLines(result, task, a, b, notes, { ...print, names }),
    });
  },
};

/** The verdict for people. */
export function compareLines(
  result: CompareResult,
  task: string,
  a: Input,
  b: Input,
  notes: readonly string[],
  print: Print,
): readonly string[] {
  const { style, columns } = print;
  const side = (letter: string, { id, transcript }: Input) => {
    const reward = transcript.reward === null ? "" : `  (reward ${transcript.reward})`;
    return `${style.bold(letter)}      ${
      fit(escapeText(id), columns - 7 - reward.length, "middle")
    }${reward}`;
  };
  const lines = [...headLines(task, result.judge, print), side("A", a), side("B", b), ""];
  if (result.identical) {
    lines.push("The two trajectories are identical: a tie, and nothing was bought.", "");
    return [...lines, ...footLines(result, null, notes, print)];
  }
  const rows = result.criteria.map((criterion) => [
    escapeText(criterion.name),
    number(criterion.rewardA),
    number(criterion.rewardB),
    signed(
      criterion.rewardA === null || criterion.rewardB === null ? null : criterion.rewardA - criterion.rewardB,
    ),
    `${criterion.scored}/${criterion.scored + criterion.unscored}`,
  ]);
  const [head, ...body] = table(
    [
      { title: "Criterion", flexible: true },
      { title: "A", align: "right" },
      { title: "B", align: "right" },
      { title: "A-B", align: "right" },
      { title: "Scored", align: "right" },
    ],
    [...rows, ["Overall", number(result.rewardA), number(result.rewardB), signed(result.margin), ""]],
    columns,
  );
  lines.push(
    style.dim(head!),
    ...body.slice(0, -1),
    style.bold(body.at(-1)!),
    "",
    verdict(result, a, b, print),
  );
  if (!print.quiet) {
    lines.push(
      "",
      style.dim(wrap(
        "Scores are 0 to 1: the judge's mean grade on its scale from T to A. Scored: calls that gave both sides a score.",
        columns,
      )),
    );
  }
  const scores = result.calls.flatMap((call) => [call.a, call.b]);
  return [
    ...lines,
    ...judgesLines(
      result.judges,
      result.agreement,
      (winner) => winner === "tie" ? "a tie" : String(winner),
      print,
    ),
    ...footLines(result, unscoredText(unscoredOf(scores), scores.length), notes, print),
  ];
}

function verdict(result: CompareResult, a: Input, b: Input, { style, columns }: Print): string {
  if (result.winner === "tie") return style.bold("A tie.");
  const winner = result.winner === "A" ? a : b;
  const parts = [
    `by ${number(Math.abs(result.margin ?? 0), 3)}`,
    result.standardError === null ? null : `± ${number(result.standardError, 3)} over repeats`,
    result.slotBias === null ? null : `slot bias ${signed(result.slotBias, 3)}`,
  ].filter((part) => part !== null).join(", ");
  const room = columns - parts.length - 14;
  const name = room < 10 ? "" : ` (${fit(escapeText(winner.id), room, "middle")})`;
  return `${style.good(style.bold(`${result.winner} wins`))}${name} ${parts}`;
}
