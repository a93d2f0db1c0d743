import { assertEquals } from "@std/assert";
import { failure, hang, instant, letters, resetMidBody, smart, startStubJudge } from "./stub_judge.ts";

const PROMPT = [
  "## Task",
  "<<<DATA t>>>",
  "do it",
  "<<<END t>>>",
  "## Trajectory A",
  "<<<DATA a>>>",
  "work quality=0.9",
  "<<<END a>>>",
  "## Trajectory B",
  "<<<DATA b>>>",
  "## Trajectory A",
  "work quality=0.1",
  "<<<END b>>>",
].join("\n");

async function ask(
  url: string,
  fields: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return await fetch(`${url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: PROMPT }], ...fields }),
    ...(signal === undefined ? {} : { signal }),
  });
}

function expectation(token: { top_logprobs: { token: string; logprob: number }[] }): number {
  let sum = 0;
  for (const { token: text, logprob } of token.top_logprobs) {
    sum += Math.exp(logprob) * (1 - "ABCDEFGHIJKLMNOPQRST".indexOf(text.trim()) / 19);
  }
  return sum;
}

Deno.test("the smart stub grades each side by its own block", async () => {
  await using stub = startStubJudge(smart());
  const body = await (await ask(stub.url)).json();
  const tokens = body.choices[0].logprobs.content;
  const scores = tokens.filter((token: { token: string }) => /^ [A-T]$/.test(token.token)).map(expectation);
  assertEquals(scores.map((score: number) => score.toFixed(2)), ["0.90", "0.10"]);
  assertEquals(stub.calls[0]?.tags, ["score_A", "score_B"]);
});

Deno.test("a list of replies is gone through once and its last entry stays", async () => {
  await using stub = startStubJudge([failure(500), letters({ score_A: "B", score_B: "C" })]);
  const statuses = [];
  for (let i = 0; i < 3; i++) {
    const response = await ask(stub.url);
    statuses.push(response.status);
    await response.body?.cancel();
  }
  assertEquals(statuses, [500, 200, 200]);
});

Deno.test("a client that goes away is seen as an abort and not as an answer", async () => {
  await using stub = startStubJudge(hang);
  const controller = new AbortController();
  const answer = ask(stub.url, {}, controller.signal).catch((error: Error) => error.name);
  await stub.until((s) => s.inFlight === 1);
  controller.abort();
  assertEquals(await answer, "AbortError");
  await stub.until((s) => s.inFlight === 0);
  assertEquals([stub.aborted, stub.mostInFlight], [1, 1]);
});

Deno.test("a broken connection breaks the client's read", async () => {
  await using stub = startStubJudge(resetMidBody);
  const response = await ask(stub.url);
  const outcome = await response.text().then(() => "whole", () => "broken");
  assertEquals(outcome, "broken");
});

Deno.test("the instant answer has as many tokens as asked for, each with 20 alternatives", async () => {
  for (const count of [25, 138]) {
    await using stub = startStubJudge(instant(count));
    const body = await (await ask(stub.url)).json();
    const { content } = body.choices[0].logprobs;
    assertEquals(content.length, count);
    assertEquals(
      new Set(content.map((token: { top_logprobs: unknown[] }) => token.top_logprobs.length)),
      new Set([20]),
    );
    assertEquals(
      content.map((token: { token: string }) => token.token).join(""),
      body.choices[0].message.content,
    );
  }
});

Deno.test("a streamed answer spells the same text as the whole one", async () => {
  await using stub = startStubJudge(letters({ score_A: "B", score_B: "C" }));
  const whole = await (await ask(stub.url)).json();
  const lines = (await (await ask(stub.url, { stream: true })).text()).split("\n\n").filter((line) =>
    line.startsWith("data: {")
  );
  const text = lines.map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "").join("");
  assertEquals(text, whole.choices[0].message.content);
});
