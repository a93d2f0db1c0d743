import { assertEquals, assertRejects } from "@std/assert";
import { loadConfig } from "../config/config.ts";
import { AssayError } from "../errors.ts";
import { readGeminiRefusal, readGeminiUsage } from "./gemini.ts";
import { type Judge, JudgeError } from "./judge.ts";
import { createJudgeRegistry } from "./registry.ts";
import { context, fakeFetch, fakeTiming, json, request } from "./test_tools.ts";

const KEY = "AIzaSyA1234567890abcdefghijklmnopqrstuvw";
const fixture = (name: string): Promise<string> =>
  Deno.readTextFile(new URL(`__fixtures__/${name}`, import.meta.url));

function judgeOver(fetch: typeof globalThis.fetch, profile: Record<string, unknown> = {}): Judge {
  const config = loadConfig({
    text: JSON.stringify({
      judges: { g: { kind: "gemini", model: "gemini-2.5-flash", apiKeyEnv: "KEY", ...profile } },
    }),
    env: () => undefined,
  });
  return createJudgeRegistry(config, { env: () => KEY, fetch, timing: fakeTiming() }).resolve();
}

Deno.test("a Gemini judge sends the key in a header, asks for log-probabilities and doesn't think", async () => {
  const fetch = fakeFetch(json(await fixture("gemini.json")));
  const seen = context();
  const answer = await judgeOver(fetch).answer(request(), seen);
  const sent = fetch.sent[0]!;
  assertEquals(
    sent.url,
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
  );
  assertEquals(sent.headers.get("x-goog-api-key"), KEY);
  assertEquals(sent.headers.has("authorization"), false);
  assertEquals(sent.body, {
    contents: [{ role: "user", parts: [{ text: "prefix suffix" }] }],
    generationConfig: {
      maxOutputTokens: 4096,
      temperature: 1,
      responseLogprobs: true,
      logprobs: 20,
      thinkingConfig: { thinkingBudget: 0 },
    },
  });
  assertEquals(answer.text, "<score_A> B </score_A>\n<score_B> N </score_B>");
  assertEquals(answer.reasoning, "I weighed both.");
  assertEquals(answer.tokens?.map((token) => token.token).join(""), answer.text);
  assertEquals(answer.tokens?.[4]?.top_logprobs, [
    { token: " B", logprob: -0.2 },
    { token: " C", logprob: -2 },
    { token: " A", logprob: -3 },
  ]);
  assertEquals([answer.finishReason, answer.model], ["stop", "gemini-2.5-flash"]);
  assertEquals(seen.attempts, [{
    inputTokens: 100,
    cachedInputTokens: 0,
    outputTokens: 17,
    reasoningTokens: 7,
  }]);
});

Deno.test("Vertex gets a bearer token at its own address", async () => {
  const fetch = fakeFetch(json(await fixture("gemini.json")));
  const baseUrl = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google";
  await judgeOver(fetch, { family: "vertex", baseUrl, effort: "low" }).answer(
    request({ maxTokens: 7 }),
    context(),
  );
  const sent = fetch.sent[0]!;
  assertEquals(sent.url, `${baseUrl}/models/gemini-2.5-flash:generateContent`);
  assertEquals(sent.headers.get("authorization"), `Bearer ${KEY}`);
  assertEquals(sent.body.generationConfig, {
    maxOutputTokens: 7,
    temperature: 1,
    responseLogprobs: true,
    logprobs: 20,
    thinkingConfig: { thinkingBudget: 1024 },
  });
});

