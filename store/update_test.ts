import { assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "./memory.ts";
import { StoreError } from "./store.ts";
import { updateWithRetry } from "./update.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("updateWithRetry() creates, changes and leaves alone", async () => {
  const store = createMemoryStore();
  assertEquals(await updateWithRetry(store, "k", (now) => now ?? bytes("made")), bytes("made"));
  assertEquals(await updateWithRetry(store, "k", () => bytes("changed")), bytes("changed"));
  const before = await store.get("k");
  assertEquals(await updateWithRetry(store, "k", () => null), bytes("changed"));
  assertEquals((await store.get("k"))?.version, before?.version);
  assertEquals(await updateWithRetry(store, "absent", () => null), null);
});

Deno.test("updateWithRetry() gives up with a StoreError after its bound, with bounded waits between", async () => {
  const store = { ...createMemoryStore(), put: () => Promise.resolve(null) };
  const waits: number[] = [];
  const wait = (ms: number) => {
    waits.push(ms);
    return Promise.resolve();
  };
  await assertRejects(
    () => updateWithRetry(store, "busy", () => bytes("x"), { attempts: 12, wait }),
    StoreError,
    '"busy" was changed by others 12 times',
  );
  assertEquals(waits.length, 11);
  assertEquals(waits.filter((ms) => ms >= 0 && ms <= 5000).length, 11);
});

Deno.test("updateWithRetry() passes the backend's failure on at once", async () => {
  let gets = 0;
  const store = {
    ...createMemoryStore(),
    get: () => {
      gets++;
      return Promise.reject(new StoreError("gone"));
    },
  };
  await assertRejects(() => updateWithRetry(store, "k", () => bytes("x")), StoreError, "gone");
  assertEquals(gets, 1);
});
