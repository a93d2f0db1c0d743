import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { EXAMPLE_RESULT } from "./examples.ts";
import type { Verbs } from "./operation.ts";
import { AssayError } from "../verifier/errors.ts";
import type { CallOptions } from "../verifier/types.ts";
import { COMPARE, exampleVerbs, fakeApp, post } from "../tests/http_fakes.ts";
import { eventStream } from "./events.ts";
import { acceptsEvents } from "./verb.ts";

const PLAN = { pairs: 1, calls: 2, inputTokens: 9, cachedInputTokens: 0, outputTokens: 9, usd: null };
const STREAM = { accept: "text/event-stream" };

function withCompare(run: (options: CallOptions) => Promise<typeof EXAMPLE_RESULT.compare>): Verbs {
  return { ...exampleVerbs, compare: (_environment, _request, options) => run(options) };
}

function parse(text: string): { readonly events: EventSourceMessage[]; readonly comments: string[] } {
  const events: EventSourceMessage[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onComment: (comment) => comments.push(comment.trim()),
  });
  parser.feed(text);
  return { events, comments };
}

Deno.test("a stream carries every progress event in order and the result last, each with its own id", async () => {
  const verbs = withCompare(({ onEvent }) => {
    onEvent?.({ type: "plan", plan: PLAN });
    for (const done of [1, 2]) {
      onEvent?.({
        type: "call",
        done,
        total: 2,
        criterion: "correctness",
        repeat: 0,
        scores: [],
        cached: false,
      });
    }
    return Promise.resolve(EXAMPLE_RESULT.compare);
  });
  const response = await fakeApp({ verbs }).ask("/v1/compare", post(COMPARE, STREAM));
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assertMatch(response.headers.get("cache-control") ?? "", /no-store/);
  const { events } = parse(await response.text());
  assertEquals(events.map(({ event }) => event), ["plan", "call", "call", "result"]);
  assertEquals(events.map(({ id }) => id), ["1", "2", "3", "4"]);
  assertEquals(JSON.parse(events[0]?.data ?? ""), { plan: PLAN });
  assertEquals(JSON.parse(events[3]?.data ?? ""), JSON.parse(JSON.stringify(EXAMPLE_RESULT.compare)));
});

Deno.test("a verb without progress still streams exactly one result", async () => {
  const { events } = parse(await (await fakeApp().ask("/v1/compare", post(COMPARE, STREAM))).text());
  assertEquals(events.map(({ event }) => event), ["result"]);
});

Deno.test("a request that is refused gets an ordinary problem response, not a stream", async () => {
  const { ask } = fakeApp({
    verbs: withCompare(() => Promise.reject(new AssayError("over_budget", "too dear"))),
  });
  const invalid = await ask("/v1/compare", post({ task: 1 }, STREAM));
  assertEquals([invalid.status, invalid.headers.get("content-type")], [400, "application/problem+json"]);
  const refused = await ask("/v1/compare", post(COMPARE, STREAM));
  assertEquals([refused.status, refused.headers.get("content-type")], [422, "application/problem+json"]);
});

Deno.test("a verb that fails after its first event ends the stream with one problem", async () => {
  for (
    const [error, code] of [[new AssayError("judge_failed", "500"), "judge_failed"], [
      new Error("x"),
      "internal",
    ]]
  ) {
    const verbs = withCompare(({ onEvent }) => {
      onEvent?.({ type: "plan", plan: PLAN });
      return Promise.reject(error);
    });
    const { ask, logged } = fakeApp({ verbs });
    const { events } = parse(await (await ask("/v1/compare", post(COMPARE, STREAM))).text());
    assertEquals(events.map(({ event }) => event), ["plan", "problem"]);
    assertEquals(JSON.parse(events[1]?.data ?? "").code, code);
    assertEquals(logged.length, code === "internal" ? 1 : 0);
  }
});

Deno.test("events after the last one are not sent", async () => {
  let late: CallOptions["onEvent"];
  const verbs = withCompare(({ onEvent }) => {
    late = onEvent;
    return Promise.resolve(EXAMPLE_RESULT.compare);
  });
  const response = await fakeApp({ verbs }).ask("/v1/compare", post(COMPARE, STREAM));
  late?.({ type: "plan", plan: PLAN });
  assertEquals(parse(await response.text()).events.map(({ event }) => event), ["result"]);
});

