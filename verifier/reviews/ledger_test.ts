import { assert, assertEquals, assertRejects } from "@std/assert";
import * as fc from "fast-check";
import { openDenoKvStore } from "../../store/deno_kv.ts";
import { createMemoryStore } from "../../store/memory.ts";
import { type Store, StoreError } from "../../store/store.ts";
import { AssayError } from "../errors.ts";
import { redact } from "../redaction/redact.ts";
import { parseRequest } from "../requests.ts";
import { createReviewLedger, type ReviewLedger } from "./ledger.ts";
import { HOLD_MS, MOST_HELD } from "./records.ts";
import { type ReviewReservation, reviewReserveSchema, type ReviewSettleRequest } from "./requests.ts";

const CALLER = "ci";

function world(store: Store = createMemoryStore()) {
  const clock = { now: Date.parse("2026-12-01T12:00:00Z") };
  const logged: string[] = [];
  const ledger = createReviewLedger(store, {
    log: (line) => logged.push(line),
    redact,
    now: () => clock.now,
  });
  return { clock, logged, ledger, store };
}

function reserve(
  ledger: ReviewLedger,
  fingerprint: string,
  more: Record<string, unknown> = {},
  caller: string | null = CALLER,
): Promise<ReviewReservation> {
  const body = { session: "s", task: "t", purpose: "compare", fingerprint, calls: 6, ...more };
  return ledger.reserve(caller, parseRequest(reviewReserveSchema, body));
}

function idOf(answer: ReviewReservation): string {
  assert(answer.granted, JSON.stringify(answer));
  return answer.id;
}

function reasonOf(answer: ReviewReservation): string {
  assert(!answer.granted);
  return answer.reason;
}

const done = (calls: number, more: Partial<ReviewSettleRequest> = {}): ReviewSettleRequest => ({
  state: "done",
  calls,
  ...more,
});

async function keysOf(store: Store): Promise<readonly string[]> {
  return (await store.list("review/")).keys;
}

Deno.test("a review is held, settled, and then nobody buys the same evidence again in that session", async () => {
  const { ledger, clock } = world();
  const first = await reserve(ledger, "f");
  const id = idOf(first);
  assertEquals(first.spent, { task: { reviews: 1, calls: 6 }, session: { reviews: 1, calls: 6 } });
  const during = await reserve(ledger, "f", { task: "other" });
  assert(!during.granted);
  assertEquals([during.reason, during.review?.id, during.review?.state], ["in_flight", id, "held"]);
  assertEquals(during.spent, { task: { reviews: 0, calls: 0 }, session: { reviews: 1, calls: 6 } });
  clock.now += 1000;
  const review = await ledger.settle(CALLER, id, done(4, { outcome: { winner: "A" } }));
  assertEquals(review, {
    id,
    task: "t",
    purpose: "compare",
    fingerprint: "f",
    state: "done",
    calls: 4,
    outcome: { winner: "A" },
    at: "2026-12-01T12:00:00.000Z",
    settledAt: "2026-12-01T12:00:01.000Z",
  });
  for (const task of ["t", "other"]) {
    const after = await reserve(ledger, "f", { task, purpose: "gate" });
    assert(!after.granted);
    assertEquals([after.reason, after.review], ["reviewed", review]);
  }
  idOf(await reserve(ledger, "f", { session: "another" }));
  const list = await ledger.list(CALLER, "s", 50);
  assertEquals(list, {
    session: "s",
    spent: { reviews: 1, calls: 4, gate: { reviews: 0, calls: 0 }, routed: { reviews: 1, calls: 4 } },
    reviews: [review],
    warnings: [],
  });
});

Deno.test("a failed or abandoned review frees its evidence, and counts only for what it bought", async () => {
  const { ledger } = world();
  await ledger.settle(CALLER, idOf(await reserve(ledger, "f")), { state: "failed", calls: 0 });
  await ledger.settle(CALLER, idOf(await reserve(ledger, "f")), { state: "abandoned", calls: 2 });
  const third = await reserve(ledger, "f");
  assertEquals(third.spent.session, { reviews: 2, calls: 8 });
  await ledger.settle(CALLER, idOf(third), done(0));
  const { spent, reviews } = await ledger.list(CALLER, "s", 50);
  assertEquals([spent.reviews, spent.calls], [2, 2]);
  assertEquals(reviews.map(({ state }) => state).sort(), ["abandoned", "done", "failed"]);
});

