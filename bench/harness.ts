/**
 * What all benchmarks share: taking medians, checking a figure against its target, printing one table.
 *
 * A benchmark file starts with a comment that says what it measures and what it doesn't, exports nothing, and ends in
 * `await runBench(async () => [row(...), ...])`. Run alone it prints its table; `bench/all.ts` runs it with `--json`.
 *
 * @module
 */

/** What a figure must keep; `null`: it is only stated. */
export type Target = { readonly atMost: number } | { readonly atLeast: number } | null;

/** One line of the table. */
export interface BenchRow {
  readonly name: string;
  /** `null` when it could not be measured; `note` says why. */
  readonly measured: number | null;
  /** For example `ms`, `us`, `kB`, `1/s`, `x`. */
  readonly unit: string;
  readonly target: Target;
  /** Whether the target is kept; `null` without a target. What couldn't be measured doesn't keep it. */
  readonly ok: boolean | null;
  readonly note: string;
}

/** A line, checked against its target. */
export function row(
  name: string,
  measured: number | null,
  unit: string,
  target: Target = null,
  note = "",
): BenchRow {
  return { name, measured, unit, target, ok: target === null ? null : keeps(measured, target), note };
}

function keeps(measured: number | null, target: NonNullable<Target>): boolean {
  if (measured === null || !Number.isFinite(measured)) return false;
  return "atMost" in target ? measured <= target.atMost : measured >= target.atLeast;
}

/** Middle value of a non-empty list (mean of the two middle ones). */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Quantile 0 to 1 by linear interpolation. @throws {RangeError} for an empty list */
export function quantile(values: readonly number[], at: number): number {
  if (values.length === 0) throw new RangeError("Cannot take a quantile of nothing");
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * at;
  const low = sorted[Math.floor(position)]!;
  return low + (sorted[Math.ceil(position)]! - low) * (position - Math.floor(position));
}

/** Options of `time`. */
export interface TimeOptions {
  /** Timed rounds; the result is their median. Default 15. */
  readonly rounds?: number;
  /** Rounds before, not counted: compilation and caches. Default 3. */
  readonly warmUp?: number;
  /** Runs per round, for what is too short for the clock. Default 1. */
  readonly runs?: number;
}

/** Median, lowest and 95th percentile of one run's time in milliseconds. */
export async function time(
  run: () => unknown,
  { rounds = 15, warmUp = 3, runs = 1 }: TimeOptions = {},
): Promise<{ median: number; lowest: number; p95: number }> {
  const times: number[] = [];
  for (let round = -warmUp; round < rounds; round++) {
    const started = performance.now();
    for (let i = 0; i < runs; i++) {
      const result = run();
      if (result instanceof Promise) await result;
    }
    if (round >= 0) times.push((performance.now() - started) / runs);
  }
  return { median: median(times), lowest: Math.min(...times), p95: quantile(times, 0.95) };
}

/** Three significant digits, no exponent. */
export function figure(value: number | null): string {
  if (value === null) return "-";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Math.min(6, digits));
}

function targetText(target: Target): string {
  if (target === null) return "";
  return "atMost" in target ? `<= ${target.atMost}` : `>= ${target.atLeast}`;
}

/** The table as text, at most 80 columns; notes are wrapped below their line. */
export function table(rows: readonly BenchRow[]): string {
  const width = 80;
  const cells = rows.map((r) => [
    r.name,
    figure(r.measured),
    r.unit,
    targetText(r.target),
    r.ok === null ? "" : r.ok ? "ok" : "MISSED",
  ]);
  const heads = ["benchmark", "measured", "unit", "target", ""];
  const widths = heads.map((head, i) => Math.max(head.length, ...cells.map((c) => c[i]!.length)));
  const rest = widths.slice(1).reduce((sum, w) => sum + w + 2, 0);
  widths[0] = Math.min(widths[0]!, width - rest);
  const line = (c: readonly string[]) =>
    c.map((text, i) => i === 1 ? text.padStart(widths[i]!) : text.padEnd(widths[i]!)).join("  ").trimEnd();
  const out = [line(heads), widths.map((w) => "-".repeat(w)).join("  ")];
  rows.forEach((r, i) => {
    const names = wrap(cells[i]![0]!, widths[0]!);
    out.push(line([names[0]!, ...cells[i]!.slice(1)]), ...names.slice(1));
    if (r.note !== "") out.push(...wrap(r.note, width - 4).map((text) => "    " + text));
  });
  return out.join("\n");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Runs a benchmark file: prints its table, or with `--json` its lines as JSON. Exits with 1 when a target is missed. */
export async function runBench(
  bench: () => Promise<readonly BenchRow[]> | readonly BenchRow[],
): Promise<void> {
  const rows = await bench();
  console.log(Deno.args.includes("--json") ? JSON.stringify(rows) : table(rows));
  if (rows.some((r) => r.ok === false)) Deno.exitCode = 1;
}
