/**
 * What all verbs print beside their own table: who judged, what it cost, what is missing.
 *
 * @module
 */
import type { JudgeInfo, Plan, Score, SharedResult, Usage } from "../verifier/types.ts";
import type { Style } from "./style.ts";
import { count, money, plural } from "./table.ts";
import { escapeText, fit, oneLine, wrap } from "./text.ts";

/** How things are printed. */
export interface Print {
  readonly columns: number;
  readonly style: Style;
  /** Without explanations. */
  readonly quiet: boolean;
  /** What the request's trajectories are called here, by JSON pointer. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Task and judge. */
export function headLines(task: string, judge: JudgeInfo, print: Print): readonly string[] {
  return [
    `${print.style.dim("Task ")}  ${fit(oneLine(task), print.columns - 7)}`,
    `${print.style.dim("Judge")}  ${judgeText(judge, print.columns - 7)}`,
  ];
}

function judgeText(judge: JudgeInfo, columns: number): string {
  const name = escapeText(judge.profile);
  if (judge.kind === "evidence") {
    const label = `${name}: rule-based, no model; see README for how often it is right`;
    return fit(label, columns);
  }
  return fit(judge.model === judge.profile ? name : `${name} (${escapeText(judge.model)})`, columns);
}

/** Calls, tokens and money. */
export function usageLine(usage: Usage, kind: string): string {
  const parts = [
    plural(usage.calls, "call") + (usage.attempts > usage.calls ? ` (${usage.attempts} attempts)` : "") +
    (usage.cacheHits > 0 ? `, ${count(usage.cacheHits)} from the cache` : ""),
  ];
  if (usage.inputTokens + usage.outputTokens > 0) {
    parts.push(
      `${count(usage.inputTokens)} tokens in` +
        (usage.cachedInputTokens > 0 ? ` (${count(usage.cachedInputTokens)} cached)` : "") +
        `, ${count(usage.outputTokens)} out` +
        (usage.reasoningTokens > 0 ? ` (${count(usage.reasoningTokens)} reasoning)` : ""),
    );
  }
  parts.push(
    kind === "evidence"
      ? "no cost"
      : usage.calls === 0 && usage.attempts === 0
      ? "no cost"
      : money(usage.usd),
  );
  return parts.join("; ");
}

/** Why parts have no score, counted: `2 of 12 scores are missing: no_tag (2, for example: …)`. */
export function unscoredText(
  parts: readonly { readonly reason: string; readonly detail?: string }[],
  total: number | null,
): string | null {
  if (parts.length === 0) return null;
  const reasons = new Map<string, { count: number; detail: string | undefined }>();
  for (const { reason, detail } of parts) {
    const seen = reasons.get(reason);
    if (seen === undefined) reasons.set(reason, { count: 1, detail });
    else seen.count++;
  }
  const list = [...reasons].map(([reason, { count, detail }]) =>
    `${reason} (${count}${detail ? `, for example: ${fit(oneLine(detail), 100)}` : ""})`
  );
  const which = total === null
    ? plural(parts.length, "score")
    : `${parts.length} of ${plural(total, "score")}`;
  return `${which} missing and left out of all means: ${list.join("; ")}`;
}

/** Scores without a number. */
export function unscoredOf(
  scores: readonly Score[],
): readonly { readonly reason: string; readonly detail?: string }[] {
  return scores.flatMap((score) => score.kind === "unscored" ? [score] : []);
}

/** Cost, missing parts, weaker channels, warnings and notes. */
export function footLines(
  result: SharedResult,
  missing: string | null,
  notes: readonly string[],
  print: Print,
): readonly string[] {
  const { style, columns } = print;
  const used = wrap(`Used   ${usageLine(result.usage, result.judge.kind)}`, columns, "       ");
  const lines = [style.dim(used.slice(0, 7)) + used.slice(7)];
  const weak = Object.entries(result.channels).filter(([channel, n]) =>
    channel !== "logprobs" && (n ?? 0) > 0
  );
  if (weak.length > 0) {
    const text = weak.map(([channel, n]) => `${n} by ${channel}`).join(", ");
    lines.push(
      wrap(`Note: not all scores were read from the answer's own log-probabilities (${text})`, columns, "  "),
    );
  }
  if (missing !== null) lines.push(style.warn(wrap(`Warning: ${missing}`, columns, "  ")));
  for (const warning of gather(result.warnings, print.names ?? {})) {
    lines.push(style.warn(wrap(`Warning: ${oneLine(warning)}`, columns, "  ")));
  }
  for (const note of notes) lines.push(wrap(`Note: ${oneLine(note)}`, columns, "  "));
  return lines;
}

/**
 * Warnings in the words of the command line, and warnings that differ only in their numbers told once: a folder of runs
 * has the same oddity dozens of times.
 */
export function gather(
  warnings: readonly string[],
  names: Readonly<Record<string, string>>,
): readonly string[] {
  const groups = new Map<string, { readonly first: string; readonly runs: Set<string>; count: number }>();
  for (const warning of warnings) {
    const [, pointer = "", rest = warning] =
      /^(\/candidates\/\d+|\/a|\/b|\/trajectory)(?:\/messages)?(?=[:/])(.*)$/s.exec(warning) ?? [];
    const name = names[pointer] ?? pointer;
    const key = rest.replace(/\d+/g, "#");
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: name + rest, runs: new Set([name]), count: 1 });
    else {
      group.runs.add(name);
      group.count++;
    }
  }
  return [...groups.values()].map(({ first, runs, count }) =>
    count === 1
      ? first
      : `${first} (and ${count - 1} more like it${runs.size > 1 ? `, in ${runs.size} runs` : ""})`
  );
}

/** What a dry run found out, and what an over-budget request would have cost. */
export function planLines(plan: Plan): readonly string[] {
  return [
    ...(plan.pairs > 0 ? [`  pairs          ${count(plan.pairs)}`] : []),
    `  calls          ${count(plan.calls)}`,
    `  input tokens   ${count(plan.inputTokens)} (about ${
      count(plan.cachedInputTokens)
    } from the provider's cache)`,
    `  output tokens  ${count(plan.outputTokens)}`,
    `  cost           ${plan.calls === 0 ? "no cost" : money(plan.usd)}`,
  ];
}
