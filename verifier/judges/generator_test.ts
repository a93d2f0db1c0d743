import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { failure, say, startStubJudge } from "../../tests/stub_judge.ts";
import { loadConfig } from "../config/config.ts";
import { AssayError } from "../errors.ts";
import { isGenerator, resolveGenerator } from "./generator.ts";
import { JudgeError, type JudgeRegistry } from "./judge.ts";
import { createJudgeRegistry } from "./registry.ts";
import { chat, context, fakeFetch, fakeTiming, json } from "./test_tools.ts";

const KEY = "sk-test-very-secret-2";
const REQUEST = { prompt: "Write.\n\nDraft 1 of 3", images: [] };

function registryOf(
  judges: Record<string, unknown>,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): JudgeRegistry {
  const config = loadConfig({
    text: JSON.stringify({ defaultJudge: Object.keys(judges)[0], judges }),
    env: () => undefined,
  });
  return createJudgeRegistry(config, { env: () => KEY, fetch, timing: fakeTiming() });
}
const OPENAI = {
  kind: "openai-compatible",
  family: "openrouter",
  baseUrl: "https://openrouter.ai/api/v1",
  model: "m",
  apiKeyEnv: "KEY",
  stream: false,
  maxTokens: 700,
};

Deno.test("a chat model writes from one user message, without log-probabilities and what they demand", async () => {
  const fetch = fakeFetch(chat("A draft."));
  const seen = context();
  const written = await resolveGenerator(registryOf({ w: OPENAI }, fetch), undefined).generate(REQUEST, seen);
  assertEquals([written.text, written.finishReason, written.refused, written.model], [
    "A draft.",
    "stop",
    false,
    "served",
  ]);
  const { body } = fetch.sent[0]!;
  assertEquals([body.messages, body.max_tokens], [[{ role: "user", content: REQUEST.prompt }], 700]);
  for (const absent of ["logprobs", "top_logprobs", "provider"]) assert(!(absent in body), absent);
  assertEquals(seen.attempts.length, 1);
});

Deno.test("a Gemini model writes without log-probabilities too", async () => {
  const reply = json({
    candidates: [{
      content: { parts: [{ text: "thought", thought: true }, { text: "A draft." }] },
      finishReason: "MAX_TOKENS",
    }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 6 },
    modelVersion: "gemini-x",
  });
  const fetch = fakeFetch(reply);
  const generator = resolveGenerator(
    registryOf({ g: { kind: "gemini", model: "gemini-x", apiKeyEnv: "KEY" } }, fetch),
    "g",
  );
  const written = await generator.generate(REQUEST, context());
  assertEquals([written.text, written.finishReason], ["A draft.", "length"]);
  const config = fetch.sent[0]!.body.generationConfig as Record<string, unknown>;
  assert(!("responseLogprobs" in config) && !("logprobs" in config));
});

Deno.test("a draft's failures are retried, counted and told without the key, as a judged call's are", async () => {
  await using stub = startStubJudge([failure(500), failure(500), say("There.")]);
  const seen = context();
  const generator = resolveGenerator(
    registryOf({ stub: stub.profile({ apiKeyEnv: "KEY", retries: 2 }) }),
    "stub",
  );
  assertEquals((await generator.generate(REQUEST, seen)).text, "There.");
  assertEquals(seen.attempts.length, 3);
  stub.play(failure(401, { error: { message: `bad key ${KEY}` } }));
  const error = await assertRejects(() => generator.generate(REQUEST, context()), JudgeError);
  assertEquals([error.reason, error.message.includes(KEY)], ["unauthorized", false]);
});

Deno.test("resolveGenerator() refuses judges without a model, naming those that have one, and unknown ones", () => {
  const registry = registryOf({
    evidence: { kind: "evidence" },
    w: OPENAI,
    tape: { kind: "replay", answers: [] },
  });
  assert(!isGenerator(registry.resolve("evidence")) && isGenerator(registry.resolve("w")));
  for (const choice of [undefined, "evidence", "tape", "nobody", { profile: "w", maxTokens: 0 }]) {
    const error = assertThrows(() => resolveGenerator(registry, choice), AssayError);
    assertEquals([error.code, error.errors[0]?.path.startsWith("/generator")], ["invalid_request", true]);
    assert(error.message.startsWith("/generator"), error.message);
  }
  assertStringIncludes(
    assertThrows(() => resolveGenerator(registry, "tape"), AssayError).message,
    "these can: w",
  );
  assertEquals(resolveGenerator(registry, { profile: "w", maxTokens: 50 }).maxTokens, 50);
});
