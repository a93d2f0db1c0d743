/**
 * Pictures of results as SVG: no script, no font, nothing from outside.
 *
 * @module
 */
import type { CurvePoint } from "../verifier/types.ts";
import { UsageError } from "./io.ts";
import { number } from "./table.ts";
import { escapeText, fit } from "./text.ts";

/**
 * Finds out whether a picture can be written, before anything is bought for it. Leaves the file system as it was.
 * @throws {UsageError} when it can't be written
 */
export async function checkSvg(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  try {
    const isNew = await Deno.stat(path).then(() => false, () => true);
    (await Deno.open(path, { write: true, create: true })).close();
    if (isNew) await Deno.remove(path);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Writes a picture if a file was named. @throws {UsageError} when it can't be written */
export async function writeSvg(path: string | undefined, draw: () => string): Promise<void> {
  if (path === undefined) return;
  try {
    await Deno.writeTextFile(path, draw());
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): UsageError {
  const reason = error instanceof Error ? error.message.split("\n", 1)[0] : error;
  return new UsageError(`cannot write ${escapeText(path)}: ${reason}`);
}

function xml(text: string): string {
  return escapeText(text).replace(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #222 } .dim { fill: #666; stroke: none } .axis { stroke: #999 }
.line { fill: none; stroke: #2563eb; stroke-width: 2 } .point { fill: #2563eb } .range { stroke: #2563eb }
.bar { fill: #94a3b8 } .best { fill: #16a34a } .paper { fill: #fff }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .dim { fill: #999 } .axis { stroke: #666 } .line, .range { stroke: #60a5fa } .point { fill: #60a5fa }
.bar { fill: #64748b } .best { fill: #4ade80 } .paper { fill: #111 }
}
</style>`;

function document(title: string, width: number, height: number, body: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${xml(title)}</title>
${STYLE}
<rect class="paper" width="${width}" height="${height}"/>
<text x="16" y="24">${xml(fit(title, 80))}</text>
${body.join("\n")}
</svg>
`;
}

/** A progress curve: score 0 to 1 over steps, standard errors as bars; unscored checkpoints break the line. */
export function curveSvg(title: string, curve: readonly CurvePoint[]): string {
  const [width, height, left, right, top, bottom] = [720, 360, 48, 16, 44, 40];
  const steps = curve.map(({ step }) => step);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const round = (value: number) => Math.round(value * 100) / 100;
  const x = (step: number) =>
    round(
      first === last
        ? (left + width - right) / 2
        : left + (width - left - right) * (step - first) / (last - first),
    );
  const y = (score: number) => round(top + (height - top - bottom) * (1 - score));
  const body: string[] = [];
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    body.push(
      `<line class="axis" x1="${left}" x2="${width - right}" y1="${y(tick)}" y2="${y(tick)}" opacity="0.4"/>`,
      `<text class="dim" x="${left - 8}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
    );
  }
  const every = Math.ceil(curve.length / 16);
  for (const [i, { step }] of curve.entries()) {
    if (i % every === 0 || i === curve.length - 1) {
      body.push(`<text class="dim" x="${x(step)}" y="${height - 16}" text-anchor="middle">${step}</text>`);
    }
  }
  let path = "";
  let pen = "M";
  for (const { step, score } of curve) {
    if (score === null) pen = "M";
    else {
      path += `${pen}${x(step)} ${y(score)}`;
      pen = "L";
    }
  }
  if (path !== "") body.push(`<path class="line" d="${path}"/>`);
  for (const { step, score, standardError } of curve) {
    if (score === null) continue;
    const error = standardError ?? 0;
    if (error > 0) {
      const [high, low] = [y(Math.min(1, score + error)), y(Math.max(0, score - error))];
      body.push(`<line class="range" x1="${x(step)}" x2="${x(step)}" y1="${high}" y2="${low}"/>`);
    }
    body.push(
      `<circle class="point" cx="${x(step)}" cy="${y(score)}" r="4"><title>step ${step}: ${
        number(score, 3)
      }</title></circle>`,
    );
  }
  return document(title, width, height, body);
}

/** One bar of a chart. */
export interface Bar {
  readonly label: string;
  /** 0 to 1; no bar for `null`. */
  readonly value: number | null;
  readonly note: string;
  readonly marked: boolean;
}

/** Horizontal bars, 0 to 1. */
export function barsSvg(title: string, bars: readonly Bar[]): string {
  const [width, left, right, row] = [720, 300, 150, 26];
  const body = bars.flatMap(({ label, value, note, marked }, i) => {
    const y = 44 + i * row;
    const length = Math.round((width - left - right) * Math.max(0, Math.min(1, value ?? 0)) * 100) / 100;
    return [
      `<text x="${left - 8}" y="${y + 15}" text-anchor="end">${xml(fit(label, 38, "middle"))}</text>`,
      `<rect class="${marked ? "best" : "bar"}" x="${left}" y="${y + 3}" width="${length}" height="${
        row - 8
      }"/>`,
      `<text class="dim" x="${left + length + 8}" y="${y + 15}">${number(value)}${
        note === "" ? "" : ` · ${xml(note)}`
      }</text>`,
    ];
  });
  return document(title, width, 60 + bars.length * row, body);
}
