import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import {
  degenerate,
  echoKey,
  failure,
  hang,
  htmlPage,
  hugeBody,
  letters,
  oneToken,
  plainToken,
  rateLimit,
  redirect,
  resetMidBody,
  say,
  smart,
  startStubJudge,
  type StubAnswer,
  type StubJudge,
  type StubScript,
  type StubToken,
  truncatedJson,
  unsupported,
  withoutAlternatives,
} from "../../tests/stub_judge.ts";
import { loadConfig } from "../config/config.ts";
import { AssayError } from "../errors.ts";
import { createCapabilityMemory } from "./capabilities.ts";
import { type Judge, JudgeError, type JudgeRegistry } from "./judge.ts";
import { createJudgeRegistry, type RegistryOptions } from "./registry.ts";
import { chat, context, fakeFetch, fakeTiming, request } from "./test_tools.ts";

const KEY = "sk-test-very-secret-1";
const TAGS = letters({ score_A: "B", score_B: "K" });

interface World extends AsyncDisposable {
  readonly stub: StubJudge;
  readonly judge: Judge;
  readonly registry: JudgeRegistry;
  readonly timing: ReturnType<typeof fakeTiming>;
}

function world(
  script: StubScript,
  profile: Record<string, unknown> = {},
  options: Partial<RegistryOptions> = {},
): World {
  const stub = startStubJudge(script);
  const timing = fakeTiming();
  const config = loadConfig({
    text: JSON.stringify({ judges: { stub: stub.profile({ apiKeyEnv: "KEY", ...profile }) } }),
    env: () => undefined,
  });
  const registry = createJudgeRegistry(config, { env: () => KEY, timing, ...options });
  return { stub, timing, registry, judge: registry.resolve(), [Symbol.asyncDispose]: () => stub.close() };
}

async function failing(
  script: StubScript,
  profile: Record<string, unknown> = {},
): Promise<{ error: JudgeError; calls: number }> {
  await using w = world(script, profile);
  const error = await assertRejects(() => w.judge.answer(request(), context()), JudgeError);
  return { error, calls: w.stub.calls.length };
}

Deno.test("answer() sends prefix and suffix as one user message with log-probabilities, and reads the tokens", async () => {
  await using w = world(TAGS);
  const seen = context();
  const answer = await w.judge.answer(request(), seen);
  const call = w.stub.calls[0]!;
  assertEquals(call.path, "/v1/chat/completions");
  assertEquals(call.headers.authorization, `Bearer ${KEY}`);
  assertEquals(call.body, {
    model: "stub",
    messages: [{ role: "user", content: "prefix suffix" }],
    temperature: 1,
    logprobs: true,
    top_logprobs: 20,
    max_tokens: 4096,
  });
  assertEquals(answer.text.trim(), "Compared.\n<score_A> B </score_A>\n<score_B> K </score_B>".trim());
  assertEquals(answer.tokens?.map((token) => token.token).join(""), answer.text);
  assertEquals(seen.attempts, [{
    inputTokens: 100,
    cachedInputTokens: 60,
    outputTokens: 15,
    reasoningTokens: 0,
  }]);
});

Deno.test("a streamed answer is the same as a whole one, usage included, however the stream looks", async () => {
  const rule = TAGS;
  await using whole = world(rule);
  const expected = await whole.judge.answer(request(), context());
  for (
    const stream of [
      {},
      { usageFirst: true, keepAlive: true },
      { noDone: true, lineEnd: "\r\n" as const },
      { chunkBytes: 97, lineEnd: "\r\n" as const, keepAlive: true },
    ]
  ) {
    await using w = world((call) => {
      const answer = rule(call);
      return { ...answer as StubAnswer, stream };
    }, { stream: true });
    const seen = context();
    assertEquals(await w.judge.answer(request(), seen), expected);
    assertEquals(seen.attempts.length, 1);
    assertEquals((seen.attempts[0] as { inputTokens: number }).inputTokens, 100);
    assertEquals(w.stub.calls[0]?.body.stream_options, { include_usage: true });
  }
});

