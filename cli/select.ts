/** `assay select`: the best of several trajectories. @module */
import type { RankingEntry, SelectResult } from "../verifier/types.ts";
import { answerVerb, type Command } from "./command.ts";
import { type Input } from "./inputs.ts";
import { UsageError } from "./io.ts";
import { optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS, VERB_OPTIONS } from "./options.ts";
import { footLines, headLines, type Print, unscoredText } from "./report.ts";
import { readRuns } from "./request.ts";
import { barsSvg } from "./svg.ts";
import { number, plural, signed, table } from "./table.ts";
import { escapeText, fit, wrap } from "./text.ts";
import { judgesLines } from "./verdict.ts";

const OWN: readonly OptionName[] = ["mode", "pivots", "prior", "svg"];
const OPTIONS = [...VERB_OPTIONS, ...OWN, ...PLACE_OPTIONS, ...PRINT_OPTIONS] as const;

/** `assay select`; see its help. */
export const selectCommand: Command = {
  name: "select",
  summary: "the best of several trajectories of one task",
  options: OPTIONS,
  help: `Usage: deno task assay select FOLDER|FILE… [options]

Plays a tournament between the trajectories in a folder (or the files named) and
ranks them. The task is taken from the files. Rewards that the files carry are
shown beside the scores; the judge never sees them.

Examples:
  deno task assay select examples/merge-people
  deno task assay select runs/ --criteria coding --judge deepseek --dry-run
  deno task assay select a.json b.json c.json --mode round_robin --svg best.svg

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    if (args.positionals.length === 0) throw new UsageError("select needs a folder or files: select FOLDER");
    const { inputs, task, notes, fields } = await readRuns(args, io);
    const request = {
      ...fields,
      candidates: inputs.map(({ trajectory }) => trajectory),
      ...given("mode", args.text("mode")),
      ...given("pivots", args.number("pivots")),
      ...given("prior", args.text("prior")),
    };
    const files = Object.fromEntries(inputs.map(({ file }, i) => [`/candidates/${i}`, escapeText(file)]));
    const names = Object.fromEntries(inputs.map(({ id }, i) => [`/candidates/${i}`, id]));
    return await answerVerb(args, io, open, files, (backend, options) => backend.select(request, options), {
      lines: (result, print) => selectLines(result, task, inputs, notes, { ...print, names }),
      svg: (result) => selectSvg(result, inputs),
    });
  },
};

function given(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}

/** The ranking for people. */
export function selectLines(
  result: SelectResult,
  task: string,
  inputs: readonly Input[],
  notes: readonly string[],
  print: Print,
): readonly string[] {
  const { style, columns } = print;
  const lines = [...headLines(task, result.judge, print), ""];
  const hasAgreement = result.ranking.some(({ agreement }) => agreement !== undefined);
  const hasReward = inputs.some(({ transcript }) => transcript.reward !== null);
  const upstream = result.mode === "upstream";
  const rows = result.ranking.map((entry, rank) => [
    String(rank + 1),
    candidateName(entry, inputs) + sameAs(entry, result),
    ...(upstream
      ? []
      : [percent(entry.probabilityBest), signed(entry.strength, 3), number(entry.standardError, 3)]),
    percent(entry.winRate),
    String(entry.games),
    ...(hasAgreement ? [number(entry.agreement)] : []),
    ...(hasReward ? [rewardText(inputs[entry.index]?.transcript.reward ?? null)] : []),
  ]);
  const right = (title: string) => ({ title, align: "right" as const });
  const [head, ...body] = table(
    [
      right("#"),
      { title: "Candidate", flexible: true },
      ...(upstream ? [] : [right("Best"), right("Strength"), right("±")]),
      right("Wins"),
      right("Pairs"),
      ...(hasAgreement ? [right("Agree")] : []),
      ...(hasReward ? [right("Reward")] : []),
    ],
    rows,
    columns,
  );
  const isBest = (rank: number) => result.ranking[rank]?.index === result.best;
  lines.push(style.dim(head!), ...body.map((line, rank) => isBest(rank) ? style.bold(line) : line), "");
  lines.push(pickLine(result, inputs, print));
  if (result.probabilityRight !== null) {
    lines.push(
      `Probability that it is right: ${
        percent(result.probabilityRight)
      } (from the judge's measured accuracy)`,
    );
  }
  if (hasReward) lines.push(rewardLine(result, inputs));
  if (!print.quiet) lines.push("", style.dim(wrap(explanation(upstream, hasAgreement, hasReward), columns)));
  const missing = unscoredText(result.unscoredParts, null);
  const rankOf = (winner: unknown): string =>
    `# ${result.ranking.findIndex(({ index }) => index === winner) + 1} of the ranking`;
  return [
    ...lines,
    ...judgesLines(result.judges, result.agreement, rankOf, print),
    ...footLines(result, missing, notes, print),
  ];
}

