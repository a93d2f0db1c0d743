import { assert, assertAlmostEquals, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import {
  answerWith,
  candidate,
  fakeEnvironment,
  fakeJudge,
  type FakeJudgeOptions,
  slotsOf,
} from "../tests/verbs/fake_judge.ts";
import { compare } from "./compare.ts";
import type { Environment } from "./environment.ts";
import { AssayError, type ErrorCode } from "./errors.ts";
import { JudgeError, type JudgeRequest } from "./judges/judge.ts";
import { compareRequestSchema, parseRequest } from "./requests.ts";
import type { CallOptions, CompareResult, Plan, ProgressEvent, UnscoredReason } from "./types.ts";

const BODY = {
  task: "the task",
  a: candidate(0),
  b: candidate(1),
  criteria: { First: "look at this", Second: "and at that" },
};

async function run(
  environment: Environment,
  more: Record<string, unknown> = {},
  options?: CallOptions,
): Promise<CompareResult> {
  const result = await compare(
    environment,
    parseRequest(compareRequestSchema, { ...BODY, ...more }),
    options,
  );
  assert(!("plan" in result));
  return result;
}

/** Slot scores from the candidates shown and the criterion: what the judge thinks of `index`, plus a bonus for slot A. */
function opinion(
  value: (index: number, request: JudgeRequest) => number,
  bonus = 0,
): NonNullable<FakeJudgeOptions["answer"]> {
  return (request) => {
    const [a = 0, b = 0] = slotsOf(request);
    return answerWith(request.tags, [value(a, request) + bonus, value(b, request)]);
  };
}

Deno.test("compare() gives rewards, margin and winner over criteria and repeats", async () => {
  const judge = fakeJudge({
    answer: opinion((index, { suffix }) =>
      suffix.includes("look at this") ? [0.8, 0.4][index]! : [0.5, 0.7][index]!
    ),
  });
  const result = await run(fakeEnvironment(judge));
  assertEquals([result.winner, result.identical, result.agreement, result.unscored], ["A", false, 1, 0]);
  assertAlmostEquals(result.rewardA!, 0.65);
  assertAlmostEquals(result.rewardB!, 0.55);
  assertAlmostEquals(result.margin!, 0.1);
  assertAlmostEquals(result.standardError!, 0);
  assertAlmostEquals(result.slotBias!, 0);
  assertEquals(result.channels, { logprobs: 8 });
  assertEquals(result.calls.map(({ criterion, repeat, swapped }) => [criterion, repeat, swapped]), [
    ["first", 0, false],
    ["second", 0, false],
    ["first", 1, true],
    ["second", 1, true],
  ]);
  assertEquals(
    result.criteria.map(({ id, name, weight, scored, unscored }) => ({ id, name, weight, scored, unscored })),
    [
      { id: "first", name: "First", weight: 1, scored: 2, unscored: 0 },
      { id: "second", name: "Second", weight: 1, scored: 2, unscored: 0 },
    ],
  );
  assertEquals([result.usage.calls, result.usage.inputTokens], [4, 400]);
  assert(/^dec_[0-9A-HJKMNP-TV-Z]{26}$/.test(result.id));
});

Deno.test("odd repeats show the sides in swapped slots and give the scores back to their sides", async () => {
  const judge = fakeJudge({ answer: opinion((index) => [0.7, 0.5][index]!, 0.1) });
  const result = await run(fakeEnvironment(judge), { repeats: 4, criteria: ["x"] });
  assertEquals(judge.requests.map((request) => slotsOf(request).join()).sort(), ["0,1", "0,1", "1,0", "1,0"]);
  assertAlmostEquals(result.margin!, 0.2, 1e-12, "an even number of repeats takes the slot bias out");
  assertAlmostEquals(result.slotBias!, 0.1);
  assertAlmostEquals(result.standardError!, Math.sqrt(4 * 0.01 / 3 / 4));
});

Deno.test("slot bias needs both orders and a standard error two repeats", async () => {
  const result = await run(fakeEnvironment(fakeJudge()), { repeats: 1 });
  assertEquals([result.slotBias, result.standardError, result.winner, result.margin], [null, null, "tie", 0]);
});

Deno.test("weights move the overall reward and nothing else", async () => {
  const judge = fakeJudge({
    answer: opinion((index, { suffix }) => suffix.includes("look at this") ? [1, 0][index]! : [0, 1][index]!),
  });
  const criteria = [{ description: "look at this", weight: 3 }, { description: "and that", weight: 1 }];
  const result = await run(fakeEnvironment(judge), { criteria });
  assertAlmostEquals(result.rewardA!, 0.75);
  assertAlmostEquals(result.rewardB!, 0.25);
  assertEquals(result.criteria.map(({ rewardA }) => rewardA), [1, 0]);
});

Deno.test("swapping the request's sides swaps the rewards and the winner", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (x, y) => {
        const environment = fakeEnvironment(fakeJudge({ answer: opinion((index) => [x, y][index]!) }));
        const one = await run(environment);
        const two = await run(environment, { a: BODY.b, b: BODY.a });
        assertAlmostEquals(one.rewardA!, two.rewardB!);
        assertAlmostEquals(one.margin!, -two.margin!);
        assertEquals(one.winner, ({ A: "B", B: "A", tie: "tie" } as const)[two.winner]);
      },
    ),
    { numRuns: 40 },
  );
});

