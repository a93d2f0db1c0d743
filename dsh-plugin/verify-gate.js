// @ts-check
/**
 * The gate's row of a composition file: it checks an agent's work at the end of a turn, and sends the agent back to work
 * when it isn't accepted. Off until it is switched on.
 *
 * @module
 */
import process from "node:process";
import { createSettings } from "./lib/config/resolve.js";
import { reportProblems } from "./lib/config/problems.js";
import { announceRow, rowConfig } from "./lib/config/rows.js";
import { installNamespace } from "./lib/config/settings_namespace.js";
import { configSchema } from "./lib/config/schemas.js";
import { installGate } from "./lib/gate/install.js";
import { lazyServer } from "./lib/tools/lazy_server.js";

/** Name of the plugin within the host. */
export const name = "verify-gate";

/** Services that must be there before the gate starts: none, so that no host fails to start for it. @type {string[]} */
export const inject = [];

/** Checks the row's `config` when the host loads it. */
export const Config = configSchema("gate");

/**
 * @param {any} ctx The host's context.
 * @param {unknown} [config] The row's `config`.
 */
export function apply(ctx, config) {
  const log = {
    info: (/** @type {string} */ text) => void ctx.logger?.info(text),
    warn: (/** @type {string} */ text) => void ctx.logger?.warn(text),
  };
  announceRow(ctx, "gate", config ?? {});
  const namespace = installNamespace(ctx, { log });
  const settings = createSettings({
    row: "gate",
    config,
    shared: () => rowConfig(ctx, "tools"),
    user: namespace.user,
    environment: process.env,
  });
  const warn = () => reportProblems(ctx, settings.problems(), { log });
  warn();
  namespace.onChange(warn);
  const server = lazyServer({ settings: () => settings.get(), log });
  ctx.effect(() => () => server.close(), "assay: gate's server");
  installGate(ctx, { settings, connection: server.connection, log });
}
