// @ts-check
/**
 * Environment variables that were meant for this plugin and reach nothing: a misspelt name would be silent otherwise.
 *
 * The server's own variables begin with `ASSAY_` too, and a user may name a key's variable so. Hence only a name that
 * can't be anything else counts: one of the gate's, one that differs in its underscores alone, or a gate's setting
 * without `GATE_`.
 *
 * @module
 */
import { FIELDS } from "./fields.js";
import { didYouMean } from "./nearest.js";

/** @typedef {Readonly<Record<string, string | undefined>>} Environment */

/**
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