Deno.test("identical sides cost no call and are a tie without numbers", async () => {
  const judge = fakeJudge();
  for (const more of [{ b: BODY.a }, { a: "", b: "" }, { a: { text: BODY.a }, b: BODY.a }]) {
    const result = await run(fakeEnvironment(judge), more);
    assertEquals([result.winner, result.identical, result.rewardA, result.margin, result.calls.length], [
      "tie",
      true,
      null,
      null,
      0,
    ]);
    assertEquals(result.usage.usd, 0);
  }
  assertEquals(judge.requests.length, 0);
});

Deno.test("half a scored call counts for neither side and is shown", async () => {
  const judge = fakeJudge({
    answer: (request) => {
      const answered = answerWith(request.tags, [0.9, 0.1]);
      return request.repeat === 0 ? answered : { ...answerWith(["score_A"], [0.2]), finishReason: "stop" };
    },
  });
  const result = await run(fakeEnvironment(judge), { channel: "logprobs", criteria: ["x"] });
  assertAlmostEquals(result.rewardA!, 0.9);
  assertAlmostEquals(result.rewardB!, 0.1);
  assertEquals([result.unscored, result.channels.logprobs], [1, 3]);
  assertEquals(result.criteria.map(({ scored, unscored }) => [scored, unscored]), [[1, 1]]);
  assertEquals(result.slotBias, null);
});

Deno.test("a criterion without scores is left out of the overall reward", async () => {
  const judge = fakeJudge({
    answer: (request) => {
      if (request.suffix.includes("and at that")) throw new JudgeError("backend_error", "500");
      return answerWith(request.tags, slotsOf(request).map((index) => [0.8, 0.2][index]!));
    },
  });
  const result = await run(fakeEnvironment(judge));
  assertAlmostEquals(result.rewardA!, 0.8);
  assertEquals(result.criteria.map(({ rewardA, unscored }) => [rewardA, unscored]), [[0.8, 0], [null, 2]]);
  assertEquals(result.unscored, 4);
});

Deno.test("nothing scored is an error that says why", async () => {
  const cases: readonly [UnscoredReason, ErrorCode][] = [
    ["unauthorized", "judge_unauthorized"],
    ["backend_error", "judge_failed"],
    ["rate_limited", "judge_failed"],
    ["replay_miss", "judge_failed"],
    ["timeout", "deadline_exceeded"],
    ["refused", "nothing_scored"],
  ];
  for (const [reason, code] of cases) {
    const judge = fakeJudge({ answer: () => Promise.reject(new JudgeError(reason, "what happened")) });
    const error = await assertRejects(() => run(fakeEnvironment(judge)), AssayError);
    assertEquals(error.code, code);
    assertStringIncludes(error.message, `${reason} (`);
    assertStringIncludes(error.message, "what happened");
  }
});

