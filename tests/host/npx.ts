/**
 * What a test needs of a server that the plugin starts by itself.
 *
 * @module
 */
import { join } from "@std/path";

/**
 * A folder with an `npx` that hands its work to the Deno that runs these tests, so that nothing is fetched. It writes
 * down what it was asked for.
 */
export async function npxFolder(folder: string): Promise<{ path: string; asked: () => Promise<string> }> {
  const notes = join(folder, "asked.txt");
  const script = `#!/bin/sh\necho "$@" >> '${notes}'\nshift 2\nexec '${Deno.execPath()}' "$@"\n`;
  await Deno.writeTextFile(join(folder, "npx"), script, { mode: 0o755 });
  return { path: folder, asked: () => Deno.readTextFile(notes) };
}

/** Whether a server answers there. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Waits until nobody answers there any more. */
export async function untilGone(url: string): Promise<void> {
  for (let tries = 0; await answers(url); tries++) {
    if (tries > 200) throw new Error(`a server still answers at ${url}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
