/**
 * Colours, where they are wanted.
 *
 * @module
 */

/** Wraps text in a colour, or leaves it. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
}

/** ANSI colours, or none. */
export function makeStyle(enabled: boolean): Style {
  const paint = (open: number, close: number) => (text: string) =>
    enabled && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    warn: paint(33, 39),
  };
}
