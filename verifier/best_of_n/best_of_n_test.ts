import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import {
  answerWith,
  fakeEnvironment,
  fakeJudge,
  type FakeJudgeOptions,
} from "../../tests/verbs/fake_judge.ts";
import { bestOfN } from "./best_of_n.ts";
import { bestOfNRequestSchema, type BestOfNResult } from "./requests.ts";
import type { Bill } from "../budget/budget.ts";
import { listDecisions, readDecision } from "../decisions/store.ts";
import type { Environment } from "../environment.ts";
import { AssayError } from "../errors.ts";
import { EMPTY_WORK_BASELINE } from "../gate/rule.ts";
import type { GeneratedText, GenerateRequest } from "../judges/generator.ts";
import { type JudgeContext, JudgeError } from "../judges/judge.ts";
import { replayDecision } from "../decisions/replay.ts";
import { parseRequest } from "../requests.ts";
import type { CallOptions, Plan, ProgressEvent } from "../types.ts";

const parse = (more: Record<string, unknown> = {}) =>
  parseRequest(bestOfNRequestSchema, { prompt: "Write a haiku.", criteria: ["alpha"], ...more });

type Write = (
  draft: number,
  request: GenerateRequest,
  context: JudgeContext,
) => Partial<GeneratedText> | Promise<Partial<GeneratedText>>;

/** A judge that writes drafts and grades them by the `quality=…` in them. */
function writer(write: Write, options: FakeJudgeOptions = {}) {
  const prompts: string[] = [];
  const judge = fakeJudge({
    generate: async (request, context) => {
      prompts.push(request.prompt);
      const draft = Number(/Draft (\d+) of \d+$/.exec(request.prompt)?.[1]);
      try {
        const written = await write(draft, request, context);
        return { text: "", finishReason: "stop", refused: false, model: "fake-1", ...written };
      } finally {
        context.onAttempt({ inputTokens: 50, cachedInputTokens: 0, outputTokens: 20, reasoningTokens: 0 });
      }
    },
    answer: (request) => {
      const found = [...request.prefix.matchAll(/quality=([\d.]+)/g)].map((match) => Number(match[1]));
      const empty = request.prefix.indexOf(EMPTY_WORK_BASELINE);
      if (empty < 0) return answerWith(request.tags, found);
      const baseline = empty < request.prefix.indexOf("quality=");
      return answerWith(request.tags, baseline ? [0, ...found] : [...found, 0]);
    },
    ...options,
  });
  return { judge, prompts };
}
const qualities = (...list: readonly number[]): Write => (draft) => ({
  text: `draft quality=${list[draft - 1]}`,
});

async function run(
  environment: Environment,
  more: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<BestOfNResult> {
  const result = await bestOfN(environment, parse(more), options);
  assert(!("plan" in result));
  return result;
}

Deno.test("bestOfN() writes three drafts, picks the best and accepts it", async () => {
  const { judge, prompts } = writer(qualities(0.4, 0.9, 0.6));
  const result = await run(fakeEnvironment(judge));
  assertEquals([result.verb, result.best, result.stopped], ["best-of-n", 1, "complete"]);
  assertEquals(result.drafts.map(({ index, text, finishReason }) => [index, text, finishReason]), [
    [0, "draft quality=0.4", "stop"],
    [1, "draft quality=0.9", "stop"],
    [2, "draft quality=0.6", "stop"],
  ]);
  assertEquals(result.ranking.map(({ index }) => index), [1, 2, 0]);
  assertEquals([result.acceptance.decision, result.acceptance.threshold], ["accept", 0.65]);
  assert(Math.abs(result.acceptance.score! - 0.9) < 1e-9);
  // 3 drafts, 3 pairs, 1 acceptance.
  assertEquals([result.usage.calls, judge.requests.length, prompts.length], [7, 4, 3]);
  assertEquals(new Set(prompts.map((prompt) => prompt.slice(0, prompt.lastIndexOf("\n")))).size, 1);
});

Deno.test("the judge is told that drafts are proposals, whatever the rubric, and the winner may be refused", async () => {
  const { judge } = writer(qualities(0.4, 0.3));
  const result = await run(fakeEnvironment(judge), { n: 2, criteria: "coding" });
  assert(judge.requests.every(({ prefix }) => prefix.includes("nobody has executed")));
  assertEquals([result.best, result.acceptance.decision], [0, "steer"]);
  assertEquals(result.acceptance.failing.length, 3);
  assert(!("steer" in result.acceptance));
});

Deno.test("the first draft warms the prefix, the others follow together", async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => release = resolve);
  const seen: number[] = [];
  const { judge } = writer(async (draft) => {
    seen.push(draft);
    if (seen.length === 1) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      assertEquals(seen.length, 1);
      release();
    }
    await gate;
    return { text: `quality=0.${draft}` };
  });
  await run(fakeEnvironment(judge), { n: 4 });
  assertEquals(seen.toSorted(), [1, 2, 3, 4]);
});

