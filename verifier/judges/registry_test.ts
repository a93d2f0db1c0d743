import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { type Config, loadConfig } from "../config/config.ts";
import { AssayError } from "../errors.ts";
import type { JudgeChoice } from "../types.ts";
import { JudgeError, type JudgeRegistry } from "./judge.ts";
import { createJudgeRegistry } from "./registry.ts";
import { chat, context, fakeFetch, json, request } from "./test_tools.ts";

const SERVER_KEY = "sk-server-own-key-1";
const PRICE = { inputPerMillion: 0.15, cachedInputPerMillion: 0.003, outputPerMillion: 0.6 };
const CALIBRATION = { pairAccuracy: 0.78, passRate: 0.8, source: "a test" };

const CONFIG: Config = loadConfig({
  text: JSON.stringify({
    defaultJudge: "deepseek",
    judges: {
      deepseek: {
        kind: "openai-compatible",
        baseUrl: "https://api.deepseek.com/",
        model: "deepseek-flash",
        apiKeyEnv: "DEEPSEEK_API_KEY",
        concurrency: 16,
        contextTokens: 1_000_000,
        expectedOutputTokens: 5000,
        price: PRICE,
        calibration: CALIBRATION,
      },
      local: {
        kind: "openai-compatible",
        family: "llama.cpp",
        baseUrl: "http://127.0.0.1:8080/v1",
        model: "any",
      },
      google: { kind: "gemini", model: "gemini-2.5-flash", apiKeyEnv: "GEMINI_API_KEY" },
      old: { kind: "replay", answers: [] },
    },
    allowRequestBackends: ["llm.example.com", "http://127.0.0.1:9000"],
  }),
  env: () => undefined,
});

function registry(fetch: typeof globalThis.fetch = fakeFetch(chat("hi"))): JudgeRegistry {
  return createJudgeRegistry(CONFIG, {
    env: (name) => name === "DEEPSEEK_API_KEY" ? SERVER_KEY : undefined,
    fetch,
  });
}

const refused = (choice: JudgeChoice): AssayError =>
  assertThrows(() => registry().resolve(choice), AssayError);

Deno.test("resolve() binds the default profile, a named one, and makes each judge once", () => {
  const judges = registry();
  const judge = judges.resolve();
  assertEquals(
    [
      judge.profile,
      judge.kind,
      judge.model,
      judge.concurrency,
      judge.contextTokens,
      judge.expectedOutputTokens,
      judge.maxTokens,
    ],
    ["deepseek", "openai-compatible", "deepseek-flash", 16, 1_000_000, 5000, 32_768],
  );
  assertEquals([judge.price, judge.calibration], [PRICE, CALIBRATION]);
  assertStrictEquals(judges.resolve("deepseek"), judge);
  assertStrictEquals(judges.resolve({ profile: "deepseek" }), judge);
  assertEquals(judges.resolve("local").kind, "openai-compatible");
  assertEquals(judges.resolve("google").kind, "gemini");
  assertEquals(judges.resolve("old").kind, "replay");
  assertEquals(judges.resolve("evidence").kind, "evidence");
});

Deno.test("resolve() names the nearest profile to one that isn't there", () => {
  const error = refused("deepsek");
  assertEquals([error.code, error.errors[0]?.path], ["invalid_request", "/judge"]);
  assert(error.message.includes("did you mean deepseek?"));
  for (const name of ["constructor", "__proto__", "toString", ""]) {
    assertEquals(refused(name).code, "invalid_request", name);
  }
});

Deno.test("resolve() applies what a request overrides, and the identity tells the difference", () => {
  const judges = registry();
  const base = judges.resolve();
  const changes: JudgeChoice[] = [{ model: "other" }, { effort: "off" }, { maxTokens: 100 }, {
    temperature: 0,
  }];
  const identities = changes.map((change) => judges.resolve(change).identity);
  assertEquals(new Set([base.identity, ...identities]).size, 5);
  assertEquals(judges.resolve({ model: "deepseek-flash" }).identity, base.identity);
  assertEquals(judges.resolve({ maxTokens: 100 }).maxTokens, 100);
  assert(!base.identity.includes(SERVER_KEY));
});

Deno.test("a profile's price and calibration hold for its own model only", () => {
  const other = registry().resolve({ profile: "deepseek", model: "deepseek-pro" });
  assertEquals([other.price, other.calibration, other.contextTokens], [null, null, null]);
  assertEquals(registry().resolve({ temperature: 0 }).price, PRICE);
});

Deno.test("a plan expects the output of a usual call with reasoning, within the budget", () => {
  const expected = (choice: JudgeChoice): number | null => registry().resolve(choice).expectedOutputTokens;
  assertEquals(expected({ model: "other" }), 4800);
  assertEquals(expected({ effort: "low", maxTokens: 1000 }), 1000);
  assertEquals(expected({ effort: "off" }), null);
  assertEquals(expected({ profile: "local" }), null);
});

Deno.test("identity depends on what moves an answer, not on how it is fetched", () => {
  const identity = (fields: Record<string, unknown>): string =>
    createJudgeRegistry(
      loadConfig({
        text: JSON.stringify({
          judges: {
            j: { kind: "openai-compatible", family: "vllm", baseUrl: "http://a/v1", model: "m", ...fields },
          },
        }),
        env: () => undefined,
      }),
      { env: () => undefined },
    ).resolve().identity;
  const base = identity({});
  for (
    const same of [{ stream: true }, { concurrency: 2 }, { retries: 0 }, { timeoutMs: 5 }, {
      baseUrl: "http://a/v1/",
    }, { price: PRICE }]
  ) {
    assertEquals(identity(same), base, JSON.stringify(same));
  }
  for (
    const other of [
      { baseUrl: "http://b/v1" },
      { family: "sglang" },
      { thinking: true },
      { topLogprobs: 5 },
      { maxTokens: 9 },
    ]
  ) {
    assertNotEquals(identity(other), base, JSON.stringify(other));
  }
});

