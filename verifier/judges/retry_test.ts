import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { AttemptError } from "./attempt.ts";
import { MAXIMUM_WAIT_MS, retryAfterMs, systemTiming, withRetries } from "./retry.ts";
import { fakeTiming } from "./test_tools.ts";

const NOW = Date.UTC(2026, 11, 1, 12);
const after = (headers: Record<string, string>): number | null => retryAfterMs(new Headers(headers), NOW);
const never = new AbortController().signal;
const http = (status: number, wait: number | null = null): AttemptError =>
  new AttemptError("http", `status ${status}`, { status, retryAfterMs: wait });

Deno.test("retryAfterMs() reads milliseconds, seconds, fractions and dates", () => {
  assertEquals(after({ "retry-after-ms": "250" }), 250);
  assertEquals(after({ "retry-after-ms": "250.6" }), 251);
  assertEquals(after({ "retry-after": "2" }), 2000);
  assertEquals(after({ "retry-after": " 1.5 " }), 1500);
  assertEquals(after({ "retry-after": ".25" }), 250);
  assertEquals(after({ "retry-after": "Tue, 01 Dec 2026 12:00:07 GMT" }), 7000);
  assertEquals(after({ "retry-after": "Tuesday, 01-Dec-26 12:00:07 GMT" }), 7000);
  assertEquals(after({ "retry-after": "2026-12-01T12:00:03Z" }), 3000);
});

Deno.test("retryAfterMs() prefers retry-after-ms, and goes on to retry-after where that can't be read", () => {
  assertEquals(after({ "retry-after-ms": "10", "retry-after": "9" }), 10);
  assertEquals(after({ "retry-after-ms": "soon", "retry-after": "9" }), 9000);
});

Deno.test("retryAfterMs() clamps to 0 and 60 seconds", () => {
  assertEquals(after({ "retry-after": "-5" }), 0);
  assertEquals(after({ "retry-after": "0" }), 0);
  assertEquals(after({ "retry-after": "3600" }), MAXIMUM_WAIT_MS);
  assertEquals(after({ "retry-after": "999999999999999" }), MAXIMUM_WAIT_MS);
  assertEquals(after({ "retry-after": "Mon, 30 Nov 2026 12:00:00 GMT" }), 0);
  assertEquals(after({ "retry-after": "Wed, 02 Dec 2026 12:00:00 GMT" }), MAXIMUM_WAIT_MS);
});

Deno.test("retryAfterMs() takes nothing from what is neither a number nor a date", () => {
  for (
    const text of [
      "",
      "  ",
      "soon",
      "1 potato",
      "1e3",
      "0x10",
      "NaN",
      "Infinity",
      "1,5",
      "Monday",
      "12:00",
    ]
  ) {
    assertEquals(after({ "retry-after": text }), null, text);
  }
  assertEquals(after({}), null);
});

Deno.test("retryAfterMs() gives null or a whole number of milliseconds in range for any header", () => {
  const text = fc.oneof(
    fc.stringMatching(/^[ -~]*$/),
    fc.double().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    fc.integer().map(String),
  );
  fc.assert(fc.property(fc.option(text), fc.option(text), (seconds, milliseconds) => {
    const headers = new Headers();
    if (seconds !== null) headers.set("retry-after", seconds);
    if (milliseconds !== null) headers.set("retry-after-ms", milliseconds);
    const found = retryAfterMs(headers, NOW);
    assert(found === null || (Number.isInteger(found) && found >= 0 && found <= MAXIMUM_WAIT_MS));
  }));
});

Deno.test("retryAfterMs() gives back any date within the next minute to the second", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 60 }), (seconds) => {
    assertEquals(after({ "retry-after": new Date(NOW + seconds * 1000).toUTCString() }), seconds * 1000);
  }));
});

