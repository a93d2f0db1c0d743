/**
 * Text for a terminal: made harmless, measured in columns, cut to fit.
 *
 * Whatever comes from a trajectory, a file name or a server may hold escape sequences that move the cursor or rename the
 * window, and marks that turn the reading order around. None of it reaches the terminal as it is.
 *
 * @module
 */
import stringWidth from "string-width";

const HARMFUL = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** One line of harmless text: control, bidirectional and invisible characters as `\u{…}`, line breaks as `\n`. */
export function escapeText(text: string): string {
  return text.toWellFormed().replace(HARMFUL, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    return `\\u{${character.charCodeAt(0).toString(16)}}`;
  });
}

/** Harmless text that keeps its line breaks. */
export function escapeLines(text: string): string {
  return text.split(/\r\n|\r|\n/).map((line) => escapeText(line.replaceAll("\t", "  "))).join("\n");
}

/** A preview of a text in one line: runs of white space become one space. */
export function oneLine(text: string): string {
  return escapeText(text.trim().replace(/\s+/g, " "));
}

/** Columns that a text takes. */
export function width(text: string): number {
  return stringWidth(text);
}

/** Cuts to at most `columns`, with an ellipsis at the end, or in the middle where both ends tell. */
export function fit(text: string, columns: number, where: "end" | "middle" = "end"): string {
  // No terminal is wider than this; measuring megabytes to print a line would be a waste.
  if (text.length > 4000) text = text.slice(0, 2000).toWellFormed() + text.slice(-2000).toWellFormed();
  if (width(text) <= columns) return text;
  if (columns <= 1) return columns === 1 ? "…" : "";
  const parts = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)]
    .map(({ segment }) => segment);
  const tail = where === "middle" ? Math.floor((columns - 1) / 2) : 0;
  return take(parts, columns - 1 - tail) + "…" + take(parts.toReversed(), tail, true);
}

function take(parts: readonly string[], columns: number, reversed = false): string {
  const taken: string[] = [];
  let used = 0;
  for (const part of parts) {
    const needed = width(part);
    if (used + needed > columns) break;
    used += needed;
    taken.push(part);
  }
  return (reversed ? taken.reverse() : taken).join("");
}

/** Fills up with spaces to `columns`. */
export function pad(text: string, columns: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, columns - width(text)));
  return align === "left" ? text + space : space + text;
}

/** Breaks a paragraph at spaces; continued lines start with `indent`. */
export function wrap(text: string, columns: number, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (let word of text.split(" ")) {
    const start = lines.length === 0 ? "" : indent;
    if (line !== "" && width(start) + width(line) + 1 + width(word) > columns) {
      lines.push(start + line);
      line = "";
    }
    const room = columns - width(indent);
    while (line === "" && width(word) > room && room > 1) {
      const head = take([...word], room);
      if (head === "") break;
      lines.push((lines.length === 0 ? "" : indent) + head);
      word = word.slice(head.length);
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  if (line !== "" || lines.length === 0) lines.push((lines.length === 0 ? "" : indent) + line);
  return lines.join("\n");
}
