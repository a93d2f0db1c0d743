/** `assay best-of-n`: several drafts, and the best of them. @module */
import type { BestOfNResult } from "../verifier/best_of_n/requests.ts";
import { answerVerb, type Command } from "./command.ts";
import { textOrFile } from "./inputs.ts";
import { UsageError } from "./io.ts";
import { optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS, VERB_OPTIONS } from "./options.ts";
import { footLines, headLines, type Print } from "./report.ts";
import { readImages, sharedFields } from "./request.ts";
import { readFloors } from "./gate.ts";
import { plural, signed, table } from "./table.ts";
import { escapeLines, escapeText, fit, oneLine } from "./text.ts";
import { judgesLines, verdictLines } from "./verdict.ts";

const OWN: readonly OptionName[] = ["n", "generator", "draft-tokens", "pivots", "threshold", "floor"];
const OPTIONS = [
  ...VERB_OPTIONS.filter((name) => name !== "task" && name !== "redact"),
  ...OWN,
  ...PLACE_OPTIONS,
  ...PRINT_OPTIONS,
] as const;

/** `assay best-of-n`; see its help. */
export const bestOfNCommand: Command = {
  name: "best-of-n",
  summary: "write several drafts of an answer and pick the best",
  options: OPTIONS,
  help: `Usage: deno task assay best-of-n PROMPT|@FILE [options]

A generator (a judge profile with a model) writes several drafts; the judge
ranks them and measures the best by the rule of the gate. The best draft is
printed last; with --json everything is. The rubric is by default proposal, as
nothing of a draft was executed. A budget is held against the worst case.
The same prompt again costs nothing; another --seed asks for other drafts.

Exit status 0 also when the best draft is not good enough; the text says so.

Examples:
  deno task assay best-of-n "A regex for ISO dates" --generator deepseek
  deno task assay best-of-n @ask.md --n 5 --generator deepseek --judge local
  deno task assay best-of-n @ask.md --generator deepseek --dry-run

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    const [text, ...more] = args.positionals;
    if (text === undefined) throw new UsageError("best-of-n needs a prompt: best-of-n PROMPT, or @FILE");
    if (more.length > 0) {
      throw new UsageError(
        `best-of-n takes one prompt, and got ${args.positionals.length}: quote it, or use @FILE`,
      );
    }
    const prompt = text === "-"
      ? new TextDecoder().decode(await io.readStdin(16 * 1024 * 1024))
      : await textOrFile(text, "prompt") ?? "";
    const images = await readImages(args.texts("images"));
    const [profile, maxTokens] = [args.text("generator"), args.number("draft-tokens")];
    const [n, pivots, threshold] = [args.number("n"), args.number("pivots"), args.number("threshold")];
    const floors = readFloors(args.texts("floor"));
    const request = {
      prompt,
      ...(profile === undefined && maxTokens === undefined ? {} : {
        generator: {
          ...(profile === undefined ? {} : { profile }),
          ...(maxTokens === undefined ? {} : { maxTokens }),
        },
      }),
      ...(n === undefined ? {} : { n }),
      ...(pivots === undefined ? {} : { pivots }),
      ...(threshold === undefined ? {} : { threshold }),
      ...(floors === null ? {} : { floors }),
      ...(images.length > 0 ? { images } : {}),
      ...await sharedFields(args),
    };
    const files = {
      "/prompt": "the prompt",
      "/generator/maxTokens": "--draft-tokens",
      "/generator": "--generator",
      "/n": "--n",
    };
    return await answerVerb(args, io, open, files, (backend, options) => backend.bestOfN(request, options), {
      lines: (result, print) => bestOfNLines(result, prompt, print),
    });
  },
};

/** Drafts, ranking, acceptance and the best draft for people. Drafts count from 1 here. */
export function bestOfNLines(result: BestOfNResult, prompt: string, print: Print): readonly string[] {
  const { style, columns } = print;
  const { generator } = result;
  const writer = generator.model === generator.profile
    ? generator.profile
    : `${generator.profile} (${generator.model})`;
  const ranked = new Map(result.ranking.map((row) => [row.index, row]));
  const order = [
    ...result.ranking.flatMap(({ index }) => result.drafts[index] ?? []),
    ...result.drafts.filter(({ index }) => !ranked.has(index)),
  ];
  const [head, ...body] = table(
    [
      { title: "Draft", align: "right" },
      { title: "Best", align: "right" },
      { title: "Strength", align: "right" },
      { title: "Characters", align: "right" },
      { title: "", flexible: true },
    ],
    order.map(({ index, text, finishReason, failure }) => {
      const row = ranked.get(index);
      const note = failure !== undefined
        ? `${failure.reason}: ${oneLine(failure.detail)}`
        : row?.identicalTo !== undefined
        ? `the same as draft ${row.identicalTo + 1}`
        : finishReason === "length"
        ? "cut at the token limit"
        : "";
      const share = row?.probabilityBest;
      return [
        String(index + 1),
        share === null || share === undefined ? "–" : `${Math.round(100 * share)} %`,
        signed(row?.strength ?? null),
        text === null ? "–" : String(text.length),
        note,
      ];
    }),
    columns,
  );
  const best = result.drafts[result.best];
  const lines = [
    ...headLines(prompt, result.judge, print),
    `${style.dim("Drafts")} ${fit(escapeText(writer), columns - 7)}`,
    "",
    style.dim(head!),
    ...body,
    "",
    style.good(style.bold(`Pick  draft ${result.best + 1}`)) +
    ` after ${plural(result.pairs.length, "pair")}${
      result.stopped === "tie" ? "; the first ones can't be told apart" : ""
    }`,
    ...judgesLines(
      result.judges,
      result.agreement,
      (winner) => typeof winner === "number" ? `draft ${winner + 1}` : winner,
      print,
    ),
    "",
    ...verdictLines(result.acceptance, print),
    "",
  ];
  const missing = result.unscored === 0
    ? null
    : `${plural(result.unscored, "score")} missing and left out of all means`;
  return [
    ...lines,
    ...footLines(result, missing, [], print),
    "",
    style.dim(`Draft ${result.best + 1}:`),
    escapeLines(best?.text ?? ""),
  ];
}
