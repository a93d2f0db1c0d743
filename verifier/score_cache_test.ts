import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createMemoryStore } from "../store/memory.ts";
import { type Store, StoreError } from "../store/store.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../tests/verbs/fake_judge.ts";
import { JOB, reasons, type Setup, setup } from "../tests/verbs/scorer_setup.ts";
import { compare } from "./compare.ts";
import type { Judge } from "./judges/judge.ts";
import { compareRequestSchema, parseRequest } from "./requests.ts";
import type { ScoreJob } from "./scorer.ts";
import type { CompareResult } from "./types.ts";

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

/** A memory store that tells what is written, in order. */
function watched(store: Store = createMemoryStore()) {
  const log: string[] = [];
  const told: Store = {
    ...store,
    put: (key, value, options) => {
      log.push(key.startsWith("score/") ? "score" : key);
      return store.put(key, value, options);
    },
    commit: (writes) => {
      log.push("decision");
      return store.commit(writes);
    },
  };
  return { log, store: told };
}

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
  assert(holds(), "it never happened");
}

const COMPARE = parseRequest(compareRequestSchema, { task: "t", a: "x", b: "y", criteria: ["c", "d"] });

Deno.test("scores that nobody follows are written with their decision; those that are followed, before they are told", async () => {
  const judge = fakeJudge({ answer: (request) => answerWith(request.tags, [0.7, 0.3]) });
  const unseen = watched();
  const { warnings } = await compare(fakeEnvironment(judge, unseen.store), COMPARE) as CompareResult;
  assertEquals([unseen.log, warnings], [[...Array(4).fill("score"), "decision"], []]);
  assertEquals((await unseen.store.list("score/")).keys.length, 4);

  const seen = watched();
  let told = 0;
  await compare(fakeEnvironment(judge, seen.store), COMPARE, {
    onEvent: ({ type }) => {
      if (type === "call") assert(seen.log.length >= ++told, `${told} told, ${seen.log.length} written`);
    },
  });
  assertEquals([told, seen.log], [4, [...Array(4).fill("score"), "decision"]]);
});

Deno.test("a score that waits for others is found by identical calls, and written soon though its request goes on", async () => {
  const { promise: last, resolve: answer } = Promise.withResolvers<void>();
  const judge = fakeJudge({
    concurrency: 9,
    answer: async (request) => {
      if (request.repeat === 1) await last;
      return answerWith(request.tags, [0.7, 0.3]);
    },
  });
  const { store, log } = watched();
  const environment = fakeEnvironment(judge, store);
  const twice = { ...COMPARE, repeats: 2 };
  const slow = compare(environment, twice) as Promise<CompareResult>;
  await until(() => judge.requests.length === 3);
  const other = await compare(environment, { ...COMPARE, repeats: 1 }) as CompareResult;
  assertEquals([other.usage.calls, other.usage.cacheHits], [0, 2]);
  await until(() => log.includes("score"));
  assertEquals((await store.list("score/")).keys.length, 2);
  answer();
  assertEquals((await slow).usage.calls, 4);
  assertEquals((await store.list("score/")).keys.length, 4);
});

Deno.test("scores that can't be written at a request's end are among its warnings, once", async () => {
  const store = { ...createMemoryStore(), put: () => Promise.reject(new StoreError("full")) };
  const { winner, warnings } = await compare(fakeEnvironment(fakeJudge(), store), COMPARE) as CompareResult;
  assertEquals([winner, warnings], ["tie", ["the score cache can't be written: full"]]);
});
