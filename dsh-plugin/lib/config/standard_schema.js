// @ts-check
/**
 * The rows' `Config` as a Standard Schema, which is all that the host asks of one. It checks and never fills in: what a
 * row leaves out has to stay out, as the user's settings come after the row.
 *
 * @module
 */
import { fieldsOf } from "./fields.js";
import { didYouMean, nearestName } from "./nearest.js";
import { isAbsent, misfit, refusal } from "./values.js";

/** @typedef {import("./fields.js").RowName} RowName */
/** @typedef {{ message: string, path: string[] }} Issue */

/**
 * `export const Config = configSchema("tools")`.
 *
 * @param {RowName} row
 * @returns {{ "~standard": { version: 1, vendor: string, validate: (value: unknown) => { value: Record<string, unknown> } | { issues: Issue[] } } }}
 */
export function configSchema(row) {
  return {
    "~standard": {
      version: 1,
      vendor: "dsh-assay",
      validate: (value) => {
        const issues = rowIssues(row, value);
        return issues.length > 0 ? { issues } : { value: { .../** @type {object} */ (value ?? {}) } };
      },
    },
  };
}

/**
 * What is wrong with a row's `config`. Nothing is wrong with none at all.
 *
 * @param {RowName} row
 * @param {unknown} config
 * @returns {Issue[]}
 */
export function rowIssues(row, config) {
  if (config === undefined || config === null) return [];
  if (typeof config !== "object" || Array.isArray(config)) {
    return [{ path: [], message: "config must be an object of settings" }];
  }
  const fields = new Map(fieldsOf(row).map((field) => [field.name, field]));
  /** @type {Issue[]} */
  const issues = [];
  for (const [name, value] of Object.entries(config)) {
    const field = fields.get(name);
    if (field === undefined) {
      issues.push({ path: [name], message: unknownKey(row, name, fields.keys()) });
      continue;
    }
    const rule = isAbsent(value) ? null : misfit(field, value);
    if (rule !== null) {
      issues.push({
        path: [name],
        message: `${name} ${refusal(field, rule, value)}`,
      });
    }
  }
  return issues;
}

/** @param {RowName} row @param {string} name @param {Iterable<string>} known @returns {string} */
function unknownKey(row, name, known) {
  const message = `${name} is not a setting of this row`;
  const [other, id] = row === "tools"
    ? /** @type {const} */ (["gate", "assay-verify-gate"])
    : /** @type {const} */ (["tools", "assay"]);
  const others = fieldsOf(other).map((field) => field.name);
  if (others.includes(name)) return `${message}, but of the row ${id}`;
  const near = didYouMean(name, known);
  if (near !== "") return message + near;
  const elsewhere = nearestName(name, others);
  return elsewhere === null ? message : `${message}; did you mean "${elsewhere}" of the row ${id}?`;
}
