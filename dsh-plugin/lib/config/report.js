// @ts-check
/**
 * Tells what is wrong with the settings, once for a host: both rows read the same layers. The host's log has no reader in
 * the profiles that come with it, so it is said on standard error as well; a gate that was switched on with a misspelt
 * value would otherwise be off without a word.
 *
 * @module
 */
import process from "node:process";

/** @type {WeakMap<object, Set<string>>} */
const told = new WeakMap();

/**
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
