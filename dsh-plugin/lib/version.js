// @ts-check
/** The package's own version, as its `package.json` says. @module */
import { readFileSync } from "node:fs";

/** @type {string} */
export const VERSION = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
).version;
