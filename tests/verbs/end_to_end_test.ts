/**
 * The verbs over real judges: an OpenAI-compatible one against a stub server on loopback, and the evidence judge.
 */
import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import { compare } from "../../verifier/compare.ts";
import { loadConfig } from "../../verifier/config/config.ts";
import { createEnvironment, type Environment } from "../../verifier/environment.ts";
import { AssayError } from "../../verifier/errors.ts";
import { createJudgeRegistry } from "../../verifier/judges/registry.ts";
import { compareRequestSchema, parseRequest, trackRequestSchema } from "../../verifier/requests.ts";
import { track } from "../../verifier/track.ts";
import type { CallOptions, CompareResult, TrackResult } from "../../verifier/types.ts";
import {
  failure,
  hang,
  letters,
  rateLimit,
  say,
  smart,
  startStubJudge,
  type StubAnswer,
  type StubCall,
  type StubJudge,
} from "../stub_judge.ts";

function environmentFor(
  stub: StubJudge,
  overrides: Record<string, unknown> = {},
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<Environment> {
  const text = JSON.stringify({
    defaultJudge: "stub",
    judges: { stub: stub.profile({ retries: 0, ...overrides }) },
  });
  const judges = createJudgeRegistry(loadConfig({ text, env: () => undefined }), {
    env: () => undefined,
    fetch,
  });
  return createEnvironment({ judges, store: createMemoryStore(), delimiterSecret: "0123456789abcdef" });
}

const BODY = {
  task: "the task",
  a: "quality=0.8",
  b: "quality=0.3",
  criteria: { One: "look here", Two: "and here", Three: "and there" },
};

async function run(
  environment: Environment,
  more: Record<string, unknown> = {},
  options?: CallOptions,
): Promise<CompareResult> {
  const result = await compare(
    environment,
    parseRequest(compareRequestSchema, { ...BODY, ...more }),
    options,
  );
  assert(!("plan" in result));
  return result;
}

const firstSide = (call: StubCall): string =>
  call.prompt.indexOf("quality=0.8") < call.prompt.indexOf("quality=0.3") ? "A" : "B";

Deno.test("a compare over HTTP finds the better side, with slots swapped and usage counted", async () => {
  await using stub = startStubJudge(smart({ slotBias: 0.05 }));
  const result = await run(await environmentFor(stub));
  assertEquals([result.winner, result.unscored, result.channels], ["A", 0, { logprobs: 12 }]);
  assertAlmostEquals(result.margin!, 0.5, 0.02);
  assertAlmostEquals(result.slotBias!, 0.1, 0.02);
  assertEquals([result.usage.calls, result.usage.inputTokens, result.usage.cachedInputTokens], [6, 600, 360]);
  assertEquals(stub.calls.map(firstSide).sort().join(""), "AAABBB");
});

Deno.test("one call of each slot order warms the prefix before its siblings are sent", async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => release = resolve);
  await using stub = startStubJudge(async (call) => {
    if (call.index < 2) await gate;
    return await smart()(call) as StubAnswer;
  });
  const open = run(await environmentFor(stub));
  await stub.until(({ calls }) => calls.length === 2);
  assertEquals(stub.calls.map(firstSide).sort(), ["A", "B"]);
  release();
  assertEquals((await open).unscored, 0);
  assertEquals(stub.calls.length, 6);
});

Deno.test("an abort reaches every open request", async () => {
  await using stub = startStubJudge(hang);
  // Looked at on this side: Deno's server does not notice that the client of a long request has gone.
  const signals: AbortSignal[] = [];
  const watched: typeof fetch = (input, init) => {
    if (init?.signal) signals.push(init.signal);
    return fetch(input, init);
  };
  const environment = await environmentFor(stub, {}, watched);
  const controller = new AbortController();
  const open = run(environment, {}, { signal: controller.signal });
  await stub.until(({ inFlight }) => inFlight === 2);
  assertEquals(signals.map(({ aborted }) => aborted), [false, false]);
  controller.abort(new Error("the client left"));
  await assertRejects(() => open, Error, "the client left");
  assertEquals(signals.map(({ aborted }) => aborted), [true, true]);
  assertEquals(stub.calls.length, 2);
});

Deno.test("of two identical requests at once one may leave without harming the other", async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => release = resolve);
  await using stub = startStubJudge(async (call) => {
    await gate;
    return await smart()(call) as StubAnswer;
  });
  const environment = await environmentFor(stub);
  const controller = new AbortController();
  const leaving = run(environment, {}, { signal: controller.signal });
  await stub.until(({ calls }) => calls.length === 2);
  const staying = run(environment);
  // The second request joins in microtasks and timers of its own; its two warm-ups are the first one's.
  await new Promise((resolve) => setTimeout(resolve, 0));
  controller.abort(new Error("left"));
  await assertRejects(() => leaving, Error, "left");
  release();
  const result = await staying;
  assertEquals([result.winner, result.unscored], ["A", 0]);
});