Deno.test("withRetries() tries retries + 1 times, with growing waits, and throws the last error itself", async () => {
  const timing = fakeTiming();
  const errors = [http(500), http(502), http(503), http(529)];
  let tried = 0;
  const error = await assertRejects(() =>
    withRetries(() => Promise.reject(errors[tried++]), { retries: 3, deadlineMs: 1e6, timing }, never)
  );
  assertStrictEquals(error, errors[3]);
  assertEquals(timing.slept, [375, 750, 1500]);
});

Deno.test("withRetries() retries 408, 409, 429, 5xx, broken connections and timeouts, and nothing else", async () => {
  const attempts = async (error: Error): Promise<number> => {
    let tried = 0;
    const run = () => {
      tried++;
      return Promise.reject(error);
    };
    await assertRejects(() => withRetries(run, { retries: 2, deadlineMs: 1e6, timing: fakeTiming() }, never));
    return tried;
  };
  for (const status of [408, 409, 429, 500, 502, 503, 504, 529]) {
    assertEquals(await attempts(http(status)), 3, `${status}`);
  }
  for (const status of [301, 400, 401, 402, 403, 404, 405, 413, 415, 422, 501]) {
    assertEquals(await attempts(http(status)), 1, `${status}`);
  }
  assertEquals(await attempts(new AttemptError("network", "")), 3);
  assertEquals(await attempts(new AttemptError("timeout", "")), 3);
  for (const failure of ["protocol", "too_large", "refused"] as const) {
    assertEquals(await attempts(new AttemptError(failure, "")), 1, failure);
  }
  assertEquals(await attempts(new TypeError("a bug")), 1);
});

Deno.test("withRetries() waits as long as the server asks", async () => {
  const timing = fakeTiming();
  let tried = 0;
  const result = await withRetries(
    () => tried++ === 0 ? Promise.reject(http(429, 7000)) : Promise.resolve("done"),
    { retries: 1, deadlineMs: 60_000, timing },
    never,
  );
  assertEquals([result, timing.slept], ["done", [7000]]);
});

Deno.test("withRetries() gives up at once when the wait would end past the deadline", async () => {
  const timing = fakeTiming();
  const run = () => Promise.reject(http(429, 7000));
  await assertRejects(
    () => withRetries(run, { retries: 5, deadlineMs: 7000, timing }, never),
    AttemptError,
    "429",
  );
  assertEquals(timing.slept, []);
});

Deno.test("withRetries() tells every attempt how much time is left", async () => {
  const timing = fakeTiming();
  const left: number[] = [];
  const run = (remaining: number) => {
    left.push(remaining);
    timing.advance(1000);
    return Promise.reject(http(500));
  };
  await assertRejects(() => withRetries(run, { retries: 2, deadlineMs: 10_000, timing }, never));
  assertEquals(left, [10_000, 8625, 6875]);
});

Deno.test("withRetries() never retries an abort and rejects with its reason", async () => {
  const controller = new AbortController();
  const reason = new Error("the caller left");
  let tried = 0;
  const run = () => {
    tried++;
    controller.abort(reason);
    return Promise.reject(http(500));
  };
  const error = await assertRejects(() =>
    withRetries(run, { retries: 5, deadlineMs: 1e6, timing: fakeTiming() }, controller.signal)
  );
  assertStrictEquals(error, reason);
  assertEquals(tried, 1);
});

Deno.test("an abort ends a wait at once", async () => {
  const controller = new AbortController();
  const reason = new Error("the caller left");
  const waiting = withRetries(
    () => {
      queueMicrotask(() => controller.abort(reason));
      return Promise.reject(http(503, 60_000));
    },
    { retries: 1, deadlineMs: 1e6, timing: systemTiming },
    controller.signal,
  );
  assertStrictEquals(await assertRejects(() => waiting), reason);
});

Deno.test("the machine's sleep refuses an aborted signal and leaves no listener behind", async () => {
  await assertRejects(() => systemTiming.sleep(1, AbortSignal.abort(new Error("gone"))), Error, "gone");
  await systemTiming.sleep(0, never);
});
