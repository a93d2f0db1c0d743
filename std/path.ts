/**
 * The part of `@std/path` that this project uses, from `node:path`.
 * Whoever has JSR points the import map's `@std/path` at `jsr:@std/path` and deletes this file.
 *
 * @module
 */
export { basename, dirname, extname, isAbsolute, join, relative, resolve } from "node:path";
export { fileURLToPath as fromFileUrl, pathToFileURL as toFileUrl } from "node:url";
