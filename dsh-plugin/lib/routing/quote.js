// @ts-check
/**
 * Foreign words inside our messages: labels that an agent chose, sentences that a judge wrote. They stand on one line and
 * can't look like a line of ours, of the host or of a chat template.
 *
 * @module
 */

/** Most characters (UTF-16 units) of one message to the agent. */
export const MAXIMUM_TEXT = 4000;

/**
 * A text on one line, without control and format characters, with markup made harmless, cut to `length`.
 *
 * @param {string} text
 * @param {number} length Most UTF-16 units, from 1 on.
 * @returns {string}
 */
export function oneLine(text, length) {
  const line = text.toWellFormed()
    .replace(/[\s\u0085\u2028\u2029]+/gu, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, "")
    .replace(/</gu, "\u2039")
    .replace(/>/gu, "\u203a")
    .trim();
  return cut(line, length);
}

/**
 * A text cut to `length` UTF-16 units, with an ellipsis where something is missing, and no half of a character.
 *
 * @param {string} text
 * @param {number} length From 1 on.
 * @returns {string}
 */
export function cut(text, length) {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/u, "")}\u2026`;
}

/**
 * The two ends of a text with a note of how much is missing between them, `length` UTF-16 units at most.
 *
 * @param {string} text
 * @param {number} length From 100 on.
 * @returns {string}
 */
export function bothEnds(text, length) {
  if (text.length <= length) return text;
  const note = (/** @type {number} */ missing) => `\n[${missing} characters left out here]\n`;
  const room = length - note(text.length).length;
  const head = text.slice(0, Math.floor(room * 0.4)).replace(
    /[\ud800-\udbff]$/u,
    "",
  );
  const tail = text.slice(text.length - Math.ceil(room * 0.6)).replace(
    /^[\udc00-\udfff]/u,
    "",
  );
  return head + note(text.length - head.length - tail.length) + tail;
}

/**
 * Lines joined to a message of at most 4,000 characters: where they are too long, the optional ones in the middle go from
 * the last one on, and a line says how many.
 *
 * @param {readonly string[]} head
 * @param {readonly string[]} rows
 * @param {readonly string[]} tail
 * @returns {string}
 */
export function message(head, rows, tail) {
  for (let shown = rows.length; shown >= 0; shown--) {
    const missing = rows.length - shown;
    const note = missing === 0 ? [] : [`- \u2026 and ${missing} more that don't fit here`];
    const text = [...head, ...rows.slice(0, shown), ...note, ...tail].join(
      "\n",
    );
    if (text.length <= MAXIMUM_TEXT || shown === 0) {
      return cut(text, MAXIMUM_TEXT);
    }
  }
  return "";
}

/**
 * A score, reward or probability with three decimals.
 * @param {number} value
 * @returns {string}
 */
export function shown(value) {
  return value.toFixed(3);
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [several]
 * @returns {string}
 */
export function counted(count, one, several = `${one}s`) {
  return `${count} ${count === 1 ? one : several}`;
}
