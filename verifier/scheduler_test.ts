import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import {
  createScheduler,
  PREFIX_WARM_MS,
  type ScheduledCall,
  type Scheduler,
  type Slot,
} from "./scheduler.ts";

/** Lets every promise that can go on go on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

interface Running {
  readonly name: string;
  readonly slot: Slot;
  /** The judge answers and the call ends. */
  succeed(): Promise<void>;
  /** The call ends without an answer. */
  fail(): Promise<void>;
}

/** A scheduler whose calls the test ends by hand. */
function bench(now: () => number = () => 0) {
  const scheduler = createScheduler({ now });
  const started: Running[] = [];
  function submit(
    name: string,
    options: Partial<Omit<ScheduledCall<string>, "call">> = {},
  ): { result: Promise<{ value: string; joined: boolean }>; abort: (reason?: unknown) => void } {
    const controller = new AbortController();
    const result = scheduler.run<string>({
      pool: "p",
      concurrency: 100,
      request: bench,
      key: null,
      prefix: null,
      signal: controller.signal,
      ...options,
      call: (slot) => {
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        slot.signal.addEventListener("abort", () => reject(slot.signal.reason), { once: true });
        started.push({
          name,
          slot,
          succeed: async () => {
            slot.answered();
            resolve(name);
            await settle();
          },
          fail: async () => {
            reject(new Error(`${name} failed`));
            await settle();
          },
        });
        return promise;
      },
    });
    result.catch(() => {});
    return { result, abort: (reason) => controller.abort(reason) };
  }
  const names = (): string[] => started.map(({ name }) => name);
  return { scheduler, started, submit, names };
}

const running = (scheduler: Scheduler): number => scheduler.status()[0]?.running ?? 0;

Deno.test("the scheduler never runs more calls of a pool than its concurrency", async () => {
  const { started, submit, names } = bench();
  for (const name of ["a", "b", "c", "d"]) submit(name, { concurrency: 2 });
  await settle();
  assertEquals(names(), ["a", "b"]);
  await started[0]!.succeed();
  assertEquals(names(), ["a", "b", "c"]);
});

Deno.test("siblings of a cold prefix wait for the first call and for no other prefix", async () => {
  const { started, submit, names } = bench();
  for (const name of ["x1", "x2", "x3"]) submit(name, { prefix: "x" });
  for (const name of ["y1", "y2"]) submit(name, { prefix: "y" });
  await settle();
  assertEquals(names(), ["x1", "y1"]);
  await started[1]!.succeed();
  assertEquals(names(), ["x1", "y1", "y2"], "a slow warm-up of x must not hold back y");
  started[0]!.slot.answered();
  await settle();
  assertEquals(
    names(),
    ["x1", "y1", "y2", "x2", "x3"],
    "the answer warms the prefix, not the end of the call",
  );
});

Deno.test("a warm prefix stays warm for five minutes", async () => {
  let time = 0;
  const { started, submit, names } = bench(() => time);
  submit("first", { prefix: "x" });
  await settle();
  await started[0]!.succeed();
  time = PREFIX_WARM_MS - 1;
  submit("second", { prefix: "x" });
  submit("third", { prefix: "x" });
  await settle();
  assertEquals(names(), ["first", "second", "third"]);
  time = PREFIX_WARM_MS;
  submit("fourth", { prefix: "x" });
  submit("fifth", { prefix: "x" });
  await settle();
  assertEquals(names().slice(3), ["fourth"]);
});

Deno.test("the next sibling takes over when the warm-up fails or is aborted", async () => {
  const { started, submit, names } = bench();
  submit("first", { prefix: "x" });
  const second = submit("second", { prefix: "x" });
  submit("third", { prefix: "x" });
  submit("fourth", { prefix: "x" });
  await settle();
  await started[0]!.fail();
  assertEquals(names(), ["first", "second"]);
  second.abort();
  await settle();
  assertEquals(names(), ["first", "second", "third"], "an aborted warm-up hands over too");
  await started[2]!.succeed();
  assertEquals(names(), ["first", "second", "third", "fourth"]);
});

