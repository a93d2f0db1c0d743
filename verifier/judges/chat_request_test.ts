import { assertEquals } from "@std/assert";
import { type Effort, FAMILIES, type Family } from "../config/schema.ts";
import {
  answerBody,
  type ChatSettings,
  continuationBody,
  defaultMaxTokens,
  thinkingSwitch,
  thinks,
} from "./chat_request.ts";
import { request } from "./test_tools.ts";

const settings = (fields: Partial<ChatSettings> = {}): ChatSettings => ({
  family: "generic",
  model: "m",
  thinking: false,
  effort: null,
  maxTokens: 100,
  temperature: 1,
  topLogprobs: 20,
  stream: false,
  ...fields,
});
const how = (family: Family, thinking: boolean, effort: Effort | null = null): unknown =>
  thinkingSwitch({ family, thinking, effort }, {});

Deno.test("each family is told to think or not in its own words", () => {
  assertEquals(how("deepseek", true), { thinking: { type: "enabled" }, reasoning_effort: "high" });
  assertEquals(how("deepseek", true, "max"), { thinking: { type: "enabled" }, reasoning_effort: "max" });
  assertEquals(how("deepseek", false, "off"), { thinking: { type: "disabled" } });
  for (const family of ["vllm", "sglang", "llama.cpp"] as const) {
    assertEquals(how(family, false), { chat_template_kwargs: { enable_thinking: false } });
  }
  assertEquals(how("vllm", true, "low"), {
    chat_template_kwargs: { enable_thinking: true },
    reasoning_effort: "low",
  });
  assertEquals(how("openrouter", false), { reasoning: { enabled: false } });
  assertEquals(how("openrouter", true, "low"), { reasoning: { effort: "low" } });
  assertEquals(how("openai", false), {});
  assertEquals(how("openai", false, "off"), { reasoning_effort: "none" });
  assertEquals(how("openai", true, "minimal"), { reasoning_effort: "minimal" });
  assertEquals(how("generic", true, "high"), {});
});

Deno.test("no family is told about thinking once it has refused", () => {
  for (const family of FAMILIES) {
    assertEquals(thinkingSwitch({ family, thinking: true, effort: "high" }, { thinking: false }), {});
  }
});

Deno.test("only DeepSeek thinks unless told otherwise", () => {
  for (const family of FAMILIES) {
    assertEquals(thinks(family, null, undefined), family === "deepseek");
    assertEquals(thinks(family, "low", undefined), true);
    assertEquals(thinks(family, "off", undefined), false);
    assertEquals(thinks(family, null, true), true);
  }
  assertEquals([
    defaultMaxTokens("deepseek", false),
    defaultMaxTokens("vllm", true),
    defaultMaxTokens("vllm", false),
  ], [32_768, 32_768, 4096]);
});

Deno.test("OpenAI's token limit has another name, and any server's name can be learnt", () => {
  assertEquals(answerBody(settings({ family: "openai" }), {}, request()).max_completion_tokens, 100);
  assertEquals(answerBody(settings(), {}, request()).max_tokens, 100);
  assertEquals(answerBody(settings(), { completionTokens: true }, request()).max_completion_tokens, 100);
  assertEquals(
    "max_completion_tokens" in
      answerBody(settings({ family: "openai" }), { completionTokens: false }, request()),
    false,
  );
});

Deno.test("what a server refuses is left out, and nothing else", () => {
  const streaming = settings({ stream: true });
  const whole = answerBody(streaming, {}, request());
  const without = (learnt: Parameters<typeof answerBody>[1]): string[] => {
    const body = answerBody(streaming, learnt, request());
    return Object.keys(whole).filter((key) => !(key in body));
  };
  assertEquals(without({ logprobs: false }), ["logprobs", "top_logprobs"]);
  assertEquals(without({ streamOptions: false }), ["stream_options"]);
  assertEquals(without({ stream: false }), ["stream", "stream_options"]);
  assertEquals(without({ temperature: false }), ["temperature"]);
  assertEquals(without({ logprobsReturned: false, topLogprobs: 5, continuation: false }), []);
  assertEquals(answerBody(streaming, { topLogprobs: 5 }, request()).top_logprobs, 5);
  assertEquals(answerBody(settings({ topLogprobs: 3 }), { topLogprobs: 5 }, request()).top_logprobs, 3);
});

Deno.test("OpenRouter is asked for a provider that honours log-probabilities", () => {
  const router = settings({ family: "openrouter" });
  assertEquals(answerBody(router, {}, request()).provider, { require_parameters: true });
  assertEquals("provider" in answerBody(router, { logprobs: false }, request()), false);
});

Deno.test("a continuation has no use without log-probabilities", () => {
  const vllm = settings({ family: "vllm" });
  assertEquals(continuationBody(vllm, { logprobs: false }, request(), "<a>"), null);
  assertEquals(continuationBody(vllm, { continuation: false }, request(), "<a>"), null);
  assertEquals(continuationBody(vllm, {}, request(), "<a>")?.stream, undefined);
});
