import { assertEquals, assertRejects } from "@std/assert";
import { storeConformance } from "./conformance.ts";
import { createMemoryStore } from "./memory.ts";
import { StoreError } from "./store.ts";
import { fetchedStore, storeHandler } from "./wire.ts";

storeConformance("fetched memory", () => fetchedStore("memory", storeHandler(createMemoryStore())));

Deno.test("fetchedStore() turns every failure of the other side into a StoreError with its message", async () => {
  const failing = storeHandler({
    ...createMemoryStore(),
    get: () => Promise.reject(new StoreError("disk full")),
  });
  await assertRejects(() => fetchedStore("test", failing).get("k"), StoreError, "disk full");
  const gone = fetchedStore("test", () => Promise.reject(new TypeError("connection refused")));
  await assertRejects(() => gone.put("k", new Uint8Array()), StoreError, "connection refused");
});

Deno.test("storeHandler() says what it doesn't know", async () => {
  const handle = storeHandler(createMemoryStore());
  assertEquals((await handle(new Request("http://store/other"))).status, 404);
  assertEquals((await handle(new Request("http://store/entry?key=k", { method: "POST" }))).status, 405);
  assertEquals((await handle(new Request("http://store/entry?key="))).status, 400);
  for (const body of ["", "[]", "no JSON\n", '[{"key":"a","bytes":3}]\nab', '[{"key":"a","bytes":1}]\nab']) {
    assertEquals(
      (await handle(new Request("http://store/commit", { method: "POST", body }))).status,
      400,
      body,
    );
  }
});
