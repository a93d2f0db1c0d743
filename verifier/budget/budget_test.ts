import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { createMemoryStore } from "../../store/memory.ts";
import { type Store, StoreError } from "../../store/store.ts";
import { type Bill, budgetKey, createBudgets, type DailyLimits, secondsToReset } from "./budget.ts";
import { decodeBudget, encodeBudget } from "./record.ts";
import { AssayError } from "../errors.ts";
import type { Plan } from "../types.ts";

const NOON = Date.parse("2026-12-01T12:00:00Z");
const DAY = "2026-12-01";

function plan(calls: number, tokens = 100 * calls): Plan {
  return { pairs: 1, calls, inputTokens: tokens, cachedInputTokens: 0, outputTokens: 0, usd: null };
}

function bill(calls: number, fields: Partial<Bill> = {}): () => Bill {
  return () => ({ calls, tokens: 90 * calls, usd: 0, unknownTokens: 0, unknownUsd: 0, ...fields });
}

function world(limits: DailyLimits, store: Store = createMemoryStore()) {
  const logged: string[] = [];
  const clock = { now: NOON };
  const budgets = createBudgets(store, { ci: limits }, {
    log: (line) => logged.push(line),
    now: () => clock.now,
    leaseMs: 60_000,
  });
  const open = () => budgets.open("ci")!;
  return { store, logged, clock, budgets, open };
}

/** A memory store that fails while `down`; `writes` counts what was written. */
function fragile(): { readonly store: Store; down: boolean; writes: number } {
  const inner = createMemoryStore();
  const state = { down: false, writes: 0 };
  const check = () => {
    if (state.down) throw new StoreError("down");
  };
  const store: Store = {
    ...inner,
    get: async (key) => {
      check();
      return await inner.get(key);
    },
    put: async (key, value, options) => {
      check();
      state.writes++;
      return await inner.put(key, value, options);
    },
  };
  return Object.assign(state, { store });
}

Deno.test("a caller without a budget has no allowance", async () => {
  const { budgets } = world({});
  assertEquals([budgets.open(null), budgets.open("ci"), budgets.open("constructor")], [null, null, null]);
  assertEquals(await budgets.status("ci"), null);
});

Deno.test("what a request holds is given back but for what it bought", async () => {
  const { budgets, open } = world({ calls: 10, tokens: 10_000 });
  const request = open();
  await request.reserve(plan(6), null);
  assertEquals((await budgets.status("ci"))?.held, { calls: 6, tokens: 600, usd: 0 });
  request.meter(bill(4));
  await request.settle();
  const status = await budgets.status("ci");
  assertEquals(status?.held, { calls: 0, tokens: 0, usd: 0 });
  assertEquals(status?.spent, { calls: 4, tokens: 360, usd: 0, estimated: { tokens: 0, usd: 0 } });
  assertEquals(status?.limits, { calls: 10, tokens: 10_000, usd: null });
  assertEquals(status?.resetsAt, "2026-12-02T00:00:00.000Z");
});

Deno.test("a request beyond the budget is refused with the numbers and the time to wait", async () => {
  const { open } = world({ calls: 10, usd: 1 });
  await open().reserve(plan(6), 0.5);
  const request = open();
  const error = await assertRejects(() => request.reserve(plan(6), 0.6), AssayError);
  assertEquals([error.code, error.status, error.retryAfterSeconds, error.plan?.calls], [
    "budget_exhausted",
    429,
    12 * 3600,
    6,
  ]);
  for (const part of ["6 of 10 calls", "needs 6", "0.5000 of 1 US dollars", "2026-12-02T00:00:00"]) {
    assert(error.message.includes(part), error.message);
  }
  assertEquals(request.status()?.held.calls, 6, "the refused request knows the state, for its headers");
  await request.reserve(plan(4), 0.5);
});

Deno.test("a limit of 0 lets nothing be bought, but plans without calls pass", async () => {
  const { open } = world({ calls: 0 });
  await assertRejects(() => open().reserve(plan(1), null), AssayError);
  await open().reserve(plan(0), null);
});

Deno.test("a limit in dollars can't be kept without a price, and is refused before anything is bought", async () => {
  const { open } = world({ usd: 5 });
  const error = await assertRejects(() => open().reserve(plan(2), null), AssayError);
  assertEquals(error.code, "over_budget");
});

Deno.test("what nobody was told the cost of counts as estimated, and is shown as such", async () => {
  const { budgets, open } = world({ tokens: 1000, usd: 1 });
  const request = open();
  await request.reserve(plan(4, 400), 0.4);
  // Two answered calls, and one that was called off while it was under way.
  request.meter(bill(3, { tokens: 150, usd: 0.1, unknownTokens: 1, unknownUsd: 1 }));
  await request.settle();
  const { spent } = (await budgets.status("ci"))!;
  assertEquals([spent.calls, spent.tokens, spent.estimated.tokens], [3, 250, 100]);
  assertAlmostEquals(spent.usd, 0.2, 1e-9);
  assertAlmostEquals(spent.estimated.usd, 0.1, 1e-9);
});

