// @ts-check
/**
 * Every setting of the plugin, once. The rows' `Config`, the settings namespace, the settings card and the README's
 * table all derive from this table.
 *
 * @module
 */
import { TEXTS } from "./field_texts.js";

/** @typedef {"tools" | "gate"} RowName */

/**
 * @typedef {object} Field
 * @property {string} name The key in a row's `config` and in the resolved settings.
 * @property {"string" | "boolean" | "number" | "integer" | "json"} type
 * @property {unknown} default Null where nothing is set by default.
 * @property {number} [minimum] Included; of a number.
 * @property {number} [maximum] Included; of a number.
 * @property {readonly string[]} [enum] The only strings allowed.
 * @property {readonly ("string" | "object" | "array" | "strings")[]} [accepts] Of `json`: the kinds of value. `strings` is
 *   an array of strings, none of them empty.
 * @property {"url" | "token"} [format] Further rules for a string.
 * @property {boolean} [secret] Never shown, never sent to a browser.
 * @property {"both" | "tools" | "gate"} row Whose `config` knows it.
 * @property {string | null} settings Key in the user's settings namespace.
 * @property {string | null} env Environment variable.
 * @property {boolean} argument A tool call may override it.
 * @property {string} [fallback] Name of the shared field whose layers are asked when none of this one's own has a value.
 * @property {"server" | "evidence" | "gate" | "routing"} group Where the card and the README show it.
 * @property {{ readonly en: string, readonly zh: string }} title
 * @property {{ readonly en: string, readonly zh: string }} help
 */

/** The user's settings namespace. */
export const NAMESPACE = "assay";

/** Values of `mode`, from least to most done without being asked. */
export const MODES = Object.freeze(["manual", "smart", "strict"]);

/** Texts that may have several lines. */
const LONG_TEXTS = new Set(["problem", "steerText"]);

/** What a rubric or a judge may be written as. */
const NAME_OR_DOCUMENT = Object.freeze(
  /** @type {const} */ (["string", "object", "array"]),
);

/** @typedef {Omit<Field, "title" | "help" | "settings" | "env" | "argument"> & { settings?: string | null, env?: string | null, argument?: boolean }} Entry */

/** @type {readonly Entry[]} */
const ENTRIES = [
  {
    name: "url",
    type: "string",
    format: "url",
    default: "http://127.0.0.1:8787",
    row: "both",
    group: "server",
    env: "ASSAY_URL",
  },
  {
    name: "token",
    type: "string",
    format: "token",
    secret: true,
    default: null,
    row: "both",
    group: "server",
  },
  {
    name: "timeoutMs",
    type: "integer",
    minimum: 1000,
    maximum: 3_600_000,
    default: 600_000,
    row: "both",
    group: "server",
  },
  { name: "autostart", type: "boolean", default: false, row: "both", group: "server" },
  { name: "serverDirectory", type: "string", default: null, row: "both", group: "server", env: "ASSAY_HOME" },
  {
    name: "judge",
    type: "json",
    accepts: NAME_OR_DOCUMENT,
    default: null,
    row: "both",
    group: "evidence",
    argument: true,
  },
  {
    name: "channel",
    type: "string",
    enum: ["any", "logprobs", "continuation"],
    default: null,
    row: "both",
    group: "evidence",
    argument: true,
  },
  {
    name: "criteria",
    type: "json",
    accepts: NAME_OR_DOCUMENT,
    default: "general",
    row: "tools",
    group: "evidence",
    argument: true,
  },
  {
    name: "repeats",
    type: "integer",
    minimum: 1,
    maximum: 64,
    default: null,
    row: "tools",
    group: "evidence",
    argument: true,
  },
  { name: "sendImages", type: "boolean", default: true, row: "both", group: "evidence" },
  {
    name: "maxCharacters",
    type: "integer",
    minimum: 1000,
    maximum: 10_000_000,
    default: 200_000,
    row: "both",
    group: "evidence",
    argument: true,
  },
  {
    name: "redact",
    type: "json",
    accepts: ["strings"],
    default: Object.freeze([]),
    row: "both",
    group: "evidence",
  },
  { name: "enabled", type: "boolean", default: false, row: "gate", group: "gate" },
  { name: "threshold", type: "number", minimum: 0, maximum: 1, default: 0.6, row: "gate", group: "gate" },
  {
    name: "maxGatesPerTurn",
    type: "integer",
    minimum: 1,
    maximum: 20,
    default: 1,
    row: "gate",
    group: "gate",
  },
  { name: "evaluations", type: "integer", minimum: 1, maximum: 64, default: 1, row: "gate", group: "gate" },
  {
    name: "criteria",
    type: "json",
    accepts: NAME_OR_DOCUMENT,
    default: "general",
    row: "gate",
    group: "gate",
    fallback: "criteria",
  },
  { name: "problem", type: "string", default: null, row: "gate", group: "gate" },
  { name: "steerText", type: "string", default: null, row: "gate", group: "gate" },
  { name: "includeSubagents", type: "boolean", default: false, row: "gate", group: "gate" },
  {
    name: "totalMs",
    type: "integer",
    minimum: 1000,
    maximum: 3_600_000,
    default: 120_000,
    row: "gate",
    group: "gate",
  },
  { name: "mode", type: "string", enum: MODES, default: "manual", row: "gate", group: "routing" },
  {
    name: "minToolCalls",
    type: "integer",
    minimum: 0,
    maximum: 1000,
    default: 3,
    row: "gate",
    group: "routing",
  },
  { name: "reviewPlans", type: "boolean", default: true, row: "gate", group: "routing" },
  { name: "reviewTeamTasks", type: "boolean", default: true, row: "gate", group: "routing" },
  {
    name: "callsPerTask",
    type: "integer",
    minimum: 0,
    maximum: 100_000,
    default: 96,
    row: "gate",
    group: "routing",
  },
  {
    name: "callsPerSession",
    type: "integer",
    minimum: 0,
    maximum: 100_000,
    default: 240,
    row: "gate",
    group: "routing",
  },
  {
    name: "reviewsPerTask",
    type: "integer",
    minimum: 0,
    maximum: 1000,
    default: 2,
    row: "gate",
    group: "routing",
  },
  {
    name: "reviewsPerSession",
    type: "integer",
    minimum: 0,
    maximum: 1000,
    default: 8,
    row: "gate",
    group: "routing",
  },
];

