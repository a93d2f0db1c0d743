/**
 * Gate, best-of-N and ensembles over HTTP on both sides: requests to the app, and the app's to stub models on loopback.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createApp } from "../../app.ts";
import { createMemoryStore } from "../../store/memory.ts";
import { loadConfig } from "../../verifier/config/config.ts";
import { createEnvironment } from "../../verifier/environment.ts";
import { EMPTY_WORK_BASELINE } from "../../verifier/gate/rule.ts";
import { createJudgeRegistry } from "../../verifier/judges/registry.ts";
import { freePort } from "../free_port.ts";
import {
  echoKey,
  failure,
  hang,
  letters,
  rateLimit,
  say,
  smart,
  startStubJudge,
  type StubCall,
  type StubReply,
  type StubScript,
} from "../stub_judge.ts";

const KEY = "sk-stub-0123456789abcdef";
// deno-lint-ignore no-explicit-any
type Body = any;

/** An app whose judges are these profiles. */
async function appFor(judges: Record<string, unknown>): Promise<
  (
    path: string,
    body: unknown,
    accept?: string,
    key?: string,
  ) => Promise<{ readonly status: number; readonly text: string; readonly body: Body }>
> {
  const env = (name: string): string | undefined => name === "STUB_KEY" ? KEY : undefined;
  const text = JSON.stringify({ defaultJudge: Object.keys(judges)[0], judges });
  const environment = await createEnvironment({
    judges: createJudgeRegistry(loadConfig({ text, env }), { env }),
    store: createMemoryStore(),
    delimiterSecret: "0123456789abcdef",
  });
  const app = createApp({ environment, runtime: { name: "test", version: null }, tokens: [], log: () => {} });
  return async (path, body, accept = "application/json", key) => {
    const response = await app.fetch(
      new Request(`http://127.0.0.1:8787${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept,
          ...(key === undefined ? {} : { "idempotency-key": key }),
        },
        body: JSON.stringify(body),
      }),
      { remoteAddress: "127.0.0.1" },
    );
    const text = await response.text();
    return { status: response.status, text, body: accept === "application/json" ? JSON.parse(text) : null };
  };
}

/** Grades by `quality=`; what has none, as the empty baseline, is worth nothing. */
const grading = smart({ rule: (text) => Number(/quality=([\d.]+)/.exec(text)?.[1] ?? 0) });
const WORK = { task: "Make the test pass.", criteria: { Works: "it runs", Complete: "nothing missing" } };

Deno.test("a gate over HTTP passes good work", async () => {
  await using stub = startStubJudge(grading);
  const ask = await appFor({ stub: stub.profile({ retries: 0 }) });
  const { status, body } = await ask("/v1/gate", { ...WORK, trajectory: "quality=0.9" });
  assertEquals([status, body.decision, body.failing], [200, "accept", []]);
  assert(body.score > 0.85 && body.baselineScore < 0.1);
  assertEquals(stub.calls.length, 2);
  assert(stub.calls.every(({ prompt }) => prompt.includes(EMPTY_WORK_BASELINE)));
});

Deno.test("a gate over HTTP steers poor work with the judge's words, and in a stream with the same result", async () => {
  await using stub = startStubJudge(grading);
  const ask = await appFor({ stub: stub.profile({ retries: 0 }) });
  const request = { ...WORK, trajectory: "quality=0.3", floors: { works: 0.2 } };
  const { status, body } = await ask("/v1/gate", request);
  assertEquals([status, body.decision, body.failing.map(({ id }: Body) => id)], [200, "steer", ["complete"]]);
  assertStringIncludes(body.steer, "Complete: 0.3");
  assertStringIncludes(body.steer, "> I compared what was observed.");
  const stream = await ask("/v1/gate", request, "text/event-stream");
  const last = JSON.parse(/event: result\ndata: (.*)\n/.exec(stream.text)?.[1] ?? "null");
  assertEquals([last.decision, last.steer, last.usage.calls], ["steer", body.steer, 0]);
});

Deno.test("a gate fails open in each way a judge can fail, with a reason and without a secret", async () => {
  const page = failure(502, "<html><h1>Bad gateway</h1></html>");
  const cases: readonly [string, StubScript, string, Record<string, unknown>?][] = [
    ["hangs until the deadline", () => hang, "deadline_exceeded", { deadlineMs: 50 }],
    ["refuses the key and repeats it", echoKey, "judge_unauthorized"],
    ["has no balance left", failure(402), "judge_unauthorized"],
    ["answers 500", failure(500), "judge_failed"],
    ["answers an HTML page", page, "judge_failed"],
    ["is too busy", rateLimit(), "judge_failed"],
    ["answers nothing", say(""), "nothing_scored"],
    ["answers without a score", say("I would rather not grade this."), "nothing_scored"],
    ["answers with something that is no grade", letters({ score_A: "Z", score_B: "?" }), "nothing_scored"],
    [
      "gives no log-probabilities where they are demanded",
      say("<score_A> T </score_A>\n<score_B> T </score_B>"),
      "channel_unavailable",
      { channel: "logprobs" },
    ],
    ["would cost too much", grading, "over_budget", { budget: { calls: 1 } }],
    ["has no price where money is limited", grading, "over_budget", { budget: { usd: 1 } }],
  ];
  for (const [what, script, code, more] of cases) {
    await using stub = startStubJudge(script);
    const ask = await appFor({ stub: stub.profile({ retries: 0, apiKeyEnv: "STUB_KEY" }) });
    const { status, body, text } = await ask("/v1/gate", { ...WORK, trajectory: "quality=0.1", ...more });
    assertEquals([status, body.decision, body.code], [200, "open", code], what);
    assert(body.reason.length > 10 && body.steer === undefined && body.score === null, what);
    assert(!text.includes(KEY) && !text.includes(KEY.slice(3)), what);
  }
});

Deno.test("a gate whose judge is down fails open", async () => {
  const ask = await appFor({
    gone: {
      kind: "openai-compatible",
      family: "generic",
      baseUrl: `http://127.0.0.1:${freePort()}/v1`,
      model: "m",
      retries: 0,
    },
  });
  const { status, body } = await ask("/v1/gate", { ...WORK, trajectory: "quality=0.1" });
  assertEquals([status, body.decision, body.code], [200, "open", "judge_failed"]);
});

