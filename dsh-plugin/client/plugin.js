// @ts-check
/**
 * The browser half of the plugin, as the host's module loader wants it.
 *
 * @module
 */
import { createCard } from "./card.js";
import { STYLE } from "./style.js";

/** @typedef {import("./texts.js").Language} Language */

/** The user's settings namespace. */
const NAMESPACE = "assay";

/**
 * @param {(name: string) => any} require Gives the modules that the host's page shares.
 * @returns {{ name: string, inject: string[], apply(ctx: any): void }}
 */
export function createPlugin(require) {
  const { document } = /** @type {any} */ (globalThis);
  return {
    name: "dsh-assay",
    inject: ["slots", "settingsScope"],
    apply(/** @type {any} */ ctx) {
      const sheet = document.createElement("style");
      sheet.dataset.plugin = "dsh-assay";
      sheet.textContent = STYLE;
      document.head.append(sheet);
      ctx.effect?.(() => () => sheet.remove(), "assay: style");

      // The user's layer is shown as it is, so that a stored value which doesn't fit can be seen and mended.
      const bound = ctx.settingsScope.bind({
        namespace: NAMESPACE,
        decode: (/** @type {unknown} */ value) => value ?? {},
      });
      const scope = {
        getSnapshot: () => bound.getSnapshot(),
        subscribe: (/** @type {() => void} */ listener) => bound.subscribe(listener),
        set: (/** @type {string} */ key, /** @type {unknown} */ value) => bound.set(key, value),
        unset: (/** @type {string} */ key) => bound.unset(key),
      };
      const mirror = ctx.settingsScope.describe?.();
      const secrets = {
        /** @returns {boolean | undefined} Whether a token is set; undefined when this host doesn't tell. */
        get: () =>
          mirror?.getSnapshot?.().view?.namespaces
            ?.find((/** @type {any} */ each) => each.ns === NAMESPACE)
            ?.secrets
            ?.find((/** @type {any} */ each) => each.path?.join() === "token")
            ?.set,
        subscribe: (/** @type {() => void} */ listener) => mirror?.subscribe?.(listener) ?? (() => {}),
      };
      ctx.slots.inject("settings.plugin.item", () =>
        ctx.slots.register({
          name: "settings.plugin.item",
          key: NAMESPACE,
          inject: () => ({
            scope,
            secrets,
            language: languageStore(ctx.get?.("locale")),
          }),
        }, createCard(require("react"))));
    },
  };
}

/** The language that the host's page is shown in. @param {any} locale The host's service, which may be absent. */
function languageStore(locale) {
  const { document, MutationObserver } = /** @type {any} */ (globalThis);
  return {
    /** @returns {Language} */
    get() {
      const active = locale?.getSnapshot?.().active ??
        (document.documentElement.lang || navigator.language);
      return String(active).toLowerCase().startsWith("zh") ? "zh" : "en";
    },
    /** @param {() => void} listener @returns {() => void} */
    subscribe(listener) {
      if (typeof locale?.subscribe === "function") {
        return locale.subscribe(listener);
      }
      const observer = new MutationObserver(listener);
      observer.observe(document.documentElement, {
        attributes: true,
        attributeFilter: ["lang"],
      });
      return () => observer.disconnect();
    },
  };
}
