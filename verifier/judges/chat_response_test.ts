import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { AttemptError } from "./attempt.ts";
import { parseJson, type ReadOptions, readReply, readUsage } from "./chat_response.ts";
import type { JudgeAnswer } from "./judge.ts";
import { chat, json } from "./test_tools.ts";

const OPTIONS: ReadOptions = { maxResponseBytes: 1 << 20, model: "asked", secrets: ["sk-known-secret"] };
const fixture = (name: string): Promise<string> =>
  Deno.readTextFile(new URL(`__fixtures__/${name}`, import.meta.url));

function stream(text: string, chunkBytes = Infinity): Response {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + Math.min(chunkBytes, bytes.length)));
      at += chunkBytes;
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

const data = (...chunks: unknown[]): string =>
  chunks.map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`).join("");
const spelled = (answer: JudgeAnswer): string | undefined =>
  answer.tokens?.map((token) => token.token).join("");

async function failure(response: Response): Promise<AttemptError> {
  return await assertRejects(() => readReply(response, OPTIONS), AttemptError);
}

Deno.test("readReply() reads a whole OpenAI answer and hands on the parsed tokens", async () => {
  const { answer, usage } = await readReply(json(await fixture("openai.json")), OPTIONS);
  assertEquals(answer.model, "gpt-4.1-2025-04-14");
  assertEquals([answer.finishReason, answer.refused, answer.reasoning], ["stop", false, null]);
  assertEquals(spelled(answer), answer.text);
  assertEquals(answer.tokens?.[9]?.top_logprobs?.[0]?.token, " B");
  assertEquals(usage, { inputTokens: 2101, cachedInputTokens: 1920, outputTokens: 23, reasoningTokens: 0 });
});

Deno.test("readReply() leaves the tokens' bytes out, and texts that look like them alone", async () => {
  const quoted = '{"a":1,"bytes":[1,2]} , "bytes": [3] "bytes":[4]';
  const logprobs = {
    content: [
      {
        token: quoted,
        logprob: -1,
        bytes: [104, 105],
        top_logprobs: [{ token: ',"bytes":[1]', logprob: -2, bytes: [] }],
      },
      { bytes: [1], token: '"', logprob: 0, top_logprobs: [] },
    ],
  };
  const reply = { choices: [{ message: { content: `${quoted}"` }, finish_reason: "stop", logprobs }] };
  for (const indent of [0, 1]) {
    const { answer } = await readReply(json(JSON.stringify(reply, null, indent)), OPTIONS);
    assertEquals(answer.text, `${quoted}"`);
    assertEquals(spelled(answer), answer.text);
    assertEquals(answer.tokens?.[0]?.top_logprobs?.[0]?.token, ',"bytes":[1]');
    assertEquals(answer.tokens?.[0]?.top_logprobs?.[0]?.logprob, -2);
  }
});

Deno.test("readReply() reads DeepSeek's thinking stream, the reasoning and its tokens apart", async () => {
  const text = await fixture("deepseek_thinking.sse");
  for (const bytes of [Infinity, 1, 3, 7, 1000]) {
    const { answer, usage } = await readReply(stream(text, bytes), OPTIONS);
    assertEquals(answer.reasoning, "The first says <score_A> T </score_A>, 都不对");
    assertEquals(answer.text, "<score_A> B </score_A>\n<score_B> N </score_B>");
    assertEquals(spelled(answer), answer.text);
    assertEquals(answer.finishReason, "stop");
    assertEquals(usage, {
      inputTokens: 2101,
      cachedInputTokens: 1792,
      outputTokens: 40,
      reasoningTokens: 22,
    });
  }
});

Deno.test("readReply() reads no score out of reasoning when the content is null", async () => {
  const { answer } = await readReply(json(await fixture("vllm_reasoning_only.json")), OPTIONS);
  assertEquals(answer.text, "");
  assertEquals(answer.tokens, []);
  assert(answer.reasoning?.includes("<score_A> C"));
});

Deno.test("readReply() cuts the tokens of reasoning that a server lists together with the answer's", async () => {
  const { answer } = await readReply(json(await fixture("vllm_reasoning_and_answer.json")), OPTIONS);
  assertEquals(spelled(answer), answer.text + "<|im_end|>");
  assertEquals(answer.text.startsWith("<score_A> B"), true);
});

Deno.test("readReply() takes only new tokens where llama.cpp repeats the prefill", async () => {
  const { answer, usage } = await readReply(json(await fixture("llama_cpp_continuation.json")), OPTIONS);
  assertEquals(spelled(answer), " D");
  assertEquals(answer.finishReason, "length");
  assertEquals(usage?.cachedInputTokens, 318);
});

