import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { readRefusal } from "./refusals.ts";

const BODY = {
  model: "m",
  logprobs: true,
  top_logprobs: 20,
  temperature: 1,
  max_tokens: 10,
  stream: true,
  stream_options: { include_usage: true },
  thinking: { type: "enabled" },
  chat_template_kwargs: { enable_thinking: false },
};

Deno.test("readRefusal() learns a lower maximum of alternatives however the server words it", () => {
  for (
    const text of [
      '{"message":"Requested sample logprobs of 20, which is greater than max allowed: 5"}',
      "Cannot request more than 5 logprobs.",
      "Invalid 'top_logprobs': must be less than or equal to 5.",
      "20 is greater than the maximum of 5 - 'top_logprobs'",
      "top_logprobs must be between 0 and 5, got 20",
      "top_logprobs should be in the range [0, 5]",
      "top_logprobs: input should be <= 5",
      '{"type":"less_than_equal","loc":["body","top_logprobs"],"ctx":{"le":5},"input":20}',
      "top_logprobs exceeds the limit: at most 5",
    ]
  ) {
    assertEquals(readRefusal(400, text, BODY), { capability: "topLogprobs", value: 5 }, text);
  }
  assertEquals(readRefusal(422, "logprobs: the maximum is 0", BODY), {
    capability: "logprobs",
    value: false,
  });
});

Deno.test("readRefusal() learns that log-probabilities are refused", () => {
  for (
    const text of [
      '{"error":{"message":"Gaudi doesn\'t support logprobs. Please remove \'logprobs\' from your request"}}',
      "Unsupported parameter: 'logprobs' is not supported with this model.",
      "Unknown field: top_logprobs",
      '{"type":"extra_forbidden","loc":["body","logprobs"],"msg":"Extra inputs are not permitted"}',
      "deepseek-reasoner does not support the parameter logprobs",
    ]
  ) {
    assertEquals(readRefusal(400, text, BODY), { capability: "logprobs", value: false }, text);
  }
  assertEquals(
    readRefusal(403, "You are not allowed to request logprobs from this model", BODY)?.capability,
    "logprobs",
  );
});

Deno.test("readRefusal() learns the other parameters by their names", () => {
  const text = (parameter: string): string => `Unrecognized request argument supplied: ${parameter}`;
  assertEquals(readRefusal(400, text("stream_options"), BODY), { capability: "streamOptions", value: false });
  assertEquals(readRefusal(400, text("stream"), BODY), { capability: "stream", value: false });
  assertEquals(readRefusal(400, text("thinking"), BODY), { capability: "thinking", value: false });
  assertEquals(readRefusal(400, text("enable_thinking"), BODY), { capability: "thinking", value: false });
  assertEquals(readRefusal(400, text("temperature"), BODY), { capability: "temperature", value: false });
  assertEquals(
    readRefusal(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", BODY),
    { capability: "completionTokens", value: true },
  );
  assertEquals(
    readRefusal(422, text("max_completion_tokens"), { max_completion_tokens: 5 }),
    { capability: "completionTokens", value: false },
  );
  const continuing = { continue_final_message: true, structured_outputs: {}, logprobs: true };
  assertEquals(readRefusal(400, text("continue_final_message"), continuing), {
    capability: "continuation",
    value: false,
  });
  assertEquals(readRefusal(400, text("structured_outputs"), continuing), {
    capability: "constraint",
    value: false,
  });
  assertEquals(
    readRefusal(400, "Invalid request: the last message must be from the user", continuing),
    { capability: "continuation", value: false },
  );
});

Deno.test("readRefusal() believes the field that names the parameter, not the request that the error repeats", () => {
  const echo = JSON.stringify({ logprobs: true, stream_options: {}, thinking: {} });
  const openAi = JSON.stringify({
    error: { message: `Invalid request ${echo}`, param: "messages", code: "invalid_value" },
  });
  assertEquals(readRefusal(400, openAi, BODY), null);
  const pydantic = JSON.stringify({
    detail: [{ type: "missing", loc: ["body", "messages"], msg: "invalid", input: echo }],
  });
  assertEquals(readRefusal(422, pydantic, BODY), null);
  const named = JSON.stringify({ error: { message: `Unknown parameter in ${echo}`, param: "thinking" } });
  assertEquals(readRefusal(400, named, BODY), { capability: "thinking", value: false });
});

Deno.test("readRefusal() takes any complaint about the continuation's parameters for a refusal of it", () => {
  const body = { continue_final_message: true, add_generation_prompt: false };
  const text =
    "continue_final_message is set but the final message does not appear in the chat after the template";
  assertEquals(readRefusal(400, text, body), { capability: "continuation", value: false });
  assertEquals(readRefusal(500, text, body), null);
});

Deno.test("readRefusal() doesn't take the word stream for the parameter", () => {
  assertEquals(readRefusal(400, "invalid request: the stream was closed", BODY), null);
  assertEquals(readRefusal(400, "Unsupported value: 'stream' is not allowed", BODY), {
    capability: "stream",
    value: false,
  });
});

Deno.test("readRefusal() never drops a temperature that was chosen", () => {
  assertEquals(
    readRefusal(400, "Unsupported value: 'temperature' is not supported", { ...BODY, temperature: 0.2 }),
    null,
  );
});

Deno.test("readRefusal() only counts a parameter that was sent", () => {
  assertEquals(readRefusal(400, "Unsupported parameter: 'logprobs'", { model: "m" }), null);
  assertEquals(readRefusal(400, "Unsupported parameter: 'reasoning_effort'", BODY), null);
});

Deno.test("readRefusal() learns nothing from a 401, 402, 403, 404 model, 408, 409, 429, 5xx or a timeout", () => {
  const text = "Unsupported parameter: 'logprobs' is not supported with this model.";
  for (const status of [null, 200, 301, 401, 402, 403, 408, 409, 413, 429, 500, 502, 503, 504, 529]) {
    assertEquals(readRefusal(status, text, BODY), null, String(status));
  }
  for (
    const other of [
      "The model `x` does not exist or you do not have access to it. logprobs",
      '{"code":"model_not_found","message":"unknown model, logprobs"}',
      "This model's maximum context length is 4096 tokens, you asked for more; top_logprobs 20",
      "Invalid API key; logprobs",
      "Insufficient balance; thinking not supported",
      "Something went wrong",
      "",
    ]
  ) {
    assertEquals(readRefusal(404, other, BODY), null, other);
    assertEquals(readRefusal(400, other, BODY), null, other);
  }
});

Deno.test("readRefusal() reads OpenRouter's refusal to route as one of log-probabilities", () => {
  const text = "No endpoints found that can handle the requested parameters.";
  assertEquals(readRefusal(404, text, { ...BODY, provider: {} }), { capability: "logprobs", value: false });
  assertEquals(readRefusal(404, text, BODY), null);
});

Deno.test("readRefusal() takes any text and is done at once", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 600 }), fc.string(), (status, text) => {
    readRefusal(status, text, BODY);
  }));
  readRefusal(400, "model ".repeat(700), BODY);
});
