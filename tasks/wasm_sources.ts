/**
 * What the generated `wasm/` depends on, as one hash. Needs no Rust, so any check can run it.
 *
 * @module
 */

/** Exact versions of the tools that write `wasm/`. wasm-bindgen must equal the crate's version in core/Cargo.toml. */
export const PINS = { wasmBindgen: "0.2.130", binaryen: "132.0.0" } as const;

async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) found.push(...await filesBelow(path));
    else if (entry.isFile) found.push(path);
  }
  return found;
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * SHA-256 over every file of `core/src`, `core/Cargo.toml`, `core/Cargo.lock` and the pinned tool versions.
 * Line ends are read as LF, so a checkout that rewrites them gives the same hash.
 * @param root the repository's folder
 * @returns 64 hexadecimal digits
 */
export async function sourceHash(root: string): Promise<string> {
  const files = [
    ...await filesBelow(`${root}/core/src`),
    `${root}/core/Cargo.toml`,
    `${root}/core/Cargo.lock`,
  ].sort();
  const lines = [JSON.stringify(PINS)];
  for (const file of files) {
    const text = (await Deno.readTextFile(file)).replaceAll("\r\n", "\n");
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    lines.push(`${hex(digest)}  ${file.slice(root.length + 1)}`);
  }
  return hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(lines.join("\n") + "\n")));
}