Deno.test("a silent verb is kept alive by comments until it answers", async () => {
  const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
  const verbs = withCompare(async () => {
    await asked;
    return EXAMPLE_RESULT.compare;
  });
  const response = await fakeApp({ verbs, keepAliveMs: 1 }).ask("/v1/compare", post(COMPARE, STREAM));
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (parse(text).comments.length < 3) text += (await reader.read()).value ?? "";
  answer();
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  assertEquals(parse(text).events.map(({ event }) => event), ["result"]);
  assert(parse(text).comments.every((comment) => comment === "keep-alive"));
});

Deno.test("a silent verb that fails after its stream began ends it with a problem", async () => {
  const { promise: asked, resolve: fail } = Promise.withResolvers<void>();
  const verbs = withCompare(async () => {
    await asked;
    throw new AssayError("judge_failed", "down");
  });
  const response = await fakeApp({ verbs, keepAliveMs: 1 }).ask("/v1/compare", post(COMPARE, STREAM));
  fail();
  assertEquals(parse(await response.text()).events.map(({ event }) => event), ["problem"]);
});

Deno.test("a reader that goes away aborts the verb", async () => {
  const { promise: aborted, resolve } = Promise.withResolvers<unknown>();
  const verbs = withCompare(({ signal, onEvent }) => {
    onEvent?.({ type: "plan", plan: PLAN });
    return new Promise((_, reject) =>
      signal?.addEventListener("abort", () => {
        resolve(signal.reason);
        reject(signal.reason);
      })
    );
  });
  const response = await fakeApp({ verbs }).ask("/v1/compare", post(COMPARE, STREAM));
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  assertEquals((await aborted as DOMException).name, "AbortError");
});

Deno.test("a connection that closes aborts the verb, with a stream and without", async () => {
  for (const headers of [STREAM, { accept: "application/json" }]) {
    const connection = new AbortController();
    const { promise: running, resolve: started } = Promise.withResolvers<void>();
    const { promise: aborted, resolve } = Promise.withResolvers<boolean>();
    const verbs = withCompare(({ signal }) => {
      started();
      return new Promise((_, reject) =>
        signal?.addEventListener("abort", () => {
          resolve(signal.aborted);
          reject(signal.reason);
        })
      );
    });
    const { ask, logged } = fakeApp({ verbs });
    const answer = ask("/v1/compare", { ...post(COMPARE, headers), signal: connection.signal });
    await running;
    connection.abort();
    assertEquals(await aborted, true);
    await (await answer).body?.cancel();
    assertEquals(logged, [], "a caller who leaves is not a failure of the server");
  }
});

Deno.test("eventStream() leaves no timer and no listener behind", async () => {
  // Deno's own leak checks fail this test if a timer survives.
  const response = await eventStream({
    signal: new AbortController().signal,
    run: (emit) => {
      emit({ event: "plan", data: {} });
      return Promise.resolve({ event: "result", data: { text: "a\nb\r\u2028" } });
    },
    onFailure: () => ({ event: "problem", data: {} }),
  });
  const { events } = parse(await response.text());
  assertEquals(JSON.parse(events[1]?.data ?? ""), { text: "a\nb\r\u2028" });
});

Deno.test("eventStream() rejects when the work fails before its first event", async () => {
  await assertRejects(
    () =>
      eventStream({
        signal: new AbortController().signal,
        run: () => Promise.reject(new RangeError("no")),
        onFailure: () => ({ event: "problem", data: {} }),
      }),
    RangeError,
    "no",
  );
});

Deno.test("acceptsEvents() hears only those who ask by name", () => {
  for (const header of ["text/event-stream", "application/json, Text/Event-Stream;q=0.5"]) {
    assertEquals(acceptsEvents(header), true, header);
  }
  for (const header of [undefined, "", "*/*", "text/*", "application/json", "text/event-stream;q=0"]) {
    assertEquals(acceptsEvents(header), false, String(header));
  }
});
