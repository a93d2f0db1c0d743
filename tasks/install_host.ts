/**
 * Installs the real DSH host that `tests/host` runs, and the Node it needs: `deno task install:host`. Nothing happens
 * when the pinned version is already there. Takes about a minute and 470 MB.
 *
 * There is no lock file: npm writes one for this tree that its own `npm ci` refuses, so what is pinned is every version
 * in the manifest.
 *
 * @module
 */
import { join } from "@std/path";
import { findHost, hostFolder, manifestFile, root, stampFile } from "../tests/host/host.ts";

const found = findHost();
if ("version" in found) {
  console.log(`DSH host ${found.version} is installed`);
} else if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") {
  console.error(`The DSH host can't be installed: ${found.missing}`);
  Deno.exit(1);
} else {
  await install();
}

async function install(): Promise<void> {
  const manifest = await Deno.readTextFile(manifestFile);
  await Deno.mkdir(join(root, ".tools"), { recursive: true });
  // Beside its place and then moved there, so that a broken installation never looks like a whole one.
  const folder = await Deno.makeTempDir({ dir: join(root, ".tools"), prefix: "dsh-host-" });
  try {
    await Deno.writeTextFile(join(folder, "package.json"), manifest);
    // The peers must not be resolved by npm (it takes all memory and never ends), and no package needs its scripts.
    const args = ["--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
    const { success, code } = await new Deno.Command("npm", {
      args: ["install", ...args, "--loglevel=error"],
      cwd: folder,
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
    }).output();
    if (!success) throw new Error(`npm install of the DSH host failed with status ${code}`);
    await Deno.remove(hostFolder, { recursive: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
    await Deno.rename(folder, hostFolder);
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    throw error;
  }
  await Deno.writeTextFile(stampFile, manifest);
  const installed = findHost();
  if ("missing" in installed) throw new Error(`the DSH host is still missing: ${installed.missing}`);
  const version = await new Deno.Command(installed.node, {
    args: [installed.launcher, "--version"],
    cwd: hostFolder,
    stdin: "null",
    stderr: "inherit",
  }).output();
  const said = new TextDecoder().decode(version.stdout).trim();
  if (said !== installed.version) {
    await Deno.remove(stampFile);
    throw new Error(`the DSH host says it is ${said || "nothing"}, wanted ${installed.version}`);
  }
  console.log(`DSH host ${said} is installed`);
}
