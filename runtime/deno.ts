/**
 * What is Deno's own: files, environment variables, the local store, the peer's address.
 *
 * @module
 */
import type { Connection } from "../routes/connection.ts";
import { createMemoryStore } from "../store/memory.ts";
import type { Store } from "../store/store.ts";
import {
  type Config,
  loadConfig,
  type ReadEnvironment,
  type StoreConfig,
} from "../verifier/config/config.ts";
import type { Environment } from "../verifier/environment.ts";
import { AssayError } from "../verifier/errors.ts";
import { watchHangUp } from "./deno_hang_up.ts";
import { type Found, logger, startApp, startEnvironment } from "./start.ts";

/** How to start on Deno. */
export interface DenoOptions {
  /** Path of the configuration file; wins over everything else. */
  readonly configPath?: string;
  /** @default Deno.env.get */
  readonly env?: ReadEnvironment;
  /** Where `assay.config.json` is looked for. @default the working directory */
  readonly directory?: string;
  /** Takes the place of the configured store. */
  readonly store?: StoreConfig;
  /** Takes lines for the operator, without secrets. @default console.error */
  readonly log?: (line: string) => void;
}

/** A started verifier on Deno. */
export interface DenoVerifier {
  readonly config: Config;
  readonly environment: Environment;
  /** Closes the store. */
  readonly close: () => Promise<void>;
}

/** A started server on Deno. */
export interface DenoServer extends DenoVerifier {
  /** Handler for `Deno.serve` and for `deno serve`. */
  readonly fetch: (request: Request, info: Deno.ServeHandlerInfo) => Response | Promise<Response>;
}

/** A server cannot start, for a reason that the operator can mend. The message says how. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/**
 * The configuration: `configPath`, else `ASSAY_CONFIG` (a path), else `ASSAY_CONFIG_JSON` (the text), else
 * `assay.config.json` in the directory, else what the environment says, else the embedded default.
 *
 * @throws {StartError} when a file that was named can't be read
 * @throws {AssayError} when the document is faulty
 */
export async function findConfig(options: DenoOptions = {}): Promise<Config> {
  const env = options.env ?? ((name) => Deno.env.get(name));
  const text = await findConfigText(options, env);
  return loadConfig(text === undefined ? { env } : { text, env });
}

async function findConfigText(options: DenoOptions, env: ReadEnvironment): Promise<string | undefined> {
  const named = options.configPath ?? (env("ASSAY_CONFIG") || undefined);
  if (named !== undefined) {
    const source = options.configPath === undefined ? "ASSAY_CONFIG" : "--config";
    return await readConfigFile(named, source);
  }
  const inline = env("ASSAY_CONFIG_JSON") || undefined;
  if (inline !== undefined) return inline;
  const local = `${options.directory ?? Deno.cwd()}/assay.config.json`;
  try {
    return await Deno.readTextFile(local);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw new StartError(`Cannot read ${local}: ${reason(error)}.`, { cause: error });
  }
}

async function readConfigFile(path: string, source: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    throw new StartError(`Cannot read the configuration ${path}, which ${source} names: ${reason(error)}.`, {
      cause: error,
    });
  }
}

/** Starts the verifier without HTTP. @throws {StartError} or {AssayError} with a message for the operator */
export async function openVerifier(options: DenoOptions = {}): Promise<DenoVerifier> {
  const found = await find(options);
  return await closingOnFailure(found.store, async () => {
    const environment = await startEnvironment(found);
    return { config: found.config, environment, close: () => found.store.close() };
  });
}

/** Starts the verifier and its app. @throws {StartError} or {AssayError} with a message for the operator */
export async function openServer(options: DenoOptions = {}): Promise<DenoServer> {
  const found = await find(options);
  return await closingOnFailure(found.store, async () => {
    const environment = await startEnvironment(found);
    const app = startApp(found, environment);
    return {
      config: found.config,
      environment,
      close: () => found.store.close(),
      fetch: (request, info) => app.fetch(request, connectionOf(info)),
    };
  });
}