Deno.test("after two failed warm-ups all siblings go, so that a dead backend does not fail one by one", async () => {
  const { started, submit, names } = bench();
  for (const name of ["1", "2", "3", "4", "5"]) submit(name, { prefix: "x" });
  await settle();
  await started[0]!.fail();
  await started[1]!.fail();
  assertEquals(names(), ["1", "2", "3", "4", "5"]);
});

Deno.test("identical calls in flight are one call, and one caller's abort doesn't end the other's", async () => {
  const { started, submit } = bench();
  const one = submit("one", { key: "k" });
  const two = submit("two", { key: "k" });
  await settle();
  assertEquals(started.length, 1);
  one.abort(new Error("gone"));
  await assertRejects(() => one.result, Error, "gone");
  assert(!started[0]!.slot.signal.aborted);
  await started[0]!.succeed();
  assertEquals(await two.result, { value: "one", joined: true });
});

Deno.test("a call is aborted when the last of its callers has left, and a newcomer gets a new call", async () => {
  const { started, submit } = bench();
  const one = submit("one", { key: "k" });
  const two = submit("two", { key: "k" });
  await settle();
  one.abort();
  two.abort();
  assert(started[0]!.slot.signal.aborted);
  const three = submit("three", { key: "k" });
  await settle();
  assertEquals(started.length, 2);
  await started[1]!.succeed();
  assertEquals(await three.result, { value: "three", joined: false });
});

Deno.test("a finished call is not joined: its answer is the cache's business", async () => {
  const { started, submit } = bench();
  submit("one", { key: "k" });
  await settle();
  await started[0]!.succeed();
  submit("two", { key: "k" });
  await settle();
  assertEquals(started.length, 2);
});

Deno.test("waiting callers leave the queue on abort and strand nobody", async () => {
  const { scheduler, started, submit, names } = bench();
  submit("a", { concurrency: 1 });
  const b = submit("b", { concurrency: 1 });
  submit("c", { concurrency: 1 });
  await settle();
  assertEquals(scheduler.status()[0]!.waiting, 2);
  b.abort(new Error("left"));
  await assertRejects(() => b.result, Error, "left");
  assertEquals(scheduler.status()[0]!.waiting, 1);
  await started[0]!.succeed();
  assertEquals(names(), ["a", "c"]);
});

Deno.test("a caller that has left before it came is refused without a call", async () => {
  const { scheduler, started } = bench();
  const signal = AbortSignal.abort(new Error("never came"));
  const call = { pool: "p", concurrency: 1, request: {}, key: "k", prefix: "x", signal };
  await assertRejects(() => scheduler.run({ ...call, call: () => Promise.resolve(1) }), Error, "never came");
  assertEquals(started.length, 0);
});

Deno.test("requests take turns, each in its own order", async () => {
  const { started, submit, names } = bench();
  const [big, small] = [{}, {}];
  for (const name of ["b1", "b2", "b3", "b4"]) submit(name, { concurrency: 1, request: big });
  for (const name of ["s1", "s2"]) submit(name, { concurrency: 1, request: small });
  await settle();
  for (let i = 0; i < 6; i++) await started[i]!.succeed();
  assertEquals(names(), ["b1", "b2", "s1", "b3", "s2", "b4"]);
});

Deno.test("one burst of 429 halves the limit once, and answers bring it back slowly", async () => {
  const { scheduler, started, submit } = bench();
  const limit = (): number => scheduler.status()[0]!.limit;
  for (let i = 0; i < 60; i++) submit(String(i), { concurrency: 8 });
  await settle();
  for (const { slot } of started.slice(0, 8)) slot.rateLimited();
  assertEquals(limit(), 4);
  for (let i = 0; i < 8; i++) await started[i]!.fail();
  assertEquals(running(scheduler), 4);
  started[8]!.slot.rateLimited();
  assertEquals(limit(), 2, "a call that started after the first burst counts again");
  await started[8]!.fail();
  for (let i = 9; i < 60 && limit() < 8; i++) {
    assert(running(scheduler) <= Math.max(4, limit()));
    await started[i]!.succeed();
    if (i === 12) assertEquals(limit(), 3, "two times the limit of answers add one");
  }
  assertEquals(limit(), 7);
});