function candidateName({ index }: RankingEntry, inputs: readonly Input[]): string {
  return escapeText(inputs[index]?.id ?? `candidate ${index + 1}`);
}

/** By its rank: a name would have to be cut. */
function sameAs({ identicalTo }: RankingEntry, { ranking }: SelectResult): string {
  return identicalTo === undefined
    ? ""
    : ` (= ${ranking.findIndex(({ index }) => index === identicalTo) + 1})`;
}

function percent(value: number | null): string {
  return value === null ? "–" : `${(100 * value).toFixed(0)} %`;
}

function rewardText(reward: number | null): string {
  return reward === null ? "–" : String(Math.round(reward * 1000) / 1000);
}

const STOPPED: Readonly<Record<SelectResult["stopped"], string>> = {
  complete: "",
  not_worth: "; stopped because further calls are not worth their price",
  tie: "; the first ones can't be told apart",
  unusable: "; the judge gave nothing to decide by",
  budget: "; stopped at the budget",
};

function pickLine(result: SelectResult, inputs: readonly Input[], { style, columns }: Print): string {
  if (result.best === null) return style.warn("No pick: nothing was scored.");
  const games = result.pairs.length === 0
    ? ""
    : ` after ${plural(result.pairs.length, "pair")} (${result.mode})`;
  const rest = `${games}${STOPPED[result.stopped]}`;
  const room = Math.max(12, columns - rest.length - 6);
  const name = fit(escapeText(inputs[result.best]?.id ?? `candidate ${result.best + 1}`), room, "middle");
  return `${style.good(style.bold(`Pick  ${name}`))}${rest}`;
}

function rewardLine(result: SelectResult, inputs: readonly Input[]): string {
  const rewards = inputs.flatMap(({ transcript }) => transcript.reward === null ? [] : [transcript.reward]);
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const reward = result.best === null ? null : inputs[result.best]?.transcript.reward ?? null;
  const chance = `a random pick has ${number(mean)} on average`;
  return reward === null
    ? `Reward of the pick unknown; ${chance}`
    : `Reward of the pick: ${rewardText(reward)}; ${chance}`;
}

function explanation(upstream: boolean, agreement: boolean, reward: boolean): string {
  return [
    ...(upstream ? [] : [
      "Best: probability of being this judge's own best. Strength: mean score lead, with its standard error.",
    ]),
    "Wins: share of soft wins.",
    ...(agreement ? ["Agree: overlap of commands and outputs with the others."] : []),
    ...(reward ? ["Reward: what the file says; the judge never saw it."] : []),
  ].join(" ");
}

function selectSvg(result: SelectResult, inputs: readonly Input[]): string {
  const upstream = result.mode === "upstream";
  return barsSvg(
    upstream ? "Soft wins" : "Probability of being the judge's own best",
    result.ranking.map((entry) => ({
      label: candidateName(entry, inputs),
      value: upstream ? entry.winRate : entry.probabilityBest,
      note: rewardNote(inputs[entry.index]),
      marked: entry.index === result.best,
    })),
  );
}

function rewardNote(input: Input | undefined): string {
  const reward = input?.transcript.reward ?? null;
  return reward === null ? "" : `reward ${rewardText(reward)}`;
}
