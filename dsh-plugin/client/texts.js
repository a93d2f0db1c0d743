// @ts-check
/**
 * What the settings card says, in the host's two languages.
 *
 * @module
 */

/** @typedef {"en" | "zh"} Language */

/** @type {Record<string, Record<Language, string>>} */
export const GROUPS = {
  server: { en: "Server", zh: "服务器" },
  evidence: { en: "Judging and evidence", zh: "评审与证据" },
  gate: { en: "Gate at the turn's end", zh: "回合结束时的门控" },
  routing: { en: "Automatic reviews", zh: "自动评审" },
};

export const TEXTS = {
  description: {
    en: "Verifier tools, the gate at a turn's end, and automatic reviews.",
    zh: "验证工具、回合结束时的门控以及自动评审。",
  },
  layers: {
    en:
      "A value in a composition row or a preset wins over these settings and can't be seen here. What isn't set here comes from the environment, then from the default.",
    zh:
      "组合文件的行或预设中的值优先于此处的设置，且不会在此显示。此处未设置的项取自环境变量，其次为默认值。",
  },
  open: { en: "Show settings", zh: "展开设置" },
  close: { en: "Hide settings", zh: "收起设置" },
  unsaved: { en: "Unsaved", zh: "未保存" },
  overridden: { en: "Changed", zh: "已修改" },
  reset: { en: "Reset", zh: "重置" },
  resetLabel: { en: "Reset: {title}", zh: "重置：{title}" },
  clear: { en: "Clear", zh: "清除" },
  clearLabel: { en: "Clear: {title}", zh: "清除：{title}" },
  cleared: { en: "Cleared on save", zh: "保存时清除" },
  set: { en: "Set", zh: "已设置" },
  notSet: { en: "Not set", zh: "未设置" },
  replace: { en: "Type to replace", zh: "输入以替换" },
  save: { en: "Save", zh: "保存" },
  saving: { en: "Saving…", zh: "正在保存…" },
  saved: { en: "Saved.", zh: "已保存。" },
  discard: { en: "Discard", zh: "放弃" },
  readOnly: {
    en: "The settings file can't be written.",
    zh: "设置文件不可写入。",
  },
  refused: {
    en: "The host did not store this value.",
    zh: "主机未保存该值。",
  },
  incomplete: { en: "Some values were not saved.", zh: "部分值未保存。" },
  serverDefault: { en: "(the server's default)", zh: "（服务器默认值）" },
  standard: { en: "Default: {value}", zh: "默认值：{value}" },
  range: { en: "{minimum} to {maximum}", zh: "{minimum} 到 {maximum}" },
  mustBeNumber: {
    en: "Must be a number from {minimum} to {maximum}.",
    zh: "必须是 {minimum} 到 {maximum} 之间的数字。",
  },
  mustBeWhole: {
    en: "Must be a whole number from {minimum} to {maximum}.",
    zh: "必须是 {minimum} 到 {maximum} 之间的整数。",
  },
  mustBeUrl: {
    en: "Must be an http or https address without user name, password, query and fragment.",
    zh: "必须是 http 或 https 地址，不含用户名、密码、查询和片段。",
  },
  mustBeToken: {
    en: "Must be visible ASCII characters without spaces.",
    zh: "必须是不含空格的可见 ASCII 字符。",
  },
  mustBeStrings: {
    en: 'Must be a JSON array of texts, none of them empty, such as ["customer-\\\\d+"].',
    zh: '必须是由非空文本组成的 JSON 数组，例如 ["customer-\\\\d+"]。',
  },
  mustBeJson: {
    en: "Looks like JSON, but can't be read as such.",
    zh: "看似 JSON，但无法解析。",
  },
  mustBe: {
    en: "The stored value doesn't fit: {value}",
    zh: "已保存的值不符合要求：{value}",
  },
};

/** @param {keyof typeof TEXTS} name @param {Language} language @param {Record<string, unknown>} [values] @returns {string} */
export const say = (name, language, values = {}) =>
  TEXTS[name][language].replace(
    /\{(\w+)\}/g,
    (whole, key) => key in values ? String(values[key]) : whole,
  );