Deno.test("readReply() reads a stream with CRLF, comments, usage first and last, an empty id and no [DONE]", async () => {
  const text = await fixture("openrouter_without_done.sse");
  for (const bytes of [Infinity, 1, 2, 5]) {
    const { answer, usage } = await readReply(stream(text, bytes), OPTIONS);
    assertEquals([answer.text, answer.tokens, answer.model], ["半分。", null, "qwen/qwen3-32b"]);
    assertEquals(usage, { inputTokens: 5, cachedInputTokens: 2, outputTokens: 7, reasoningTokens: 0 });
  }
});

Deno.test("readReply() turns an error inside a stream into a failure with its status and usage", async () => {
  const error = await failure(stream(await fixture("openrouter_error.sse")));
  assertEquals([error.failure, error.status, error.retryable], ["http", 429, true]);
  assertEquals(error.usage?.inputTokens, 5);
});

Deno.test("readReply() converts log-probabilities in the completions shape", async () => {
  const { answer } = await readReply(json(await fixture("completions_logprobs.json")), OPTIONS);
  assertEquals(answer.tokens?.[1], {
    token: " B",
    logprob: -0.3,
    top_logprobs: [{ token: " B", logprob: -0.3 }, { token: " C", logprob: -1.7 }],
  });
});

Deno.test("readReply() goes by the content type, not by what was asked", async () => {
  const whole = await readReply(chat("whole"), OPTIONS);
  assertEquals(whole.answer.text, "whole");
  const chunk = { choices: [{ delta: { content: "streamed" }, finish_reason: "stop" }] };
  assertEquals((await readReply(stream(data(chunk, "[DONE]")), OPTIONS)).answer.text, "streamed");
});

Deno.test("readReply() skips the blank lines that keep a waiting connection open", async () => {
  const body = `\n\n\n${await chat("late").text()}`;
  assertEquals((await readReply(json(body), OPTIONS)).answer.text, "late");
});

Deno.test("readReply() takes null, missing and explicit null log-probabilities for none", async () => {
  for (const logprobs of [null, undefined, {}, { content: null }, { content: null, refusal: null }, 7]) {
    const { answer } = await readReply(chat("text", { logprobs }), OPTIONS);
    assertEquals(answer.tokens, null);
  }
  const { answer } = await readReply(
    chat("x", { logprobs: { content: [{ token: "x", logprob: -1, top_logprobs: null }] } }),
    OPTIONS,
  );
  assertEquals(answer.tokens, [{ token: "x", logprob: -1, top_logprobs: null }]);
});

Deno.test("readReply() makes null of NaN, Infinity and their strings, and repairs what isn't a token", async () => {
  const body =
    '{"note":"NaN \\" -Infinity","choices":[{"message":{"content":"x"},"finish_reason":"stop","logprobs":{"content":[' +
    '{"token":"x","logprob":NaN,"top_logprobs":[{"token":"A","logprob":-Infinity},{"token":"B","logprob":"-Infinity"},' +
    '{"token":"C","logprob":"-1.5"},{"token":null,"logprob":-1},null]},"junk"]}}]}';
  const { answer } = await readReply(json(body), OPTIONS);
  assertEquals(answer.tokens, [
    {
      token: "x",
      logprob: null,
      top_logprobs: [
        { token: "A", logprob: null },
        { token: "B", logprob: null },
        { token: "C", logprob: -1.5 },
        { token: "", logprob: -1 },
        { token: "", logprob: null },
      ],
    },
    { token: "", logprob: null, top_logprobs: null },
  ]);
});

Deno.test("readReply() splits off reasoning that stands in the content", async () => {
  const cases: readonly [string, string, string | null][] = [
    ["<think>hm</think>\nanswer", "\nanswer", "hm"],
    ["opened by the template</think>answer", "answer", "opened by the template"],
    ["<think>cut off <score_A> A </score_A>", "", "cut off <score_A> A </score_A>"],
    ["no reasoning", "no reasoning", null],
  ];
  for (const [content, text, reasoning] of cases) {
    const tokens = (content.match(/\w+|\W/g) ?? []).map((token) => ({ token, logprob: -1 }));
    const { answer } = await readReply(chat(content, { logprobs: { content: tokens } }), OPTIONS);
    assertEquals([answer.text, answer.reasoning], [text, reasoning]);
    assertEquals(spelled(answer), text);
  }
});

Deno.test("readReply() reads refusals and finish reasons", async () => {
  const refusal = await readReply(
    json({ choices: [{ message: { content: null, refusal: "I can't." }, finish_reason: "stop" }] }),
    OPTIONS,
  );
  assertEquals([refusal.answer.refused, refusal.answer.text], [true, ""]);
  for (
    const [given, expected] of [
      ["length", "length"],
      ["max_tokens", "length"],
      ["content_filter", "content_filter"],
      [
        "tool_calls",
        "other",
      ],
      [null, "other"],
      ["eos", "stop"],
    ]
  ) {
    assertEquals(
      (await readReply(chat("x", { finish_reason: given }), OPTIONS)).answer.finishReason,
      expected,
    );
  }
});

