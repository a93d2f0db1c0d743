/** `assay session`: how a session progressed, or whether its work is accepted. @module */
import { decodeText } from "../transcripts/bytes.ts";
import { isSessionLog } from "../transcripts/dsh_session.ts";
import { readTranscript } from "../transcripts/transcript.ts";
import type { SessionResult } from "../verifier/session/requests.ts";
import { answerVerb, type Command } from "./command.ts";
import { EXIT } from "./failure.ts";
import { MAXIMUM_FILE_BYTES, readFile, textOrFile } from "./inputs.ts";
import { type Io, UsageError } from "./io.ts";
import { optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS, VERB_OPTIONS } from "./options.ts";
import { footLines, headLines, type Print } from "./report.ts";
import { readImages, sharedFields } from "./request.ts";
import { curveSvg } from "./svg.ts";
import { number, plural, signed, table } from "./table.ts";
import { escapeLines, escapeText, fit, oneLine, wrap } from "./text.ts";
import { curveLines, readCheckpoints } from "./track.ts";
import { isZstd, unpackZstd } from "./zstd.ts";

const OWN: readonly OptionName[] = [
  "acceptance",
  "threshold",
  "range",
  "max-characters",
  "causal",
  "checkpoints",
  "svg",
];
const OPTIONS: readonly OptionName[] = [...VERB_OPTIONS, ...OWN, ...PLACE_OPTIONS, ...PRINT_OPTIONS];

