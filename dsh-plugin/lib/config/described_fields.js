// @ts-check
/**
 * The settings with their titles and help, for people: the README's table and the settings card. A running host needs
 * none of it.
 *
 * @module
 */
import { TEXTS } from "./field_texts.js";
import { FIELDS } from "./fields.js";

/** @typedef {import("./fields.js").Field & { title: import("./field_texts.js").Text, help: import("./field_texts.js").Text }} DescribedField */

/** Texts that may have several lines. */
const LONG_TEXTS = new Set(["problem", "steerText"]);

/** @type {readonly DescribedField[]} */
export const DESCRIBED = Object.freeze(FIELDS.map((field) => {
  const text = TEXTS[field.settings ?? ""];
  if (text === undefined) {
    throw new Error(`lib/config/field_texts.js must have a text for "${field.settings}"`);
  }
  return Object.freeze({ ...field, title: text.title, help: text.help });
}));

/**
 * The settings as rows of a table, for a README.
 *
 * @param {"en" | "zh"} [language]
 * @returns {{ group: string, row: string, name: string, type: string, default: string, settings: string, env: string, argument: boolean, help: string }[]}
 *   `type` and `default` are Markdown; everything else is plain.
 */
export function settingsTable(language = "en") {
  return DESCRIBED.map((field) => ({
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
  return DESCRIBED.flatMap(
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

/** @param {import("./fields.js").Field} field @param {"en" | "zh"} language @returns {string} */
function typeText(field, language) {
  if (field.enum !== undefined) return field.enum.map((value) => `\`${value}\``).join(", ");
  const kind = field.secret ? "secret" : field.accepts?.includes("strings") ? "strings" : field.type;
  const word = TYPES[kind]?.[language] ?? kind;
  if (field.minimum === undefined) return word;
  return language === "zh"
    ? `${word}，${field.minimum} 到 ${field.maximum}`
    : `${word}, ${field.minimum} to ${field.maximum}`;
}
