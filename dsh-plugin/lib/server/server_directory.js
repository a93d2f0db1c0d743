// @ts-check
/**
 * Where the server to start lies.
 *
 * @module
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { VerifierError } from "./errors.js";

/** This package's own folder; of a linked one the real folder, as Node resolves links before it loads a module. */
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));

/** Where a copy of the packed server is kept: beside the host's other data. @returns {string} */
const copies = () => join(process.env["DSH_HOME"] || join(homedir(), ".dsh"), "assay");

/**
 * The folder named by the setting, else the server that was packed with this package, else the checkout around it.
 *
 * @param {string | null} configured The setting `serverDirectory`.
 * @param {{ packageDirectory?: string, copyTo?: string }} [places]
 * @returns {string} Absolute path of a folder in which `deno task serve` works. Throws a `VerifierError` that says what
 *   to set when there is none.
 */
export function serverDirectory(configured, { packageDirectory = PACKAGE, copyTo = copies() } = {}) {
  if (configured !== null) {
    const directory = resolve(configured);
    if (isServer(directory)) return runnable(directory, copyTo);
    throw new VerifierError(
      "server_unreachable",
      `serverDirectory must be a folder of the Assay server, with its deno.json; value: ${
        JSON.stringify(configured)
      }`,
    );
  }
  const found = [join(packageDirectory, "server"), resolve(packageDirectory, "..")].find(isServer);
  if (found !== undefined) return runnable(found, copyTo);
  throw new VerifierError(
    "server_unreachable",
    "There is no Assay server to start: set serverDirectory (or the variable ASSAY_HOME) to its folder, or start one yourself and set url.",
  );
}

/**
 * Deno takes everything below a `node_modules` for somebody's npm package: it looks for no `deno.json` there and loads no
 * WebAssembly. So a server that was installed with this package runs from a copy, made once for each state of its files.
 *
 * @param {string} directory
 * @param {string} copyTo
 * @returns {string}
 */
function runnable(directory, copyTo) {
  if (!/[/\\]node_modules[/\\]/.test(directory)) return directory;
  const { digest } = JSON.parse(readFileSync(join(directory, "packed.json"), "utf8"));
  const copy = join(copyTo, `server-${digest}`);
  if (isServer(copy)) return copy;
  mkdirSync(copyTo, { recursive: true });
  const unfinished = mkdtempSync(join(copyTo, "unfinished-"));
  try {
    cpSync(directory, unfinished, { recursive: true });
    renameSync(unfinished, copy);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another host may have been faster.
    if (!isServer(copy)) throw error;
  }
  return copy;
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
