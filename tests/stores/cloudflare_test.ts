/** The Cloudflare store in workerd, with local Workers KV and a SQLite Durable Object. @module */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { createCloudflareStore } from "../../store/cloudflare.ts";
import { storeConformance } from "../../store/conformance.ts";
import { StoreError } from "../../store/store.ts";
import { fetchedStore } from "../../store/wire.ts";
import { wranglerRuns } from "../runtimes/server.ts";
import { type LocalWorker, startWorker } from "./wrangler_dev.ts";

const config = fromFileUrl(new URL("./wrangler.jsonc", import.meta.url));

/** The Worker's store; closing it ends the Worker. */
async function open() {
  const worker: LocalWorker = await startWorker(config);
  const send = (request: Request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(worker.url + pathname + search, request));
  };
  return { ...fetchedStore("cloudflare", send), close: () => worker.stop() };
}

const ignore = !await wranglerRuns();
const note = ignore ? " (wrangler can't run here)" : "";

storeConformance(`cloudflare Durable Object${note}`, open, { ignore });
storeConformance(`cloudflare Workers KV${note}`, open, { prefix: "score/", compareAndSet: false, ignore });

Deno.test({
  name: `the cloudflare store lists both backends in one order and refuses compare-and-set on records${note}`,
  ignore,
  fn: listsBoth,
});

async function listsBoth(): Promise<void> {
  const store = await open();
  try {
    const keys = ["a", "score", "score.", "score/1", "score/2", "score/3", "score0", "scorf", "z"];
    for (const key of keys) await store.put(key, new Uint8Array(1));
    for (
      const [prefix, under] of [["", keys], ["score", keys.slice(1, 7)], ["s", keys.slice(1, 8)]] as const
    ) {
      for (const limit of [1, 2, 3, 4, 1000]) {
        const found: string[] = [];
        let cursor: string | null | undefined;
        while (cursor !== null) {
          const page: { readonly keys: readonly string[]; readonly cursor: string | null } = await store.list(
            prefix,
            cursor === undefined ? { limit } : { limit, cursor },
          );
          assert(page.keys.length <= limit);
          found.push(...page.keys);
          cursor = page.cursor;
        }
        assertEquals(found, [...under], `prefix "${prefix}", limit ${limit}`);
      }
    }
    assertEquals(await store.put("score/1", new Uint8Array(2), { ifVersion: null }), null);
    await assertRejects(
      () => store.put("score/1", new Uint8Array(2), { ifVersion: "v" }),
      StoreError,
      "no compare-and-set",
    );
    await assertRejects(
      () => store.commit([{ key: "a", value: new Uint8Array(2) }, { key: "score/1", value: null }]),
      StoreError,
      "can't be part of a commit",
    );
    assertEquals((await store.get("a"))?.value, new Uint8Array(1));
    await assertRejects(
      () => store.put("score/big", new Uint8Array(27_000_000)),
      StoreError,
      "27000000 bytes",
    );
  } finally {
    await store.close();
  }
}

Deno.test("createCloudflareStore() without the object binding says so for everything but records", async () => {
  const kv = {
    getWithMetadata: () => Promise.reject(new Error("KV is down")),
    put: () => Promise.resolve(),
    delete: () => Promise.resolve(),
    list: () => Promise.resolve({ keys: [], list_complete: true }),
  };
  const store = createCloudflareStore({ kv });
  await assertRejects(() => store.get("tracker/1"), StoreError, "Durable Object binding");
  await assertRejects(() => store.get("score/1"), StoreError, "KV is down");
  assertEquals(await store.list(""), { keys: [], cursor: null });
});
