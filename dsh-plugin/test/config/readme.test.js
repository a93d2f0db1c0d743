// @ts-check
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { settingsTable } from "../../lib/config/described_fields.js";

const HEADS = {
  en: ["Setting", "Row", "Default", "User settings", "Environment", "What it does"],
  zh: ["设置", "行", "默认值", "用户设置", "环境变量", "作用"],
};

/** @param {"en" | "zh"} language */
function table(language) {
  const rows = settingsTable(language).map((field) => [
    `\`${field.name}\`${field.argument ? " *" : ""}`,
    field.row === "both" ? "both" : field.row,
    field.default === "" ? "–" : field.default,
    field.settings === "" ? "–" : `\`${field.settings}\``,
    field.env === "" ? "–" : `\`${field.env}\``,
    `${field.help} (${field.type})`,
  ]);
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(HEADS[language]), line(HEADS[language].map(() => "---")), ...rows.map(line)].join("\n");
}

describe("the package's READMEs", () => {
  for (const [language, file] of /** @type {const} */ ([["en", "README.md"], ["zh", "README.zh-CN.md"]])) {
    test(`${file} lists every setting as the code has it`, async () => {
      const text = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
      assert.ok(text.includes(table(language)), `${file} must hold this table:\n${table(language)}`);
    });
  }
});
