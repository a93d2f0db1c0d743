import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import {
  AttemptError,
  type Exchange,
  exchange,
  httpFailure,
  limitedChunks,
  readText,
  shown,
} from "./attempt.ts";
import { fakeTiming, json } from "./test_tools.ts";

/** Timers that fire only when the test says so. */
function manualTiming() {
  const timers: { at: number; run: () => void }[] = [];
  let now = 0;
  return {
    ...fakeTiming(),
    timers,
    now: () => now,
    after: (ms: number, run: () => void) => {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
    /** Lets time pass, running what falls due. */
    pass(ms: number) {
      now += ms;
      for (const timer of timers.splice(0)) {
        if (timer.at <= now) timer.run();
        else timers.push(timer);
      }
    },
  };
}

function options(fields: Partial<Exchange> = {}): Exchange {
  return {
    fetch: () => Promise.resolve(json({ ok: true })),
    url: "http://judge/v1",
    headers: {},
    body: "{}",
    timeoutMs: 100,
    remainingMs: 1000,
    maxResponseBytes: 1000,
    signal: new AbortController().signal,
    secrets: [],
    timing: manualTiming(),
    ...fields,
  };
}

/** A read that ends when its signal aborts; `progress` is handed out. */
function hanging(): {
  fetch: typeof fetch;
  read: (response: Response, progress: () => void) => Promise<never>;
  progress: () => void;
  started: Promise<void>;
} {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<never>();
  const result = {
    started: started.promise,
    progress: () => {},
    fetch: ((_: unknown, init?: RequestInit) => {
      init?.signal?.addEventListener("abort", () => ended.reject(init.signal?.reason));
      return Promise.resolve(json({}));
    }) as typeof fetch,
    read: (_: Response, progress: () => void): Promise<never> => {
      result.progress = progress;
      started.resolve();
      return ended.promise;
    },
  };
  return result;
}

Deno.test("exchange() ends an attempt that brings nothing new for timeoutMs", async () => {
  const timing = manualTiming();
  const { fetch, read, started } = hanging();
  const attempt = exchange(options({ fetch, timing }), read);
  await started;
  timing.pass(99);
  timing.pass(1);
  const error = await assertRejects(() => attempt, AttemptError, "100 ms");
  assertEquals([error.failure, error.retryable, timing.timers.length], ["timeout", true, 0]);
});

Deno.test("exchange() lets a stream that makes progress go on until the time in all is over", async () => {
  const timing = manualTiming();
  const hung = hanging();
  const attempt = exchange(options({ fetch: hung.fetch, timing }), hung.read);
  await hung.started;
  let outcome: unknown = "running";
  const watched = attempt.catch((error) => outcome = error);
  for (let elapsed = 0; elapsed < 960; elapsed += 80) {
    assertEquals(outcome, "running");
    hung.progress();
    timing.pass(80);
    await Promise.resolve();
  }
  hung.progress();
  timing.pass(40);
  await watched;
  assert(outcome instanceof AttemptError);
  assertEquals(outcome.failure, "timeout");
});

Deno.test("exchange() leaves neither timers nor listeners behind, however it ends", async () => {
  let listeners = 0;
  const signal = new AbortController().signal;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  const timing = manualTiming();
  await exchange(options({ signal, timing }), (response) => response.json());
  await assertRejects(() => exchange(options({ signal, timing }), () => Promise.reject(new Error("broken"))));
  await assertRejects(() =>
    exchange(
      options({ signal, timing, fetch: () => Promise.reject(new TypeError("no route")) }),
      () => Promise.resolve(),
    )
  );
  await assertRejects(() =>
    exchange(
      options({ signal, timing, fetch: () => Promise.resolve(json("", { status: 500 })) }),
      () => Promise.resolve(),
    )
  );
  assertEquals([listeners, timing.timers.length], [0, 0]);
});

Deno.test("exchange() rejects with the caller's reason whatever else went wrong", async () => {
  const controller = new AbortController();
  const reason = new Error("the caller left");
  const error = await assertRejects(() =>
    exchange(options({ signal: controller.signal }), () => {
      controller.abort(reason);
      return Promise.reject(new AttemptError("protocol", "nonsense"));
    })
  );
  assertStrictEquals(error, reason);
});

Deno.test("exchange() calls a failed fetch a network failure and takes secrets out of its message", async () => {
  const fetch = () =>
    Promise.reject(new TypeError("error sending request for url (http://u:pw@host/ key=my-secret-value)"));
  const error = await assertRejects(
    () => exchange(options({ fetch, secrets: ["my-secret-value"] }), () => Promise.resolve()),
    AttemptError,
    "Cannot reach the judge",
  );
  assertEquals([error.failure, error.retryable], ["network", true]);
  assert(!/my-secret-value|pw@/.test(error.message));
});

Deno.test("exchange() refuses redirects, also where the runtime hides their status", async () => {
  const opaque = Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" });
  Object.defineProperty(opaque, "ok", { value: false });
  for (
    const response of [new Response(null, { status: 307, headers: { location: "http://evil/" } }), opaque]
  ) {
    const error = await assertRejects(
      () => exchange(options({ fetch: () => Promise.resolve(response) }), () => Promise.resolve()),
      AttemptError,
      "redirect",
    );
    assertEquals(error.retryable, false);
  }
});

Deno.test("an error's body is read only so far", async () => {
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(16 * 1024).fill(120));
    },
  });
  const fetch = () => Promise.resolve(new Response(body, { status: 400 }));
  const error = await assertRejects(
    () => exchange(options({ fetch }), () => Promise.resolve()),
    AttemptError,
  );
  assert(pulled < 10);
  assert(error.message.length < 500 && error.body.length <= 4096);
});