Deno.test("each limit has its reason; reviews are counted by group, calls together", async () => {
  const { ledger } = world();
  const limits = { task: { reviews: 2, calls: 20 }, session: { reviews: 3, calls: 30 } };
  idOf(await reserve(ledger, "1", { limits }));
  idOf(await reserve(ledger, "2", { limits }));
  assertEquals(reasonOf(await reserve(ledger, "3", { limits })), "task_reviews");
  const gate = await reserve(ledger, "3", { limits, purpose: "gate" });
  idOf(gate);
  assertEquals(gate.spent, { task: { reviews: 1, calls: 18 }, session: { reviews: 1, calls: 18 } });
  assertEquals(reasonOf(await reserve(ledger, "4", { limits, purpose: "gate" })), "task_calls");
  idOf(await reserve(ledger, "4", { limits, purpose: "gate", calls: 2 }));
  idOf(await reserve(ledger, "5", { limits, task: "u" }));
  assertEquals(reasonOf(await reserve(ledger, "6", { limits, task: "u" })), "session_reviews");
  assertEquals(reasonOf(await reserve(ledger, "6", { limits, task: "u", purpose: "gate" })), "session_calls");
  idOf(await reserve(ledger, "6", { task: "u" }));
});

Deno.test("limits of zero grant nothing, and a review without calls needs none", async () => {
  const { ledger } = world();
  assertEquals(reasonOf(await reserve(ledger, "1", { limits: { task: { reviews: 0 } } })), "task_reviews");
  assertEquals(reasonOf(await reserve(ledger, "1", { limits: { session: { calls: 0 } } })), "session_calls");
  idOf(await reserve(ledger, "1", { calls: 0, limits: { session: { calls: 0 } } }));
});

Deno.test("a hold that nobody settles counts as bought and frees its evidence; a late settlement still corrects it", async () => {
  const { ledger, clock } = world();
  const late = idOf(await reserve(ledger, "f"));
  clock.now += HOLD_MS - 1;
  assertEquals(reasonOf(await reserve(ledger, "f")), "in_flight");
  clock.now += 1;
  const again = await reserve(ledger, "f");
  assertEquals(again.spent.session, { reviews: 2, calls: 12 });
  const states = (await ledger.list(CALLER, "s", 50)).reviews.map(({ state }) => state);
  assertEquals(states, ["held", "expired"]);
  const settled = await ledger.settle(CALLER, late, done(1));
  await ledger.settle(CALLER, idOf(again), done(2));
  assertEquals((await ledger.list(CALLER, "s", 50)).spent.calls, 3);
  const after = await reserve(ledger, "f");
  assert(!after.granted);
  assertEquals(after.review, settled, "the first review that is done stands for the evidence");
});

Deno.test("settling again gives the first answer; another state is a conflict; strangers are told of nothing", async () => {
  const { ledger } = world();
  const id = idOf(await reserve(ledger, "f"));
  const first = await ledger.settle(CALLER, id, done(4));
  assertEquals(await ledger.settle(CALLER, id, done(9, { outcome: { x: 1 } })), first);
  const conflict = await assertRejects(
    () => ledger.settle(CALLER, id, { state: "failed", calls: 4 }),
    AssayError,
  );
  assertEquals([conflict.code, conflict.errors[0]?.path], ["idempotency_conflict", "/state"]);
  const { spent } = await ledger.list(CALLER, "s", 50);
  assertEquals([spent.reviews, spent.calls], [1, 4]);
  for (
    const [caller, unknown] of [
      ["other", id],
      [null, id],
      [CALLER, id.slice(0, -1)],
      [CALLER, id.replace(/^rev_../, "rev_00")],
      [CALLER, "../ledger"],
    ] as const
  ) {
    const error = await assertRejects(() => ledger.settle(caller, unknown, done(0)), AssayError);
    assertEquals(error.code, "not_found");
  }
});

Deno.test("callers see and spend nothing of each other's sessions, whatever they are called", async () => {
  const { ledger } = world();
  await ledger.settle(CALLER, idOf(await reserve(ledger, "f")), done(6));
  for (const caller of [null, "other", "null", ""]) {
    assertEquals((await ledger.list(caller, "s", 50)).reviews, []);
    idOf(await reserve(ledger, "f", { limits: { session: { calls: 6 } } }, caller));
  }
});

Deno.test("two settlements at the same time: one state wins, and it is counted once", async () => {
  for (let round = 0; round < 10; round++) {
    const { ledger } = world();
    const id = idOf(await reserve(ledger, "f"));
    const results = await Promise.allSettled([
      ledger.settle(CALLER, id, done(4)),
      ledger.settle(CALLER, id, { state: "failed", calls: 3 }),
      ledger.settle(CALLER, id, done(5)),
    ]);
    const won = results.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
    assert(won.length >= 1);
    assertEquals(new Set(won.map(({ state, calls }) => `${state} ${calls}`)).size, 1);
    assertEquals((await ledger.list(CALLER, "s", 50)).spent.calls, won[0]!.calls);
  }
});

