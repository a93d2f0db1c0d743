// @ts-check
/**
 * Where the server to start lies.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join, resolve } from "node:path";
import { VerifierError } from "./errors.js";

/** This package's own folder; of a linked one the real folder, as Node resolves links before it loads a module. */
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));

/**
 * The folder named by the setting, else the server that was packed with this package, else the checkout around it.
 *
 * @param {string | null} configured The setting `serverDirectory`.
 * @param {string} [packageDirectory]
 * @returns {string} Absolute path. Throws a `VerifierError` that says what to set when there is none.
 */
export function serverDirectory(configured, packageDirectory = PACKAGE) {
  if (configured !== null) {
    const directory = resolve(configured);
    if (isServer(directory)) return directory;
    throw new VerifierError(
      "server_unreachable",
      `serverDirectory must be a folder of the Assay server, with its deno.json; value: ${
        JSON.stringify(configured)
      }`,
    );
  }
  const found = [
    join(packageDirectory, "server"),
    resolve(packageDirectory, ".."),
  ].find(isServer);
  if (found !== undefined) return found;
  throw new VerifierError(
    "server_unreachable",
    "There is no Assay server to start: set serverDirectory (or the variable ASSAY_HOME) to its folder, or start one yourself and set url.",
  );
}

/** @param {string} directory @returns {boolean} */
function isServer(directory) {
  try {
    return JSON.parse(readFileSync(join(directory, "deno.json"), "utf8"))
      .name === "assay";
  } catch {
    // Not there or not readable as JSON: either way no server of ours.
    return false;
  }
}