Deno.test("a blocked prompt is refused, a filtered answer says so", async () => {
  const blocked = await assertRejects(
    async () => judgeOver(fakeFetch(json(await fixture("gemini_blocked.json")))).answer(request(), context()),
    JudgeError,
    "PROHIBITED_CONTENT",
  );
  assertEquals(blocked.reason, "refused");
  for (const finishReason of ["SAFETY", "RECITATION", "BLOCKLIST", "SPII"]) {
    const answer = await judgeOver(fakeFetch(json({ candidates: [{ finishReason }] }))).answer(
      request(),
      context(),
    );
    assertEquals([answer.finishReason, answer.text, answer.tokens], ["content_filter", "", null]);
  }
  const cut = await judgeOver(fakeFetch(json({ candidates: [{ finishReason: "MAX_TOKENS" }] }))).answer(
    request(),
    context(),
  );
  assertEquals(cut.finishReason, "length");
});

Deno.test("a refusal of log-probabilities or thinking is learnt in Google's words", async () => {
  const refusal = (message: string): Response =>
    json({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }, { status: 400 });
  const fetch = fakeFetch(
    refusal("Thinking budget 0 is invalid. This model only works in thinking mode."),
    refusal("Logprobs must be in the range [0, 5]."),
    refusal("Logprobs is not enabled for models/gemini-2.5-flash"),
    json({ candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "STOP" }] }),
  );
  const answer = await judgeOver(fetch).answer(request(), context());
  assertEquals(answer.tokens, null);
  assertEquals(fetch.sent.map((sent) => sent.body.generationConfig), [
    {
      maxOutputTokens: 4096,
      temperature: 1,
      responseLogprobs: true,
      logprobs: 20,
      thinkingConfig: { thinkingBudget: 0 },
    },
    { maxOutputTokens: 4096, temperature: 1, responseLogprobs: true, logprobs: 20 },
    { maxOutputTokens: 4096, temperature: 1, responseLogprobs: true, logprobs: 5 },
    { maxOutputTokens: 4096, temperature: 1 },
  ]);
});

Deno.test("a 400 about the key is unauthorized and teaches nothing", async () => {
  const fetch = fakeFetch(
    json({
      error: { code: 400, message: `API key not valid: ${KEY}`, details: [{ reason: "API_KEY_INVALID" }] },
    }, { status: 400 }),
  );
  const error = await assertRejects(() => judgeOver(fetch).answer(request(), context()), JudgeError);
  assertEquals([error.reason, error.message.includes(KEY), fetch.sent.length], ["unauthorized", false, 1]);
  for (const status of [401, 403, 404, 429, 500]) {
    assertEquals(
      readGeminiRefusal(status, "Logprobs is not enabled", { generationConfig: { logprobs: 20 } }),
      null,
    );
  }
});

Deno.test("images go inline with the type that their bytes show; an https: image is an error", async () => {
  const png = btoa(String.fromCharCode(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a));
  const fetch = fakeFetch(json(await fixture("gemini.json")));
  await judgeOver(fetch).answer(request({ images: [`data:image/jpeg;base64,${png}`] }), context());
  const parts = (fetch.sent[0]!.body.contents as { parts: unknown[] }[])[0]?.parts;
  assertEquals(parts?.[1], { inlineData: { mimeType: "image/png", data: png } });
  await assertRejects(
    () => judgeOver(fetch).answer(request({ images: ["https://a/b.png"] }), context()),
    AssayError,
    "/images/0",
  );
  assertEquals(fetch.sent.length, 1);
});

Deno.test("a model's name can't leave its place in the URL", async () => {
  const fetch = fakeFetch(json(await fixture("gemini.json")));
  await judgeOver(fetch, { model: "../../evil?x#y" }).answer(request(), context());
  assertEquals(
    fetch.sent[0]?.url,
    "https://generativelanguage.googleapis.com/v1beta/models/..%2F..%2Fevil%3Fx%23y:generateContent",
  );
});

Deno.test("readGeminiUsage() adds thoughts to the output and knows unknown from zero", () => {
  assertEquals(
    readGeminiUsage({
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 7,
    }),
    {
      inputTokens: 100,
      cachedInputTokens: 40,
      outputTokens: 17,
      reasoningTokens: 7,
    },
  );
  assertEquals(readGeminiUsage(undefined), null);
  assertEquals(readGeminiUsage({}), null);
});
