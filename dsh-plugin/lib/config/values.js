// @ts-check
/**
 * Whether a value fits a field, what may be written as the server's address, and how a variable's text is read as a value.
 *
 * @module
 */
import { quoteValue } from "../server/errors.js";

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

/**
 * @typedef {object} ServerUrl
 * @property {string} base Origin and path prefix, without a slash at the end.
 * @property {string} origin
 * @property {string} hostname Without the brackets of an IPv6 address.
 * @property {number} port
 * @property {boolean} secure https.
 * @property {boolean} loopback The address is this machine whatever a resolver says.
 */

/**
 * The server's address in its parts.
 *
 * @param {unknown} value
 * @returns {ServerUrl | string} A sentence part ("must …") when it may not be used.
 */
export function parseServerUrl(value) {
  if (typeof value !== "string") return "must be a string";
  /** @type {URL} */
  let url;
  try {
    url = new URL(value);
  } catch {
    return "must be an absolute URL such as http://127.0.0.1:8787";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return "must start with http:// or https://";
  }
  if (url.username !== "" || url.password !== "") {
    return "must carry no user name and no password: set the token instead";
  }
  if (url.search !== "" || url.hash !== "") {
    return "must have no query and no fragment";
  }
  const secure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  return {
    base: url.origin + url.pathname.replace(/\/+$/, ""),
    origin: url.origin,
    hostname,
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    secure,
    loopback: isLoopback(hostname),
  };
}

/** @param {string} hostname As the URL parser writes it: IPv4 in four decimal parts, IPv6 compressed. @returns {boolean} */
function isLoopback(hostname) {
  return hostname === "localhost" || hostname === "::1" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
