import { assertEquals, assertStringIncludes } from "@std/assert";
import { createMemoryStore } from "../store/memory.ts";
import { StoreError } from "../store/store.ts";
import { answerWith, fakeJudge } from "../tests/verbs/fake_judge.ts";
import { JOB, reasons, type Setup, setup } from "../tests/verbs/scorer_setup.ts";
import type { Judge } from "./judges/judge.ts";
import type { ScoreJob } from "./scorer.ts";

Deno.test("the second identical call comes from the cache, with the same scores", async () => {
  const judge = fakeJudge({ answer: (request) => answerWith(request.tags, [0.7, 0.3]) });
  const { scorer, environment } = setup(judge);
  const first = await scorer.score(JOB);
  const again = setup(judge, { store: environment.store });
  assertEquals(await again.scorer.score(JOB), { ...first, cached: true });
  assertEquals(judge.requests.length, 1);
  assertEquals([again.scorer.usage().calls, again.scorer.usage().cacheHits, again.scorer.usage().usd], [
    0,
    1,
    0,
  ]);
});

Deno.test("refresh buys again and stores, off neither reads nor writes", async () => {
  const judge = fakeJudge();
  const store = createMemoryStore();
  await setup(judge, { store, cache: "off" }).scorer.score(JOB);
  assertEquals((await store.list("score/")).keys.length, 0);
  await setup(judge, { store }).scorer.score(JOB);
  await setup(judge, { store, cache: "refresh" }).scorer.score(JOB);
  assertEquals(judge.requests.length, 3);
  await setup(judge, { store }).scorer.score(JOB);
  assertEquals(judge.requests.length, 3);
});

Deno.test("a changed prompt, image, repeat, tag, channel or judge is another call", async () => {
  const store = createMemoryStore();
  const judge = fakeJudge();
  await setup(judge, { store }).scorer.score(JOB);
  const variants: [Judge, Partial<ScoreJob>, Setup][] = [
    [judge, { prefix: { ...JOB.prefix, digest: "d2" } }, {}],
    [judge, { suffix: "other" }, {}],
    [judge, { imagesDigest: "i" }, {}],
    [judge, { repeat: 1 }, {}],
    [judge, { tags: ["score_A"] }, {}],
    [judge, {}, { channel: "logprobs" }],
    [{ ...judge, identity: "other" }, {}, {}],
    [{ ...judge, kind: "gemini" }, {}, {}],
  ];
  for (const [i, [changed, job, options]] of variants.entries()) {
    await setup(changed, { store, ...options }).scorer.score({ ...JOB, ...job });
    assertEquals(judge.requests.length, i + 2, JSON.stringify(job));
  }
});

Deno.test("a corrupt cache record is ignored and said", async () => {
  const store = createMemoryStore();
  const judge = fakeJudge();
  await setup(judge, { store }).scorer.score(JOB);
  const [key] = (await store.list("score/")).keys;
  const good = new TextDecoder().decode((await store.get(key!))!.value);
  for (
    const bad of [
      "",
      "{",
      "null",
      "[]",
      '{"format":2}',
      good.slice(0, -5),
      good.replace('"value":0.5', '"value":7'),
      good.replace('"value":0.5', '"value":null'),
      good.replaceAll('"kind":"scored"', '"kind":"unscored"'),
      good.replace(/"letters":\[[^\]]*\]/, '"letters":[1]'),
    ]
  ) {
    await store.put(key!, new TextEncoder().encode(bad));
    const before = judge.requests.length;
    const { scorer, warnings } = setup(judge, { store });
    assertEquals(reasons((await scorer.score(JOB)).scores), ["logprobs", "logprobs"]);
    assertEquals(judge.requests.length, before + 1, bad);
    assertStringIncludes(warnings.list().join(), "corrupt record");
  }
});

Deno.test("a store that fails costs money, not the result", async () => {
  const store = createMemoryStore();
  const broken = {
    ...store,
    get: () => Promise.reject(new StoreError("gone")),
    put: () => Promise.reject(new StoreError("full")),
  };
  const { scorer, warnings } = setup(fakeJudge(), { store: broken });
  assertEquals(reasons((await scorer.score(JOB)).scores), ["logprobs", "logprobs"]);
  assertEquals(reasons((await scorer.score({ ...JOB, repeat: 1 })).scores), ["logprobs", "logprobs"]);
  assertEquals(warnings.list(), [
    "the score cache can't be read and is not used: gone",
    "the score cache can't be written: full",
  ]);
});

Deno.test("an identical call that ends while the cache is being read is not bought a second time", async () => {
  const memory = createMemoryStore();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: looked, resolve: look } = Promise.withResolvers<void>();
  let holding = true;
  const store = {
    ...memory,
    get: async (key: string) => {
      const found = await memory.get(key);
      if (holding) {
        look();
        await held;
      }
      return found;
    },
  };
  const judge = fakeJudge();
  const slow = setup(judge, { store });
  const late = slow.scorer.score(JOB);
  await looked; // and found nothing
  holding = false;
  const first = await setup(judge, { store }).scorer.score(JOB);
  release();
  assertEquals(await late, { ...first, cached: true });
  assertEquals(judge.requests.length, 1);
  const { calls, cacheHits } = slow.scorer.usage();
  assertEquals([calls, cacheHits], [0, 1]);
});
