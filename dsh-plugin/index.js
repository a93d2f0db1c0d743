// @ts-check
/**
 * The row `assay`: the verifier's tools. Loading it reads the row's configuration and registers; it asks no server.
 *
 * @module
 */
import { createSettings } from "./lib/config/resolve.js";
import { announceRow } from "./lib/config/rows.js";
import { installNamespace } from "./lib/config/settings_namespace.js";
import { configSchema } from "./lib/config/standard_schema.js";
import { lazyServer } from "./lib/tools/lazy_server.js";
import { registerTool } from "./lib/tools/register.js";
import { SPECS } from "./lib/tools/specs.js";

export const name = "assay";
export const inject = ["tools"];
export const Config = configSchema("tools");

/**
 * Called by the host, once per profile or once per agent of a preset.
 *
 * @param {any} ctx the host's context of this row
 * @param {unknown} config the row's own; an invalid one is refused before this is called
 */
export function apply(ctx, config) {
  const log = {
    info: (/** @type {string} */ text) => ctx.logger.info(text),
    warn: (/** @type {string} */ text) => ctx.logger.warn(text),
  };
  announceRow(ctx, "tools", config);
  const { user } = installNamespace(ctx, { log });
  const settings = createSettings({
    row: "tools",
    config,
    user,
    environment: process.env,
  });
  const server = lazyServer({ settings: () => settings.get(), log });
  ctx.effect(() => () => server.close(), "assay: server");
  /** @type {string[]} */
  const problems = [];
  const deps = { settings, connection: server.connection, ctx, log, autostart: server, problems };
  for (const spec of SPECS) {
    try {
      registerTool(ctx, deps, spec);
    } catch (error) {
      // Another verifier may have the name: a host that doesn't start for it would be worse than a missing tool.
      problems.push(`a tool isn't registered: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const problem of [...settings.problems(), ...problems]) log.warn(`assay: ${problem}`);
}