Deno.test("a demanded channel that is missing everywhere is channel_unavailable", async () => {
  const judge = fakeJudge({
    answer: (request) => ({ ...answerWith(request.tags, [0.5, 0.5]), tokens: null }),
  });
  for (const channel of ["logprobs", "continuation"]) {
    const error = await assertRejects(() => run(fakeEnvironment(judge), { channel }), AssayError);
    assertEquals([error.code, error.status], ["channel_unavailable", 422]);
  }
  assertEquals((await run(fakeEnvironment(judge))).channels, { explicit_tag: 8 });
});

/** Answers repeat 0 and leaves the others open until they are aborted. */
function hangingJudge(onHang: () => void) {
  return fakeJudge({
    answer: (request, { signal }) => {
      if (request.repeat === 0) return answerWith(request.tags, [0.8, 0.3]);
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason));
      onHang();
      return promise;
    },
  });
}

Deno.test("an abort rejects with the caller's reason", async () => {
  const controller = new AbortController();
  let hanging = 0;
  const judge = hangingJudge(() => {
    if (++hanging === 1) controller.abort(new Error("the client left"));
  });
  await assertRejects(
    () => run(fakeEnvironment(judge), {}, { signal: controller.signal }),
    Error,
    "the client left",
  );
  await assertRejects(
    () => run(fakeEnvironment(judge), {}, { signal: controller.signal }),
    Error,
    "the client left",
  );
});

Deno.test("a listener that throws ends the request, and nothing more is bought", async () => {
  const judge = fakeJudge({ concurrency: 1 });
  const onEvent = ({ type }: ProgressEvent): void => {
    if (type === "call") throw new Error("the stream is closed");
  };
  await assertRejects(
    () => run(fakeEnvironment(judge), { repeats: 8 }, { onEvent }),
    Error,
    "the stream is closed",
  );
  const bought = judge.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert(judge.requests.length === bought && bought <= 3);
});