Deno.test("a truncated draft is kept and flagged; empty, refused and failed ones are listed with the reason", async () => {
  const { judge } = writer((draft) => {
    if (draft === 1) return { text: "cut quality=0.8", finishReason: "length" };
    if (draft === 2) return { text: " \n" };
    if (draft === 3) return { text: "I can't help with that.", refused: true };
    if (draft === 4) return { text: "", finishReason: "length" };
    if (draft === 5) throw new JudgeError("backend_error", "The judge answered 500");
    return { text: "whole quality=0.7" };
  });
  const result = await run(fakeEnvironment(judge), { n: 6 });
  assertEquals(
    result.drafts.map(({ text, finishReason, failure }) => [text, finishReason, failure?.reason]),
    [
      ["cut quality=0.8", "length", undefined],
      [null, "stop", "empty"],
      [null, "stop", "refused"],
      [null, "length", "truncated"],
      [null, null, "backend_error"],
      ["whole quality=0.7", "stop", undefined],
    ],
  );
  assertEquals([result.best, result.ranking.map(({ index }) => index)], [0, [0, 5]]);
  assertEquals(result.pairs.map(({ a, b }) => [a, b].sort()), [[0, 5]]);
});

Deno.test("fewer than two usable drafts are an error that lists why, by the reason they share", async () => {
  const failing = (reason: ConstructorParameters<typeof JudgeError>[0]): Write => () => {
    throw new JudgeError(reason, `because of ${reason}`);
  };
  const cases: readonly [Write, string][] = [
    [(draft) => draft === 2 ? { text: "quality=1" } : { text: "" }, "judge_failed"],
    [failing("unauthorized"), "judge_unauthorized"],
    [failing("timeout"), "deadline_exceeded"],
    [failing("backend_error"), "judge_failed"],
  ];
  for (const [write, code] of cases) {
    const { judge } = writer(write);
    const environment = fakeEnvironment(judge);
    const error = await assertRejects(() => run(environment), AssayError);
    assertEquals(error.code, code);
    for (const draft of [1, 2, 3]) assertStringIncludes(error.message, `draft ${draft}: `);
    assertEquals(judge.requests.length, 0);
    // What was tried can be looked into.
    const { decisions } = await listDecisions(environment.store, { limit: 5 });
    assertEquals(decisions.map(({ id }) => id), [error.decision]);
  }
});

Deno.test("identical drafts are judged once", async () => {
  const { judge } = writer(() => ({ text: "same quality=0.9" }));
  const result = await run(fakeEnvironment(judge));
  assertEquals(result.ranking.map(({ index, identicalTo }) => [index, identicalTo]), [
    [0, undefined],
    [1, 0],
    [2, 0],
  ]);
  assertEquals([result.pairs, judge.requests.length], [[], 1]);
});