Deno.test("a 429 is retried as long after as the server says, and is reported when it happens", async () => {
  await using w = world([
    rateLimit({ "retry-after-ms": "40" }),
    rateLimit({ "retry-after": "2" }),
    rateLimit({ "retry-after": "Tue, 01 Dec 2026 00:00:09 GMT" }),
    rateLimit(),
    TAGS,
  ]);
  const seen = context();
  await w.judge.answer(request(), seen);
  assertEquals(w.timing.slept.length, 4);
  assertEquals(w.timing.slept.slice(0, 2), [40, 2000]);
  // The clock stood at 2.04 s when the date was read.
  assertEquals(w.timing.slept[2], 6960);
  assertEquals(seen.limits, [40, 2000, 6960, null]);
  assertEquals(seen.attempts.length, 5);
});

Deno.test("a storm of 500s ends after all retries, every attempt counted", async () => {
  await using w = world(failure(500), { retries: 3 });
  const seen = context();
  const error = await assertRejects(() => w.judge.answer(request(), seen), JudgeError, "500");
  assertEquals([error.reason, error.status, w.stub.calls.length], ["backend_error", 500, 4]);
  assertEquals(seen.attempts, [null, null, null, null]);
});

Deno.test("each failure ends in its reason after as many attempts as make sense", async () => {
  const cases: readonly [string, StubScript, string, number][] = [
    ["429", rateLimit(), "rate_limited", 3],
    ["401", failure(401), "unauthorized", 1],
    ["402", failure(402), "unauthorized", 1],
    ["403", failure(403), "unauthorized", 1],
    ["404", failure(404), "backend_error", 1],
    ["408", failure(408), "timeout", 3],
    ["400", failure(400), "backend_error", 1],
    ["content filter", failure(400, { error: { code: "content_filter" } }), "refused", 1],
    ["html", htmlPage, "backend_error", 1],
    ["truncated", truncatedJson, "backend_error", 3],
    ["reset", resetMidBody, "backend_error", 3],
  ];
  for (const [name, script, reason, attempts] of cases) {
    const { error, calls } = await failing(script, { retries: 2 });
    assertEquals([error.reason, calls], [reason, attempts], name);
  }
});

Deno.test("a server that isn't there is a failure after retries", async () => {
  const w = world(TAGS, { retries: 1 });
  await w.stub.close();
  const seen = context();
  const error = await assertRejects(() => w.judge.answer(request(), seen), JudgeError, "Cannot reach");
  assertEquals([error.reason, seen.attempts.length], ["backend_error", 2]);
});

Deno.test("a hanging server ends in a timeout, and the connection is closed", async () => {
  await using w = world(hang, { timeoutMs: 20, retries: 1 });
  const error = await assertRejects(() => w.judge.answer(request(), context()), JudgeError, "20 ms");
  assertEquals(error.reason, "timeout");
  await w.stub.until((stub) => stub.inFlight === 0);
});

Deno.test("a stream that stalls ends in a timeout too", async () => {
  const stalled: StubScript = {
    kind: "raw",
    status: 200,
    headers: { "content-type": "text/event-stream" },
    chunks: [": keep-alive\n\n", 'data: {"choices":[{"delta":{"content":"half"}}]}\n\n'],
    then: "hang",
  };
  await using w = world(stalled, { timeoutMs: 50, retries: 0, stream: true });
  const error = await assertRejects(() => w.judge.answer(request(), context()), JudgeError);
  assertEquals(error.reason, "timeout");
});

Deno.test("an abort reaches the open request and rejects with the caller's reason", async () => {
  await using w = world(hang);
  const controller = new AbortController();
  const reason = new Error("the caller left");
  const seen = context(controller.signal);
  const answer = w.judge.answer(request(), seen);
  await w.stub.until((stub) => stub.inFlight === 1);
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => answer), reason);
  await w.stub.until((stub) => stub.aborted === 1 && stub.inFlight === 0);
  assertEquals([w.stub.calls.length, seen.attempts], [1, [null]]);
});

Deno.test("an aborted signal sends nothing", async () => {
  await using w = world(TAGS);
  await assertRejects(
    () => w.judge.answer(request(), context(AbortSignal.abort(new Error("gone")))),
    Error,
    "gone",
  );
  assertEquals(w.stub.calls.length, 0);
});

Deno.test("a redirect is an error, and its target gets nothing", async () => {
  await using target = startStubJudge(TAGS);
  for (const status of [301, 302, 307, 308]) {
    const { error, calls } = await failing(redirect(`${target.url}/chat/completions`, status));
    assertEquals([error.reason, error.status, calls], ["backend_error", status, 1]);
  }
  assertEquals(target.calls.length, 0);
});

