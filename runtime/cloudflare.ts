/**
 * What is Cloudflare's own: bindings instead of files and processes.
 *
 * @module
 */
import type { AppTypes } from "../routes/operation.ts";
import type { Hono } from "hono";
import { type CloudflareBindings, createCloudflareStore } from "../store/cloudflare.ts";
import { createMemoryStore } from "../store/memory.ts";
import type { Store } from "../store/store.ts";
import { loadConfig, type ReadEnvironment } from "../verifier/config/config.ts";
import { AssayError } from "../verifier/errors.ts";
import { createScheduler, type Scheduler } from "../verifier/scheduler.ts";
import { startApp, startEnvironment } from "./start.ts";

/**
 * Bindings of the Worker: `ASSAY_KV` (Workers KV, score cache), `ASSAY_OBJECTS` (Durable Object, all that changes),
 * and the variables and secrets that the README lists, `ASSAY_CONFIG_JSON` among them.
 */
export interface WorkerBindings {
  readonly ASSAY_KV?: CloudflareBindings["kv"];
  readonly ASSAY_OBJECTS?: NonNullable<CloudflareBindings["objects"]>;
  readonly [name: string]: unknown;
}

/** Starts the app over a Worker's bindings. @throws {AssayError} for a configuration or bindings that can't work */
export async function openWorker(bindings: WorkerBindings): Promise<Hono<AppTypes>> {
  const env: ReadEnvironment = (name) => {
    const value = bindings[name];
    return typeof value === "string" ? value : undefined;
  };
  const text = env("ASSAY_CONFIG_JSON") || undefined;
  const defaultStore = { kind: "cloudflare" } as const;
  const config = loadConfig(text === undefined ? { env, defaultStore } : { text, env, defaultStore });
  const store = openStore(config.store.kind, bindings);
  const runtime = { name: "workerd", version: null };
  const found = { config, store, env, runtime, scheduler: schedulerPerRequest() };
  for (const warning of config.warnings) console.warn(warning);
  return startApp(found, await startEnvironment(found));
}

/**
 * A scheduler whose requests know nothing of each other. In workerd, what runs while one request is served belongs to it
 * and dies with it, so a call of another request that it started would never end.
 */
export function schedulerPerRequest(): Scheduler {
  const schedulers = new WeakMap<object, Scheduler>();
  return {
    kind: "scheduler",
    run(call) {
      let own = schedulers.get(call.request);
      if (own === undefined) schedulers.set(call.request, own = createScheduler());
      return own.run(call);
    },
    status: () => [],
  };
}

function openStore(kind: "memory" | "deno-kv" | "cloudflare", bindings: WorkerBindings): Store {
  if (kind === "memory") return createMemoryStore();
  if (kind === "deno-kv") {
    throw new AssayError(
      "invalid_request",
      'Cannot use the store "deno-kv" on Workers: set it to "cloudflare".',
    );
  }
  const { ASSAY_KV: kv, ASSAY_OBJECTS: objects } = bindings;
  if (kv === undefined || objects === undefined) {
    throw new AssayError(
      "invalid_request",
      "Cannot open the store: the Worker needs the bindings ASSAY_KV and ASSAY_OBJECTS (see wrangler.jsonc).",
    );
  }
  return createCloudflareStore({ kv, objects });
}
