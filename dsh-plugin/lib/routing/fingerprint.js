// @ts-check
/**
 * What makes two automatic reviews the same, so that the same evidence is never paid for twice, also not after a restart.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** Moves when a review of the same evidence would be another one (other bodies, other verbs). */
const VERSION = 1;

/**
 * A fingerprint of everything that a review's outcome depends on: 64 hexadecimal digits behind the purpose.
 *
 * Objects count by their content, whatever the order of their keys; `undefined` fields count as absent.
 *
 * @param {"compare" | "select" | "track" | "plan" | "team"} purpose
 * @param {unknown} evidence JSON: texts, stage, rubric, threshold, judge.
 * @returns {string} At most 200 characters.
 */
export function fingerprint(purpose, evidence) {
  const text = JSON.stringify([VERSION, purpose, sorted(evidence)]);
  return `${purpose}:${createHash("sha256").update(text).digest("hex")}`;
}

/** @param {unknown} value @returns {unknown} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, field]) => [key, sorted(field)]);
}