Deno.test("a body past the limit is cut off and is an error", async () => {
  await using w = world(hugeBody(4 << 20), { maxResponseBytes: 1 << 20, retries: 3 });
  const error = await assertRejects(() => w.judge.answer(request(), context()), JudgeError, "1048576 bytes");
  assertEquals([error.reason, w.stub.calls.length], ["backend_error", 1]);
  await w.stub.until((stub) => stub.inFlight === 0);
});

Deno.test("a key that the server repeats stands in no message", async () => {
  const { error } = await failing(echoKey);
  assert(!error.message.includes(KEY), error.message);
  assertEquals(error.reason, "unauthorized");
});

Deno.test("an error's message is short", async () => {
  const { error } = await failing(failure(400, "<html>" + "x ".repeat(50_000)));
  assert(error.message.length < 500);
});

Deno.test("a lower maximum of alternatives is learnt once and remembered", async () => {
  await using w = world((call) =>
    Number(call.body.top_logprobs) > 5
      ? failure(400, { error: { message: "top_logprobs: max allowed: 5" } })
      : TAGS
  );
  const seen = context();
  await w.judge.answer(request(), seen);
  await w.judge.answer(request(), seen);
  assertEquals(w.stub.calls.map((call) => call.body.top_logprobs), [20, 5, 5]);
  // A refused request is an attempt that cost nothing.
  assertEquals((seen.attempts as { inputTokens: number }[]).map((usage) => usage.inputTokens), [0, 100, 100]);
  assertEquals(w.registry.profiles().find((profile) => profile.name === "stub")?.learnt, { topLogprobs: 5 });
});

Deno.test("several refusals are learnt one after another in one call", async () => {
  await using w = world((call) => {
    if ("stream_options" in call.body) return unsupported("stream_options");
    if ("thinking" in call.body) return unsupported("thinking");
    if ("logprobs" in call.body) return unsupported("logprobs");
    return say("plain");
  }, { family: "deepseek", retries: 0 });
  const answer = await w.judge.answer(request(), context());
  assertEquals([answer.text, answer.tokens, w.stub.calls.length], ["plain", null, 4]);
  assertEquals(w.registry.profiles().find((profile) => profile.name === "stub")?.learnt, {
    streamOptions: false,
    thinking: false,
    logprobs: false,
  });
});

Deno.test("a server that goes on refusing is given up", async () => {
  // It names a parameter that is sent whatever was learnt.
  const { error, calls } = await failing((call) =>
    failure(400, { error: { message: `top_logprobs: at most ${Number(call.body.top_logprobs) - 1}` } })
  );
  assertEquals(error.reason, "backend_error");
  assert(calls <= 10, `${calls} calls`);
});

Deno.test("what was learnt holds across restarts, for 24 hours, and until it is forgotten", async () => {
  const store = createMemoryStore();
  await using stub = startStubJudge((call) =>
    "logprobs" in call.body ? unsupported("logprobs") : say("plain")
  );
  const config = loadConfig({
    text: JSON.stringify({ judges: { stub: stub.profile() } }),
    env: () => undefined,
  });
  let now = 0;
  const start = (): JudgeRegistry =>
    createJudgeRegistry(config, {
      env: () => undefined,
      capabilities: createCapabilityMemory({ store, now: () => now }),
    });
  const ask = async (registry: JudgeRegistry): Promise<number> => {
    const before = stub.calls.length;
    await registry.resolve().answer(request(), context());
    return stub.calls.length - before;
  };
  assertEquals(await ask(start()), 2, "learns");
  assertEquals(await ask(start()), 1, "remembers");
  now += 24 * 3_600_000 - 1;
  assertEquals(await ask(start()), 1, "still remembers");
  now += 1;
  assertEquals(await ask(start()), 2, "learns anew after a day");
  const registry = start();
  assertEquals(await ask(registry), 1);
  await registry.forget("stub");
  assertEquals(await ask(registry), 2, "learns anew after a probe");
});

Deno.test("what one model refuses is not held against another", async () => {
  await using w = world((call) =>
    call.body.model === "stub" && "logprobs" in call.body ? unsupported("logprobs") : TAGS
  );
  await w.judge.answer(request(), context());
  const other = w.registry.resolve({ profile: "stub", model: "other" });
  const before = w.stub.calls.length;
  assert((await other.answer(request(), context())).tokens !== null);
  assertEquals(w.stub.calls.length - before, 1);
});

