// @ts-check
/**
 * Puts the server into `server/`, so that the packed package can start one without a checkout beside it:
 * `node scripts/pack_server.js` (npm's `prepack`), and `node scripts/pack_server.js --remove` (`postpack`).
 *
 * @module
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("../", import.meta.url));
const CHECKOUT = join(PACKAGE, "..");
const TARGET = join(PACKAGE, "server");

/** What `deno task serve` loads. The `.ts` files of the root come beside them. */
export const FOLDERS = Object.freeze([
  ...["runtime", "routes", "cli", "verifier", "store", "transcripts", "wasm", "criteria", "std"],
]);
/** What only development needs. */
const DEVELOPMENT = Object.freeze({ imports: ["fast-check", "wrangler"], tasks: ["serve", "assay"] });

/** @param {string} path @returns {boolean} */
export function isShipped(path) {
  return !/(_test|_bench|(^|[/\\])testing)\.tsx?$|[/\\]__fixtures__([/\\]|$)/.test(path);
}

/** The checkout's `deno.json` without what a server doesn't need. @returns {string} */
export function serverConfig() {
  const config = JSON.parse(readFileSync(join(CHECKOUT, "deno.json"), "utf8"));
  const { name, version, license, exports, unstable, imports, tasks, compilerOptions } = config;
  if (name !== "assay") {
    throw new Error(
      `${CHECKOUT} is no checkout of Assay: its deno.json has the name ${JSON.stringify(name)}`,
    );
  }
  const kept = Object.entries(imports).filter(([key]) => !DEVELOPMENT.imports.includes(key));
  const served = Object.entries(tasks).filter(([key]) => DEVELOPMENT.tasks.includes(key));
  return JSON.stringify(
    {
      ...{ name, version, license, exports, unstable, compilerOptions },
      // An installed package's folder is not ours to write a node_modules into.
      nodeModulesDir: "none",
      imports: Object.fromEntries(kept),
      tasks: Object.fromEntries(served),
    },
    null,
    2,
  ) + "\n";
}

function pack() {
  mkdirSync(TARGET);
  for (const folder of FOLDERS) {
    cpSync(join(CHECKOUT, folder), join(TARGET, folder), { recursive: true, filter: isShipped });
  }
  const roots = readdirSync(CHECKOUT).filter((file) => file.endsWith(".ts") && isShipped(file));
  for (const file of [...roots, "deno.lock", "LICENSE"]) {
    cpSync(join(CHECKOUT, file), join(TARGET, basename(file)));
  }
  writeFileSync(join(TARGET, "deno.json"), serverConfig());
  writeFileSync(join(TARGET, "packed.json"), JSON.stringify({ digest: digestOf(TARGET) }) + "\n");
}

/** Names this state of the files. @param {string} directory @returns {string} 16 hexadecimal digits. */
function digestOf(directory) {
  const hash = createHash("sha256");
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile()
  );
  const files = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  for (const file of files) {
    hash.update(relative(directory, file)).update("\0").update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (existsSync(TARGET)) rmSync(TARGET, { recursive: true });
  if (!process.argv.includes("--remove")) pack();
}