Deno.test("a deadline keeps what was scored before it", async () => {
  const { setTimeout } = globalThis;
  let deadline = (): void => {};
  let answered = 0;
  const onEvent = ({ type }: ProgressEvent): void => {
    if (type === "call" && ++answered === 2) deadline();
  };
  globalThis.setTimeout = ((fire: () => void, ms: number) => {
    if (ms !== 4321) return setTimeout(fire, ms);
    deadline = fire;
    return 0;
  }) as typeof setTimeout;
  try {
    const result = await run(fakeEnvironment(hangingJudge(() => {})), { deadlineMs: 4321 }, { onEvent });
    assertAlmostEquals(result.rewardA!, 0.8);
    assertEquals([result.unscored, result.criteria[0]!.scored, result.standardError], [4, 1, null]);
    const late = result.calls.filter(({ a }) => a.kind === "unscored" && a.reason === "timeout");
    assertEquals(late.map(({ repeat }) => repeat), [1, 1]);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
});

Deno.test("a plan is made, shown first, and nothing is bought over budget or in a dry run", async () => {
  const judge = fakeJudge();
  const environment = fakeEnvironment(judge);
  const request = (more: Record<string, unknown>) =>
    compare(environment, parseRequest(compareRequestSchema, { ...BODY, ...more }));
  const dry = await request({ dryRun: true }) as { plan: Plan };
  assertEquals([dry.plan.pairs, dry.plan.calls, dry.plan.outputTokens], [1, 4, 400]);
  assert(
    dry.plan.cachedInputTokens > 0 && dry.plan.cachedInputTokens < dry.plan.inputTokens && dry.plan.usd! > 0,
  );
  for (const budget of [{ calls: 3 }, { tokens: 100 }, { usd: 0 }]) {
    const error = await assertRejects(() => request({ budget }), AssayError, "over budget");
    assertEquals([error.code, error.plan?.calls], ["over_budget", 4]);
  }
  assertEquals(judge.requests.length, 0);
  const events: ProgressEvent[] = [];
  await run(environment, { budget: { calls: 4 } }, { onEvent: (event) => events.push(event) });
  assertEquals(events.map(({ type }) => type), ["plan", "call", "call", "call", "call"]);
  assertEquals(events.flatMap((event) => event.type === "call" ? [[event.done, event.total]] : []), [
    [1, 4],
    [2, 4],
    [3, 4],
    [4, 4],
  ]);
});

Deno.test("a money limit with an unknown price is refused instead of ignored", async () => {
  const environment = fakeEnvironment(fakeJudge({ price: null }));
  const error = await assertRejects(
    () => run(environment, { budget: { usd: 100 } }),
    AssayError,
    "unknown price",
  );
  assertEquals(error.plan?.usd, null);
});

Deno.test("prompts of one slot order share their prefix, and swapped ones are the other way round", async () => {
  const judge = fakeJudge();
  await run(fakeEnvironment(judge), { context: "more to know" });
  const prefixes = new Set(judge.requests.map(({ prefix }) => prefix));
  assertEquals(prefixes.size, 2);
  for (const prefix of prefixes) {
    assertStringIncludes(prefix, "the task");
    assertStringIncludes(prefix, "more to know");
    assert(!prefix.includes("look at this"), "the criterion comes behind the prefix");
  }
});

Deno.test("what can't be judged is refused before anything is bought", async () => {
  const judge = fakeJudge({ contextTokens: 500 });
  const image = "https://example.com/a.png";
  const cases: readonly [Record<string, unknown>, string][] = [
    [{ images: [image] }, "/images"],
    [{ a: { text: "x", images: [image] } }, "/a"],
    [{ b: "word ".repeat(3000) }, ""],
    [{ criteria: "codng" }, "/criteria"],
    [{ judge: ["one", "the same"] }, "/judge/1"],
  ];
  for (const [more, path] of cases) {
    const error = await assertRejects(() => run(fakeEnvironment(judge), more), AssayError);
    assertEquals(
      [error.code, error.errors[0]?.path],
      ["invalid_request", path],
      JSON.stringify(more).slice(0, 80),
    );
  }
  assertEquals(judge.requests.length, 0);
});

Deno.test("images go to a judge that reads them, the task's first, then slot A's, then slot B's", async () => {
  const judge = fakeJudge({ readsImages: true });
  const url = (name: string) => `https://example.com/${name}.png`;
  const body = {
    images: [url("task")],
    a: { text: candidate(0), images: [url("a")] },
    b: { text: candidate(1), images: [url("b")] },
    criteria: ["x"],
  };
  await run(fakeEnvironment(judge), body);
  assertEquals(judge.requests.map(({ images }) => images.map((image) => image.slice(20, -4)).join()).sort(), [
    "task,a,b",
    "task,b,a",
  ]);
});

Deno.test("the second compare of the same request costs nothing", async () => {
  const judge = fakeJudge({ answer: opinion((index) => [0.7, 0.2][index]!) });
  const environment = fakeEnvironment(judge);
  const first = await run(environment);
  const second = await run(environment);
  assertEquals(judge.requests.length, 4);
  assertEquals([second.usage.calls, second.usage.cacheHits, second.usage.usd], [0, 4, 0]);
  assertEquals({ ...second, id: "", usage: null, calls: null }, {
    ...first,
    id: "",
    usage: null,
    calls: null,
  });
});

Deno.test("text hygiene is said in the result's warnings", async () => {
  const result = await run(fakeEnvironment(fakeJudge()), { a: "x\0", b: "", task: "t\ud800" });
  assertEquals(result.warnings, [
    "/a: replaced 1 NUL character by U+FFFD",
    "/b: the trajectory is empty",
    "/task: replaced 1 lone surrogate by U+FFFD",
  ]);
});
