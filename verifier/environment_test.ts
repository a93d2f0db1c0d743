import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "../store/memory.ts";
import { createEnvironment, ensureDelimiterSecret } from "./environment.ts";
import { fakeEnvironment, fakeJudge } from "../tests/verbs/fake_judge.ts";

Deno.test("the delimiter secret is made once and kept", async () => {
  const store = createMemoryStore();
  const secret = await ensureDelimiterSecret(store);
  assert(/^[0-9a-f]{64}$/.test(secret));
  assertEquals(await ensureDelimiterSecret(store), secret);
  assert(await ensureDelimiterSecret(createMemoryStore()) !== secret);
});

Deno.test("processes that start together end up with one delimiter secret", async () => {
  const store = createMemoryStore();
  const secrets = await Promise.all(Array.from({ length: 10 }, () => ensureDelimiterSecret(store)));
  assertEquals(new Set(secrets).size, 1);
});

Deno.test("ASSAY_DELIMITER_SECRET wins over the store, and a short one is refused", async () => {
  const store = createMemoryStore();
  const variables = { ASSAY_DELIMITER_SECRET: "a-secret-of-the-operator" };
  assertEquals(await ensureDelimiterSecret(store, variables), "a-secret-of-the-operator");
  assertEquals((await store.list("secret/")).keys, []);
  await assertRejects(
    () => ensureDelimiterSecret(store, { ASSAY_DELIMITER_SECRET: "short" }),
    Error,
    "at least 16",
  );
  assert(
    (await ensureDelimiterSecret(store, { ASSAY_DELIMITER_SECRET: "" })).length === 64,
    "empty counts as unset",
  );
});

Deno.test("createEnvironment() puts secret and scheduler into place", async () => {
  const { judges } = fakeEnvironment(fakeJudge());
  const store = createMemoryStore();
  const environment = await createEnvironment({ judges, store });
  assertEquals(environment.delimiterSecret, await ensureDelimiterSecret(store));
  assertEquals(environment.scheduler.kind, "scheduler");
});
