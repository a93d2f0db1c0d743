import { assert, assertEquals, assertRejects } from "@std/assert";
import { storeConformance } from "./conformance.ts";
import { openDenoKvStore } from "./deno_kv.ts";
import { StoreError } from "./store.ts";

storeConformance("deno-kv", () => openDenoKvStore(":memory:"));

async function inTemporaryFile(run: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await run(`${directory}/store.sqlite`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function count(kv: Deno.Kv, prefix: string): Promise<number> {
  let found = 0;
  for await (const _ of kv.list({ prefix: [prefix] })) found++;
  return found;
}

Deno.test("openDenoKvStore() finds after a restart what was written before", () =>
  inTemporaryFile(async (path) => {
    const value = new Uint8Array(300_000).fill(7);
    const first = await openDenoKvStore(path);
    const version = await first.put("kept", value);
    await first.close();
    await first.close();
    const second = await openDenoKvStore(path);
    assertEquals(await second.get("kept"), { key: "kept", value, version: version! });
    await second.close();
  }));

Deno.test("the deno-kv store leaves no chunk behind when a large value is replaced, refused or deleted", () =>
  inTemporaryFile(async (path) => {
    const store = await openDenoKvStore(path);
    const large = new Uint8Array(200_000);
    await store.put("a", large);
    await store.put("a", large);
    assertEquals(await store.put("a", large, { ifVersion: null }), null);
    await Promise.all(Array.from({ length: 10 }, () => store.put("b", large, { ifVersion: null })));
    await store.delete("a");
    await store.put("c", large);
    const [first, second] = [{ key: "c", value: large }, { key: "d", value: large }];
    assertEquals(await store.commit([first, { ...second, ifVersion: "none" }]), false);
    assertEquals(await store.commit([{ ...first, ifVersion: null }, second]), false);
    assertEquals(await store.commit([{ ...first, value: null }, { ...second, ifVersion: null }]), true);
    assertEquals(await store.commit([first, { ...second, value: null }]), true);
    assertEquals(await store.commit([{ ...first, value: new Uint8Array(5) }]), true);
    await store.close();
    const kv = await Deno.openKv(path);
    assertEquals(await count(kv, "chunk"), 4); // of "b"
    assertEquals(await count(kv, "loose"), 0);
    kv.close();
  }));

Deno.test("openDenoKvStore() removes the chunks of a write that a crash cut off, but not those of a running one", () =>
  inTemporaryFile(async (path) => {
    (await openDenoKvStore(path)).close();
    const kv = await Deno.openKv(path);
    for (const [write, since] of [["crashed", Date.now() - 7_200_000], ["running", Date.now()]] as const) {
      await kv.set(["loose", write], { chunks: 2, since });
      await kv.set(["chunk", write, 0], new Uint8Array(10));
      await kv.set(["chunk", write, 1], new Uint8Array(10));
    }
    (await openDenoKvStore(path)).close();
    assertEquals((await kv.get(["chunk", "crashed", 0])).value, null);
    assert((await kv.get(["chunk", "running", 1])).value !== null);
    assertEquals(await count(kv, "loose"), 1);
    kv.close();
  }));

Deno.test("the deno-kv store reads, replaces and removes what earlier versions wrote: small values in rows of their own", () =>
  inTemporaryFile(async (path) => {
    (await openDenoKvStore(path)).close();
    const kv = await Deno.openKv(path);
    const names = ["read", "kept", "large", "gone"];
    for (const name of names) {
      const key = new TextEncoder().encode(name);
      const description = { bytes: 2, write: null, expiresAt: null };
      await kv.atomic().set(["entry", key], description).set(["value", key], new Uint8Array([1, 2])).commit();
    }
    const store = await openDenoKvStore(path);
    const read = await Promise.all(names.map((name) => store.get(name)));
    assertEquals(read.map((entry) => entry?.value), names.map(() => new Uint8Array([1, 2])));
    assertEquals((await store.get("read"))?.value, new Uint8Array([1, 2]));
    assert(await store.put("kept", new Uint8Array([3]), { ifVersion: read[1]!.version }) !== null);
    await store.put("large", new Uint8Array(100_000));
    await store.delete("gone");
    assertEquals((await store.get("kept"))?.value, new Uint8Array([3]));
    assertEquals((await store.list("")).keys, ["kept", "large", "read"]);
    assertEquals(await count(kv, "value"), 1); // of "read"
    await store.close();
    kv.close();
  }));

Deno.test("openDenoKvStore() fails with a StoreError where it can't open", () =>
  inTemporaryFile(async (path) => {
    await assertRejects(
      () => openDenoKvStore(`${path}/no/such/directory`),
      StoreError,
      "Deno KV failed to open",
    );
  }));

Deno.test("a closed deno-kv store fails with a StoreError", async () => {
  const store = await openDenoKvStore(":memory:");
  await store.close();
  await assertRejects(() => store.get("k"), StoreError, "Deno KV failed to get");
});
