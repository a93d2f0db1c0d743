import { assert, assertAlmostEquals, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { openDenoKvStore } from "../../store/deno_kv.ts";
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import { answerWith, candidate, fakeEnvironment, fakeJudge } from "../../tests/verbs/fake_judge.ts";
import { compare } from "../compare.ts";
import { AssayError } from "../errors.ts";
import { JudgeError } from "../judges/judge.ts";
import { compareRequestSchema, parseRequest } from "../requests.ts";
import {
  mergeStatistics,
  readAllStatistics,
  readStatistics,
  readTime,
  readTimes,
  STATISTIC_GROUPS,
  type StatisticGrouping,
} from "./statistics.ts";
import type { StatisticRecord } from "./statistics_record.ts";
import { ulid } from "../ulid.ts";
import { noUsage } from "../usage.ts";

function record(startedAt: string, more: Partial<StatisticRecord> = {}): StatisticRecord {
  return {
    format: 1,
    id: `dec_${ulid(Date.parse(startedAt))}`,
    verb: "compare",
    session: null,
    startedAt,
    durationMs: 100,
    problem: null,
    judges: ["one"],
    rubric: "coding",
    usage: {
      ...noUsage(),
      calls: 2,
      attempts: 3,
      inputTokens: 100,
      cachedInputTokens: 25,
      outputTokens: 10,
      usd: 0.5,
    },
    channels: { logprobs: 3 },
    unscored: { no_tag: 1 },
    ...more,
  };
}

async function filled(
  records: readonly StatisticRecord[],
  store: Store = createMemoryStore(),
): Promise<Store> {
  for (const one of records) {
    await store.put(`statistic/${one.id.slice(4)}`, new TextEncoder().encode(JSON.stringify(one)));
  }
  return store;
}

const DECEMBER = { from: new Date("2026-12-01T00:00:00Z"), to: new Date("2027-01-01T00:00:00Z") };
const query = (group: StatisticGrouping = "day") => ({ ...DECEMBER, group });

Deno.test("statistics add up counts and give rates, and null where there is nothing to divide by", async () => {
  const store = await filled([
    record("2026-12-01T00:00:00.000Z"),
    record("2026-12-01T23:59:59.999Z", {
      usage: { ...noUsage(), cacheHits: 2 },
      durationMs: 300,
      unscored: {},
    }),
    record("2026-12-03T10:00:00.000Z", {
      problem: "judge_failed",
      channels: {},
      unscored: { backend_error: 4 },
      usage: { ...noUsage(), calls: 4, attempts: 8, usd: null },
    }),
  ]);
  const { groups, total, corrupt, cursor } = await readStatistics(store, query());
  assertEquals([groups.map(({ key }) => key), corrupt, cursor], [["2026-12-01", "2026-12-03"], 0, null]);
  const [first, third] = groups;
  assertEquals([first?.invocations, first?.calls, first?.cacheHits, first?.usd], [2, 2, 2, 0.5]);
  assertEquals([first?.cacheHitRate, first?.prefixCacheHitRate, first?.failureRate], [0.5, 0.25, 0]);
  assertAlmostEquals(first!.unscoredRate!, 1 / 7);
  assertEquals([first?.channelMix, first?.meanMs, first?.longestMs], [{ logprobs: 1 }, 200, 300]);
  assertEquals([third?.usd, third?.usdUnknown, third?.prefixCacheHitRate, third?.channelMix], [
    null,
    1,
    null,
    null,
  ]);
  assertEquals([third?.failureRate, third?.unscoredRate, third?.problems], [1, 1, { judge_failed: 1 }]);
  assertEquals([total.usd, total.usdKnown, total.usdUnknown], [null, 0.5, 1]);
  assertEquals(total.unscored, { no_tag: 1, backend_error: 4 });
  const none = await readStatistics(createMemoryStore(), query());
  const { usd, cacheHitRate, prefixCacheHitRate, unscoredRate, channelMix, failureRate, meanMs } = none.total;
  assertEquals(
    [usd, cacheHitRate, prefixCacheHitRate, unscoredRate, channelMix, failureRate, meanMs],
    [0, null, null, null, null, null, null],
  );
  assertEquals(none.groups, []);
});

Deno.test("from is inclusive and to exclusive, to the millisecond", async () => {
  const store = await filled([
    record("2026-11-30T23:59:59.999Z"),
    record("2026-12-01T00:00:00.000Z"),
    record("2026-12-31T23:59:59.999Z"),
    record("2027-01-01T00:00:00.000Z"),
  ]);
  const { groups } = await readStatistics(store, query());
  assertEquals(groups.map(({ key }) => key), ["2026-12-01", "2026-12-31"]);
});

Deno.test("groups are days in order, and verbs, judges, sessions and rubrics by their calls", async () => {
  const at = "2026-12-05T00:00:00.000Z";
  const store = await filled([
    record(at),
    record(at, { verb: "gate", session: "ses_1", judges: ["one", "two"], rubric: null }),
    record(at, { verb: "gate", session: "ses_1", judges: [] }),
  ]);
  const keys = async (group: StatisticGrouping) =>
    (await readStatistics(store, query(group))).groups.map(({ key }) => key);
  assertEquals(await keys("verb"), ["gate", "compare"]);
  assertEquals(await keys("session"), ["ses_1", null]);
  assertEquals(new Set(await keys("judge")), new Set(["one", "one + two", null]));
  assertEquals(await keys("rubric"), ["coding", null]);
});

for (
  const [name, open] of [
    ["memory", () => Promise.resolve(createMemoryStore())],
    ["Deno KV", () => openDenoKvStore(":memory:")],
  ] as const
) {
  Deno.test(`on ${name} pages of any size add up to the same as one page`, async () => {
    const store = await open();
    try {
      const records = Array.from(
        { length: 40 },
        (_, i) =>
          record(new Date(Date.UTC(2026, 11, 1 + i % 9, i % 24)).toISOString(), {
            verb: ["compare", "select", "track"][i % 3]!,
            judges: [`judge ${i % 4}`],
            usage: { ...noUsage(), calls: i, attempts: i, cacheHits: i % 5, usd: i % 7 === 0 ? null : 0.25 },
            unscored: { [i % 2 ? "no_tag" : "timeout"]: i },
          }),
      );
      await filled(records, store);
      await store.put("statistic/01broken", new Uint8Array([1]));
      await store.put(`statistic/${ulid(DECEMBER.from.getTime())}`, new Uint8Array([1]));
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 45 }),
          fc.constantFrom(...STATISTIC_GROUPS),
          async (limit, group) => {
            const whole = await readStatistics(store, query(group));
            assertEquals([whole.total.invocations, whole.corrupt, whole.cursor], [40, 1, null]);
            let pages = 0;
            const paged = await readAllStatistics((cursor) => {
              pages++;
              return readStatistics(store, {
                ...query(group),
                limit,
                ...(cursor === undefined ? {} : { cursor }),
              });
            });
            assertEquals(paged, whole);
            assertEquals(pages, Math.ceil(41 / limit));
          },
        ),
        { numRuns: 40 },
      );
    } finally {
      await store.close();
    }
  });
}