Deno.test("the same request again buys neither drafts nor scores, also over a restart; another seed does", async () => {
  const store = createMemoryStore();
  const first = writer(qualities(0.4, 0.9, 0.6));
  const before = await run(fakeEnvironment(first.judge, store));
  const second = writer(() => {
    throw new Error("bought again");
  });
  const after = await run(fakeEnvironment(second.judge, store));
  assertEquals([after.usage.calls, after.usage.cacheHits], [0, 7]);
  assertEquals(
    after.drafts.map(({ text, cached }) => [text, cached]),
    before.drafts.map(({ text }) => [text, true]),
  );
  assertEquals([after.best, after.acceptance.score], [before.best, before.acceptance.score]);
  for (const more of [{ seed: 1 }, { cache: "off" }, { cache: "refresh" }, { context: "facts" }, { n: 2 }]) {
    const third = writer(qualities(0.1, 0.2, 0.3));
    await run(fakeEnvironment(third.judge, store), more);
    assert(third.prompts.length >= 2, JSON.stringify(more));
  }
});

Deno.test("a failed draft is written again by the same request, and a secret in one is never stored", async () => {
  const store = createMemoryStore();
  let fails = true;
  const write: Write = (draft) => {
    if (draft === 1 && fails) throw new JudgeError("backend_error", "500");
    return { text: draft === 2 ? "quality=0.5 sk-abcdefghijklmnop1234567890" : `quality=0.${draft}` };
  };
  const one = writer(write);
  const result = await run(fakeEnvironment(one.judge, store));
  assertEquals(result.drafts[0]?.failure?.reason, "backend_error");
  assert(result.warnings.some((warning) => warning.includes("looks like a secret")));
  fails = false;
  const two = writer(write);
  const again = await run(fakeEnvironment(two.judge, store));
  assertEquals(again.drafts.map(({ cached }) => cached), [false, false, true]);
  const { keys } = await store.list("", { limit: 1000 });
  for (const key of keys) {
    const entry = await store.get(key);
    assert(!new TextDecoder().decode(entry!.value).includes("sk-abcdefghijklmnop"), key);
  }
});

Deno.test("the plan counts drafts, tournament and acceptance, and a smaller budget refuses before anything is bought", async () => {
  const { judge, prompts } = writer(qualities(0.4, 0.9, 0.6));
  const plan = async (more: Record<string, unknown>): Promise<Plan> => {
    const result = await bestOfN(
      fakeEnvironment(judge),
      parse({ dryRun: true, criteria: ["a", "b", "c"], repeats: 2, ...more }),
    );
    assert("plan" in result);
    return result.plan;
  };
  // Three criteria, two repeats: what others publish for 2 and 3 drafts, and within their 40 to 64 for 4.
  assertEquals((await plan({ n: 2 })).calls, 14);
  assertEquals((await plan({ n: 3 })).calls, 27);
  assertEquals((await plan({ n: 4 })).calls, 46);
  const worst = await plan({ n: 2 });
  // 1,000 tokens a draft, and both drafts stand in each of the 6 calls of the tournament, one in each of the others.
  assert(
    worst.outputTokens === 2 * 1000 + 12 * 100 && worst.inputTokens > 6 * 2000 + 6 * 1000,
    JSON.stringify(worst),
  );
  for (const budget of [{ calls: 13 }, { tokens: 1000 }, { usd: 0.000001 }]) {
    const error = await assertRejects(
      () => run(fakeEnvironment(judge), { n: 2, criteria: ["a", "b", "c"], repeats: 2, budget }),
      AssayError,
    );
    assertEquals([error.code, error.plan?.calls], ["over_budget", 14]);
  }
  assertEquals([prompts.length, judge.requests.length], [0, 0]);
});

Deno.test("the caller's daily budget holds one plan, and is billed for drafts and scores", async () => {
  const { judge } = writer(qualities(0.4, 0.9));
  const plans: Plan[] = [];
  const bills: (() => Bill)[] = [];
  const result = await run(fakeEnvironment(judge), { n: 2 }, {
    allowance: {
      reserve: (plan) => Promise.resolve(void plans.push(plan)),
      meter: (bill) => void bills.push(bill),
    },
  });
  assertEquals(plans.map(({ calls }) => calls), [4]);
  const total = bills.map((bill) => bill()).reduce(
    (sum, { calls, tokens }) => ({ calls: sum.calls + calls, tokens: sum.tokens + tokens }),
    { calls: 0, tokens: 0 },
  );
  assertEquals(total, { calls: 4, tokens: 2 * 70 + 2 * 110 });
  assertEquals(result.usage.inputTokens + result.usage.outputTokens, total.tokens);
});

