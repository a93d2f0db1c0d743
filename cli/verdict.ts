/**
 * The gate's verdict and an ensemble's judges, for people.
 *
 * @module
 */
import type { GateVerdict } from "../verifier/gate/requests.ts";
import type { JudgeSummary } from "../verifier/types.ts";
import type { Print } from "./report.ts";
import { number, table } from "./table.ts";
import { escapeText, fit, oneLine, wrap } from "./text.ts";

/** Criteria against their floors, then the decision, and what the judge said where the work fell short. */
export function verdictLines(verdict: Omit<GateVerdict, "steer">, print: Print): readonly string[] {
  const { style, columns } = print;
  const [head, ...body] = table(
    [
      { title: "Criterion", flexible: true },
      { title: "Score", align: "right" },
      { title: "Floor", align: "right" },
      { title: "Empty", align: "right" },
      { title: "Scored", align: "right" },
      { title: "" },
    ],
    [
      ...verdict.criteria.map(({ id, name, score, floor, baseline, scored, unscored }) => [
        escapeText(name),
        number(score),
        number(floor),
        number(baseline),
        `${scored}/${scored + unscored}`,
        verdict.failing.some((failed) => failed.id === id) ? "below" : "",
      ]),
      ["Overall", number(verdict.score), number(verdict.threshold), number(verdict.baselineScore), "", ""],
    ],
    columns,
  );
  const lines = [
    style.dim(head!),
    ...body.slice(0, -1),
    style.bold(body.at(-1)!),
    "",
    decisionLine(verdict, print),
  ];
  if (print.quiet) return lines;
  for (const { name, analysis } of verdict.failing) {
    if (analysis === null) continue;
    lines.push(wrap(`  ${fit(escapeText(name), 40)}: ${fit(oneLine(analysis), 600)}`, columns, "    "));
  }
  return lines;
}

function decisionLine(
  { decision, score, threshold, failing, reason }: Omit<GateVerdict, "steer">,
  { style, columns }: Print,
): string {
  switch (decision) {
    case "accept":
      return style.good(style.bold(`Accepted: ${number(score)} of ${number(threshold)} needed.`));
    case "steer": {
      const what = failing.length === 0
        ? `${number(score)} of ${number(threshold)} needed`
        : `${failing.length} of the criteria below their floor`;
      return style.warn(style.bold(`Not accepted: ${what}.`));
    }
    case "open":
      return style.warn(
        wrap(`Open: not decided, so nothing is held against the work. ${reason ?? ""}`, columns, "  "),
      );
  }
}

/** The judges of an ensemble; nothing for a single judge. */
export function judgesLines(
  judges: readonly JudgeSummary[] | undefined,
  agreement: number | null | undefined,
  winnerName: (winner: NonNullable<JudgeSummary["winner"]>) => string,
  { style, columns }: Print,
): readonly string[] {
  if (judges === undefined) return [];
  const [head, ...body] = table(
    [
      { title: "Judge", flexible: true },
      { title: "Scored", align: "right" },
      { title: "Alone" },
    ],
    judges.map(({ profile, model, scored, unscored, winner }) => [
      escapeText(profile === model ? profile : `${profile} (${model})`),
      `${scored}/${scored + unscored}`,
      winner === undefined ? "–" : winnerName(winner),
    ]),
    columns,
  );
  const agree = agreement === null || agreement === undefined
    ? []
    : [`Agreement ${Math.round(100 * agreement)} %: judges that come to the same by themselves.`];
  return ["", style.dim(head!), ...body, ...agree, ""];
}
