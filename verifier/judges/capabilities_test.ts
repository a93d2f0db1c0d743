import { assertEquals } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import { type Store, StoreError } from "../../store/store.ts";
import { CAPABILITY_LIFETIME_MS, createCapabilityMemory, type Subject } from "./capabilities.ts";

const SUBJECT: Subject = { profile: "p", baseUrl: "http://a/v1", model: "m" };

Deno.test("a memory without a store remembers for 24 hours", async () => {
  let now = 0;
  const memory = createCapabilityMemory({ now: () => now });
  assertEquals(await memory.recall(SUBJECT), {});
  await memory.learn(SUBJECT, "logprobs", false);
  now = CAPABILITY_LIFETIME_MS - 1;
  await memory.learn(SUBJECT, "topLogprobs", 5);
  assertEquals(await memory.recall(SUBJECT), { logprobs: false, topLogprobs: 5 });
  now = CAPABILITY_LIFETIME_MS;
  assertEquals(memory.peek(SUBJECT), { topLogprobs: 5 }, "each lesson has its own age");
});

Deno.test("lessons are kept apart by profile, address and model", async () => {
  const memory = createCapabilityMemory();
  await memory.learn(SUBJECT, "thinking", false);
  for (const other of [{ profile: "q" }, { baseUrl: "http://b/v1" }, { model: "n" }]) {
    assertEquals(await memory.recall({ ...SUBJECT, ...other }), {});
  }
});

Deno.test("two processes that learn different things at once keep both", async () => {
  const store = createMemoryStore();
  const one = createCapabilityMemory({ store });
  const two = createCapabilityMemory({ store });
  await Promise.all([one.recall(SUBJECT), two.recall(SUBJECT)]);
  await Promise.all([one.learn(SUBJECT, "logprobs", false), two.learn(SUBJECT, "stream", false)]);
  assertEquals(await createCapabilityMemory({ store }).recall(SUBJECT), { logprobs: false, stream: false });
});

Deno.test("a process hears within a minute what another one learnt or forgot", async () => {
  const store = createMemoryStore();
  let now = 0;
  const one = createCapabilityMemory({ store, now: () => now });
  const two = createCapabilityMemory({ store, now: () => now });
  await one.recall(SUBJECT);
  await two.learn(SUBJECT, "stream", false);
  now = 60_001;
  assertEquals(await one.recall(SUBJECT), { stream: false });
  await two.forget("p");
  now = 120_002;
  assertEquals(await one.recall(SUBJECT), {});
});

Deno.test("a lesson that many calls learn at once is written once", async () => {
  const memory = createMemoryStore();
  let writes = 0;
  const put: Store["put"] = (...args) => {
    writes++;
    return memory.put(...args);
  };
  const store: Store = {
    ...memory,
    get: (key) => memory.get(key),
    list: (...args) => memory.list(...args),
    put,
  };
  const capabilities = createCapabilityMemory({ store, now: () => 0 });
  await Promise.all(Array.from({ length: 16 }, () => capabilities.learn(SUBJECT, "topLogprobs", 5)));
  assertEquals([writes, await capabilities.recall(SUBJECT)], [1, { topLogprobs: 5 }]);
  await capabilities.learn(SUBJECT, "topLogprobs", 3);
  assertEquals([writes, capabilities.peek(SUBJECT)], [2, { topLogprobs: 3 }]);
});

Deno.test("forget() takes every model of one profile, and no other profile's", async () => {
  const store = createMemoryStore();
  const memory = createCapabilityMemory({ store });
  for (let i = 0; i < 5; i++) await memory.learn({ ...SUBJECT, model: `m${i}` }, "stream", false);
  await memory.learn({ ...SUBJECT, profile: "p2" }, "stream", false);
  await memory.forget("p");
  assertEquals((await store.list("capability/")).keys.length, 1);
  assertEquals(memory.peek({ ...SUBJECT, model: "m0" }), {});
  assertEquals(memory.peek({ ...SUBJECT, profile: "p2" }), { stream: false });
});

Deno.test("unlearn() takes one lesson back", async () => {
  const store = createMemoryStore();
  const memory = createCapabilityMemory({ store });
  await memory.learn(SUBJECT, "stream", false);
  await memory.learn(SUBJECT, "logprobsReturned", false);
  await memory.unlearn(SUBJECT, "logprobsReturned");
  assertEquals(await createCapabilityMemory({ store }).recall(SUBJECT), { stream: false });
});

Deno.test("a record that can't be read is the same as none", async () => {
  for (
    const text of [
      "not json",
      "null",
      "[]",
      '{"logprobs":null}',
      '{"logprobs":{"value":"x","at":0}}',
      "\u0000",
    ]
  ) {
    const store = createMemoryStore();
    const memory = createCapabilityMemory({ store });
    await memory.learn(SUBJECT, "stream", false);
    const key = (await store.list("capability/")).keys[0]!;
    await store.put(key, new TextEncoder().encode(text));
    assertEquals(await createCapabilityMemory({ store }).recall(SUBJECT), {});
  }
});

Deno.test("a store that fails costs a warning, not an answer", async () => {
  const broken: Store = {
    ...createMemoryStore(),
    get: () => Promise.reject(new StoreError("down")),
    put: () => Promise.reject(new StoreError("down")),
  };
  const warnings: string[] = [];
  const memory = createCapabilityMemory({ store: broken, onWarning: (text) => warnings.push(text) });
  assertEquals(await memory.recall(SUBJECT), {});
  await memory.learn(SUBJECT, "stream", false);
  assertEquals(memory.peek(SUBJECT), { stream: false });
  assertEquals(warnings.length, 2);
});

Deno.test("a memory doesn't grow without bound", async () => {
  const memory = createCapabilityMemory();
  for (let i = 0; i < 1500; i++) await memory.learn({ ...SUBJECT, model: `m${i}` }, "stream", false);
  assertEquals(memory.peek({ ...SUBJECT, model: "m0" }), {});
  assertEquals(memory.peek({ ...SUBJECT, model: "m1499" }), { stream: false });
});
