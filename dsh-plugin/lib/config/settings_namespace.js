// @ts-check
/**
 * The user's settings: the namespace `assay` of the host's settings service, registered once for a host and read live.
 *
 * Both rows ask for it. The first one that can registers it, and another takes over when that one is unloaded. A row of
 * an agent preset only reads, as presets come and go with agents. Without a settings service there is nothing to read.
 *
 * @module
 */
import { NAMESPACE } from "./fields.js";
import { scopeKey } from "./rows.js";
import { settingsSchema } from "./schemas.js";

/** @typedef {Readonly<Record<string, unknown>>} Section */
/** @typedef {{ info(text: string): void, warn(text: string): void }} Log */
/** @typedef {{ get?(ns: string): unknown, describe?(options?: { redactSecrets?: boolean }): unknown, register?(ns: string, schema: unknown): unknown }} SettingsService */
/**
 * @typedef {object} Context The part of the host's context that is used.
 * @property {object} [root]
 * @property {(names: string[], run: (ctx: any) => void) => unknown} inject
 * @property {(name: string, listener: (...values: any[]) => void) => unknown} on
 */

/** @type {Section} */
const NOTHING = Object.freeze({});

/**
 * Who has the namespace of a host, and who would take it.
 *
 * @typedef {{ owner: object | null, waiting: Set<() => void> }} Claim
 * @type {WeakMap<object, Claim>}
 */
const claims = new WeakMap();

/**
 * @param {Context} ctx
 * @param {{ log: Log }} options
 * @returns {{ user(): Section, onChange(listener: () => void): void }} `user` gives what the user has set and nothing
 *   else; the same object as long as nothing changed.
 */
export function installNamespace(ctx, { log }) {
  /** @type {SettingsService | null} */
  let service = null;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const changed = () => listeners.forEach((listener) => listener());

  ctx.inject(["settings"], (scope) => {
    const settings = /** @type {SettingsService} */ (scope.settings);
    service = settings;
    scope.effect(() => () => {
      service = null;
      changed();
    }, "assay: settings");
    if (scopeKey(ctx) === undefined) {
      claimNamespace(ctx.root ?? ctx, scope, log, changed);
    }
    changed();
  });
  ctx.on("settings/updated", (namespace) => {
    if (namespace === NAMESPACE) changed();
  });

  return {
    user: () => service === null ? NOTHING : section(service),
    onChange: (listener) => void listeners.add(listener),
  };
}

/**
 * @param {object} root
 * @param {any} scope The context on which the registration lives.
 * @param {Log} log
 * @param {() => void} changed
 */
function claimNamespace(root, scope, log, changed) {
  const claim = claims.get(root) ?? { owner: null, waiting: new Set() };
  claims.set(root, claim);
  const take = () => {
    if (claim.owner !== null) return;
    claim.owner = scope;
    register(scope, log, changed);
  };
  // Undone in the opposite order: the registration, made later, is gone by the time that another row takes over.
  scope.effect(() => () => {
    claim.waiting.delete(take);
    if (claim.owner !== scope) return;
    claim.owner = null;
    for (const next of claim.waiting) next();
  }, "assay: settings namespace");
  claim.waiting.add(take);
  take();
}

/** @param {any} scope @param {Log} log @param {() => void} changed Called when there is something to read. */
function register(scope, log, changed) {
  // On a context of its own, so that it can be taken back alone.
  scope.inject(["settings"], (/** @type {any} */ own) => {
    const settings = /** @type {SettingsService} */ (own.settings);
    try {
      if (typeof settings.register !== "function") {
        throw new TypeError("the settings service has no register()");
      }
      settings.register(NAMESPACE, settingsSchema());
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      log.warn(
        `assay: the user's settings can't be registered, so rows and environment alone decide: ${text}`,
      );
      return;
    }
    const leak = leakOf(settings);
    if (leak === null) return changed();
    log.warn(
      `assay: the user's settings are off, as the host would not keep the token to itself: ${leak}`,
    );
    // Not from within its own start.
    queueMicrotask(() => own.fiber.dispose());
  });
}

/**
 * Whether this host, whose settings service may be newer than any we know, withholds what the schema calls a secret.
 *
 * @param {SettingsService} settings
 * @returns {string | null} What it does instead.
 */
function leakOf(settings) {
  if (typeof settings.describe !== "function") return null;
  /** @type {any} */
  let described;
  try {
    described = descriptor(settings, { redactSecrets: true });
  } catch (error) {
    return `describing it fails (${error instanceof Error ? error.message : String(error)})`;
  }
  if (described === undefined) return null;
  const { secrets, value, user } = described;
  if (
    !Array.isArray(secrets) ||
    !secrets.some(({ path }) => Array.isArray(path) && path.join() === "token")
  ) {
    return "it doesn't list the token as a secret";
  }
  return [value, user].some((layer) => layer?.token !== undefined) ? "it gives the token's value" : null;
}

/** @param {SettingsService} settings @returns {Section} */
function section(settings) {
  const found = typeof settings.get === "function" ? settings.get(NAMESPACE) : descriptor(settings)?.user;
  return typeof found === "object" && found !== null ? /** @type {Section} */ (found) : NOTHING;
}

/** @param {SettingsService} settings @param {{ redactSecrets?: boolean }} [options] @returns {any} */
function descriptor(settings, options) {
  const all = settings.describe?.(options);
  return Array.isArray(all) ? all.find(({ ns }) => ns === NAMESPACE) : undefined;
}
