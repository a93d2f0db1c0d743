/**
 * `GET /healthz` and `GET /readyz`: open to everyone, without secrets.
 *
 * @module
 */
import { inTime } from "../store/patience.ts";
import type { Store } from "../store/store.ts";
import { AssayError } from "../verifier/errors.ts";
import { jsonResponse } from "./answer.ts";
import type { Operation, Services } from "./operation.ts";
import { problemResponse } from "./problem.ts";

/** The key that checks read and write. */
const CHECK_KEY = "health/check";
/** A check of writing is believed for so long: health checks come often, and a write costs. */
const WRITE_BELIEVED_MS = 10_000;
/** A store that hasn't answered by then is taken to be down. */
const PATIENCE_MS = 5000;

const written = new WeakMap<Store, number>();

/** What is wrong with the store, or `null`: it must be read and, every now and then, written. */
export async function storeFault(services: Services): Promise<string | null> {
  const { store } = services.environment;
  let part = "read";
  try {
    await inTime(store.get(CHECK_KEY), PATIENCE_MS);
    if (Date.now() - (written.get(store) ?? -Infinity) < WRITE_BELIEVED_MS) return null;
    part = "written";
    await inTime(store.put(CHECK_KEY, new Uint8Array(0), { expiresInMs: 60_000 }), PATIENCE_MS);
    written.set(store, Date.now());
    return null;
  } catch (error) {
    services.log(`store: can't be ${part}: ${error instanceof Error ? error.message : String(error)}`);
    return part === "read" ? "the store could not be reached" : "the store can be read, but not written";
  }
}

function coreFault(services: Services): string | null {
  try {
    services.versions();
    return null;
  } catch (error) {
    services.log(`core: ${error instanceof Error ? error.message : String(error)}`);
    return "the core could not be run";
  }
}

/** The two health checks. */
export function healthOperations(services: Services): readonly Operation[] {
  return [
    {
      method: "get",
      path: "/healthz",
      id: "getHealth",
      tag: "Server",
      access: "health",
      summary: "Is the process alive",
      description: "Answers as soon as the server listens. Checks nothing else.",
      answers: [{
        status: 200,
        description: "Alive.",
        content: { "application/json": { schema: "Health", example: { status: "ok" } } },
      }],
      handle: () => jsonResponse({ status: "ok" }),
    },
    {
      method: "get",
      path: "/readyz",
      id: "getReadiness",
      tag: "Server",
      access: "health",
      summary: "Can the server do its work",
      description:
        "Runs the WebAssembly core, reads from the store and, at most every 10 s, writes to it. Judges are not asked: see the probe.",
      answers: [{
        status: 200,
        description: "Ready.",
        content: {
          "application/json": {
            schema: "Readiness",
            example: { status: "ready", checks: { core: "ok", store: "ok" } },
          },
        },
      }],
      problems: ["store_unavailable"],
      handle: async () => {
        const core = coreFault(services);
        const store = await storeFault(services);
        const checks = { core: core ?? "ok", store: store ?? "ok" };
        if (core === null && store === null) return jsonResponse({ status: "ready", checks });
        const error = new AssayError(
          core === null ? "store_unavailable" : "internal",
          `Not ready: ${core ?? store}.`,
        );
        return problemResponse(error, { status: 503, extra: { checks } });
      },
    },
  ];
}