Deno.test("readReply() joins content parts", async () => {
  const parts = [{ type: "text", text: "one " }, "two", { type: "image" }];
  const { answer } = await readReply(
    json({ choices: [{ message: { content: parts }, finish_reason: "stop" }] }),
    OPTIONS,
  );
  assertEquals(answer.text, "one two");
});

Deno.test("readReply() names the model asked for where the answer names none", async () => {
  assertEquals(
    (await readReply(json({ choices: [{ message: { content: "x" } }] }), OPTIONS)).answer.model,
    "asked",
  );
});

Deno.test("readReply() fails on what isn't an answer, and says whether asking again may help", async () => {
  const cases: readonly [string, string, boolean][] = [
    ["", "network", true],
    ['{"choices":[{"message":{"content":"half', "network", true],
    ["<html>Bad gateway</html>", "protocol", false],
    ["[]", "protocol", false],
    ["null", "protocol", false],
    ['{"choices":[]}', "protocol", false],
    ["{}", "protocol", false],
  ];
  for (const [body, kind, retryable] of cases) {
    const error = await failure(json(body));
    assertEquals([error.failure, error.retryable], [kind, retryable], body);
  }
});

Deno.test("readReply() fails on a stream that ends before the answer, and on one without events", async () => {
  for (const text of ["", ": keep-alive\n\n", data({ choices: [{ delta: { content: "half" } }] })]) {
    const error = await failure(stream(text));
    assertEquals([error.failure, error.retryable], ["network", true]);
  }
});

Deno.test("readReply() accepts a last event without a blank line", async () => {
  const chunk = { choices: [{ delta: { content: "all" }, finish_reason: "stop" }] };
  assertEquals((await readReply(stream(data(chunk).trimEnd()), OPTIONS)).answer.text, "all");
});

Deno.test("readReply() reads error objects inside a 200, whatever they call the status", async () => {
  const cases: readonly [unknown, number][] = [
    [{ code: 429, message: "slow" }, 429],
    [{ code: "503", message: "busy" }, 503],
    [{ type: "server_error", code: null, message: "oops" }, 500],
    [{ type: "overloaded_error" }, 503],
    [{ type: "rate_limit_error" }, 429],
    [{ type: "invalid_request_error", message: "no" }, 400],
    [{ code: "invalid_api_key" }, 401],
    ["something", 502],
  ];
  for (const [error, status] of cases) {
    assertEquals((await failure(json({ error }))).status, status, JSON.stringify(error));
  }
});

Deno.test("readReply() counts an interruption by the provider as a 503", async () => {
  const error = await failure(chat("half", { finish_reason: "insufficient_system_resource" }));
  assertEquals([error.status, error.retryable, error.usage?.inputTokens], [503, true, 10]);
});

Deno.test("readReply() stops reading a body or a stream that is too long", async () => {
  let cancelled = 0;
  const endless = (type: string): Response =>
    new Response(
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new TextEncoder().encode("data: {}\n\n".repeat(1000))),
        cancel: () => {
          cancelled++;
        },
      }),
      { headers: { "content-type": type } },
    );
  for (const type of ["application/json", "text/event-stream"]) {
    assertEquals((await failure(endless(type))).failure, "too_large");
  }
  assertEquals(cancelled, 2);
});

Deno.test("readReply() keeps secrets out of its messages", async () => {
  const error = await failure(json({ error: { code: 401, message: "key sk-known-secret is wrong" } }));
  assertEquals(error.message.includes("sk-known-secret"), false);
  assertEquals((await failure(json("<p>sk-known-secret</p>"))).message.includes("sk-known-secret"), false);
});

Deno.test("readUsage() knows unknown from zero", () => {
  assertEquals(readUsage(undefined), null);
  assertEquals(readUsage({}), null);
  assertEquals(readUsage({ prompt_tokens: "100", completion_tokens: null }), null);
  assertEquals(readUsage({ prompt_tokens: 5, completion_tokens: -1 })?.outputTokens, null);
});

Deno.test("parseJson() gives back any JSON object, and never throws anything but its own error", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
    assertEquals(JSON.stringify(parseJson(JSON.stringify(value), [])), JSON.stringify(value));
  }));
  fc.assert(fc.property(fc.string(), (text) => {
    try {
      parseJson(text, []);
    } catch (error) {
      assert(error instanceof AttemptError);
    }
  }));
});

Deno.test("a stream reads the same however it is cut", async () => {
  const text = await fixture("deepseek_thinking.sse");
  const whole = await readReply(stream(text), OPTIONS);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5000 }), async (bytes) => {
      assertEquals(await readReply(stream(text, bytes), OPTIONS), whole);
    }),
    { numRuns: 20 },
  );
});
