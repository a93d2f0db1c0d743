/**
 * Recorded results of the published verifier and of one of its ports, for what judges do: usage, thinking
 * parameters, image types, cost, and how a port's transport behaved. Where we differ on purpose, the reason stands
 * beside the case.
 *
 * @module
 */
import { assertAlmostEquals, assertEquals } from "@std/assert";
import { loadConfig } from "../../verifier/config/config.ts";
import { EFFORTS } from "../../verifier/config/schema.ts";
import { thinkingSwitch, thinks } from "../../verifier/judges/chat_request.ts";
import { readUsage } from "../../verifier/judges/chat_response.ts";
import { readGeminiUsage } from "../../verifier/judges/gemini.ts";
import { sniffImageType } from "../../verifier/judges/images.ts";
import { JudgeError } from "../../verifier/judges/judge.ts";
import { createJudgeRegistry } from "../../verifier/judges/registry.ts";
import { chat, context, fakeFetch, fakeTiming, json, request } from "../../verifier/judges/test_tools.ts";
import { redact } from "../../verifier/redaction/redact.ts";
import { costUsd, UsageMeter } from "../../verifier/usage.ts";

// deno-lint-ignore no-explicit-any
type Golden = any;

const folder = new URL("../../../shared/golden/", import.meta.url);
const read = (name: string): Golden | null => {
  try {
    return JSON.parse(Deno.readTextFileSync(new URL(name, folder)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
};
const upstream = read("upstream.json");
const port = read("dsh_llm_verifier.json")?.groups ?? null;
const ignore = upstream === null || port === null;
const note = ignore ? " (skipped: ../shared/golden is not there)" : "";

const test = (name: string, run: () => void | Promise<void>): void =>
  Deno.test({ name: name + note, ignore, fn: run });

/** Upstream counts what it can't read as zero; here that is unknown, as zero tokens would cost zero. */
const UNKNOWN_USAGE = new Set(["none", "usage_none", "strings"]);

test("usage is counted as the published verifier counts it", () => {
  for (const { id, input, output_input_cached_output_reasoning: expected } of upstream.usage) {
    const gemini = input.usage_metadata;
    const found = gemini === undefined ? readUsage(input.usage) : readGeminiUsage({
      promptTokenCount: gemini.prompt_token_count,
      cachedContentTokenCount: gemini.cached_content_token_count,
      candidatesTokenCount: gemini.candidates_token_count,
      thoughtsTokenCount: gemini.thoughts_token_count,
    });
    if (id === "strings") {
      assertEquals([found?.inputTokens ?? null, found?.outputTokens ?? null], [null, null], id);
    } else if (UNKNOWN_USAGE.has(id)) assertEquals(found, null, id);
    else {
      assertEquals(
        [found?.inputTokens, found?.cachedInputTokens, found?.outputTokens, found?.reasoningTokens],
        expected,
        id,
      );
    }
  }
});

test("the sum of usages is the published verifier's", () => {
  const expected = upstream.usage_total.output;
  const meter = new UsageMeter(null);
  for (const { input } of upstream.usage) {
    const used = readUsage(input.usage);
    if (used === null) continue;
    meter.call();
    meter.attempt(used);
  }
  const gemini = readGeminiUsage({ promptTokenCount: 100, candidatesTokenCount: 10, thoughtsTokenCount: 7 });
  meter.call();
  meter.attempt(gemini);
  const total = meter.total();
  assertEquals(
    [total.calls, total.inputTokens, total.cachedInputTokens, total.outputTokens, total.reasoningTokens],
    [
      expected.calls,
      expected.input_tokens,
      expected.cached_input_tokens,
      expected.output_tokens,
      expected.reasoning_tokens,
    ],
  );
});

test("DeepSeek's thinking parameters and token budget are the published verifier's", () => {
  for (
    const { DEEPSEEK_EFFORT: given, DEEPSEEK_MAX_TOKENS: limit, output: [parameters, maxTokens] } of upstream
      .deepseek_params
  ) {
    const effort = EFFORTS.find((one) => one === given) ?? null;
    assertEquals(effort, given);
    assertEquals(
      thinkingSwitch({ family: "deepseek", thinking: thinks("deepseek", effort, undefined), effort }, {}),
      parameters,
    );
    const config = loadConfig({
      text: JSON.stringify({
        judges: {
          j: {
            kind: "openai-compatible",
            baseUrl: "https://api.deepseek.com",
            model: "m",
            ...(effort === null ? {} : { effort }),
            ...(limit === null ? {} : { maxTokens: Number(limit) }),
          },
        },
      }),
      env: () => undefined,
    });
    assertEquals(createJudgeRegistry(config, { env: () => undefined }).resolve().maxTokens, maxTokens);
  }
});

test("image types are the published verifier's, except that the unknown is not called PNG", () => {
  for (const { hex, output } of upstream.mime) {
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair: string) => parseInt(pair, 16));
    const isGuess = output === "image/png" && !hex.startsWith("89504e47");
    assertEquals(sniffImageType(bytes), isGuess ? null : output, hex);
  }
});

test("cost is the port's, whose input tokens leave out the cached ones", () => {
  for (const { args: [usage, prices], value } of port.costUsd.vectors) {
    const cost = costUsd({
      inputTokens: usage.inputTokens + usage.cachedInputTokens,
      cachedInputTokens: usage.cachedInputTokens,
      outputTokens: usage.outputTokens,
      reasoningTokens: 0,
    }, {
      inputPerMillion: prices.input,
      cachedInputPerMillion: prices.cachedInput,
      outputPerMillion: prices.output,
    });
    assertAlmostEquals(cost!, value);
  }
});

/**
 * How we end where the port degraded: it took a refused key, an unknown model, a long prompt and a page that isn't
 * JSON for a missing capability and remembered that for a day; it did not retry a 408.
 */
const TRANSPORT: Readonly<Record<string, { response: () => Response; attempts: number; ends: string }>> = {
  "408_empty": { response: () => new Response("", { status: 408 }), attempts: 4, ends: "timeout" },
  "500": { response: () => json({ error: "oops" }, { status: 500 }), attempts: 4, ends: "backend_error" },
  "401": {
    response: () => json({ error: "logprobs unsupported" }, { status: 401 }),
    attempts: 1,
    ends: "unauthorized",
  },
  "402": {
    response: () => json({ error: "Insufficient Balance" }, { status: 402 }),
    attempts: 1,
    ends: "unauthorized",
  },
  "400_context_too_long": {
    response: () => json({ error: "maximum context length exceeded" }, { status: 400 }),
    attempts: 1,
    ends: "backend_error",
  },
  "200_not_json": { response: () => new Response("<html>"), attempts: 1, ends: "backend_error" },
  "200_without_logprobs": { response: () => chat("x", { logprobs: null }), attempts: 1, ends: "answer" },
  "200_finish_reason_length": {
    response: () => chat("x", { finish_reason: "length" }),
    attempts: 1,
    ends: "answer",
  },
};

test("the port's transport cases end in a reason, and none but an unambiguous refusal is remembered", async () => {
  const cases: readonly { readonly id: string }[] = port.callVerifier_transport.vectors;
  for (const { id } of cases) {
    const fetch = id === "404_logprobs_unsupported"
      ? fakeFetch(json({ error: "logprobs unsupported" }, { status: 404 }), chat("x"))
      : fakeFetch(() => TRANSPORT[id]!.response());
    const config = loadConfig({
      text: JSON.stringify({
        judges: { j: { kind: "openai-compatible", baseUrl: "https://a", model: "m", retries: 3 } },
      }),
      env: () => undefined,
    });
    const judges = createJudgeRegistry(config, { env: () => undefined, fetch, timing: fakeTiming() });
    const ends = await judges.resolve().answer(request(), context()).then(() => "answer", (error) => {
      if (error instanceof JudgeError) return error.reason;
      throw error;
    });
    const { learnt } = judges.profiles().find((profile) => profile.name === "j")!;
    if (id === "404_logprobs_unsupported") {
      assertEquals([ends, fetch.sent.length, learnt], ["answer", 2, { logprobs: false }], id);
    } else {
      assertEquals([ends, fetch.sent.length, learnt], [TRANSPORT[id]!.ends, TRANSPORT[id]!.attempts, {}], id);
    }
  }
});

/** What the port leaves standing, and we don't: the rest of a quoted value, Basic credentials, keys, JSON fields. */
test("everything that the port redacts is redacted, and what it misses too", () => {
  for (const { input } of port.redactText.vectors) {
    const found = redact(input);
    for (
      const secret of ["abc", "XYZ", "q w", "hunter2", "s p", "dXNlcg", "ABCDEF1234567890", "abcdefghij"]
    ) {
      if (input.includes(secret) && input !== "token = abc; x") {
        assertEquals(found.includes(secret), false, `${input} -> ${found}`);
      }
    }
  }
});
