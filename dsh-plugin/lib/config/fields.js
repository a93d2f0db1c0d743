// @ts-check
/**
 * Every setting of the plugin, once. The rows' `Config`, the settings namespace, and with the texts of
 * `described_fields.js` the settings card and the README's table all derive from this table.
 *
 * @module
 */

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
 */

/** The user's settings namespace. */
export const NAMESPACE = "assay";

/** Values of `mode`, from least to most done without being asked. */
export const MODES = Object.freeze(["manual", "smart", "strict"]);

/** What a rubric or a judge may be written as. */
const NAME_OR_DOCUMENT = Object.freeze(
  /** @type {const} */ (["string", "object", "array"]),
);

/** @typedef {Omit<Field, "settings" | "env" | "argument"> & { settings?: string | null, env?: string | null, argument?: boolean }} Entry */

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

/** @param {Entry} entry @returns {Field} */
function field(entry) {
  const key = entry.row === "gate" ? `gate${entry.name[0]?.toUpperCase()}${entry.name.slice(1)}` : entry.name;
  return Object.freeze({
    ...entry,
    settings: entry.settings === undefined ? key : entry.settings,
    env: entry.env === undefined ? variable(key) : entry.env,
    argument: entry.argument ?? false,
  });
}

/** `gateMaxGatesPerTurn` → `ASSAY_GATE_MAX_GATES_PER_TURN`. @param {string} key @returns {string} */
function variable(key) {
  return `ASSAY_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