Deno.test("a gate with half of its answers fails open where they would steer, and says how many are missing", async () => {
  await using stub = startStubJudge((call) =>
    call.index % 2 === 1 ? failure(500) : grading(call) as StubReply
  );
  const ask = await appFor({ stub: stub.profile({ retries: 0, concurrency: 1 }) });
  const low = await ask("/v1/gate", { ...WORK, trajectory: "quality=0.1", repeats: 2 });
  assertEquals([low.body.decision, low.body.code], ["open", "unscored"]);
  assertStringIncludes(low.body.reason, "4 of 8 scores are missing");
});

Deno.test("only a malformed request to the gate is a 4xx", async () => {
  await using stub = startStubJudge(grading);
  const ask = await appFor({ stub: stub.profile({ retries: 0 }) });
  for (
    const [more, path] of [
      [{ trajectory: "" }, "/trajectory"],
      [{ threshold: 2 }, "/threshold"],
      [{ judge: "nobody" }, "/judge"],
      [{ floors: { none: 0.1 } }, "/floors/none"],
    ] as const
  ) {
    const { status, body } = await ask("/v1/gate", { ...WORK, trajectory: "quality=0.1", ...more });
    assertEquals([status, body.code, body.errors[0].path], [400, "invalid_request", path]);
  }
  assertEquals(stub.calls.length, 0);
});

/** A model that writes drafts and grades them. */
function writerAndJudge(drafts: readonly StubReply[]): (call: StubCall) => StubReply {
  return (call) => {
    const draft = /\nDraft (\d+) of \d+$/.exec(call.prompt)?.[1];
    return draft === undefined ? grading(call) as StubReply : drafts[Number(draft) - 1] ?? failure(500);
  };
}

Deno.test("best-of-n over HTTP streams its drafts, ranks them and accepts the best", async () => {
  await using stub = startStubJudge(writerAndJudge([
    say("a poor one, quality=0.3"),
    say("a good one, quality=0.9"),
    say("cut off, quality=0.6", { finishReason: "length" }),
    failure(500),
  ]));
  const ask = await appFor({ stub: stub.profile({ retries: 0, maxTokens: 500, apiKeyEnv: "STUB_KEY" }) });
  const request = { prompt: "Write one.", context: "facts", n: 4, criteria: { Works: "it runs" } };
  const { text } = await ask("/v1/best-of-n", request, "text/event-stream");
  const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, event, data]) => ({
    event,
    data: JSON.parse(data!),
  }));
  assertEquals(events.filter(({ event }) => event === "plan").map(({ data }) => data.plan.calls), [
    4 + 6 + 1,
  ]);
  assertEquals(events.filter(({ event }) => event === "draft").map(({ data }) => data.draft.index).sort(), [
    0,
    1,
    2,
    3,
  ]);
  const result = events.at(-1)!;
  assertEquals([result.event, result.data.best, result.data.acceptance.decision], ["result", 1, "accept"]);
  assertEquals(result.data.ranking.map(({ index }: Body) => index), [1, 2, 0]);
  assertEquals(result.data.drafts[2].finishReason, "length");
  assertEquals([result.data.drafts[3].text, result.data.drafts[3].failure.reason], [null, "backend_error"]);
  const writing = stub.calls.filter(({ prompt }) => /\nDraft \d of 4$/.test(prompt));
  assertEquals(writing.length, 4);
  for (const { body, prompt } of writing) {
    assertEquals([body.max_tokens ?? body.max_completion_tokens, body.logprobs], [500, undefined]);
    assertStringIncludes(prompt, "facts");
  }
  // Once more: nothing is bought but the draft that failed.
  const before = stub.calls.length;
  const again = await ask("/v1/best-of-n", request);
  assertEquals([again.body.best, stub.calls.length - before], [1, 1]);
});

