/** `assay reviews`: what automatic reviews of a session bought. @module */
import type { Review, ReviewList } from "../verifier/reviews/requests.ts";
import { MOST_LISTED } from "../verifier/reviews/records.ts";
import { type Command, printJson, printLines, printOf } from "./command.ts";
import { EXIT } from "./failure.ts";
import { UsageError } from "./io.ts";
import { optionHelp, type OptionName, PLACE_OPTIONS, PRINT_OPTIONS } from "./options.ts";
import type { Print } from "./report.ts";
import { count, plural, table } from "./table.ts";
import { escapeText, wrap } from "./text.ts";

const OPTIONS: readonly OptionName[] = ["limit", ...PLACE_OPTIONS, ...PRINT_OPTIONS];
const DEFAULT_ROWS = 20;

/** `reviews SESSION`. */
export const reviewsCommand: Command = {
  name: "reviews",
  summary: "what automatic reviews of an agent's session bought",
  options: OPTIONS,
  help: `Usage: deno task assay reviews SESSION [--limit N]

Programs that review an agent's work by themselves ask the server's review
ledger before they buy anything (POST /v1/reviews). This lists a session's
newest reviews and adds up all of them. SESSION is its id, as they name it.
With --server only the reviews of the token's own name are seen.

Examples:
  deno task assay reviews ses-42 --server http://127.0.0.1:8787

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io, open) => {
    const [session, ...more] = args.positionals;
    if (session === undefined || more.length > 0) throw new UsageError("reviews needs one session's id");
    const limit = args.number("limit") ?? DEFAULT_ROWS;
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
      throw new UsageError(
        `--limit must be a whole number from 1 to ${MOST_LISTED}: ${escapeText(args.text("limit")!)}`,
      );
    }
    const backend = await open(args, io);
    try {
      const found = await backend.reviews({ session, limit }, io.signal);
      if (args.flag("json")) printJson(io, found);
      else printLines(io, reviewLines(found, printOf(args, io)));
      return EXIT.fine;
    } finally {
      await backend.close();
    }
  },
};

function reviewLines({ session, spent, reviews, warnings }: ReviewList, { style, columns }: Print): string[] {
  if (reviews.length === 0 && spent.reviews === 0) {
    return [`Nobody has reviewed the session ${escapeText(session)}.`];
  }
  const cells = ({ at, purpose, state, calls, task }: Review): readonly string[] => [
    at.slice(0, 19).replace("T", " "),
    purpose,
    state,
    count(calls),
    escapeText(task),
  ];
  const [head, ...rows] = table(
    [
      { title: "Granted (UTC)" },
      { title: "Purpose" },
      { title: "State" },
      { title: "Calls", align: "right" },
      { title: "Task", flexible: true },
    ],
    reviews.map(cells),
    columns,
  );
  return [
    style.dim(head!),
    ...rows,
    "",
    `In all  ${plural(spent.reviews, "review")} (${count(spent.gate.reviews)} by the gate), ${
      plural(spent.calls, "call")
    }`,
    ...warnings.map((warning) => style.warn(wrap(`Warning: ${escapeText(warning)}`, columns, "  "))),
  ];
}
