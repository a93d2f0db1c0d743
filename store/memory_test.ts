import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { storeConformance } from "./conformance.ts";
import { compareKeys } from "./keys.ts";
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

Deno.test("createMemoryStore() lists in order whatever was written, removed, written again and listed before", async () => {
  const letters = ["a", "b", "c", "日", "\uffff", "\u{10000}"];
  const name = fc.constantFrom(...letters, ...letters.flatMap((x) => letters.map((y) => x + y)));
  const action = fc.oneof(
    fc.record({ kind: fc.constant("put" as const), name }),
    fc.record({ kind: fc.constant("delete" as const), name }),
    fc.record({ kind: fc.constant("list" as const), name }),
  );
  await fc.assert(fc.asyncProperty(fc.array(action, { maxLength: 120 }), async (actions) => {
    const store = createMemoryStore();
    const model = new Set<string>();
    const check = async (prefix: string) =>
      assertEquals(
        (await store.list(prefix)).keys,
        [...model].filter((k) => k.startsWith(prefix)).sort(compareKeys),
      );
    for (const { kind, name } of actions) {
      if (kind === "put") {
        await store.put(name, new Uint8Array());
        model.add(name);
      } else if (kind === "delete") {
        await store.delete(name);
        model.delete(name);
      } else await check(name);
    }
    await check("");
  }));
});