Deno.test("parallel invocations are all counted, failures with what they used", async () => {
  const store = createMemoryStore();
  const environment = fakeEnvironment(
    fakeJudge({
      concurrency: 16,
      answer: (request) => {
        if (request.prefix.includes("DOWN")) return Promise.reject(new JudgeError("backend_error", "no"));
        return answerWith(request.tags, [0.6, 0.5]);
      },
    }),
    store,
  );
  await Promise.all(Array.from({ length: 100 }, (_, i) =>
    compare(
      environment,
      parseRequest(compareRequestSchema, {
        task: i % 10 === 0 ? `DOWN ${i}` : `task ${i}`,
        a: candidate(0),
        b: candidate(1),
        criteria: ["x"],
        repeats: 1,
      }),
    ).catch((error) => assert(error instanceof AssayError))));
  const { total } = await readStatistics(store, { ...readTimes(undefined, undefined), group: "verb" });
  assertEquals([total.invocations, total.failed, total.calls], [100, 10, 100]);
  assertEquals(total.problems, { judge_failed: 10 });
  assertEquals(total.channels, { logprobs: 180 });
  assertEquals(total.unscored, { backend_error: 20 });
  assertEquals(total.prefixCacheHitRate, 0.4);
});

Deno.test("mergeStatistics() gives the second page's cursor and the first page's time", async () => {
  const store = await filled([record("2026-12-01T00:00:00.000Z"), record("2026-12-02T00:00:00.000Z")]);
  const first = await readStatistics(store, { ...query(), limit: 1 });
  assert(first.cursor !== null);
  const second = await readStatistics(store, { ...query(), limit: 1, cursor: first.cursor });
  const merged = mergeStatistics(first, second);
  assertEquals([merged.cursor, merged.from, merged.total.invocations], [null, first.from, 2]);
});

Deno.test("times that are none, and times without extent, are refused by name and value", async () => {
  assertEquals(readTime("2026-12-01", "/to", true).toISOString(), "2026-12-02T00:00:00.000Z");
  assertEquals(readTime("2026-12-01T08:00:00+02:00", "/from").toISOString(), "2026-12-01T06:00:00.000Z");
  for (
    const text of [
      "",
      "now",
      "2026-13-01",
      "2026-02-30",
      "2026-12-01T08:00",
      "20261201",
      "1969-12-31",
      "99999999",
    ]
  ) {
    const error = assertThrows(() => readTime(text, "/from"), AssayError);
    assertEquals([error.code, error.errors[0]?.path], ["invalid_request", "/from"], text);
  }
  assertThrows(() => readTimes("2026-12-02", "2026-12-01"), AssayError, "must be before to");
  const now = new Date("2026-12-31T00:00:00Z");
  assertEquals(readTimes(undefined, undefined, now).from.toISOString(), "2026-12-01T00:00:00.001Z");
  const error = await assertRejects(
    () => readStatistics(createMemoryStore(), { ...query(), cursor: "x" }),
    AssayError,
  );
  assertEquals(error.errors[0]?.path, "/cursor");
});