Deno.test("a refused request costs nothing; what a broken server did nobody knows", () => {
  assertEquals(httpFailure(400, "", [], null).usage?.inputTokens, 0);
  assertEquals(httpFailure(429, "", [], null).usage?.outputTokens, 0);
  assertEquals(httpFailure(500, "", [], null).usage, null);
});

Deno.test("readText() counts a body without a declared length, and doesn't believe one that is compressed", async () => {
  const chunked = (headers: HeadersInit = {}): Response =>
    new Response(new Blob(["x".repeat(50)]).stream(), { headers });
  assertEquals((await readText(chunked(), 50)).length, 50);
  await assertRejects(() => readText(chunked(), 49), AttemptError, "49 bytes");
  await assertRejects(
    () => readText(chunked({ "content-length": "5", "content-encoding": "gzip" }), 49),
    AttemptError,
  );
  await assertRejects(() => readText(chunked({ "content-length": "50" }), 49), AttemptError);
  await assertRejects(() => readText(chunked({ "content-length": "nonsense" }), 49), AttemptError);
  assertEquals((await readText(chunked(), 10, false)).length, 10);
});

Deno.test("readText() keeps characters whole over chunks", async () => {
  const bytes = new TextEncoder().encode("日本語🙂");
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  assertEquals(await readText(new Response(body), 100), "日本語🙂");
});

Deno.test("limitedChunks() releases the body when its reader stops early", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Uint8Array.of(1)),
    cancel: () => {
      cancelled = true;
    },
  });
  for await (const _ of limitedChunks(new Response(body), 100)) break;
  assert(cancelled);
  for await (const _ of limitedChunks(new Response(null), 100)) assert(false);
});

Deno.test("shown() is one short line", () => {
  assertEquals(shown("  a\n\n b\t", []), "a b");
  assertEquals(shown("x".repeat(1000), []).length, 401);
});

Deno.test("exchange() lets go of the connection when the answer isn't read to its end, and only then", async () => {
  const signals: AbortSignal[] = [];
  const fetch = ((_: unknown, init?: RequestInit) => {
    if (init?.signal) signals.push(init.signal);
    return Promise.resolve(json({ ok: true }));
  }) as typeof globalThis.fetch;
  await exchange(options({ fetch }), (response) => response.json());
  await assertRejects(() =>
    exchange(options({ fetch }), () => Promise.reject(new AttemptError("protocol", "no")))
  );
  assertEquals(signals.map((signal) => signal.aborted), [false, true]);
});
