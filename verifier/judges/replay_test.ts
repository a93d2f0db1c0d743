import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { loadConfig } from "../config/config.ts";
import { AssayError } from "../errors.ts";
import { type Judge, type JudgeAnswer, JudgeError, type JudgeRequest } from "./judge.ts";
import { answerKey, type AnswerRecord, readRecording, recordAnswers } from "./recording.ts";
import { createJudgeRegistry } from "./registry.ts";
import { chat, context, fakeFetch, json, request } from "./test_tools.ts";

const TOKENS = [{ token: " B", logprob: -0.1, top_logprobs: [{ token: " B", logprob: -0.1 }] }];

function live(): Judge {
  const config = loadConfig({
    text: JSON.stringify({
      judges: {
        live: { kind: "openai-compatible", family: "vllm", baseUrl: "http://127.0.0.1:1", model: "m" },
      },
    }),
    env: () => undefined,
  });
  const fetch = fakeFetch((sent) =>
    chat(`answer ${JSON.stringify(sent.body.messages).length}`, { logprobs: { content: TOKENS } })
  );
  return createJudgeRegistry(config, { env: () => undefined, fetch }).resolve();
}

function replaying(answers: unknown, readText?: (path: string) => Promise<string>): Judge {
  const config = loadConfig({
    text: JSON.stringify({ judges: { old: { kind: "replay", answers } } }),
    env: () => undefined,
  });
  return createJudgeRegistry(config, {
    env: () => undefined,
    ...(readText === undefined ? {} : { readText }),
  }).resolve("old");
}

Deno.test("a recorded run replays to the same answers, continuations included, and costs nothing", async () => {
  const records: AnswerRecord[] = [];
  const recorder = recordAnswers(live(), (record) => {
    records.push(record);
  });
  const requests = [
    request(),
    request({ repeat: 1 }),
    request({ suffix: "other" }),
    request({ maxTokens: 99 }),
  ];
  const answers: JudgeAnswer[] = [];
  for (const one of requests) answers.push(await recorder.answer(one, context()));
  const continued = await recorder.continuation?.(request(), "text <score_A>", context());
  assert(continued !== null);

  const lines = records.map((record) => JSON.stringify(record)).join("\n");
  for (const judge of [replaying(records), replaying("answers.jsonl", () => Promise.resolve(lines + "\n"))]) {
    const seen = context();
    for (const [i, one] of requests.entries()) assertEquals(await judge.answer(one, seen), answers[i]);
    assertEquals(await judge.continuation?.(request(), "text <score_A>", seen), continued);
    assertEquals(seen.attempts.length, 5);
    assertEquals(judge.price, { inputPerMillion: 0, cachedInputPerMillion: 0, outputPerMillion: 0 });
  }
});

Deno.test("a prompt that was not recorded is a miss, never a call", async () => {
  const judge = replaying([]);
  const error = await assertRejects(
    () => judge.answer(request(), context()),
    JudgeError,
    "no answer to this prompt",
  );
  assertEquals(error.reason, "replay_miss");
  const second = await assertRejects(() => judge.continuation!(request(), "x", context()), JudgeError);
  assertEquals(second.reason, "replay_miss");
});

Deno.test("failures are not recorded", async () => {
  const records: AnswerRecord[] = [];
  const config = loadConfig({
    text: JSON.stringify({
      judges: { j: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:1", model: "m", retries: 0 } },
    }),
    env: () => undefined,
  });
  const judge = createJudgeRegistry(config, {
    env: () => undefined,
    fetch: fakeFetch(json("no", { status: 400 })),
  }).resolve();
  await assertRejects(
    () => recordAnswers(judge, (record) => void records.push(record)).answer(request(), context()),
    JudgeError,
  );
  assertEquals(records, []);
});

Deno.test("answerKey() changes with every part of the prompt and with nothing about the judge", async () => {
  const base = await answerKey(request());
  assertEquals(base.length, 64);
  const changes: Partial<JudgeRequest>[] = [
    { prefix: "p" },
    { suffix: "s" },
    { prefix: "prefix s", suffix: "uffix" },
    { tags: ["c1"] },
    { images: ["https://a/b.png"] },
    { repeat: 1 },
    { maxTokens: 5 },
  ];
  const keys = [base, await answerKey(request(), "")];
  for (const change of changes) keys.push(await answerKey(request(change)));
  assertEquals(new Set(keys).size, keys.length);
  // How much a raised budget is depends on the judge's settings.
  assertEquals(await answerKey(request({ maxTokens: 5 })), await answerKey(request({ maxTokens: 6 })));
});

Deno.test("answerKey() tells apart any two different splits of text", async () => {
  await fc.assert(fc.asyncProperty(fc.string(), fc.string(), fc.string(), fc.string(), async (a, b, c, d) => {
    fc.pre(a !== c || b !== d);
    assertNotEquals(
      await answerKey(request({ prefix: a, suffix: b })),
      await answerKey(request({ prefix: c, suffix: d })),
    );
  }));
});

Deno.test("readRecording() names the record and the field that can't be read", () => {
  const key = "a".repeat(64);
  const answer = {
    text: "t",
    reasoning: null,
    tokens: null,
    finishReason: "stop",
    refused: false,
    model: "m",
  };
  const fails = (source: string | readonly unknown[], path: string): void => {
    assertEquals(assertThrows(() => readRecording(source, "/answers"), AssayError).errors[0]?.path, path);
  };
  assertEquals(
    readRecording(`\uFEFF${JSON.stringify({ key, answer })}\r\n\r\n`, "/answers").get(key),
    answer as JudgeAnswer,
  );
  assertEquals(readRecording([{ key, answer: null }], "/answers").get(key), null);
  assertEquals(readRecording("", "/answers").size, 0);
  fails("{}\nnot json", "/answers/1");
  fails("[1", "/answers");
  fails([{ key: "short", answer }], "/answers/0/key");
  fails([{ key, answer }, 7], "/answers/1/key");
  fails([{ key }], "/answers/0/answer");
  fails([{ key, answer: { ...answer, text: 7 } }], "/answers/0/answer/text");
  fails([{ key, answer: { ...answer, tokens: {} } }], "/answers/0/answer/tokens");
  fails([{ key, answer: { ...answer, finishReason: "x" } }], "/answers/0/answer/finishReason");
});

Deno.test("a recording in a file needs a runtime that reads files", async () => {
  await assertRejects(() => replaying("a.jsonl").answer(request(), context()), AssayError, "must be inline");
});

Deno.test("two recordings never share cached scores", () => {
  assertNotEquals(replaying([]).identity, replaying([]).identity);
});