async function find(options: DenoOptions): Promise<Found> {
  const env = options.env ?? ((name) => Deno.env.get(name));
  const found = await findConfig(options);
  const config = options.store === undefined ? found : { ...found, store: options.store };
  const told = { config, env, ...(options.log === undefined ? {} : { log: options.log }) };
  const log = logger(told);
  for (const warning of config.warnings) log(warning);
  return {
    ...told,
    store: await openStore(config.store, env),
    runtime: { name: "deno", version: Deno.version.deno },
    readText: (path) => Deno.readTextFile(path),
  };
}

/** An open database must not outlive a start that failed. */
async function closingOnFailure<T>(store: Store, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * The configured store. A file that can't be opened is an error: falling back to memory would lose what is stored
 * without a word.
 */
async function openStore(config: StoreConfig, env: ReadEnvironment): Promise<Store> {
  if (config.kind === "memory") return createMemoryStore();
  if (config.kind === "cloudflare") {
    throw new StartError(
      'Cannot use the store "cloudflare" on Deno: set store.kind to "deno-kv" or "memory".',
    );
  }
  const { openDenoKvStore } = await import("../store/deno_kv.ts");
  const path = config.path ?? await defaultStorePath(env);
  try {
    return await openDenoKvStore(path);
  } catch (error) {
    throw new StartError(
      `Cannot open the store ${path}: ${
        reason(error)
      }. Set ASSAY_STORE (or store.path in the configuration) to ` +
        'another path, or to "memory" to keep nothing.',
      { cause: error },
    );
  }
}

/** `assay/store.sqlite3` in the user's data directory, which is made for the user alone. */
async function defaultStorePath(env: ReadEnvironment): Promise<string> {
  const directory = dataDirectory(Deno.build.os, env);
  if (directory === null) {
    throw new StartError(
      'Cannot find a directory for the store, as HOME is not set: set ASSAY_STORE to a path, or to "memory".',
    );
  }
  try {
    await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartError(
      `Cannot make the directory ${directory} for the store: ${
        reason(error)
      }. Set ASSAY_STORE to a path, or to "memory".`,
      { cause: error },
    );
  }
  return `${directory}/store.sqlite3`;
}

/** Reads standard input to its end and keeps nothing of it. A pipe ends when nobody is left who could write to it. */
export async function stdinEnd(): Promise<void> {
  const nothing = new Uint8Array(4096);
  try {
    while (await Deno.stdin.read(nothing) !== null) continue;
  } catch {
    // What can't be read has ended too: it was closed before.
  }
}

/** Where this system keeps an application's data, or `null` when nothing says where the user's home is. */
export function dataDirectory(system: typeof Deno.build.os, env: ReadEnvironment): string | null {
  const set = (name: string) => env(name) || undefined;
  if (system === "windows") {
    const base = set("LOCALAPPDATA") ?? set("APPDATA");
    return base === undefined ? null : `${base}\\assay`;
  }
  const home = set("HOME");
  if (system === "darwin") return home === undefined ? null : `${home}/Library/Application Support/assay`;
  // A relative XDG_DATA_HOME must be ignored, says the specification.
  const xdg = set("XDG_DATA_HOME");
  if (xdg?.startsWith("/")) return `${xdg}/assay`;
  return home === undefined ? null : `${home}/.local/share/assay`;
}

function connectionOf(info: Deno.ServeHandlerInfo): Connection {
  const address = info.remoteAddr;
  // A socket file has no address: whoever may open it is on this machine, and the Host header still counts.
  if (!("hostname" in address)) return { remoteAddress: null };
  const remoteAddress = address.hostname;
  if (Deno.build.os !== "linux") return { remoteAddress };
  return { remoteAddress, watch: () => watchHangUp(address) };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
}

/** The line for an operator whose server can't start; `null` for a failure that only a stack trace explains. */
export function startFailure(error: unknown): string | null {
  return error instanceof StartError || error instanceof AssayError ? error.message : null;
}
