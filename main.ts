/**
 * Entry for Deno: `deno serve -A main.ts`, with `--config FILE` after it if there is one. Host and port are those of
 * `deno serve`; `deno task serve` takes them from the configuration.
 *
 * @module
 */
import { openServer, startFailure } from "./runtime/deno.ts";

const at = Deno.args.indexOf("--config");
const configPath = at === -1 ? undefined : Deno.args[at + 1];

const server = await openServer(configPath === undefined ? {} : { configPath }).catch((error: unknown) => {
  const message = startFailure(error);
  if (message === null) throw error;
  console.error(message);
  Deno.exit(1);
});

export default { fetch: server.fetch } satisfies Deno.ServeDefaultExport;
