/**
 * Putting the plugin into a DSH home as a user would have it: the files that its package lists, in a real folder.
 *
 * @module
 */
import { dirname, join } from "@std/path";
import { root } from "./host.ts";

/** The package's folder in this checkout. */
export const pluginFolder = join(root, "dsh-plugin");

/** The part of `package.json` that is looked at. */
export interface PluginPackage {
  readonly name: string;
  readonly version: string;
  readonly files: readonly string[];
}

/** The plugin's `package.json`. */
export function pluginPackage(): PluginPackage {
  return JSON.parse(Deno.readTextFileSync(join(pluginFolder, "package.json")));
}

/** Copies the package's files and nothing else of its folder. Like npm, it leaves out a listed one that isn't there. */
export async function copyPlugin(target: string): Promise<void> {
  for (const name of ["package.json", ...pluginPackage().files]) {
    try {
      await copy(join(pluginFolder, name), join(target, name));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** Folders of the checkout that no package is made of. */
const NOT_PACKED = new Set([
  ".git",
  ".tools",
  ".wrangler",
  "node_modules",
  "core",
  "tests",
  "bench",
  "examples",
]);

/**
 * Packs the package as `npm publish` would, scripts included, and unpacks it to `target`. The scripts write into the
 * package's folder and read the checkout beside it, so both are copied first.
 *
 * @returns the names in the tarball
 */
export async function unpackPlugin(target: string, scratch: string): Promise<readonly string[]> {
  const checkout = join(scratch, "checkout");
  for await (const { name } of Deno.readDir(root)) {
    if (!NOT_PACKED.has(name)) await copy(join(root, name), join(checkout, name));
  }
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", scratch], {
    cwd: join(checkout, "dsh-plugin"),
  });
  const tarball = join(scratch, packed.trim().split("\n").at(-1)!);
  await Deno.mkdir(target, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", target]);
  return (await run("tar", ["-tzf", tarball])).trim().split("\n").map((name) =>
    name.replace(/^package\//, "")
  );
}

/** Where a profile finds the package. */
export function pluginTarget(home: string, profile: string): string {
  return join(home, "profiles", profile, "node_modules", pluginPackage().name);
}

/** Tells a profile of its bundles. `withPlugin` false leaves the host as it is shipped. */
export async function writeProfile(home: string, profile: string, withPlugin: boolean): Promise<void> {
  const { name, version } = pluginPackage();
  const own = profile === "web" ? "@deepseek-ai/dsh-web-app" : "@deepseek-ai/dsh-headless";
  const bundles = ["@deepseek-ai/dsh-base", own, ...(withPlugin ? [name] : [])];
  const file = join(home, "profiles", profile, "package.json");
  await Deno.mkdir(dirname(file), { recursive: true });
  await Deno.writeTextFile(
    file,
    JSON.stringify({
      name: `dsh-profile-${profile}`,
      private: true,
      ...(withPlugin ? { dependencies: { [name]: version } } : {}),
      dsh: { profile: { bundles } },
    }),
  );
}

/** Copies a file or folder. */
export async function copy(from: string, to: string): Promise<void> {
  const { isDirectory } = await Deno.stat(from);
  if (!isDirectory) {
    await Deno.mkdir(dirname(to), { recursive: true });
    await Deno.copyFile(from, to);
    return;
  }
  await Deno.mkdir(to, { recursive: true });
  for await (const { name } of Deno.readDir(from)) await copy(join(from, name), join(to, name));
}

async function run(program: string, args: string[], options: { cwd?: string } = {}): Promise<string> {
  const { success, code, stdout, stderr } = await new Deno.Command(program, {
    args,
    ...options,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
