// @ts-check
/**
 * How the rows of this package find each other: which of them belong together, and what another was configured with. The
 * gate asks the server that the tools row names.
 *
 * @module
 */
/** @typedef {import("./fields.js").RowName} RowName */
/** @typedef {{ root?: object, effect?: (run: () => () => void, label?: string) => unknown }} Context The part of the host's context that is used. */

/** Stands for the profile's rows, whose contexts have no scope. */
const PROFILE = Object.freeze({});

/**
 * Configurations by host and scope. Weak, as hosts come and go within a process of tests.
 *
 * @type {WeakMap<object, Map<unknown, Map<RowName, unknown>>>}
 */
const announced = new WeakMap();

/**
 * Says what a row was configured with, until its context is disposed.
 *
 * @param {Context} ctx
 * @param {RowName} row
 * @param {unknown} config As the host gave it to `apply`.
 */
export function announceRow(ctx, row, config) {
  const scopes = mapOf(announced, ctx.root ?? ctx);
  const key = scopeKey(ctx) ?? PROFILE;
  const rows = mapOf(scopes, key);
  rows.set(row, config);
  ctx.effect?.(() => () => {
    // A row that was mounted again in the meantime has announced itself; its words stay.
    if (rows.get(row) === config) rows.delete(row);
    if (rows.size === 0) scopes.delete(key);
  }, `assay: ${row} row`);
}

/**
 * What a row was configured with: the one of the same preset, else the profile's.
 *
 * @param {Context} ctx
 * @param {RowName} row
 * @returns {unknown} Undefined when there is no such row, or it has no configuration.
 */
export function rowConfig(ctx, row) {
  const scopes = announced.get(ctx.root ?? ctx);
  const own = scopes?.get(scopeKey(ctx) ?? PROFILE);
  return own?.has(row) ? own.get(row) : scopes?.get(PROFILE)?.get(row);
}

/** Description of the symbol that the host's scope package tags contexts with. */
const SCOPE_TAG = "dsh.scope";

/**
 * What the rows of one preset mount share, and nobody else has. The host tags every context of a preset's mount with a
 * symbol of its own, which can't be had without importing the host. The tag's description is its name, and a context
 * inherits it from the one it was made of.
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

/**
 * @template K, L, V
 * @param {{ get(key: K): Map<L, V> | undefined, set(key: K, value: Map<L, V>): unknown }} maps
 * @param {K} key
 * @returns {Map<L, V>}
 */
function mapOf(maps, key) {
  const found = maps.get(key);
  if (found !== undefined) return found;
  /** @type {Map<L, V>} */
  const made = new Map();
  maps.set(key, made);
  return made;
}