Deno.test("fifty parallel requests of two processes hold no more than the limit", async () => {
  const store = createMemoryStore();
  const worlds = [world({ calls: 100 }, store), world({ calls: 100 }, store)];
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) => worlds[i % 2]!.open().reserve(plan(6), null)),
  );
  assertEquals(outcomes.filter(({ status }) => status === "fulfilled").length, 16);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assertEquals((outcome.reason as AssayError).code, "budget_exhausted");
  }
  assertEquals((await worlds[0]!.budgets.status("ci"))?.held.calls, 96);
});

Deno.test("parallel requests of one process share writes", async () => {
  const { writes, store } = (() => {
    const state = fragile();
    return { writes: () => state.writes, store: state.store };
  })();
  const { open } = world({ calls: 1000 }, store);
  const requests = Array.from({ length: 50 }, open);
  await Promise.all(requests.map((request) => request.reserve(plan(6), null)));
  assert(writes() <= 3, `${writes()} writes`);
  await Promise.all(requests.map((request) => request.settle()));
});

Deno.test("the lease of a killed process ends, and what it was known to have bought stays counted", async () => {
  const store = createMemoryStore();
  const killed = world({ calls: 10 }, store);
  const request = killed.open();
  await request.reserve(plan(4), null);
  request.meter(bill(3));
  await request.reserve(plan(4), null); // Writes the lease anew, with what was bought so far.
  const alive = world({ calls: 10 }, store);
  await assertRejects(() => alive.open().reserve(plan(3), null), AssayError);
  alive.clock.now += 61_000;
  await alive.open().reserve(plan(7), null);
  assertEquals((await alive.budgets.status("ci"))?.spent.calls, 3);
  await request.settle();
});

Deno.test("a day begins anew at midnight UTC, and a request is counted for the day it began on", async () => {
  const { budgets, clock, open } = world({ calls: 5 });
  clock.now = Date.parse("2026-12-01T23:59:59Z");
  const late = open();
  await late.reserve(plan(5), null);
  late.meter(bill(5));
  clock.now += 2000;
  await open().reserve(plan(5), null);
  await late.settle();
  assertEquals((await budgets.status("ci"))?.spent.calls, 0);
  assertEquals(secondsToReset(DAY, Date.parse("2026-12-01T23:59:59.500Z")), 1);
});

Deno.test("while the store is down nothing can be held, and a settlement is made up for later", async () => {
  const state = fragile();
  const { budgets, logged, open } = world({ calls: 10 }, state.store);
  const request = open();
  await request.reserve(plan(4), null);
  request.meter(bill(4));
  state.down = true;
  await assertRejects(() => open().reserve(plan(1), null), StoreError);
  await assertRejects(() => budgets.status("ci"), StoreError);
  await request.settle();
  assert(logged.some((line) => line.includes("can't be counted yet")), logged.join());
  state.down = false;
  await open().reserve(plan(1), null);
  const status = await budgets.status("ci");
  assertEquals([status?.spent.calls, status?.held.calls], [4, 1]);
});

Deno.test("a corrupt, truncated or foreign record is skipped, reported and replaced", async () => {
  const whole = new TextDecoder().decode(encodeBudget(
    decodeBudget(
      new TextEncoder().encode(
        '{"format":1,"spent":{"calls":9,"tokens":0,"usd":0,"estimated":{"tokens":0,"usd":0}},"leases":{}}',
      ),
    )!,
  ));
  for (
    const text of [
      whole.slice(0, 40),
      "\u0000\u0001",
      "[]",
      '{"format":2}',
      whole.replace("9", "-9"),
      whole.replace("9", '"9"'),
    ]
  ) {
    const { budgets, logged, open, store } = world({ calls: 5 });
    await store.put(budgetKey("ci", DAY), new TextEncoder().encode(text));
    await open().reserve(plan(5), null);
    assertEquals((await budgets.status("ci"))?.held.calls, 5, text);
    assert(logged.some((line) => line.includes("can't be read")), text);
  }
});

Deno.test("whatever requests do, what is spent and held never exceeds the limit by reservation", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ calls: fc.integer({ min: 0, max: 7 }), sent: fc.nat(7), ends: fc.boolean() }), {
        maxLength: 30,
      }),
      async (requests) => {
        const { budgets, open } = world({ calls: 20 });
        let spent = 0;
        await Promise.all(requests.map(async ({ calls, sent, ends }) => {
          const request = open();
          try {
            await request.reserve(plan(calls), null);
          } catch (error) {
            assert(error instanceof AssayError);
            await request.settle();
            return;
          }
          const bought = Math.min(sent, calls);
          request.meter(bill(ends ? bought : 0));
          if (ends) spent += bought;
          await request.settle();
          const status = (await budgets.status("ci"))!;
          assert(status.spent.calls + status.held.calls <= 20);
        }));
        assertEquals((await budgets.status("ci"))?.spent.calls, spent);
      },
    ),
    { numRuns: 60 },
  );
});
