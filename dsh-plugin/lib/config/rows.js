// @ts-check
/**
 * How one row of this package sees what another was configured with: the gate asks the server that the tools row names.
 *
 * @module
 */
import { scopeKey } from "./scope.js";

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
