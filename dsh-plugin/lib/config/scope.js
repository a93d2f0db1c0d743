// @ts-check
/**
 * Whether a context belongs to an agent preset.
 *
 * The host tags every context of a preset's mount with a symbol of its own, which can't be had without importing the
 * host. The tag's description is its name, and a context inherits it from the one it was made of.
 *
 * @module
 */

/** Description of the symbol that the host's scope package tags contexts with. */
const SCOPE_TAG = "dsh.scope";

/**
 * What the rows of one preset mount share, and nobody else has.
 *
 * @param {unknown} ctx
 * @returns {unknown} Undefined for a row of the profile, which is there for every agent.
 */
export function scopeKey(ctx) {
  for (
    let at = ctx;
    typeof at === "object" && at !== null;
    at = Object.getPrototypeOf(at)
  ) {
    const tag = Object.getOwnPropertySymbols(at).find(({ description }) => description === SCOPE_TAG);
    if (tag !== undefined) return /** @type {any} */ (at)[tag];
  }
  return undefined;
}
