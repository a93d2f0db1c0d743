// @ts-check
/**
 * What is wrong with the settings although every value fits, and how whatever is wrong with them is told.
 *
 * @module
 */
import process from "node:process";
import { didYouMean } from "../server/errors.js";
import { FIELDS } from "./fields.js";

/** @typedef {Readonly<Record<string, string | undefined>>} Environment */

/** @type {WeakMap<object, Set<string>>} */
const told = new WeakMap();

/**
 * Tells problems, each once for a host: both rows read the same layers. The host's log has no reader in the profiles that
 * come with it, so it is said on standard error as well; a gate that was switched on with a misspelt value would
 * otherwise be off without a word.
 *
 * @param {{ root?: object }} ctx
 * @param {readonly string[]} problems Sentences without a full stop and without secrets.
 * @param {{ log: { warn(text: string): void }, print?: (line: string) => void }} options `print`: default standard error.
 */
export function reportProblems(
  ctx,
  problems,
  { log, print = (line) => void process.stderr.write(line) },
) {
  const root = ctx.root ?? ctx;
  const before = told.get(root) ?? new Set();
  told.set(root, before);
  for (const problem of problems) {
    if (before.has(problem)) continue;
    before.add(problem);
    log.warn(`assay: ${problem}`);
    print(`dsh-assay: ${problem.replace(/\s+/g, " ").trim().replace(/(?<![.?])$/, ".")}\n`);
  }
}

/**
 * Environment variables that were meant for this plugin and reach nothing: a misspelt name would be silent otherwise.
 *
 * The server's own variables begin with `ASSAY_` too, and a user may name a key's variable so. Hence only a name that
 * can't be anything else counts: one of the gate's, one that differs in its underscores alone, or a gate's setting
 * without `GATE_`.
 *
 * @param {Environment} environment
 * @returns {string[]} One sentence for each, with no value in it.
 */
export function strayVariables(environment) {
  const known = FIELDS.flatMap(({ env }) => env === null ? [] : [env]);
  const meant = new Map(known.flatMap((env) => [
    [plain(env.replace("ASSAY_GATE_", "ASSAY_")), env],
  ]));
  for (const env of known) meant.set(plain(env), env);
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith("ASSAY_") || known.includes(name)) return [];
    const near = meant.get(plain(name));
    if (near === undefined && !name.startsWith("ASSAY_GATE_")) return [];
    return [`The variable ${name} is not a setting${didYouMean(name, near === undefined ? known : [near])}`];
  });
}

/** @param {string} name @returns {string} */
function plain(name) {
  return name.replaceAll("_", "");
}
