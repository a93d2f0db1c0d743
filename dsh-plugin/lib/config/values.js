// @ts-check
/**
 * Whether a value fits a field, and how a variable's text is read as one.
 *
 * @module
 */
import { quoteValue } from "../server/errors.js";
import { parseServerUrl } from "./url.js";

/** @typedef {import("./fields.js").Field} Field */

/**
 * Nothing was said: the next layer is asked.
 *
 * @param {unknown} value
 * @returns {boolean}
 */
export function isAbsent(value) {
  return value === undefined || value === null || value === "";
}

/**
 * @param {Field} field
 * @param {unknown} value Not absent.
 * @returns {string | null} What the value must be ("must be …"), null when it fits.
 */
export function misfit(field, value) {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false";
    case "number":
    case "integer":
      return fitsNumber(field, value) ? null : numberRule(field);
    case "string":
      return stringMisfit(field, value);
    case "json":
      return jsonMisfit(field, value);
  }
}

/**
 * `must be …; value: …` for a message; a secret's value stays out, and so does a password written into a URL.
 *
 * @param {Field} field
 * @param {string} rule
 * @param {unknown} value
 * @returns {string}
 */
export function refusal(field, rule, value) {
  if (field.secret) return `${rule} (its value is not shown)`;
  const shown = quoteValue(value);
  return `${rule}; value: ${field.format === "url" ? shown.replace(/\/\/[^/]*@/, "//…@") : shown}`;
}

/**
 * An environment variable's text as a value of the field.
 *
 * @param {Field} field
 * @param {string} text
 * @returns {{ value: unknown } | { rule: string }}
 */
export function readText(field, text) {
  const value = convert(field, text);
  if (value === undefined) return { rule: ruleOfText(field) };
  const rule = misfit(field, value);
  return rule === null ? { value } : { rule };
}

/** @param {Field} field @param {string} text @returns {unknown} Undefined when it can't be one. */
function convert(field, text) {
  const trimmed = text.trim();
  switch (field.type) {
    case "boolean":
      if (/^(true|1|yes|on)$/i.test(trimmed)) return true;
      return /^(false|0|no|off)$/i.test(trimmed) ? false : undefined;
    case "number":
    case "integer":
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : undefined;
    case "string":
      return field.format === undefined && field.enum === undefined ? text : trimmed;
    case "json": {
      // A name, a path or Markdown is a string as it stands; what looks like JSON has to be JSON.
      if (!/^[[{]/.test(trimmed)) {
        return field.accepts?.includes("string") ? text : undefined;
      }
      try {
        return JSON.parse(trimmed);
      } catch {
        // Markdown may open with a link, `[like](this)`.
        return field.accepts?.includes("string") && trimmed.startsWith("[") ? text : undefined;
      }
    }
  }
}

/** @param {Field} field @returns {string} */
function ruleOfText(field) {
  if (field.type === "boolean") return "must be true or false";
  if (field.type === "json") return "must be valid JSON";
  return numberRule(field);
}

/** @param {Field} field @param {unknown} value @returns {boolean} */
function fitsNumber({ type, minimum = -Infinity, maximum = Infinity }, value) {
  return typeof value === "number" && Number.isFinite(value) &&
    value >= minimum && value <= maximum &&
    (type === "number" || Number.isInteger(value));
}

/** @param {Field} field @returns {string} */
function numberRule({ type, minimum, maximum }) {
  return `must be ${type === "integer" ? "a whole number" : "a number"} from ${minimum} to ${maximum}`;
}

/** @param {Field} field @param {unknown} value @returns {string | null} */
function stringMisfit(field, value) {
  if (typeof value !== "string") return "must be a string";
  if (field.enum !== undefined) {
    return field.enum.includes(value)
      ? null
      : `must be one of ${field.enum.map((each) => `"${each}"`).join(", ")}`;
  }
  if (field.format === "url") {
    const parsed = parseServerUrl(value);
    return typeof parsed === "string" ? parsed : null;
  }
  // What isn't visible ASCII can't stand in a header, and the error that fetch would make quotes the whole of it.
  if (field.format === "token" && !/^[\x21-\x7e]+$/.test(value)) {
    return "must be visible ASCII characters without spaces";
  }
  return null;
}

/** @param {Field} field @param {unknown} value @returns {string | null} */
function jsonMisfit({ accepts = [] }, value) {
  if (accepts.includes("strings")) {
    const fits = Array.isArray(value) &&
      value.every((each) => typeof each === "string" && each !== "");
    return fits ? null : "must be an array of strings, none of them empty";
  }
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return accepts.some((each) => each === kind) ? null : "must be a name, a text, an object or an array";
}
