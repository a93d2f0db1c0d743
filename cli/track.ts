/** `assay track`: how a run progressed. @module */
import type { TrackResult } from "../verifier/types.ts";
import { answerVerb, type Command } from "./command.ts";
import { type Input } from "./inputs.ts";
import { UsageError } from "./io.ts";
import { optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS, VERB_OPTIONS } from "./options.ts";
import { footLines, headLines, type Print, unscoredText } from "./report.ts";
import { readRun } from "./request.ts";
import { curveSvg } from "./svg.ts";
import { number, table } from "./table.ts";
import { escapeText, fit, wrap } from "./text.ts";
import { judgesLines } from "./verdict.ts";

const OWN: readonly OptionName[] = ["causal", "checkpoints", "svg"];
const OPTIONS = [...VERB_OPTIONS, ...OWN, ...PLACE_OPTIONS, ...PRINT_OPTIONS] as const;

/** `assay track`; see its help. */
export const trackCommand: Command = {
  name: "track",
  summary: "the progress curve of one run",
  options: OPTIONS,
  help: `Usage: deno task assay track FILE [options]

Scores the state after several steps of one trajectory: would it pass the task's
hidden check if the run ended there? With --causal every score comes from the
steps before it alone, so that later steps can't leak (one call per checkpoint).

Examples:
  deno task assay track examples/progress/roman.json
  deno task assay track run.json --causal --checkpoints 3,6,9 --svg curve.svg
  cat run.jsonl | deno task assay track - --task "Fix the build" --json

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    const { input, task, notes, fields } = await readRun("track", args, io);
    const checkpoints = args.text("checkpoints");
    const request = {
      ...fields,
      trajectory: input.trajectory,
      ...(args.flag("causal") ? { causal: true } : {}),
      ...(checkpoints === undefined ? {} : { checkpoints: readCheckpoints(checkpoints) }),
    };
    const files = { "/trajectory": escapeText(input.file) };
    const names = { "/trajectory": input.id };
    return await answerVerb(args, io, open, files, (backend, options) => backend.track(request, options), {
      lines: (result, print) => trackLines(result, task, input, notes, { ...print, names }),
      svg: ({ curve }) => curveSvg(`Progress of ${input.id}`, curve),
    });
  },
};

/** `1,3,5` as numbers; whether they are steps is checked with the request. */
export function readCheckpoints(text: string): readonly number[] {
  return text.split(",").map((part) => {
    const value = Number(part);
    if (part.trim() === "" || Number.isNaN(value)) {
      throw new UsageError(`--checkpoints must be step numbers such as 1,3,5: ${escapeText(text)}`);
    }
    return value;
  });
}

const ADVICE = {
  rising: "rising: it is still gaining",
  plateau: "plateau: the last steps changed little",
  falling: "falling: it was better before",
  done: "done: it looks finished",
} as const;

/** The curve for people. */
export function trackLines(
  result: TrackResult,
  task: string,
  input: Input,
  notes: readonly string[],
  print: Print,
): readonly string[] {
  const { style, columns } = print;
  const { reward } = input.transcript;
  const suffix = reward === null ? "" : `  (reward ${reward})`;
  const lines = [
    ...headLines(task, result.judge, print),
    `${style.dim("Run  ")}  ${fit(escapeText(input.id), columns - 7 - suffix.length, "middle")}${suffix}`,
    "",
  ];
  lines.push(...curveLines(result, print));
  const total = result.curve.reduce((sum, { scored, unscored }) => sum + scored + unscored, 0);
  const text = unscoredText(result.unscoredParts, total);
  return [
    ...lines,
    ...judgesLines(result.judges, null, String, print),
    ...footLines(result, text, notes, print),
  ];
}

/** The curve as a table with bars, its end and what the numbers mean. */
export function curveLines(
  result: Pick<TrackResult, "curve" | "final" | "advice" | "causal">,
  print: Print,
): readonly string[] {
  const { style, columns } = print;
  const lines: string[] = [];
  const room = Math.max(10, columns - 30);
  const bar = (score: number | null) =>
    score === null ? "" : "█".repeat(Math.max(0, Math.round(score * room)));
  const [head, ...body] = table(
    [
      { title: "Step", align: "right" },
      { title: "Score", align: "right" },
      { title: "±", align: "right" },
      { title: "Scored", align: "right" },
      { title: "", flexible: true },
    ],
    result.curve.map((point) => [
      String(point.step),
      number(point.score),
      number(point.standardError),
      `${point.scored}/${point.scored + point.unscored}`,
      bar(point.score),
    ]),
    columns,
  );
  lines.push(style.dim(head!), ...body, "");
  const advice = result.advice === null ? "" : `, ${ADVICE[result.advice]}`;
  lines.push(style.bold(`Final ${number(result.final)}${advice}`));
  if (!print.quiet) {
    lines.push(
      "",
      style.dim(wrap(
        "Score, 0 to 1: the judge's mean grade for the state after that step. A grade, not a probability." +
          (result.causal ? "" : " The judge saw the whole run; --causal hides later steps."),
        columns,
      )),
    );
  }
  return lines;
}
