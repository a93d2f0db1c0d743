// @ts-check
/**
 * What an edit of a setting means, and what is wrong with one.
 *
 * @module
 */

/** @typedef {import("./texts.js").Language} Language */
/** @typedef {{ key: string, type: string, default: unknown, group: string, minimum?: number, maximum?: number, enum?: string[], accepts?: string[], format?: string, secret?: boolean, long?: boolean, title: Record<Language, string>, help: Record<Language, string> }} Field */
/** @typedef {{ text: string } | { flag: boolean } | { unset: true }} Draft What was typed, chosen or asked to be reset. */
/** @typedef {{ name: keyof typeof import("./texts.js").TEXTS, values?: Record<string, unknown> }} Fault */
/** @typedef {{ set: unknown } | { unset: true } | { fault: Fault }} Edit What a draft means. */

/** @param {unknown} a @param {unknown} b @returns {boolean} */
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** @param {unknown} value @returns {boolean} */
export const absent = (value) => value === undefined || value === null || value === "";

/** A value as it is edited. @param {unknown} value @returns {string} */
export const asText = (value) =>
  absent(value) ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** What is wrong with a value; the host checks it again. @param {Field} field @param {unknown} value @returns {Fault | null} */
export function faultOf(field, value) {
  const { type, minimum = -Infinity, maximum = Infinity } = field;
  if (type === "number" || type === "integer") {
    const fits = typeof value === "number" && Number.isFinite(value) &&
      value >= minimum && value <= maximum &&
      (type === "number" || Number.isInteger(value));
    return fits ? null : {
      name: type === "integer" ? "mustBeWhole" : "mustBeNumber",
      values: { minimum, maximum },
    };
  }
  const fits = type === "boolean"
    ? typeof value === "boolean"
    : type === "json" && !field.accepts?.includes("strings")
    ? ["string", "object"].includes(typeof value)
    : true;
  if (
    !fits ||
    (field.enum !== undefined && !field.enum.includes(String(value)))
  ) return { name: "mustBe", values: { value: asText(value) } };
  if (field.format === "url" && !isServerUrl(value)) {
    return { name: "mustBeUrl" };
  }
  if (field.format === "token" && !/^[\x21-\x7e]+$/.test(String(value))) {
    return { name: "mustBeToken" };
  }
  const strings = Array.isArray(value) &&
    value.every((each) => typeof each === "string" && each !== "");
  return field.accepts?.includes("strings") && !strings ? { name: "mustBeStrings" } : null;
}

/** @param {unknown} value @returns {boolean} */
function isServerUrl(value) {
  try {
    const { protocol, username, password, search, hash } = new URL(
      String(value),
    );
    return /^https?:$/.test(protocol) &&
      username + password + search + hash === "";
  } catch {
    return false;
  }
}

/** @param {Field} field @param {Draft} draft @returns {Edit} */
export function editOf(field, draft) {
  if ("unset" in draft) return draft;
  if ("flag" in draft) return { set: draft.flag };
  const text = draft.text.trim();
  if (text === "") return { unset: true };
  /** @type {unknown} */
  let value = field.format === undefined ? draft.text : text;
  if (field.type === "number" || field.type === "integer") {
    value = Number(text);
  }
  if (field.type === "json") {
    const list = field.accepts?.includes("strings");
    try {
      value = list || /^[[{]/.test(text) ? JSON.parse(text) : draft.text;
    } catch {
      // Markdown may open with a link, `[like](this)`.
      if (list || text.startsWith("{")) {
        return { fault: { name: list ? "mustBeStrings" : "mustBeJson" } };
      }
    }
  }
  const fault = faultOf(field, value);
  return fault === null ? { set: value } : { fault };
}