/** The command. */
export const sessionCommand: Command = {
  name: "session",
  summary: "the progress, or the acceptance, of an agent's session log",
  options: OPTIONS,
  help: `Usage: deno task assay session FILE [options]

FILE is a DeepSeek Harness session log (formats 0 to 4, also as .zstd), a chat
as JSON (OpenAI or Anthropic messages), or a trajectory; - is standard input.
Without --acceptance it prints the progress curve. With it the work is measured
against an attempt in which nothing was done, by the rule of the gate: exit
status 1 when it isn't accepted; 0 when it is, or when that can't be decided.

Left out of the evidence, and counted: system and plugin messages, replaced
history, what a fork inherited, the verifier's own calls, and secrets.

Examples:
  deno task assay session session.jsonl.zstd
  deno task assay session session.jsonl --acceptance --criteria coding
  deno task assay session session.jsonl --range 120-480 --redact 'acme-\\d+'

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    const [file, ...more] = args.positionals;
    if (file === undefined) throw new UsageError("session needs a session: session FILE");
    if (more.length > 0) throw new UsageError(`session takes one file, and got ${args.positionals.length}`);
    const name = file === "-" ? "standard input" : file;
    const { fields, notes } = await readSession(file, io);
    const task = await textOrFile(args.text("task"), "task") ?? fields.task;
    const images = await readImages(args.texts("images"));
    const checkpoints = args.text("checkpoints");
    const range = args.text("range");
    const threshold = args.number("threshold");
    const maxCharacters = args.number("max-characters");
    const request = {
      ...fields,
      ...(task === undefined ? {} : { task }),
      ...(images.length > 0 ? { images } : {}),
      mode: args.flag("acceptance") ? "acceptance" : "progress",
      ...(range === undefined ? {} : { range: readRange(range) }),
      ...(threshold === undefined ? {} : { threshold }),
      ...(maxCharacters === undefined ? {} : { maxCharacters }),
      ...(args.flag("causal") ? { causal: true } : {}),
      ...(checkpoints === undefined ? {} : { checkpoints: readCheckpoints(checkpoints) }),
      ...await sharedFields(args),
    };
    const shown = escapeText(name);
    const files = {
      "/log": shown,
      "/messages": shown,
      "/steps": shown,
      "/range": "--range",
    };
    return await answerVerb(args, io, open, files, (backend, options) => backend.session(request, options), {
      lines: (result, print) => sessionLines(result, notes, print),
      svg: ({ progress }) => progress === null ? null : curveSvg(`Progress of ${name}`, progress.curve),
      status: ({ acceptance }) => acceptance?.decision === "steer" ? EXIT.negative : EXIT.fine,
    });
  },
};

/** The request's fields for a file. @throws {UsageError} TranscriptError from the reader */
async function readSession(
  file: string,
  io: Io,
): Promise<
  { readonly fields: Record<string, unknown> & { task?: string }; readonly notes: readonly string[] }
> {
  const name = file === "-" ? "standard input" : file;
  let bytes = file === "-" ? await io.readStdin(MAXIMUM_FILE_BYTES) : await readFile(file);
  const notes: string[] = [];
  if (isZstd(bytes)) {
    const unpacked = unpackZstd(bytes, name);
    bytes = unpacked.bytes;
    if (unpacked.torn !== null) notes.push(unpacked.torn);
  }
  const text = decodeText(bytes, name);
  if (isSessionLog(text)) return { fields: { log: text }, notes };
  const { trajectory, task, warnings } = readTranscript(bytes, name);
  const fields = trajectory.messages !== undefined
    ? { messages: trajectory.messages }
    : { steps: trajectory.steps ?? [trajectory.text ?? ""] };
  return { fields: { ...fields, ...(task === null ? {} : { task }) }, notes: [...notes, ...warnings] };
}

/** `12-80`, `12-` or `-80`. */
function readRange(text: string): { readonly from?: number; readonly to?: number } {
  const match = /^(\d{0,15})-(\d{0,15})$/.exec(text);
  if (match === null || text === "-") {
    throw new UsageError(`--range must be sequence numbers such as 12-80, 12- or -80: ${escapeText(text)}`);
  }
  return {
    ...(match[1] === "" ? {} : { from: Number(match[1]) }),
    ...(match[2] === "" ? {} : { to: Number(match[2]) }),
  };
}

/** A session for people. */
export function sessionLines(
  result: SessionResult,
  notes: readonly string[],
  print: Print,
): readonly string[] {
  const { style, columns } = print;
  const { source, shortened, progress, acceptance } = result;
  const { counts } = source;
  const what = source.kind === "dsh"
    ? `session log, format ${source.version}`
    : source.kind === "messages"
    ? "chat messages"
    : "steps";
  const parts = [
    what,
    plural(source.steps, "step"),
    ...(counts === null ? [] : [plural(counts.toolCalls + counts.nestedCalls, "tool call")]),
    ...(source.range === null ? [] : [`events ${source.range.from} to ${source.range.to}`]),
  ];
  const lines = [
    ...headLines(result.task, result.judge, print),
    `${style.dim("From ")}  ${fit(parts.join(", "), columns - 7)}`,
  ];
  const left = Object.entries(source.leftOut);
  if (left.length > 0 && !print.quiet) {
    const list = left.map(([kind, count]) => `${count} ${escapeText(kind)}`).join(", ");
    lines.push(style.dim(wrap(`Left out: ${list}`, columns, "  ")));
  }
  if (shortened.characters > 0) {
    lines.push(wrap(
      `Note: ${plural(shortened.steps, "old step")} shortened and ${shortened.leftOut} left out ` +
        `(${plural(shortened.characters, "character")} in all, --max-characters)`,
      columns,
      "  ",
    ));
  }
  if (source.redacted > 0) lines.push(`Redacted: ${plural(source.redacted, "place")}`);
  lines.push("");
  if (progress !== null) lines.push(...curveLines(progress, print));
  if (acceptance !== null) lines.push(...acceptanceLines(acceptance, print));
  const text = result.unscored === 0
    ? null
    : `${plural(result.unscored, "score")} missing and left out of all means`;
  return [...lines, ...footLines(result, text, notes, print)];
}

function acceptanceLines(
  { decision, score, baselineScore, threshold, criteria, failing, reason }: NonNullable<
    SessionResult["acceptance"]
  >,
  { style, columns }: Print,
): readonly string[] {
  const [head, ...body] = table(
    [
      { title: "Criterion", flexible: true },
      { title: "Score", align: "right" },
      { title: "Floor", align: "right" },
      { title: "Empty", align: "right" },
      { title: "Gain", align: "right" },
    ],
    criteria.map((each) => [
      oneLine(each.name),
      number(each.score),
      number(each.floor),
      number(each.baseline),
      signed(each.score === null || each.baseline === null ? null : each.score - each.baseline),
    ]),
    columns,
  );
  const verdict = decision === "accept"
    ? style.bold("Accepted")
    : decision === "steer"
    ? style.bold(style.bad("Not accepted"))
    : style.bold(style.warn("Not decided"));
  return [
    style.dim(head!),
    ...body,
    "",
    `${verdict}: ${number(score)} of at least ${number(threshold)} (empty work: ${number(baselineScore)})`,
    ...(reason === undefined ? [] : [wrap(`Reason: ${oneLine(reason)}`, columns, "  ")]),
    ...failing.flatMap(({ name, score, floor, analysis }) => [
      wrap(`Failing: ${oneLine(name)} with ${number(score)}, needs ${number(floor)}`, columns, "  "),
      ...(analysis === null
        ? []
        : escapeLines(analysis.slice(0, 600)).split("\n").map((line) =>
          wrap(`  > ${line}`, columns, "  > ")
        )),
    ]),
  ];
}