for (const kind of ["memory", "deno-kv"] as const) {
  Deno.test(`${kind}: 50 parallel reviews over four processes never exceed a limit`, async () => {
    const path = kind === "memory" ? null : await Deno.makeTempFile({ suffix: ".kv" });
    const open = async () => path === null ? null : await openDenoKvStore(path);
    const shared = createMemoryStore();
    const stores = await Promise.all(Array.from({ length: 4 }, async () => await open() ?? shared));
    try {
      const ledgers = stores.map((store) => world(store).ledger);
      const limits = { task: { reviews: 40, calls: 60 }, session: { reviews: 7 } };
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => reserve(ledgers[i % 4]!, `f${i}`, { limits })),
      );
      assertEquals(answers.filter(({ granted }) => granted).length, 7);
      const same = await Promise.all(
        Array.from({ length: 20 }, (_, i) => reserve(ledgers[i % 4]!, "same", { session: "other" })),
      );
      const granted = same.filter(({ granted }) => granted);
      assertEquals(granted.length, 1);
      await Promise.all(
        answers.filter((answer) => answer.granted).map((answer, i) =>
          ledgers[(i + 1) % 4]!.settle(CALLER, idOf(answer), done(i))
        ),
      );
      const { spent, reviews } = await ledgers[0]!.list(CALLER, "s", 50);
      assertEquals([spent.reviews, spent.calls, reviews.length], [7, 21, 7]);
    } finally {
      for (const store of new Set(stores)) await store.close();
      if (path !== null) await Deno.remove(path);
    }
  });
}

Deno.test("what was settled is known after a restart, and counters outlive the list", async () => {
  const store = createMemoryStore();
  const before = world(store).ledger;
  for (let i = 0; i < 210; i++) {
    const id = idOf(await reserve(before, `f${i}`, { task: `t${i}` }));
    await before.settle(CALLER, id, done(1));
  }
  const { ledger, clock } = world(store);
  clock.now += 1000;
  const { spent, reviews } = await ledger.list(CALLER, "s", 300);
  assertEquals([spent.reviews, spent.calls, reviews.length], [210, 210, 200]);
  assertEquals(reasonOf(await reserve(ledger, "f0")), "reviewed");
  assertEquals(
    reasonOf(await reserve(ledger, "x", { task: "t0", limits: { task: { reviews: 1 } } })),
    "task_reviews",
  );
  const entry = await store.get((await keysOf(store)).find((key) => key.endsWith("/ledger"))!);
  assert(entry!.value.length < 40_000, `${entry!.value.length} bytes`);
});

Deno.test("too many reviews under way are refused, and those that nobody settles are summed up", async () => {
  const { ledger, clock, store } = world();
  for (let i = 0; i < MOST_HELD; i++) idOf(await reserve(ledger, `f${i}`, { calls: 1 }));
  assertEquals(reasonOf(await reserve(ledger, "more")), "session_reviews");
  clock.now += HOLD_MS;
  const next = await reserve(ledger, "more", { calls: 1 });
  assertEquals(next.spent.session, { reviews: MOST_HELD + 1, calls: MOST_HELD + 1 });
  const key = (await keysOf(store)).find((key) => key.endsWith("/ledger"))!;
  const { holds } = JSON.parse(new TextDecoder().decode((await store.get(key))!.value));
  assertEquals(Object.keys(holds).length, 201);
});

Deno.test("secrets are taken out of names and outcomes, and the evidence is still known by its own name", async () => {
  const { ledger, store } = world();
  const secret = "ghp_0123456789abcdefghij";
  const id = idOf(await reserve(ledger, `see ${secret}`, { task: `token ${secret}` }));
  const outcome = { note: `used ${secret}`, apiKey: "plain", list: [{ password: ["one"] }], calls: 3 };
  const review = await ledger.settle(CALLER, id, done(1, { outcome }));
  assertEquals(review.outcome, {
    note: "used [redacted]",
    apiKey: "[redacted]",
    list: [{ password: ["[redacted]"] }],
    calls: 3,
  });
  assertEquals(reasonOf(await reserve(ledger, `see ${secret}`)), "reviewed");
  idOf(await reserve(ledger, "see ghp_another0123456789abc"));
  for (const key of await keysOf(store)) {
    const text = key + new TextDecoder().decode((await store.get(key))!.value);
    assert(!text.includes(secret) && !text.includes("plain"), text);
  }
});