Deno.test("best-of-n over HTTP is refused over budget, and fails with the reasons when the drafts do", async () => {
  await using stub = startStubJudge(echoKey);
  const ask = await appFor({
    stub: stub.profile({ retries: 0, apiKeyEnv: "STUB_KEY" }),
    evidence: { kind: "evidence" },
  });
  const over = await ask("/v1/best-of-n", { prompt: "x", budget: { calls: 3 } });
  assertEquals([over.status, over.body.code, over.body.plan.calls, stub.calls.length], [
    422,
    "over_budget",
    3 + 9 + 3,
    0,
  ]);
  const refused = await ask("/v1/best-of-n", { prompt: "x" });
  assertEquals([refused.status, refused.body.code], [502, "judge_unauthorized"]);
  assertStringIncludes(refused.body.detail, "draft 3: unauthorized");
  assert(!refused.text.includes(KEY));
  const mute = await ask("/v1/best-of-n", { prompt: "x", generator: "evidence" });
  assertEquals([mute.status, mute.body.errors[0].path], [400, "/generator"]);
  assertStringIncludes(mute.body.detail, "these can: stub");
});

Deno.test("an ensemble over HTTP outvotes one judge and outlives another", async () => {
  await using good = startStubJudge(grading);
  await using odd = startStubJudge(smart({ rule: () => 0.99 }));
  await using dead = startStubJudge(failure(500));
  const profile = (stub: typeof good, model: string) => stub.profile({ retries: 0, model });
  const ask = await appFor({
    one: profile(good, "m1"),
    two: profile(good, "m2"),
    odd: profile(odd, "m3"),
    dead: profile(dead, "m4"),
    evidence: { kind: "evidence" },
  });
  const request = { ...WORK, a: "quality=0.8", b: "quality=0.3", judge: ["one", "two", "odd", "dead"] };
  const { status, body } = await ask("/v1/compare", request);
  assertEquals([status, body.winner, body.judge.profile, body.unscored], [200, "A", "ensemble", 0]);
  assertEquals(body.judges.map(({ profile, ok, winner }: Body) => [profile, ok, winner]), [
    ["one", true, "A"],
    ["two", true, "A"],
    ["odd", true, "tie"],
    ["dead", false, undefined],
  ]);
  assert(Math.abs(body.agreement - 2 / 3) < 1e-9);
  const twice = await ask("/v1/compare", { ...request, judge: ["one", { profile: "one" }] });
  assertEquals([twice.status, twice.body.errors[0].path], [400, "/judge/1"]);
  const gone = await ask("/v1/gate", {
    ...WORK,
    trajectory: "quality=0.1",
    judge: ["dead", { profile: "dead", model: "m5" }],
  });
  assertEquals([gone.body.decision, gone.body.code], ["open", "judge_failed"]);
});

Deno.test("an open gate leaves its Idempotency-Key free, a decided one keeps it", async () => {
  await using stub = startStubJudge(failure(500));
  const ask = await appFor({ stub: stub.profile({ retries: 0 }) });
  const request = { ...WORK, trajectory: "quality=0.1", cache: "off" };
  for (const accept of ["application/json", "text/event-stream"]) {
    const key = `key-of-${accept.replace("/", "-")}`;
    const decision = async (): Promise<string | undefined> =>
      /"decision":"(\w+)"/.exec((await ask("/v1/gate", request, accept, key)).text)?.[1];
    stub.play(failure(500));
    assertEquals(await decision(), "open");
    stub.play(grading);
    assertEquals(await decision(), "steer");
    stub.play(failure(500));
    assertEquals(await decision(), "steer");
  }
});
