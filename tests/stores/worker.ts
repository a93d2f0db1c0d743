/** Test-only Worker: puts the Cloudflare store behind a `fetch`, for `cloudflare_test.ts`. @module */
import { createCloudflareStore, type KvNamespace, type ObjectNamespace } from "../../store/cloudflare.ts";
import { storeHandler } from "../../store/wire.ts";

export { AssayObject } from "../../store/cloudflare.ts";

export default {
  fetch(request: Request, env: { KV: KvNamespace; OBJECTS: ObjectNamespace }): Promise<Response> {
    return storeHandler(createCloudflareStore({ kv: env.KV, objects: env.OBJECTS }))(request);
  },
};