Deno.test("a 401, 429 or 500 that talks about logprobs teaches nothing", async () => {
  for (const status of [401, 402, 403, 408, 409, 429, 500, 503]) {
    await using w = world(failure(status, { error: { message: "logprobs is not supported" } }), {
      retries: 0,
    });
    await assertRejects(() => w.judge.answer(request(), context()), JudgeError);
    assertEquals(
      w.registry.profiles().find((profile) => profile.name === "stub")?.learnt,
      {},
      String(status),
    );
  }
});

Deno.test("two answers in a row without log-probabilities are noted, yet they are asked for again and the note is taken back", async () => {
  await using w = world([say("one"), say("two"), say("three"), TAGS]);
  const learnt = (): unknown => w.registry.profiles().find((profile) => profile.name === "stub")?.learnt;
  await w.judge.answer(request(), context());
  assertEquals(learnt(), {});
  await w.judge.answer(request(), context());
  assertEquals(learnt(), { logprobsReturned: false });
  await w.judge.answer(request(), context());
  await w.judge.answer(request(), context());
  assertEquals(learnt(), {});
  assert(w.stub.calls.every((call) => call.body.logprobs === true));
});

Deno.test("degenerate distributions and empty alternatives reach the decoder as they came", async () => {
  const answer = degenerate({ score_A: "B", score_B: "K" });
  await using w = world([answer, withoutAlternatives(answer)]);
  const first = await w.judge.answer(request(), context());
  assertEquals(first.tokens?.filter((token) => token.logprob === -9999).length, 2);
  const second = await w.judge.answer(request(), context());
  assert(second.tokens?.every((token) => token.top_logprobs?.length === 0));
});

Deno.test("maxTokens of a call wins over the profile's", async () => {
  await using w = world(TAGS, { maxTokens: 100 });
  assertEquals(w.judge.maxTokens, 100);
  await w.judge.answer(request({ maxTokens: 200 }), context());
  assertEquals(w.stub.calls[0]?.body.max_tokens, 200);
});

Deno.test("images go as parts to a judge that reads them, and are an error for one that doesn't", async () => {
  const images = ["data:image/png;base64,iVBORw0KGgo=", "https://example.com/a.png"];
  await using w = world(TAGS, { images: true });
  await w.judge.answer(request({ images }), context());
  assertEquals((w.stub.calls[0]?.body.messages as { content: unknown }[])[0]?.content, [
    { type: "text", text: "prefix suffix" },
    { type: "image_url", image_url: { url: images[0] } },
    { type: "image_url", image_url: { url: images[1] } },
  ]);
  await using blind = world(TAGS);
  await assertRejects(() => blind.judge.answer(request({ images }), context()), AssayError, "images");
  assertEquals(blind.stub.calls.length, 0);
});

Deno.test("a missing or unusable key is an error when the judge is used, and nothing is sent", async () => {
  const cases: readonly [string | undefined, string][] = [
    [undefined, "KEY is not set"],
    ["  ", "KEY is not set"],
    ["a\nb", "no header"],
    ["ключ", "no header"],
  ];
  for (const [key, message] of cases) {
    await using w = world(TAGS, {}, { env: () => key });
    const seen = context();
    const error = await assertRejects(() => w.judge.answer(request(), seen), JudgeError, message);
    assertEquals([error.reason, w.stub.calls.length, seen.attempts.length], ["unauthorized", 0, 0]);
    assertEquals(
      w.registry.profiles().find((profile) => profile.name === "stub")?.hasKey,
      (key?.trim() ?? "") !== "",
    );
  }
});

Deno.test("a local server needs no key", async () => {
  const fetch = fakeFetch(chat("hi"));
  const config = loadConfig({
    text: JSON.stringify({
      judges: {
        local: {
          kind: "openai-compatible",
          family: "llama.cpp",
          baseUrl: "http://127.0.0.1:8080/v1",
          model: "any",
        },
      },
    }),
    env: () => undefined,
  });
  await createJudgeRegistry(config, { env: () => undefined, fetch }).resolve().answer(request(), context());
  assertEquals(fetch.sent[0]?.headers.has("authorization"), false);
  assertEquals(fetch.sent[0]?.init.redirect, "manual");
});

