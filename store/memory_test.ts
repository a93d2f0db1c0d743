import { assertEquals } from "@std/assert";
import { storeConformance } from "./conformance.ts";
import { createMemoryStore } from "./memory.ts";

storeConformance("memory", () => createMemoryStore());

Deno.test("createMemoryStore() drops the least recently used cache entries, and nothing else", async () => {
  const store = createMemoryStore({ cacheBytes: 4000 });
  await store.put("tracker/1", new Uint8Array(100_000));
  for (const name of ["a", "b", "c"]) await store.put(`score/${name}`, new Uint8Array(1000));
  await store.get("score/a");
  await store.put("score/d", new Uint8Array(1000));
  assertEquals((await store.list("")).keys, ["score/a", "score/c", "score/d", "tracker/1"]);
  await store.put("score/huge", new Uint8Array(5000));
  assertEquals((await store.list("")).keys, ["tracker/1"]);
});

Deno.test("createMemoryStore() keeps a value until its time, then forgets it without being asked for it", async () => {
  let time = 1000;
  const store = createMemoryStore({ now: () => time });
  await store.put("k", new Uint8Array(1), { expiresInMs: 500 });
  time = 1499;
  assertEquals((await store.get("k"))?.value.length, 1);
  time = 1500;
  assertEquals(await store.get("k"), null);
  assertEquals((await store.list("")).keys, []);
});
