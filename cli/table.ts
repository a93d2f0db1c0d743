/**
 * Tables that fit the terminal.
 *
 * @module
 */
import { fit, pad, width } from "./text.ts";

/** One column. */
export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** Takes the room that is left and is cut to it; at most one column. */
  readonly flexible?: boolean;
}

/**
 * Lines of a table: titles, then rows, columns two spaces apart, cut to `columns`.
 * Cells must be harmless text already, without colours.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  total: number,
): readonly string[] {
  const widths = columns.map((column, i) =>
    Math.max(width(column.title), ...rows.map((row) => width(fit(row[i] ?? "", total))))
  );
  const flexible = columns.findIndex((column) => column.flexible);
  const needed = widths.reduce((sum, each) => sum + each, 0) + 2 * (columns.length - 1);
  if (flexible !== -1 && needed > total) {
    widths[flexible] = Math.max(4, widths[flexible]! - (needed - total));
  }
  const line = (cells: readonly string[]) =>
    columns.map((column, i) => {
      const cell = fit(cells[i] ?? "", widths[i]!, column.flexible ? "middle" : "end");
      return pad(cell, widths[i]!, column.align ?? "left");
    }).join("  ").trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}

/** A number for people: two decimals, or a dash where there is none. */
export function number(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text;
}

/** A difference: always with its sign. */
export function signed(value: number | null | undefined, digits = 2): string {
  const text = number(value, digits);
  return text === "–" || text.startsWith("-") ? text : `+${text}`;
}

/** A count with thousands apart: `12,345`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `1 call`, `2 calls`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Dollars, with enough digits to be no zero; `cost unknown` for null. */
export function money(usd: number | null): string {
  if (usd === null) return "cost unknown";
  if (usd === 0) return "no cost";
  return `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`;
}
