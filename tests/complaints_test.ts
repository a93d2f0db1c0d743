/**
 * What users of this and similar verifiers complained about, replayed through a real connection to the stub judge,
 * decoder and verb included: each ends in a score where there is one and in a named reason where there is none, never
 * in a made-up number. The numbers in the names are the rows of the list these inputs come from.
 *
 * @module
 */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { createMemoryStore } from "../store/memory.ts";
import { compare } from "../verifier/compare.ts";
import { loadConfig } from "../verifier/config/config.ts";
import { createEnvironment } from "../verifier/environment.ts";
import { AssayError } from "../verifier/errors.ts";
import { createJudgeRegistry } from "../verifier/judges/registry.ts";
import { fakeTiming } from "../verifier/judges/test_tools.ts";
import { compareRequestSchema, parseRequest } from "../verifier/requests.ts";
import type { CompareResult } from "../verifier/types.ts";
import {
  degenerate,
  echoKey,
  failure,
  htmlPage,
  letters,
  plainToken,
  say,
  smart,
  startStubJudge,
  type StubAnswer,
  type StubScript,
  type StubToken,
  tagged,
  unsupported,
  withoutAlternatives,
} from "./stub_judge.ts";

const KEY = "sk-test-123-very-secret";
const SHARP = letters({ score_A: "B", score_B: "K" });
const VALUE_B = 1 - 1 / 19;
const VALUE_K = 1 - 10 / 19;

interface Outcome {
  readonly result: CompareResult | null;
  readonly error: AssayError | null;
  /** Score or reason of the first call's two sides. */
  readonly sides: readonly (number | string)[];
  readonly channels: Readonly<Partial<Record<string, number>>>;
  readonly sent: readonly Readonly<Record<string, unknown>>[];
}

async function judged(
  script: StubScript,
  { profile = {}, channel = "any" }: { profile?: Record<string, unknown>; channel?: string } = {},
): Promise<Outcome> {
  await using stub = startStubJudge(script);
  const config = loadConfig({
    text: JSON.stringify({ judges: { stub: stub.profile({ retries: 1, apiKeyEnv: "KEY", ...profile }) } }),
    env: () => undefined,
  });
  const environment = await createEnvironment({
    judges: createJudgeRegistry(config, { env: () => KEY, timing: fakeTiming() }),
    store: createMemoryStore(),
    delimiterSecret: "a secret of the tests",
  });
  const request = parseRequest(compareRequestSchema, {
    task: "t",
    a: "one",
    b: "two",
    criteria: ["works"],
    repeats: 1,
    channel,
  });
  let result: CompareResult | null = null;
  let error: AssayError | null = null;
  try {
    const answered = await compare(environment, request);
    assert(!("plan" in answered));
    result = answered;
  } catch (caught) {
    if (!(caught instanceof AssayError)) throw caught;
    error = caught;
  }
  const call = result?.calls[0];
  const sides = [call?.a, call?.b].flatMap((score) =>
    score === undefined ? [] : [score.kind === "scored" ? score.value : score.reason]
  );
  assert(!JSON.stringify([result, error?.message, error?.errors]).includes(KEY), "the key must not show");
  return { result, error, sides, channels: result?.channels ?? {}, sent: stub.calls.map((one) => one.body) };
}

async function unscored(
  script: StubScript,
  reason: string,
  options: Parameters<typeof judged>[1] = {},
): Promise<Outcome> {
  const outcome = await judged(script, options);
  assertEquals(outcome.result, null, "there is no number");
  assert(outcome.error?.message.includes(reason), `${outcome.error?.message} should name ${reason}`);
  return outcome;
}

function scores(outcome: Outcome, a: number, b: number): void {
  assertEquals(outcome.error, null);
  assertAlmostEquals(Number(outcome.sides[0]), a, 1e-9);
  assertAlmostEquals(Number(outcome.sides[1]), b, 1e-9);
}

