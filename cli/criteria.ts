/** `assay criteria`: the built-in rubrics, and a check of one's own. @module */
import { nearestName } from "../verifier/request_errors.ts";
import { resolveRubric } from "../verifier/rubric.ts";
import { BUILT_IN_RUBRICS } from "../verifier/rubrics.ts";
import { Warnings } from "../verifier/text.ts";
import type { Criterion } from "../verifier/types.ts";
import { type Command, NamedFailure, printJson, printLines, printOf } from "./command.ts";
import { EXIT } from "./failure.ts";
import { type Io, UsageError } from "./io.ts";
import { type Arguments, optionHelp, PRINT_OPTIONS } from "./options.ts";
import type { Print } from "./report.ts";
import { readCriteria } from "./request.ts";
import { plural, table } from "./table.ts";
import { escapeText, oneLine, wrap } from "./text.ts";

/** A rubric as it was understood. */
interface RubricInfo {
  readonly groundTruthNote: string;
  readonly criteria: readonly Criterion[];
  readonly warnings: readonly string[];
}

const ACTIONS = ["list", "show", "check"] as const;

/** `assay criteria`; see its help. */
export const criteriaCommand: Command = {
  name: "criteria",
  summary: "built-in rubrics, and a check of your own: list, show, check",
  options: PRINT_OPTIONS,
  help: `Usage: deno task assay criteria list
       deno task assay criteria show NAME
       deno task assay criteria check FILE|JSON

A rubric is a ground-truth note and 1 to 12 criteria. Markdown looks like this:

  ## Ground Truth Note

  What the terminal printed is the truth.

  ## Criteria

  ### Result as asked {#result}

  The files that the task asks for are there and hold what they should.

check prints what was understood, ids included, and names the heading and the
line of what can't be read. Nothing is judged and nothing is bought.

Examples:
  deno task assay criteria show coding
  deno task assay criteria check examples/rubrics/shell-work.md

Options:
${optionHelp(PRINT_OPTIONS)}
`,
  run: async (args, io) => {
    const [action = "list", ...rest] = args.positionals;
    switch (action) {
      case "list":
        if (rest.length > 0) {
          throw new UsageError(`criteria list takes no more words: ${escapeText(rest[0]!)}`);
        }
        return list(args, io);
      case "show":
      case "check": {
        const [name] = rest;
        if (name === undefined || rest.length > 1) {
          throw new UsageError(`criteria ${action} needs one ${action === "show" ? "name" : "file"}`);
        }
        return await (action === "show" ? show(name, args, io) : check(name, args, io));
      }
      default: {
        const near = nearestName(action, ACTIONS);
        throw new UsageError(
          `criteria has no action ${escapeText(action)}: it has list, show and check` +
            (near === null ? "" : ` (did you mean ${near}?)`),
        );
      }
    }
  },
};

function list(args: Arguments, io: Io): number {
  const rubrics = [...BUILT_IN_RUBRICS.keys()].map((name) => (
    { name, criteria: parseRubric(name).criteria.map(({ id }) => id) }
  ));
  if (args.flag("json")) printJson(io, { rubrics });
  else {
    const print = printOf(args, io);
    const [head, ...body] = table(
      [{ title: "Rubric" }, { title: "Criteria" }],
      rubrics.map(({ name, criteria }) => [name, criteria.join(", ")]),
      print.columns,
    );
    printLines(io, [print.style.dim(head!), ...body]);
  }
  return EXIT.fine;
}

function show(name: string, args: Arguments, io: Io): number {
  if (!BUILT_IN_RUBRICS.has(name)) {
    const names = [...BUILT_IN_RUBRICS.keys()];
    const near = nearestName(name, names);
    throw new UsageError(
      `there is no built-in rubric ${escapeText(name)}${
        near === null ? `: there are ${names.join(", ")}` : `: did you mean ${near}?`
      }`,
    );
  }
  print(parseRubric(name), name, args, io);
  return EXIT.fine;
}

async function check(value: string, args: Arguments, io: Io): Promise<number> {
  let rubric: RubricInfo;
  const text = await readCriteria(value);
  const name = text === value ? "the rubric" : escapeText(value);
  try {
    rubric = parseRubric(text);
  } catch (error) {
    throw new NamedFailure(error, { "/criteria": name });
  }
  print(rubric, text === value ? oneLine(value).slice(0, 40) : value, args, io);
  return EXIT.fine;
}

function print(rubric: RubricInfo, name: string, args: Arguments, io: Io): void {
  if (args.flag("json")) {
    const { groundTruthNote, criteria } = rubric;
    printJson(io, { groundTruthNote, criteria });
    // The wire's answer has no place for them, and a check that hides them is none.
    for (const warning of rubric.warnings) io.err(`warning: ${oneLine(warning)}\n`);
  } else printLines(io, rubricLines(rubric, name, printOf(args, io)));
}

/** A rubric for people. */
export function rubricLines(rubric: RubricInfo, name: string, { style, columns }: Print): readonly string[] {
  const paragraph = (text: string) => "  " + wrap(oneLine(text), columns - 2).replaceAll("\n", "\n  ");
  const lines = [
    style.bold(`${escapeText(name)}: ${plural(rubric.criteria.length, "criterion", "criteria")}`),
  ];
  if (rubric.groundTruthNote !== "") {
    lines.push("", style.dim("Ground truth note"), paragraph(rubric.groundTruthNote));
  }
  for (const { id, name, description, weight } of rubric.criteria) {
    const extra = weight === 1 ? "" : `, weight ${weight}`;
    lines.push("", `${style.bold(escapeText(name))} ${style.dim(`(${id}${extra})`)}`, paragraph(description));
  }
  const warnings = rubric.warnings;
  if (warnings.length > 0) {
    lines.push(
      "",
      ...warnings.map((warning) => style.warn(wrap(`Warning: ${oneLine(warning)}`, columns, "  "))),
    );
  }
  return lines;
}

/** A rubric as the verbs read it. @throws {AssayError} */
function parseRubric(criteria: string): RubricInfo {
  const warnings = new Warnings();
  const { groundTruthNote, criteria: list } = resolveRubric(criteria, undefined, warnings);
  return { groundTruthNote, criteria: list, warnings: warnings.list() };
}
