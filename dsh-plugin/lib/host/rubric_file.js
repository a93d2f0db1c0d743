// @ts-check
/**
 * Rubrics that are given as a path: the server never reads one, so the text is read here.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
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

/** A pipe that stands there since the look at it isn't waited for: such a wait would keep the host from exiting. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** @param {string} path @param {string} real @returns {Promise<string>} */
async function readText(path, real) {
  let file;
  try {
    // Before it is opened: opening a named pipe waits for somebody who writes.
    if (!(await stat(real)).isFile()) throw refused(path, "must be a file");
    file = await open(real, READ_ONLY);
    const found = await file.stat();
    if (!found.isFile()) throw refused(path, "must be a file");
    if (found.size > MAX_BYTES) {
      throw refused(path, `must have at most ${MAX_BYTES} bytes and has ${found.size}`);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(await readAtMost(file, path));
  } catch (error) {
    if (error instanceof VerifierError) throw error;
    if (error instanceof TypeError) throw refused(path, "must be UTF-8");
    throw refused(path, `must be readable: ${String(/** @type {{ code?: unknown }} */ (error).code)}`);
  } finally {
    await file?.close();
  }
}

/**
 * A file's bytes. Some files say that they are empty and aren't (below `/proc`), others grow: the size alone is no bound.
 *
 * @param {import("node:fs/promises").FileHandle} file @param {string} path @returns {Promise<Buffer>}
 */
async function readAtMost(file, path) {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  let size = 0;
  while (size < bytes.length) {
    const { bytesRead } = await file.read(bytes, size, bytes.length - size, null);
    if (bytesRead === 0) return bytes.subarray(0, size);
    size += bytesRead;
  }
  throw refused(path, `must have at most ${MAX_BYTES} bytes and has more`);
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