Deno.test("corrupt records are reported and count as absent, and a review in their place is kept", async () => {
  for (const kind of ["ledger", "settled", "done"]) {
    for (const text of ["\u0000", "{", "[]", '{"format":2}', '{"format":1,"spent":-1}']) {
      const { ledger, logged, store } = world();
      await ledger.settle(CALLER, idOf(await reserve(ledger, "f")), done(6));
      const key = (await keysOf(store)).find((key) => key.includes(`/${kind}`))!;
      await store.put(key, new TextEncoder().encode(text));
      if (kind === "settled") assertEquals((await ledger.list(CALLER, "s", 50)).warnings.length, 1);
      const answer = await reserve(ledger, "f");
      if (kind === "ledger") assertEquals(reasonOf(answer), "reviewed");
      else {
        await ledger.settle(CALLER, idOf(answer), done(2));
        assertEquals(reasonOf(await reserve(ledger, "f")), "reviewed");
      }
      idOf(await reserve(ledger, "g"));
      assert(logged.some((line) => line.includes(key) && line.includes("can't be read")), logged.join());
    }
  }
});

/** A memory store whose writes die after some number of them, as the process's would. */
function dying(inner: Store, writes: number): Store {
  let left = writes;
  return {
    ...inner,
    put: (key, value, options) =>
      left-- > 0 ? inner.put(key, value, options) : Promise.reject(new StoreError("dead")),
  };
}

Deno.test("a process that dies while it settles leaves a hold too many at most, never one too few", async () => {
  for (let writes = 0; writes < 3; writes++) {
    const store = createMemoryStore();
    const { ledger, clock } = world(store);
    const id = idOf(await reserve(ledger, "f"));
    await assertRejects(() => world(dying(store, writes)).ledger.settle(CALLER, id, done(4)), StoreError);
    const meanwhile = await reserve(ledger, "f");
    assert(!meanwhile.granted, `${writes}`);
    assertEquals(meanwhile.spent.session.calls, 6);
    if (writes > 0) {
      clock.now += HOLD_MS;
      assertEquals(reasonOf(await reserve(ledger, "f")), "reviewed", `${writes}`);
    }
    assertEquals((await ledger.settle(CALLER, id, done(4))).calls, 4);
    assertEquals(reasonOf(await reserve(ledger, "f")), "reviewed");
    assertEquals((await ledger.list(CALLER, "s", 50)).spent.calls, 4);
  }
});

Deno.test("a store that is down grants nothing", async () => {
  const { ledger } = world(dying(createMemoryStore(), 0));
  await assertRejects(() => reserve(ledger, "f"), StoreError);
});

Deno.test("a write that was reported as lost but made is granted once", async () => {
  const inner = createMemoryStore();
  let lost = false;
  const store: Store = {
    ...inner,
    put: async (key, value, options) => {
      const version = await inner.put(key, value, options);
      if (lost || !key.endsWith("/ledger")) return version;
      lost = true;
      return null;
    },
  };
  const answer = await reserve(world(store).ledger, "f");
  assertEquals([answer.granted, answer.spent.session.reviews], [true, 1]);
});

Deno.test("whatever reviews do, what is spent and held stays within the limits and adds up", async () => {
  const review = fc.record({
    task: fc.constantFrom("t", "u"),
    purpose: fc.constantFrom("gate", "compare", "plan"),
    fingerprint: fc.nat(20),
    calls: fc.nat(9),
    end: fc.constantFrom("done", "failed", "abandoned", "never", "late"),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(review, { maxLength: 25 }), async (reviews) => {
      const { ledger, clock } = world();
      const limits = { task: { reviews: 4, calls: 25 }, session: { reviews: 5, calls: 40 } };
      const seen = new Set<string>();
      await Promise.all(reviews.map(async ({ task, purpose, fingerprint, calls, end, share }) => {
        const more = { task, purpose, calls, limits };
        const answer = await reserve(ledger, `f${fingerprint}`, more);
        assert(answer.spent.session.calls <= 40 && answer.spent.task.calls <= 25);
        if (!answer.granted || end === "never") return;
        if (end === "late") clock.now += 1;
        const state = end === "late" ? "done" : end;
        await ledger.settle(CALLER, answer.id, { state, calls: Math.floor(calls * share) });
        if (state === "done") {
          assert(!seen.has(`f${fingerprint}`), "the same evidence was bought twice");
          seen.add(`f${fingerprint}`);
        }
      }));
      const { spent, reviews: listed } = await ledger.list(CALLER, "s", 50);
      assert(spent.calls <= 40 && spent.gate.reviews <= 5 && spent.routed.reviews <= 5);
      assertEquals(spent.calls, listed.reduce((sum, { calls }) => sum + calls, 0));
    }),
    { numRuns: 60 },
  );
});