/** @type {readonly Field[]} */
export const FIELDS = Object.freeze(ENTRIES.map(field));

/**
 * The fields of one row, in the order of the table.
 *
 * @param {RowName} row
 * @returns {readonly Field[]}
 */
export function fieldsOf(row) {
  return FIELDS.filter((field) => field.row === "both" || field.row === row);
}

/**
 * The field behind a key of the user's settings.
 *
 * @param {string} key
 * @returns {Field | undefined}
 */
export function fieldOfSetting(key) {
  return FIELDS.find((field) => field.settings === key);
}

/**
 * The settings as rows of a table, for a README.
 *
 * @param {"en" | "zh"} [language]
 * @returns {{ group: string, row: string, name: string, type: string, default: string, settings: string, env: string, argument: boolean, help: string }[]}
 *   `type` and `default` are Markdown; everything else is plain.
 */
export function settingsTable(language = "en") {
  return FIELDS.map((field) => ({
    group: field.group,
    row: field.row,
    name: field.name,
    type: typeText(field, language),
    default: field.default === null ? "" : `\`${JSON.stringify(field.default)}\``,
    settings: field.settings ?? "",
    env: field.env ?? "",
    argument: field.argument,
    help: field.help[language],
  }));
}

/**
 * What the settings card has to know of the fields, as JSON.
 *
 * @returns {Record<string, unknown>[]}
 */
export function clientFields() {
  return FIELDS.flatMap(
    (
      {
        name,
        row: _row,
        settings,
        env: _env,
        argument: _argument,
        fallback,
        ...field
      },
    ) => {
      if (settings === null) return [];
      // With nothing of its own this field takes another's value, which isn't known here.
      const shown = fallback === undefined ? field : { ...field, default: null };
      return [{
        key: settings,
        ...shown,
        ...(LONG_TEXTS.has(name) ? { long: true } : {}),
      }];
    },
  );
}

/** @param {Entry} entry @returns {Field} */
function field(entry) {
  const key = entry.row === "gate" ? `gate${entry.name[0]?.toUpperCase()}${entry.name.slice(1)}` : entry.name;
  const text = TEXTS[key];
  if (text === undefined) {
    throw new Error(`lib/config/field_texts.js must have a text for "${key}"`);
  }
  return Object.freeze({
    ...entry,
    settings: entry.settings === undefined ? key : entry.settings,
    env: entry.env === undefined ? variable(key) : entry.env,
    argument: entry.argument ?? false,
    title: text.title,
    help: text.help,
  });
}

/** `gateMaxGatesPerTurn` → `ASSAY_GATE_MAX_GATES_PER_TURN`. @param {string} key @returns {string} */
function variable(key) {
  return `ASSAY_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** @type {Readonly<Record<string, { readonly en: string, readonly zh: string }>>} */
const TYPES = Object.freeze({
  strings: { en: "array of strings", zh: "字符串数组" },
  json: { en: "name, text, object or array", zh: "名称、文本、对象或数组" },
  secret: { en: "secret", zh: "密钥" },
  string: { en: "string", zh: "字符串" },
  boolean: { en: "boolean", zh: "布尔值" },
  number: { en: "number", zh: "数字" },
  integer: { en: "integer", zh: "整数" },
});

/** @param {Field} field @param {"en" | "zh"} language @returns {string} */
function typeText(field, language) {
  if (field.enum !== undefined) return field.enum.map((value) => `\`${value}\``).join(", ");
  const kind = field.secret ? "secret" : field.accepts?.includes("strings") ? "strings" : field.type;
  const word = TYPES[kind]?.[language] ?? kind;
  if (field.minimum === undefined) return word;
  return language === "zh"
    ? `${word}，${field.minimum} 到 ${field.maximum}`
    : `${word}, ${field.minimum} to ${field.maximum}`;
}
