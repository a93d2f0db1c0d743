/**
 * Entry for Cloudflare Workers. `wrangler.jsonc` names the bindings.
 *
 * @module
 */
import type { Hono } from "hono";
import type { AppTypes } from "./routes/operation.ts";
import { problemResponse, toAssayError } from "./routes/problem.ts";
import { openWorker, type WorkerBindings } from "./runtime/cloudflare.ts";

export { AssayObject } from "./store/cloudflare.ts";

/** One app per isolate: bindings don't change while it lives. */
let opening: Promise<Hono<AppTypes>> | undefined;

export default {
  async fetch(request: Request, bindings: WorkerBindings): Promise<Response> {
    let app: Hono<AppTypes>;
    try {
      app = await (opening ??= openWorker(bindings));
    } catch (error) {
      // The next request tries again: the store may be back, and a faulty configuration shows in every log line.
      opening = undefined;
      console.error(`cannot start: ${error instanceof Error ? error.message : String(error)}`);
      return problemResponse(toAssayError(new Error("not started", { cause: error })), { status: 503 });
    }
    return await app.fetch(request, { remoteAddress: null });
  },
};
