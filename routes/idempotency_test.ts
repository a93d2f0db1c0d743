import { assert, assertEquals } from "@std/assert";
import { createMemoryStore } from "../store/memory.ts";
import { type Store, StoreError } from "../store/store.ts";
import { COMPARE, exampleVerbs, fakeApp, fakeEnvironment, post } from "../tests/http_fakes.ts";
import { AssayError } from "../verifier/errors.ts";
import type { CompareRequest, CompareResult } from "../verifier/types.ts";
import { EXAMPLE_RESULT } from "./examples.ts";
import { createAnswerStore } from "./idempotency_store.ts";
import type { Verbs } from "./operation.ts";

/** A compare that counts how often it ran; the result's id says which run it was. */
function counting(work: (request: CompareRequest, signal: AbortSignal) => void | Promise<void> = () => {}) {
  const state = { runs: 0 };
  const compare: Verbs["compare"] = async (_, request, { signal, onEvent }) => {
    const run = ++state.runs;
    onEvent?.({
      type: "plan",
      plan: { pairs: 1, calls: 1, inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, usd: null },
    });
    await work(request, signal ?? new AbortController().signal);
    return { ...EXAMPLE_RESULT.compare, id: `dec_${run}` } as CompareResult;
  };
  return { state, verbs: { ...exampleVerbs, compare } };
}

function app(verbs: Verbs, store: Store = createMemoryStore()) {
  return fakeApp({ verbs, environment: fakeEnvironment({ store }) });
}

const keyed = (key: string, headers: Record<string, string> = {}) => ({ "idempotency-key": key, ...headers });
const replayed = (response: Response) => response.headers.get("idempotent-replayed");
const idOf = async (response: Response) => (await response.json()).id as string;

Deno.test("the same key and body gives the first answer without working again", async () => {
  const { state, verbs } = counting();
  const { ask } = app(verbs);
  const first = await ask("/v1/compare", post(COMPARE, keyed("k1")));
  const again = await ask("/v1/compare", post(COMPARE, keyed("k1")));
  assertEquals([first.status, replayed(first), again.status, replayed(again)], [200, null, 200, "true"]);
  assertEquals(await first.text(), await again.text());
  assertEquals(again.headers.get("content-type"), "application/json");
  assertEquals(state.runs, 1);
  await ask("/v1/compare", post(COMPARE, keyed("k2")));
  await ask("/v1/compare", post(COMPARE));
  assertEquals(state.runs, 3);
});

Deno.test("another body under the same key is a conflict, also by one blank", async () => {
  const { ask } = app(counting().verbs);
  await ask("/v1/compare", post(COMPARE, keyed("k")));
  for (const body of [JSON.stringify({ ...COMPARE, seed: 1 }), `${JSON.stringify(COMPARE)} `]) {
    const response = await ask("/v1/compare", post(body, keyed("k")));
    assertEquals([response.status, (await response.json()).code], [409, "idempotency_conflict"]);
  }
});

Deno.test("a key belongs to one token, one path and one text", async () => {
  const { state, verbs } = counting();
  const { ask } = fakeApp({ verbs, tokens: [{ name: "a", value: "aaaa" }, { name: "b", value: "bbbb" }] });
  for (const token of ["aaaa", "bbbb"]) {
    const response = await ask(
      "/v1/compare",
      post(COMPARE, keyed("k", { authorization: `Bearer ${token}` })),
    );
    assertEquals([response.status, replayed(response)], [200, null]);
  }
  assertEquals(state.runs, 2);
});

Deno.test("a key that isn't 1 to 255 visible ASCII characters is refused", async () => {
  const { ask } = app(counting().verbs);
  for (const key of ["", "a b", "ä", "x".repeat(256)]) {
    const response = await ask("/v1/compare", post(COMPARE, keyed(key)));
    assertEquals(response.status, 400, key);
    assertEquals((await response.json()).errors[0].path, "/Idempotency-Key");
  }
  assertEquals((await ask("/v1/compare", post(COMPARE, keyed("x".repeat(255))))).status, 200);
});

Deno.test("requests in flight under one key share the first one's work, in one process and in two", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { state, verbs } = counting(() => {
    begin();
    return gate;
  });
  const store = createMemoryStore();
  const [one, two] = [app(verbs, store), app(verbs, store)];
  const first = one.ask("/v1/compare", post(COMPARE, keyed("k")));
  await begun;
  const others = [one, one, two, two].map(({ ask }) => ask("/v1/compare", post(COMPARE, keyed("k"))));
  const other = await two.ask("/v1/compare", post({ ...COMPARE, seed: 2 }, keyed("k")));
  assertEquals(other.status, 409, "a conflict is told at once");
  await other.body?.cancel();
  open();
  const answers = await Promise.all([first, ...others]);
  assertEquals(await Promise.all(answers.map(idOf)), Array(5).fill("dec_1"));
  assertEquals(answers.map(replayed), [null, "true", "true", "true", "true"]);
  assertEquals(state.runs, 1);
});

