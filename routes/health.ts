/**
 * `GET /healthz` and `GET /readyz`: open to everyone, without secrets.
 *
 * @module
 */
import { AssayError } from "../verifier/errors.ts";
import { jsonResponse } from "./answer.ts";
import type { Operation, Services } from "./operation.ts";
import { problemResponse } from "./problem.ts";

/** The key that checks read. Nothing is ever stored there. */
const CHECK_KEY = "health/check";

/** What is wrong with the store, or `null`. */
export async function storeFault(services: Services): Promise<string | null> {
  try {
    await services.environment.store.get(CHECK_KEY);
    return null;
  } catch (error) {
    services.log(`store: ${error instanceof Error ? error.message : String(error)}`);
    return "the store could not be reached";
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
      description: "Runs the WebAssembly core and reads from the store. Judges are not asked: see the probe.",
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