Deno.test("a truncated answer is asked for again with twice the tokens", async () => {
  const cut = (call: StubCall): StubAnswer => ({ ...smart()(call) as StubAnswer, finishReason: "length" });
  await using stub = startStubJudge((call) => call.index === 0 ? cut(call) : smart()(call) as StubAnswer);
  const result = await run(await environmentFor(stub, { maxTokens: 500 }), { repeats: 1, criteria: ["x"] });
  assertEquals([result.unscored, stub.calls.length], [0, 2]);
  const budget = ({ body }: StubCall): unknown => body.max_tokens ?? body.max_completion_tokens;
  assertEquals(stub.calls.map(budget), [500, 1000]);
});

Deno.test("a server without log-probabilities is read by its letters, unless more is demanded", async () => {
  await using stub = startStubJudge(say("Fine.\n<score_A> B </score_A>\n<score_B> T </score_B>"));
  const environment = await environmentFor(stub);
  const result = await run(environment, { repeats: 1, criteria: ["x"] });
  assertEquals(result.channels, { explicit_tag: 2 });
  assertAlmostEquals(result.rewardA!, 18 / 19);
  const error = await assertRejects(() => run(environment, { channel: "logprobs" }), AssayError);
  assertEquals(error.code, "channel_unavailable");
});

Deno.test("a server that is down, refuses the key or is too busy ends in the right error", async () => {
  for (
    const [status, code] of [[500, "judge_failed"], [401, "judge_unauthorized"], [
      429,
      "judge_failed",
    ]] as const
  ) {
    await using stub = startStubJudge(status === 429 ? rateLimit() : failure(status));
    const error = await assertRejects(async () => run(await environmentFor(stub)), AssayError);
    assertEquals(error.code, code, String(status));
    if (status === 401) assertEquals(stub.calls.length <= 2, true, "a refused key is not tried six times");
  }
});

Deno.test("a 429 lowers the profile's limit, and the request still ends well", async () => {
  await using stub = startStubJudge((call) =>
    call.index === 0 ? rateLimit({ "retry-after-ms": "1" }) : smart()(call) as StubAnswer
  );
  const environment = await environmentFor(stub, { retries: 2, concurrency: 8 });
  assertEquals((await run(environment)).unscored, 0);
  const [pool] = environment.scheduler.status();
  assert(pool!.limit < 8 && pool!.running === 0 && pool!.waiting === 0);
});

Deno.test("a bound on concurrency is kept over many requests", async () => {
  await using stub = startStubJudge(smart());
  const environment = await environmentFor(stub, { concurrency: 3 });
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, i) => run(environment, { task: `task ${i}` })),
  );
  assert(results.every(({ winner, unscored }) => winner === "A" && unscored === 0));
  assert(stub.mostInFlight <= 3);
});

Deno.test("track over HTTP reads one curve per repeat, and causal looks see only their steps", async () => {
  await using stub = startStubJudge(smart());
  const steps = ["quality=0.1", "quality=0.4", "quality=0.7"];
  const request = (causal: boolean) =>
    parseRequest(trackRequestSchema, { task: "t", trajectory: { steps }, causal, repeats: 1 });
  const environment = await environmentFor(stub);
  for (const causal of [false, true]) {
    const { curve, advice } = await track(environment, request(causal)) as TrackResult;
    curve.forEach(({ score }, i) => assertAlmostEquals(score!, [0.1, 0.4, 0.7][i]!, 0.03));
    assertEquals(advice, "rising");
  }
  assertEquals(stub.calls.length, 4);
});

Deno.test("a certain judge gives the ends of the scale", async () => {
  await using stub = startStubJudge(letters({ score_A: "A", score_B: "T" }));
  const result = await run(await environmentFor(stub), { repeats: 1, criteria: ["x"] });
  assertAlmostEquals(result.rewardA!, 1, 1e-5);
  assertAlmostEquals(result.rewardB!, 0, 1e-5);
});

Deno.test("the embedded judge compares and tracks without any server", async () => {
  const judges = createJudgeRegistry(loadConfig({ env: () => undefined }), { env: () => undefined });
  const environment = await createEnvironment({ judges, store: createMemoryStore() });
  const act = (command: string, output: string) => [
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: command, function: { name: "bash", arguments: JSON.stringify({ command }) } }],
    },
    { role: "tool", tool_call_id: command, content: output },
  ];
  const good = {
    messages: [
      ...act("cat > a.py <<'E'\nprint(1)\nE", "exit code: 0"),
      ...act("python a.py && pytest", "1\n3 passed\nexit code: 0"),
    ],
  };
  const bad = {
    messages: [
      ...act("cat > a.py <<'E'\nprint(1\nE", "exit code: 0"),
      ...act("python a.py", "SyntaxError: '(' was never closed\nexit code: 1"),
    ],
  };
  const result = await run(environment, { a: bad, b: good, criteria: "coding" });
  assertEquals([result.winner, result.unscored, result.usage.usd, result.judge.kind], [
    "B",
    0,
    0,
    "evidence",
  ]);
  const curve = await track(
    environment,
    parseRequest(trackRequestSchema, { task: "t", trajectory: good, criteria: "coding" }),
  ) as TrackResult;
  assertEquals(curve.curve.length, 2);
  assertEquals(curve.unscored, 0);
});