Deno.test("whoever waits for the first answer does so no longer than its own deadline", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { verbs } = counting(() => {
    begin();
    return gate;
  });
  const store = createMemoryStore();
  const [one, two] = [app(verbs, store), app(verbs, store)];
  const body = { ...COMPARE, deadlineMs: 1 };
  const first = one.ask("/v1/compare", post(body, keyed("k")));
  await begun;
  const late = await two.ask("/v1/compare", post(body, keyed("k")));
  assertEquals([late.status, (await late.json()).code], [504, "deadline_exceeded"]);
  open();
  assertEquals(await idOf(await first), "dec_1");
});

Deno.test("a failure that may end otherwise frees the key, a final one is kept", async () => {
  const failures: readonly (readonly [AssayError | Error, number, boolean])[] = [
    [new AssayError("judge_failed", "down"), 502, false],
    [new AssayError("budget_exhausted", "tomorrow", { retryAfterSeconds: 9 }), 429, false],
    [new AssayError("deadline_exceeded", "slow"), 504, false],
    [new StoreError("down"), 503, false],
    [new DOMException("gone", "AbortError"), 500, false],
    [new AssayError("over_budget", "too dear"), 422, true],
    [AssayError.field("/judge", "must be known"), 400, true],
  ];
  for (const [failure, status, kept] of failures) {
    const { state, verbs } = counting(() => {
      if (state.runs === 1) throw failure;
    });
    const { ask } = app(verbs);
    const first = await ask("/v1/compare", post(COMPARE, keyed("k")));
    assertEquals(first.status, status, failure.message);
    const again = await ask("/v1/compare", post(COMPARE, keyed("k")));
    assertEquals([again.status, replayed(again)], kept ? [status, "true"] : [200, null], failure.message);
    if (kept) assertEquals(await again.json(), await first.json());
    assertEquals(state.runs, kept ? 1 : 2);
  }
});

Deno.test("a waiting request takes over when the first one fails", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { state, verbs } = counting(async () => {
    if (state.runs > 1) return;
    begin();
    await gate;
    throw new AssayError("judge_failed", "down");
  });
  const { ask } = app(verbs);
  const first = ask("/v1/compare", post(COMPARE, keyed("k")));
  await begun;
  const second = ask("/v1/compare", post(COMPARE, keyed("k")));
  open();
  assertEquals([(await first).status, (await second).status, state.runs], [502, 200, 2]);
});

