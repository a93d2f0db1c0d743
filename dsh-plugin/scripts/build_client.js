// @ts-check
/**
 * Writes `client.js` from `client/`: `node scripts/build_client.js`.
 *
 * The host runs a classic script of one file, which can import nothing. The parts are modules so that they can be tested
 * and read one by one; joining them needs no bundler, as they import only each other.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { clientFields } from "../lib/config/described_fields.js";

/** In an order in which nothing is used while it isn't defined. */
const PARTS = Object.freeze([
  "texts.js",
  "style.js",
  "edits.js",
  "field_row.js",
  "card.js",
  "plugin.js",
]);

const HEADER = `// Made by scripts/build_client.js from client/ and lib/config/fields.js; never edited.
// deno-fmt-ignore-file
// deno-lint-ignore-file
// @ts-nocheck
`;

/** @returns {string} The text of `client.js`. */
export function builtClient() {
  const parts = PARTS.map((name) => {
    const source = readFileSync(
      new URL(`../client/${name}`, import.meta.url),
      "utf8",
    );
    return source.replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "").replace(/^\/\/ @ts-check\n/, "")
      // Types name other parts, which a checker would look for beside the built file.
      .replace(/import\("\.\/\w+\.js"\)\./g, "").trim();
  });
  const fields = clientFields().map((field) => JSON.stringify(field)).join(
    ",\n",
  );
  return `${HEADER}window.__ModuleLoader__.load({ id: "dsh-assay", factory: (require) => {
const FIELDS = [
${fields}
];

${parts.join("\n\n")}

return createPlugin(require);
} });
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../client.js", import.meta.url), builtClient());
}
