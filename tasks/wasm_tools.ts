/**
 * The programs that turn `core/` into wasm: found, or fetched, then run.
 *
 * @module
 */
import { PINS } from "./wasm_sources.ts";

/** The repository's folder. */
export const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");

const tools = `${root}/.tools`;
const target = "wasm32-unknown-unknown";

/** How the crate is compiled here. */
export interface Toolchain {
  /** Answer of `rustc --version`. */
  readonly rustc: string;
  readonly description: string;
  /** Extra arguments and environment of `cargo build`. */
  readonly cargoArguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A byte count for people. */
export function readable(bytes: number): string {
  return bytes < 10_000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`;
}

/** Runs a program, its output shown. @throws {Error} when it fails */
async function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd = root,
): Promise<void> {
  const status = await new Deno.Command(program, {
    args: [...args],
    env: environment,
    cwd,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  if (!status.success) throw new Error(`${program} ${args.join(" ")} failed with status ${status.code}`);
}

/** A program's standard output, trimmed; `undefined` when it is absent or fails. */
async function ask(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const output = await new Deno.Command(program, { args: [...args], stdin: "null", stderr: "null" })
      .output();
    return output.success ? new TextDecoder().decode(output.stdout).trim() : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * Finds a compiler with a standard library for wasm, adding the target through rustup where that is needed.
 * Without rustup, Debian's `rustc-web`, `cargo-web`, `rust-web-src` and `lld` compile the library themselves.
 * @throws {Error} that says what to install
 */
export async function toolchain(): Promise<Toolchain> {
  const rustc = await ask("rustc", ["--version"]);
  if (rustc === undefined || await ask("cargo", ["--version"]) === undefined) {
    throw new Error("Cannot build core/ as rustc and cargo are not on PATH: install Rust (1.85 or later)");
  }
  const sysroot = await ask("rustc", ["--print", "sysroot"]) ?? "";
  const library = `${sysroot}/lib/rustlib/${target}/lib`;
  if (await exists(library)) {
    return { rustc, description: `${rustc}, ${target} already there`, cargoArguments: [], environment: {} };
  }
  if (await ask("rustup", ["--version"]) !== undefined) {
    await run("rustup", ["target", "add", target]);
    return { rustc, description: `${rustc}, ${target} added by rustup`, cargoArguments: [], environment: {} };
  }
  if (await exists(`${sysroot}/lib/rustlib/src/rust/library/std`)) {
    return {
      rustc,
      description: `${rustc}, no rustup: its standard library is compiled from source (build-std)`,
      cargoArguments: ["-Zbuild-std=std,panic_abort"],
      environment: { RUSTC_BOOTSTRAP: "1", CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: "wasm-ld" },
    };
  }
  throw new Error(
    `Cannot build core/ as ${rustc} has no ${target} library: install rustup, or on Debian ` +
      "`apt-get install rustc-web cargo-web rust-web-src lld`",
  );
}

/** Compiles the crate. @returns the path of the `.wasm` that wasm-bindgen reads */
export async function buildCore(chain: Toolchain): Promise<string> {
  // Panic messages carry source paths: without the remapping the bytes would depend on who built them, and where.
  const home = Deno.env.get("CARGO_HOME") ?? `${Deno.env.get("HOME") ?? ""}/.cargo`;
  const remap = [`--remap-path-prefix=${home}=cargo`, `--remap-path-prefix=${root}/core=core`];
  await run(
    "cargo",
    ["build", "--release", "--locked", "--lib", "--target", target, ...chain.cargoArguments],
    {
      ...chain.environment,
      CARGO_ENCODED_RUSTFLAGS: remap.join("\x1f"),
      CARGO_TARGET_DIR: `${root}/core/target`,
    },
    `${root}/core`,
  );
  return `${root}/core/target/${target}/release/assay_core.wasm`;
}

/** wasm-bindgen of exactly the pinned version: from PATH, from `.tools/`, or installed there now. */
export async function ensureWasmBindgen(): Promise<{
  readonly description: string;
  readonly run: (wasm: string, outputFolder: string) => Promise<void>;
}> {
  const wanted = `wasm-bindgen ${PINS.wasmBindgen}`;
  const local = `${tools}/bin/wasm-bindgen`;
  let program = "wasm-bindgen";
  let description = `${PINS.wasmBindgen} from PATH`;
  if (await ask(program, ["--version"]) !== wanted) {
    program = local;
    description = `${PINS.wasmBindgen} from .tools`;
    if (await ask(local, ["--version"]) !== wanted) {
      description = `${PINS.wasmBindgen}, installed into .tools now`;
      await run("cargo", [
        "install",
        "wasm-bindgen-cli",
        "--version",
        PINS.wasmBindgen,
        "--no-default-features",
        "--force",
        "--root",
        tools,
      ]);
    }
  }
  return {
    description,
    run: (wasm, outputFolder) =>
      run(program, [
        "--target",
        "module",
        "--experimental-reset-state-function",
        "--remove-name-section",
        "--remove-producers-section",
        "--out-name",
        "core",
        "--out-dir",
        outputFolder,
        wasm,
      ]),
  };
}

/**
 * Optimises a wasm file in place with binaryen's library from npm. Always that one, even where a `wasm-opt` is on
 * PATH, since only then two machines write the same bytes. It runs in its own process, outside the import map, so
 * that a 13 MB build tool is no dependency of the product.
 */
export async function optimize(file: string): Promise<void> {
  const script = `
    const { default: binaryen } = await import("npm:binaryen@${PINS.binaryen}");
    const file = ${JSON.stringify(file)};
    const module = binaryen.readBinary(await Deno.readFile(file));
    module.setFeatures(module.getFeatures());
    binaryen.setOptimizeLevel(3);
    binaryen.setShrinkLevel(1);
    module.optimize();
    if (!module.validate()) throw new Error("binaryen wrote an invalid module");
    await Deno.writeFile(file, module.emitBinary());
  `;
  await run(Deno.execPath(), [
    "eval",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--node-modules-dir=none",
    "--ext=js",
    script,
  ]);
}

/** Names of the files that are missing or not byte-identical in the two folders. */
export async function unlessSame(names: readonly string[], left: string, right: string): Promise<string[]> {
  const different: string[] = [];
  for (const name of names) {
    const [a, b] = await Promise.all(
      [left, right].map((folder) =>
        Deno.readFile(`${folder}/${name}`).catch((error) => {
          if (error instanceof Deno.errors.NotFound) return undefined;
          throw error;
        })
      ),
    );
    if (a === undefined || b === undefined || a.length !== b.length || a.some((byte, i) => byte !== b[i])) {
      different.push(name);
    }
  }
  return different;
}
