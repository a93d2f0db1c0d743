// @ts-check
/**
 * Rubrics that are given as a path: the server never reads one, so the text is read here.
 *
 * @module
 */
import { open, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import { VerifierError } from "../server/errors.js";
import { throwIfAborted } from "./abort.js";

const MAX_BYTES = 256 * 1024;
const SUFFIX = /\.(?:md|markdown|txt|json)$/i;

/**
 * @typedef {object} RubricPlace
 * @property {string | undefined} cwd What relative paths start from.
 * @property {boolean} inside Whether only files below `cwd` may be read: true for what a model says, false for what a
 * user configured.
 * @property {AbortSignal | undefined} [signal]
 */

/**
 * A rubric as the server takes it. Objects, arrays, names, Markdown and JSON text pass; a path becomes the file's
 * content. A string is a path when it ends like a rubric's file, or has a separator and names a file that exists.
 *
 * @param {unknown} given
 * @param {RubricPlace} place
 * @returns {Promise<unknown>}
 * @throws {VerifierError} `invalid_request` naming the path, or `aborted`
 */
export async function readRubric(given, place) {
  if (typeof given !== "string") return given;
  const text = given.trim();
  const isPath = !/[\r\n]/.test(text) && !/^[#{[]/.test(text) && text.length < 4096 &&
    (SUFFIX.test(text) || /[/\\]/.test(text));
  if (!isPath) return given;
  if (place.cwd === undefined && !isAbsolute(text) && !SUFFIX.test(text)) return given;
  const found = await readRubricFile(text, place);
  if (found !== null) return found;
  // A sentence may hold a slash; what such a text is, is the server's to say.
  if (!SUFFIX.test(text)) return given;
  throw refused(text, "must be the path of a file that exists, or the rubric itself");
}

/**
 * The content of a rubric's file.
 *
 * @param {string} path
 * @param {RubricPlace} place
 * @returns {Promise<unknown>} text, or the value of a `.json` file; null when there is no such file
 * @throws {VerifierError} `invalid_request` for what is no file, lies outside, is too large, blank, or no UTF-8 or JSON
 */
export async function readRubricFile(path, { cwd, inside, signal }) {
  throwIfAborted(signal);
  const home = !inside && /^~[/\\]/.test(path) ? resolve(homedir(), path.slice(2)) : path;
  if (cwd === undefined && !isAbsolute(home)) {
    throw refused(path, "must be absolute, as the session has no folder of its own");
  }
  const full = resolve(cwd ?? "/", home);
  let real;
  try {
    real = await realpath(full);
  } catch (error) {
    const { code } = /** @type {{ code?: unknown }} */ (error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return null;
    throw refused(path, `must be readable: ${String(code)}`);
  }
  if (inside && (cwd === undefined || !isBelow(await realpath(cwd), real))) {
    throw refused(path, "must lie in the session's folder");
  }
  return parse(path, await readText(path, real));
}

/** @param {string} path @param {string} real @returns {Promise<string>} */
async function readText(path, real) {
  let file;
  try {
    file = await open(real, "r");
    const stat = await file.stat();
    if (!stat.isFile()) throw refused(path, "must be a file");
    if (stat.size > MAX_BYTES) {
      throw refused(path, `must have at most ${MAX_BYTES} bytes and has ${stat.size}`);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile());
  } catch (error) {
    if (error instanceof VerifierError) throw error;
    if (error instanceof TypeError) throw refused(path, "must be UTF-8");
    throw refused(path, `must be readable: ${String(/** @type {{ code?: unknown }} */ (error).code)}`);
  } finally {
    await file?.close();
  }
}

/** @param {string} path @param {string} text @returns {unknown} */
function parse(path, text) {
  if (text.trim() === "") throw refused(path, "must not be blank");
  if (!/\.json$/i.test(path)) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refused(path, `must be valid JSON: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {string} folder @param {string} file @returns {boolean} */
function isBelow(folder, file) {
  const path = relative(folder, file);
  return path !== "" && !isAbsolute(path) && path.split(/[/\\]/)[0] !== "..";
}

/** @param {string} path @param {string} message @returns {VerifierError} */
function refused(path, message) {
  return new VerifierError("invalid_request", "The rubric's file can't be used", {
    errors: [{ path: "/criteria", message, value: path }],
  });
}