Deno.test("a smaller or larger concurrency of a changed profile is taken over", async () => {
  const { scheduler, submit } = bench();
  submit("a", { concurrency: 4 });
  submit("b", { concurrency: 2 });
  await settle();
  assertEquals(scheduler.status()[0]!.limit, 2);
  submit("c", { concurrency: 6 });
  assertEquals(scheduler.status()[0]!.limit, 6);
});

type Action =
  | { readonly do: "submit"; readonly request: number; readonly prefix: number; readonly key: number }
  | { readonly do: "abort" | "succeed" | "fail" | "limit"; readonly at: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("submit" as const),
      request: fc.nat(2),
      prefix: fc.nat(3),
      key: fc.nat(5),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("abort" as const, "succeed" as const, "fail" as const),
      at: fc.nat(40),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("limit" as const), at: fc.nat(40) }) },
);

Deno.test("the scheduler keeps its bounds and strands nobody, whatever happens in whatever order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const concurrency = 3;
      const { scheduler, started, submit } = bench();
      const requests = [{}, {}, {}];
      const open = new Set<Running>();
      const submitted: ReturnType<typeof submit>[] = [];
      let seen = 0;
      let settledCount = 0;
      const observe = (): void => {
        for (const call of started.slice(seen)) open.add(call);
        seen = started.length;
        for (const call of open) if (call.slot.signal.aborted) open.delete(call);
        const { running, limit } = scheduler.status()[0] ?? { running: 0, limit: 0 };
        assert(running <= concurrency && limit <= concurrency && limit >= (submitted.length > 0 ? 1 : 0));
        assertEquals(running, open.size);
        const names = [...open].map(({ name }) => name);
        assertEquals(new Set(names).size, names.length, "one key runs once at a time");
      };
      for (const step of actions) {
        if (step.do === "submit") {
          // The name carries the key, so that equal names in flight would be equal calls.
          const name = `${step.prefix}/${step.key}`;
          const prefix = step.prefix === 0 ? null : String(step.prefix);
          const call = submit(name, { concurrency, request: requests[step.request]!, prefix, key: name });
          call.result.then(() => settledCount++, () => settledCount++);
          submitted.push(call);
        } else if (step.do === "abort") {
          submitted[step.at % Math.max(1, submitted.length)]?.abort(new Error("left"));
        } else {
          const call = [...open][step.at % Math.max(1, open.size)];
          if (call !== undefined) {
            if (step.do === "limit") call.slot.rateLimited();
            else {
              open.delete(call);
              await (step.do === "succeed" ? call.succeed() : call.fail());
            }
          }
        }
        await settle();
        observe();
      }
      for (let guard = 0; guard < 500 && open.size > 0; guard++) {
        const [call] = open;
        open.delete(call!);
        await call!.succeed();
        observe();
      }
      await settle();
      assertEquals(settledCount, submitted.length, "every caller hears back");
      const status = scheduler.status()[0];
      assertEquals([status?.running ?? 0, status?.waiting ?? 0], [0, 0]);
    }),
    { numRuns: 300 },
  );
});

Deno.test("at most one call of a cold prefix runs at a time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2), { maxLength: 20 }), fc.nat(9), async (prefixes, failures) => {
      const { started, submit } = bench();
      prefixes.forEach((prefix, i) => submit(`${prefix}:${i}`, { prefix: String(prefix) }));
      await settle();
      const cold = started.map(({ name }) => name.split(":")[0]);
      assertEquals(cold.length, new Set(cold).size);
      assertEquals(cold.length, new Set(prefixes).size);
      if (failures === 0 && started[0] !== undefined) {
        const before = started.length;
        await started[0].fail();
        const own = started.slice(before).map(({ name }) => name.split(":")[0]);
        assert(own.length <= 1 && own.every((prefix) => prefix === cold[0]), "only one sibling takes over");
      }
    }),
  );
});