/** Changes every alternative list that holds a letter. */
function onLetters(answer: StubAnswer, change: (token: StubToken) => StubToken): StubAnswer {
  return {
    ...answer,
    tokens: answer.tokens?.map((token) => /^ [A-T]$/.test(String(token.token)) ? change(token) : token) ??
      null,
  };
}

const letter = (...alternatives: [string, number | null | string][]): StubToken => ({
  token: alternatives[0]?.[0],
  logprob: alternatives[0]?.[1],
  top_logprobs: alternatives.map(([token, logprob]) => ({ token, logprob })),
});

Deno.test("1: a score in the reasoning of an answer without content is no score", async () => {
  const reasoning = "so <score_A> C </score_A> <score_B> F </score_B>";
  await unscored(say(null, { reasoning }), "no_");
  await unscored(
    say(null, {
      reasoning,
      tokens: tagged("", { score_A: letter([" C", -0.1]), score_B: letter([" F", -0.1]) }).tokens!,
    }),
    "no_",
  );
  await unscored(say(null, { reasoning }), "no_", { profile: { stream: true } });
});

Deno.test("4: only whole letters count", async () => {
  const token = letter(["The", -0.1], [" T", -2], [" t", -3]);
  const outcome = await judged(tagged("", { score_A: token, score_B: token }), { channel: "logprobs" });
  assert(outcome.error?.message.includes("low_letter_mass"));
});

Deno.test("5: log-probabilities of -9999 and empty alternatives are no distribution", async () => {
  const answer = degenerate({ score_A: "B", score_B: "K" });
  await unscored(answer, "no_logprobs", { channel: "logprobs" });
  await unscored(withoutAlternatives(answer), "no_logprobs", { channel: "logprobs" });
  const outcome = await judged(answer);
  assertEquals(outcome.channels, { explicit_tag: 2 });
});

Deno.test("7, 13: an answer without log-probabilities is read from its letters and says so, or is refused on demand", async () => {
  const answer = say("<score_A> B </score_A>\n<score_B> K </score_B>");
  const outcome = await judged(answer);
  scores(outcome, VALUE_B, VALUE_K);
  assertEquals(outcome.channels, { explicit_tag: 2 });
  await unscored(answer, "no_logprobs", { channel: "logprobs" });
});

Deno.test("8: the last complete tag counts, not one that is quoted before", async () => {
  const quoted = SHARP({} as never) as StubAnswer;
  const before = [
    "On",
    " a",
    " scale",
    " to",
    " T",
    ": <",
    "score",
    "_A",
    "> ",
    "T",
    " </",
    "score",
    "_A",
    ">",
  ].map(plainToken);
  const tokens = [...before, ...quoted.tokens ?? []];
  scores(
    await judged({ ...quoted, tokens, text: tokens.map((token) => token.token).join("") }),
    VALUE_B,
    VALUE_K,
  );
});

Deno.test("10: a server's maximum of alternatives is kept to", async () => {
  const outcome = await judged((call) =>
    Number(call.body.top_logprobs) > 5
      ? failure(400, { error: { message: "top_logprobs: max allowed: 5" } })
      : SHARP
  );
  scores(outcome, VALUE_B, VALUE_K);
  assertEquals(outcome.sent.map((body) => body.top_logprobs), [20, 5]);
  assertEquals([outcome.result?.usage.calls, outcome.result?.usage.attempts], [1, 2]);
});

Deno.test("11: alternatives that were cut away by sampling leave what remains", async () => {
  const token = letter([" A", Math.log(0.75)], [" T", Math.log(0.25)], [" B", -9999], [" C", "-Infinity"]);
  scores(await judged(tagged("", { score_A: token, score_B: token })), 0.75, 0.75);
});

Deno.test("14: top_logprobs: null is none", async () => {
  const answer = onLetters(SHARP({} as never) as StubAnswer, (token) => ({ ...token, top_logprobs: null }));
  await unscored(answer, "no_logprobs", { channel: "logprobs" });
});

