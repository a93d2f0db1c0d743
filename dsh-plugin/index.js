// @ts-check
/**
 * The row `assay`: the verifier's tools. Loading it reads the row's configuration and registers; it asks no server.
 *
 * @module
 */
import { createSettings } from "./lib/config/resolve.js";
import { reportProblems } from "./lib/config/problems.js";
import { announceRow, rowConfig } from "./lib/config/rows.js";
import { installNamespace } from "./lib/config/settings_namespace.js";
import { configSchema } from "./lib/config/schemas.js";
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
  const namespace = installNamespace(ctx, { log });
  const { user } = namespace;
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
  /** The gate's settings as its own row reads them. */
  const gate = () => {
    const own = rowConfig(ctx, "gate");
    if (own === undefined) return null;
    return createSettings({ row: "gate", config: own, shared: () => config, user, environment: process.env });
  };
  const deps = { settings, gate, connection: server.connection, ctx, log, autostart: server, problems };
  for (const spec of SPECS) {
    try {
      registerTool(ctx, deps, spec);
    } catch (error) {
      // Another verifier may have the name: a host that doesn't start for it would be worse than a missing tool.
      problems.push(`a tool isn't registered: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const report = () => reportProblems(ctx, [...settings.problems(), ...problems], { log });
  report();
  namespace.onChange(report);
}
