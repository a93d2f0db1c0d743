// @ts-check
/**
 * The known name that an unknown one was most likely meant to be.
 *
 * @module
 */

/**
 * @param {string} name The unknown name.
 * @param {Iterable<string>} known
 * @returns {string | null} Null when nothing is near enough to be worth suggesting.
 */
export function nearestName(name, known) {
  const wanted = plain(name);
  let best = null;
  let least = Math.max(2, Math.ceil(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const cost = distance(wanted, plain(candidate), least);
    if (cost < least) [best, least] = [candidate, cost];
  }
  return best;
}

/**
 * `unknown name` as a clause for a message: `; did you mean "threshold"?`, or nothing.
 *
 * @param {string} name
 * @param {Iterable<string>} known
 * @returns {string}
 */
export function didYouMean(name, known) {
  const near = nearestName(name, known);
  return near === null ? "" : `; did you mean "${near}"?`;
}

/** Case and word marks don't count: `max_gates` is as near as `maxGates`. @param {string} name @returns {string} */
function plain(name) {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/**
 * Edits between two short strings; gives up above `limit`.
 *
 * @param {string} a
 * @param {string} b
 * @param {number} limit
 * @returns {number}
 */
function distance(a, b, limit) {
  if (Math.abs(a.length - b.length) >= limit || a.length > 100) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? limit;
}