Deno.test("overrides are checked and named", () => {
  const cases: readonly [JudgeChoice, string][] = [
    [{ effort: "heigh" }, "/judge/effort"],
    [{ maxTokens: 0 }, "/judge/maxTokens"],
    [{ maxTokens: 1.5 }, "/judge/maxTokens"],
    [{ maxTokens: Number.NaN }, "/judge/maxTokens"],
    [{ temperature: -1 }, "/judge/temperature"],
    [{ temperature: Number.NaN }, "/judge/temperature"],
    [{ temperature: 3 }, "/judge/temperature"],
    [{ model: "" }, "/judge/model"],
    [{ model: "x".repeat(201) }, "/judge/model"],
    [{ profile: "evidence", model: "x" }, "/judge/model"],
    [{ profile: "old", temperature: 0 }, "/judge/temperature"],
    [{ apiKey: "k" }, "/judge/apiKey"],
    [{ profile: "deepseek", family: "vllm" }, "/judge/family"],
  ];
  for (const [choice, path] of cases) {
    assertEquals(refused(choice).errors[0]?.path, path, JSON.stringify(choice));
  }
});

Deno.test("a request may name a listed backend with its own key, and the server's key goes nowhere else", async () => {
  const fetch = fakeFetch(chat("hi"));
  const judge = registry(fetch).resolve({
    baseUrl: "https://llm.example.com/v1/",
    apiKey: "sk-callers-own-key",
    model: "m",
    family: "vllm",
  });
  await judge.answer(request(), context());
  const sent = fetch.sent[0]!;
  assertEquals([sent.url, sent.headers.get("authorization")], [
    "https://llm.example.com/v1/chat/completions",
    "Bearer sk-callers-own-key",
  ]);
  assertEquals(sent.body.model, "m");
  assertEquals([judge.profile, judge.price, judge.calibration], ["request:llm.example.com", null, null]);
  assert(!judge.identity.includes("sk-callers"));
  assert(
    !JSON.stringify(fetch.sent.map((one) => [one.url, [...one.headers], one.init.body])).includes(SERVER_KEY),
  );
});

Deno.test("a request's backend without its own key or model, or with a profile, is refused before anything is sent", () => {
  const baseUrl = "https://llm.example.com/v1";
  assertEquals(refused({ baseUrl, model: "m" }).errors[0]?.path, "/judge/apiKey");
  assertEquals(refused({ baseUrl, apiKey: "", model: "m" }).errors[0]?.path, "/judge/apiKey");
  assertEquals(refused({ baseUrl, apiKey: "a\r\nx: y", model: "m" }).errors[0]?.path, "/judge/apiKey");
  assertEquals(refused({ baseUrl, apiKey: "k" }).errors[0]?.path, "/judge/model");
  assertEquals(
    refused({ baseUrl, apiKey: "k", model: "m", profile: "deepseek" }).errors[0]?.path,
    "/judge/profile",
  );
  assertEquals(refused({ baseUrl, apiKey: "k", model: "m", family: "gpt" }).errors[0]?.path, "/judge/family");
  assertEquals(refused({ baseUrl: "https://evil.example/v1", apiKey: "k", model: "m" }).code, "forbidden");
  assertEquals(refused({ baseUrl: "https://api.deepseek.com", apiKey: "k", model: "m" }).code, "forbidden");
});

Deno.test("no error about a request's backend shows the caller's key", async () => {
  const key = "plain-key-of-the-caller";
  const fetch = fakeFetch(json({ error: { message: `bad key ${key}` } }, { status: 401 }));
  const judge = registry(fetch).resolve({ baseUrl: "https://llm.example.com", apiKey: key, model: "m" });
  const error = await assertRejects(() => judge.answer(request(), context()), JudgeError);
  assert(!error.message.includes(key));
});

Deno.test("profiles() shows hosts and whether there is a key, and no secret", () => {
  const profiles = registry().profiles();
  assertEquals(
    profiles.map((
      profile,
    ) => [profile.name, profile.host, profile.family, profile.hasKey, profile.isDefault]),
    [
      ["evidence", null, null, false, false],
      ["deepseek", "api.deepseek.com", "deepseek", true, true],
      ["local", "127.0.0.1:8080", "llama.cpp", false, false],
      ["google", "generativelanguage.googleapis.com", "gemini", false, false],
      ["old", null, null, false, false],
    ],
  );
  assert(!JSON.stringify(profiles).includes(SERVER_KEY));
});

Deno.test("a key that is missing at start is read when the judge is used", async () => {
  const keys: string[] = [];
  const fetch = fakeFetch(chat("hi"));
  const judge = createJudgeRegistry(CONFIG, { env: () => keys[0], fetch }).resolve();
  await assertRejects(() => judge.answer(request(), context()), JudgeError, "DEEPSEEK_API_KEY");
  keys.push("sk-new");
  await judge.answer(request(), context());
  assertEquals(fetch.sent.length, 1);
});

Deno.test("DeepSeek is streamed by default, others are not", async () => {
  const fetch = fakeFetch(chat("hi"));
  const judges = registry(fetch);
  await judges.resolve("deepseek").answer(request(), context());
  await judges.resolve("local").answer(request(), context());
  assertEquals(fetch.sent.map((sent) => sent.body.stream), [true, undefined]);
});
