/**
 * Text hygiene and warnings: what is done to every text of a request before it reaches a prompt, and where it is told.
 *
 * @module
 */

const MAXIMUM_WARNINGS = 50;

/** Collects what a result must say about itself. Equal warnings are kept once, at most 50 and a count of the rest. */
export class Warnings {
  readonly #texts = new Set<string>();
  #dropped = 0;

  /** Adds one warning. */
  add(text: string): void {
    if (this.#texts.has(text)) return;
    if (this.#texts.size < MAXIMUM_WARNINGS) this.#texts.add(text);
    else this.#dropped++;
  }

  /** The warnings in the order they came. */
  list(): readonly string[] {
    const rest = this.#dropped === 0 ? [] : [`${this.#dropped} more warnings`];
    return [...this.#texts, ...rest];
  }
}

/**
 * Lone surrogates and NUL become U+FFFD, with a warning that names the field and the count: neither survives the way
 * to a model. Everything else, ANSI escapes and bidirectional marks included, stays: it is evidence.
 * @param path JSON pointer of the field
 */
export function cleanText(text: string, path: string, warnings: Warnings): string {
  const wellFormed = text.isWellFormed();
  if (wellFormed && !text.includes("\0")) return text;
  let surrogates = 0;
  let nuls = 0;
  if (!wellFormed) {
    for (const character of text) {
      const unit = character.charCodeAt(0);
      if (character.length === 1 && unit >= 0xd800 && unit <= 0xdfff) surrogates++;
    }
    text = text.toWellFormed();
  }
  if (text.includes("\0")) {
    const parts = text.split("\0");
    nuls = parts.length - 1;
    text = parts.join("\ufffd");
  }
  const what = [
    ...(surrogates > 0 ? [`${surrogates} lone ${surrogates === 1 ? "surrogate" : "surrogates"}`] : []),
    ...(nuls > 0 ? [`${nuls} NUL ${nuls === 1 ? "character" : "characters"}`] : []),
  ];
  warnings.add(`${path}: replaced ${what.join(" and ")} by U+FFFD`);
  return text;
}

/** The first `length` characters, and whether something is missing, without cutting a surrogate pair. */
export function shortenText(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, length - 1).toWellFormed().replace(/\ufffd$/, "") + "…";
}