Deno.test("15: NaN and Infinity are no probabilities", async () => {
  const bad = letter([" A", "NaN"], [" B", "Infinity"], [" C", "-Infinity"], [" D", null]);
  await unscored(tagged("", { score_A: bad, score_B: bad }), "", { channel: "logprobs" });
  const text = JSON.stringify({
    choices: [{
      message: { content: "x" },
      finish_reason: "stop",
      logprobs: { content: [{ token: "x", logprob: 0 }] },
    }],
  });
  await unscored({
    kind: "raw",
    status: 200,
    headers: { "content-type": "application/json" },
    chunks: [text.replace('"logprob":0', '"logprob":NaN')],
  }, "no_tag");
});

Deno.test("17: streams with usage first, comments, CRLF and no [DONE] are read to the same scores", async () => {
  const answer: StubAnswer = {
    ...SHARP({} as never) as StubAnswer,
    stream: { usageFirst: true, keepAlive: true, lineEnd: "\r\n", noDone: true, chunkBytes: 101 },
  };
  const outcome = await judged(answer, { profile: { stream: true } });
  scores(outcome, VALUE_B, VALUE_K);
  assertEquals(outcome.result?.usage.inputTokens, 100);
});

Deno.test("23: a judge that always prefers the first slot ends in a tie with the bias shown", async () => {
  await using stub = startStubJudge(smart({ rule: () => 0.5, slotBias: 0.2 }));
  const config = loadConfig({
    text: JSON.stringify({ judges: { stub: stub.profile() } }),
    env: () => undefined,
  });
  const environment = await createEnvironment({
    judges: createJudgeRegistry(config, { env: () => undefined }),
    store: createMemoryStore(),
    delimiterSecret: "a secret of the tests",
  });
  const result = await compare(
    environment,
    parseRequest(compareRequestSchema, { task: "t", a: "one", b: "two", criteria: ["works"], repeats: 2 }),
  );
  assert(!("plan" in result));
  assertAlmostEquals(result.margin!, 0, 1e-9);
  assertEquals(result.winner, "tie");
  assert(Math.abs(result.slotBias! - 0.4) < 0.01);
});

Deno.test("31: a key that the judge repeats shows nowhere", async () => {
  const outcome = await unscored(echoKey, "");
  assertEquals(outcome.error?.code, "judge_unauthorized");
});

Deno.test("an answer without tags goes on to the continuation, where the server can", async () => {
  const outcome = await judged(
    (call) =>
      call.continues === null
        ? say("I like both.", { tokens: ["I", " like", " both", "."].map(plainToken) })
        : SHARP,
    {
      profile: { family: "vllm" },
    },
  );
  scores(outcome, VALUE_B, VALUE_K);
  assertEquals(outcome.channels, { continuation: 2 });
  const [, first, second] = outcome.sent.map((body) =>
    (body.messages as { content: string }[]).at(-1)?.content
  );
  assertEquals([first, second], [
    "I like both.\n<score_A>",
    "I like both.\n<score_A> B </score_A>\n<score_B>",
  ]);
});

Deno.test("an answer without tags from a server that can't continue is no_tag, and the refusal is asked for once", async () => {
  const script: StubScript = (call) =>
    call.continues === null
      ? say("I like both.", { tokens: [plainToken("I like both.")] })
      : unsupported("continue_final_message");
  const outcome = await unscored(script, "no_tag", { profile: { family: "vllm" } });
  assertEquals(outcome.sent.length, 2);
});

Deno.test("an answer that ends at the token limit is asked for once more with twice the budget", async () => {
  const cut = say("I was about to", { finishReason: "length" });
  const outcome = await judged([cut, SHARP], { profile: { maxTokens: 50 } });
  scores(outcome, VALUE_B, VALUE_K);
  assertEquals(outcome.sent.map((body) => body.max_tokens), [50, 100]);
  await unscored(cut, "truncated", { profile: { maxTokens: 50 } });
});

Deno.test("refusals, pages of proxies and broken servers are named", async () => {
  await unscored(say("", { finishReason: "content_filter" }), "refused");
  await unscored(say(null, { refusal: "I can't grade that." }), "refused");
  await unscored(htmlPage, "backend_error");
  await unscored(failure(503), "503");
  await unscored(failure(429), "rate_limited");
});