Deno.test("continuation() asks for the token after the open tag, thinking off, and gives its distribution", async () => {
  const expected: Record<string, Record<string, unknown>> = {
    vllm: {
      structured_outputs: {
        choice: [..."ABCDEFGHIJKLMNOPQRST"].flatMap((l) => [l]).concat(
          [..."ABCDEFGHIJKLMNOPQRST"].map((l) => " " + l),
        ),
      },
    },
    sglang: { regex: " ?[A-T]" },
    "llama.cpp": { grammar: 'root ::= " "? [A-T]' },
  };
  for (const [family, constraint] of Object.entries(expected)) {
    await using w = world(smart({ rule: () => 0.75 }), { family, effort: "high" });
    const answer = await w.judge.continuation?.(request(), "Analysis.\n<score_A>", context());
    assertEquals(answer?.tokens?.length, 1);
    assertEquals(answer?.tokens?.[0]?.top_logprobs?.length, 20);
    const { model: _, ...body } = w.stub.calls[0]!.body;
    assertEquals(body, {
      messages: [{ role: "user", content: "prefix suffix" }, {
        role: "assistant",
        content: "Analysis.\n<score_A>",
      }],
      temperature: 1,
      logprobs: true,
      top_logprobs: 20,
      chat_template_kwargs: { enable_thinking: false },
      max_tokens: 2,
      add_generation_prompt: false,
      continue_final_message: true,
      ...constraint,
    });
  }
});

Deno.test("continuation() is null for families that can't, without a call", async () => {
  for (const family of ["deepseek", "openai", "openrouter", "generic"]) {
    await using w = world(TAGS, { family });
    assertEquals(await w.judge.continuation?.(request(), "<score_A>", context()), null);
    assertEquals(w.stub.calls.length, 0);
  }
});

Deno.test("continuation() is null once a server has refused it, and isn't asked again", async () => {
  await using w = world(unsupported("continue_final_message"), { family: "vllm" });
  assertEquals(await w.judge.continuation?.(request(), "<score_A>", context()), null);
  assertEquals(await w.judge.continuation?.(request(), "<score_A>", context()), null);
  assertEquals(w.stub.calls.length, 1);
});

Deno.test("continuation() goes without a constraint that the server refuses", async () => {
  await using w = world(
    (call) => "structured_outputs" in call.body ? unsupported("structured_outputs") : TAGS,
    { family: "vllm" },
  );
  const answer = await w.judge.continuation?.(request(), "<score_B>", context());
  assertEquals([answer?.tokens?.[0]?.token, w.stub.calls.length], [" K", 2]);
});

Deno.test("continuation() skips a blank token before the letter, unless letters were likely in its place", async () => {
  const letter: StubToken = { token: "C", logprob: -0.2, top_logprobs: [{ token: "C", logprob: -0.2 }] };
  const blank = (mass: number): StubToken => ({
    token: " ",
    logprob: Math.log(1 - mass),
    top_logprobs: [{ token: " ", logprob: Math.log(1 - mass) }, { token: " D", logprob: Math.log(mass) }],
  });
  for (const [mass, expected] of [[0.01, "C"], [0.9, " "]] as const) {
    await using w = world({ kind: "answer", text: " C", tokens: [blank(mass), letter] }, {
      family: "sglang",
    });
    const answer = await w.judge.continuation?.(request(), "<score_A>", context());
    assertEquals(answer?.tokens?.[0]?.token, expected);
  }
});

Deno.test("continuation() is null when the server plainly began a new turn", async () => {
  await using w = world(oneToken(plainToken("The")), { family: "vllm" });
  assertEquals(await w.judge.continuation?.(request(), "<score_A>", context()), null);
});

Deno.test("continuation() keeps a low letter mass for the decoder to judge", async () => {
  const token: StubToken = {
    token: ":",
    logprob: -0.1,
    top_logprobs: [{ token: ":", logprob: -0.1 }, { token: " D", logprob: -2 }],
  };
  await using w = world(oneToken(token), { family: "llama.cpp" });
  const answer = await w.judge.continuation?.(request(), "<score_A>", context());
  assertEquals(answer?.tokens?.[0]?.token, ":");
});

Deno.test("continuation() fails like answer() when the server fails", async () => {
  await using w = world(failure(500), { family: "vllm", retries: 0 });
  const error = await assertRejects(
    () => w.judge.continuation!(request(), "<score_A>", context()),
    JudgeError,
  );
  assertEquals(error.reason, "backend_error");
});