Deno.test("progress comes as one plan, the drafts, then calls and pairs by the drafts' indices", async () => {
  const { judge } = writer((draft) => draft === 1 ? { text: "" } : { text: `quality=0.${draft}` });
  const events: ProgressEvent[] = [];
  await run(fakeEnvironment(judge), {}, { onEvent: (event) => events.push(event) });
  assertEquals(events.map(({ type }) => type), ["plan", "draft", "draft", "draft", "call", "pair", "call"]);
  const calls = events.filter((event) => event.type === "call");
  assertEquals(calls.map(({ done, total }) => [done, total]), [[1, 4], [2, 4]]);
  assertEquals([calls[0]?.a, calls[0]?.b].sort(), [1, 2]);
});

Deno.test("an acceptance that can't be measured stays open, and the pick stands", async () => {
  const { judge } = writer(qualities(0.4, 0.9, 0.6));
  const { answer } = writer(qualities()).judge;
  const broken = {
    ...judge,
    answer: (...[request, context]: Parameters<typeof answer>) => {
      if (request.prefix.includes(EMPTY_WORK_BASELINE)) throw new JudgeError("backend_error", "500");
      return answer(request, context);
    },
  };
  const result = await run(fakeEnvironment(broken));
  assertEquals([result.best, result.acceptance.decision, result.acceptance.code], [
    1,
    "open",
    "judge_failed",
  ]);
});

Deno.test("an abort while drafts are written rejects with its reason, and nothing is judged", async () => {
  const controller = new AbortController();
  const { judge } = writer((_draft, _request, { signal }) => {
    controller.abort(new Error("the caller left"));
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
    );
  });
  await assertRejects(
    () => run(fakeEnvironment(judge), {}, { signal: controller.signal }),
    Error,
    "the caller left",
  );
  assertEquals(judge.requests.length, 0);
});

Deno.test("one decision holds the drafts, the tournament and the acceptance, and is derived again", async () => {
  const { judge } = writer(qualities(0.4, 0.9, 0.6));
  const environment = fakeEnvironment(judge);
  const result = await run(environment);
  const { decisions } = await listDecisions(environment.store, { limit: 5 });
  assertEquals(decisions.map(({ id, verb }) => [id, verb]), [[result.id, "best-of-n"]]);
  const record = await readDecision(environment.store, result.id);
  const parts = Object.groupBy(record.calls, ({ label }) => label.part ?? "");
  assertEquals([parts.drafts?.length, parts.tournament?.length, parts.acceptance?.length], [3, 3, 1]);
  assertEquals(record.usage, result.usage);
  assertStringIncludes(parts.drafts?.[1]?.output ?? "", "quality=0.9");
  const replayed = replayDecision(record);
  assertEquals([replayed.equal, replayed.scope, replayed.differences], [true, "verdict", []]);
});

Deno.test("what can't work is refused before anything is bought, by the field's name", async () => {
  const { judge, prompts } = writer(qualities(0.4, 0.9));
  const cases: readonly [Record<string, unknown>, string][] = [
    [{ prompt: " " }, "/prompt"],
    [{ n: 1 }, "/n"],
    [{ n: 9 }, "/n"],
    [{ generator: ["a", "b"] }, "/generator"],
    [{ floors: { beta: 0.5 } }, "/floors/beta"],
    [{ task: "t" }, "/task"],
    [{ images: ["https://example.com/a.png"] }, "/images"],
    [{ criteria: "propsal" }, "/criteria"],
  ];
  for (const [more, path] of cases) {
    const error = await assertRejects(() => run(fakeEnvironment(judge), more), AssayError);
    assertEquals([error.code, error.errors[0]?.path], ["invalid_request", path], JSON.stringify(more));
  }
  const mute = await assertRejects(() => run(fakeEnvironment(fakeJudge({ kind: "evidence" }))), AssayError);
  assertEquals(mute.errors[0]?.path, "/generator");
  assertStringIncludes(mute.message, "evidence");
  assertEquals([prompts.length, judge.requests.length], [0, 0]);
});