Deno.test("a caller who hangs up frees the key, and one who waits can leave", async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { state, verbs } = counting((_, signal) => {
    if (state.runs > 1) return;
    begin();
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const { ask } = app(verbs);
  const [first, second] = [new AbortController(), new AbortController()];
  const running = ask("/v1/compare", { ...post(COMPARE, keyed("k")), signal: first.signal });
  await begun;
  const waiting = ask("/v1/compare", { ...post(COMPARE, keyed("k")), signal: second.signal });
  second.abort();
  await (await waiting).body?.cancel();
  first.abort();
  await (await running).body?.cancel();
  assertEquals((await ask("/v1/compare", post(COMPARE, keyed("k")))).status, 200);
  assertEquals(state.runs, 2);
});

Deno.test("an event stream's result is kept, and replayed as one result event or as JSON", async () => {
  const { state, verbs } = counting();
  const { ask } = app(verbs);
  const events = keyed("k", { accept: "text/event-stream" });
  const text = await (await ask("/v1/compare", post(COMPARE, events))).text();
  assert(text.includes("event: plan") && text.includes("event: result"));
  const again = await ask("/v1/compare", post(COMPARE, events));
  assertEquals(replayed(again), "true");
  const replay = await again.text();
  assert(/^id: 1\nevent: result\ndata: \{.*\}\n\n$/.test(replay), replay);
  const json = await ask("/v1/compare", post(COMPARE, keyed("k")));
  assertEquals(await json.json(), JSON.parse(replay.split("\ndata: ")[1]!));
  assertEquals(state.runs, 1);
});

Deno.test("an event stream that ends in a problem, or whose reader leaves, frees the key", async () => {
  const { state, verbs } = counting(() => {
    if (state.runs === 1) throw new AssayError("judge_failed", "down");
  });
  const { ask } = app(verbs);
  const events = keyed("k", { accept: "text/event-stream" });
  assert((await (await ask("/v1/compare", post(COMPARE, events))).text()).includes("event: problem"));
  const left = await ask("/v1/compare", post(COMPARE, keyed("l", { accept: "text/event-stream" })));
  await left.body?.cancel();
  assertEquals((await ask("/v1/compare", post(COMPARE, keyed("l")))).status, 200);
  const again = await ask("/v1/compare", post(COMPARE, keyed("k")));
  assertEquals([again.status, replayed(again)], [200, null]);
});

Deno.test("an answer of many megabytes is kept whole", async () => {
  const long = "é".repeat(3_000_000);
  const verbs = {
    ...exampleVerbs,
    compare: () => Promise.resolve({ ...EXAMPLE_RESULT.compare, warnings: [long] } as CompareResult),
  };
  const { ask } = app(verbs);
  await ask("/v1/compare", post(COMPARE, keyed("k")));
  const again = await ask("/v1/compare", post(COMPARE, keyed("k")));
  assertEquals([replayed(again), (await again.json()).warnings[0] === long], ["true", true]);
});

Deno.test("with the store down nothing is bought under a key; an answer that can't be kept is given and says so", async () => {
  const inner = createMemoryStore();
  let down = true;
  const store: Store = {
    ...inner,
    put: (key, value, options) =>
      down ? Promise.reject(new StoreError("down")) : inner.put(key, value, options),
  };
  const { state, verbs } = counting(() => void (down = true));
  const { ask, logged } = app(verbs, store);
  const refused = await ask("/v1/compare", post(COMPARE, keyed("k")));
  assertEquals([refused.status, state.runs], [503, 0]);
  assertEquals((await ask("/v1/compare", post(COMPARE))).status, 200, "without a key the store isn't needed");
  down = false;
  const given = await ask("/v1/compare", post(COMPARE, keyed("k")));
  assertEquals([given.status, given.headers.get("idempotent-kept")], [200, "false"]);
  assert(logged.some((line) => line.includes("can't be kept")));
  const again = await ask("/v1/compare", post(COMPARE, keyed("k")));
  assertEquals([again.status, replayed(again), state.runs], [200, "true", 2], "this process remembers it");
});

Deno.test("a dead owner's claim ends with its lease; a living one renews it", async () => {
  const store = createMemoryStore();
  const clock = { now: 1_000_000 };
  const options = { log: () => {}, now: () => clock.now, leaseMs: 30_000 };
  const [dead, next] = [createAnswerStore(store, options), createAnswerStore(store, options)];
  const claim = await dead.claim("id", "hash");
  assert(claim.kind === "mine");
  assertEquals((await next.claim("id", "hash")).kind, "running");
  assertEquals((await next.claim("id", "other")).kind, "conflict");
  clock.now += 31_000;
  const taken = await next.claim("id", "hash");
  assert(taken.kind === "mine");
  const answer = (text: string) => ({ status: 200, headers: {}, body: new TextEncoder().encode(text) });
  await taken.ownership.finish(answer("second"));
  // The first owner wasn't dead, only slow: what counts is what was kept first.
  assertEquals(new TextDecoder().decode((await claim.ownership.finish(answer("first"))).body), "second");
  const found = await dead.claim("id", "hash");
  assert(found.kind === "done");
  assertEquals(new TextDecoder().decode(found.answer.body), "second");
});

Deno.test("corrupt, truncated and foreign records free their key, and are reported", async () => {
  for (
    const text of [
      "",
      "{}",
      "{}\n",
      '{"format":1,"state":"done"',
      '{"format":1,"bodyHash":"hash","state":"done","status":200,"headers":{},"bytes":9}\n{"half":',
      '{"format":1,"bodyHash":"x","state":"done","status":900,"headers":{}}\n',
      "\xff\n",
    ]
  ) {
    const store = createMemoryStore();
    const logged: string[] = [];
    await store.put("idempotency/id", new TextEncoder().encode(text));
    const claim = await createAnswerStore(store, { log: (line) => logged.push(line) }).claim("id", "hash");
    assert(claim.kind === "mine", text);
    assertEquals(logged.length, 1);
    await claim.ownership.release();
    assertEquals(await store.get("idempotency/id"), null);
  }
});

Deno.test("a secret in an answer is given once and not kept, and the replay says so", async () => {
  const verbs = {
    ...exampleVerbs,
    compare: () =>
      Promise.resolve(
        {
          ...EXAMPLE_RESULT.compare,
          warnings: ["it wrote ghp_Planted0Personal1Access2Token3Abc"],
        } as CompareResult,
      ),
  };
  const { ask } = app(verbs);
  const first = await (await ask("/v1/compare", post(COMPARE, keyed("k")))).json();
  assertEquals(first.warnings, ["it wrote ghp_Planted0Personal1Access2Token3Abc"]);
  for (const accept of ["application/json", "text/event-stream"]) {
    const again = await ask("/v1/compare", post(COMPARE, keyed("k", { accept })));
    assertEquals([replayed(again), again.headers.get("idempotent-redacted")], ["true", "true"]);
    const text = await again.text();
    assert(text.includes("it wrote [redacted]") && !text.includes("ghp_"), text);
  }
});
