import { assert, assertAlmostEquals, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import {
  answerWith,
  candidate,
  fakeEnvironment,
  fakeJudge,
  type FakeJudgeOptions,
  slotsOf,
} from "../../tests/verbs/fake_judge.ts";
import { AssayError } from "../errors.ts";
import { type Judge, JudgeError } from "../judges/judge.ts";
import { parseRequest, selectRequestSchema } from "../requests.ts";
import { select } from "./select.ts";
import { worstPivotRound } from "./schedule.ts";
import type { CallOptions, Plan, ProgressEvent, SelectResult } from "../types.ts";

const candidates = (count: number): string[] => Array.from({ length: count }, (_, index) => candidate(index));

async function run(
  judge: Judge,
  count: number,
  more: Record<string, unknown> = {},
  options?: CallOptions,
): Promise<SelectResult> {
  const request = parseRequest(selectRequestSchema, {
    task: "the task",
    candidates: candidates(count),
    criteria: ["x"],
    ...more,
  });
  const result = await select(fakeEnvironment(judge), request, options);
  assert(!("plan" in result));
  return result;
}

/** A judge with a fixed opinion of each candidate and a bonus for slot A. */
function opinionated(values: readonly number[], bonus = 0, more: FakeJudgeOptions = {}) {
  return fakeJudge({
    ...more,
    answer: (request) => {
      const [a = 0, b = 0] = slotsOf(request);
      return answerWith(request.tags, [Math.min(1, values[a]! + bonus), values[b]!]);
    },
  });
}

const order = (result: SelectResult): number[] => result.ranking.map(({ index }) => index);
const unordered = ([a = 0, b = 0]: readonly number[]): string => `${Math.min(a, b)}-${Math.max(a, b)}`;

Deno.test("select() finds the best and ranks by strength in every mode", async () => {
  const values = [0.3, 0.5, 0.9, 0.1, 0.7, 0.4];
  for (const mode of ["pivot", "round_robin", "upstream"]) {
    const result = await run(opinionated(values), 6, { mode });
    assertEquals(result.best, 2, mode);
    assertEquals(order(result)[0], 2);
    assertEquals([result.mode, result.stopped, result.unscored], [mode, "complete", 0]);
  }
  const { ranking } = await run(opinionated(values), 6, { mode: "round_robin" });
  assertEquals(ranking.map(({ index }) => index), [2, 4, 1, 5, 0, 3]);
  assert(ranking.every(({ strength }, i) => i === 0 || strength! <= ranking[i - 1]!.strength!));
  assertAlmostEquals(ranking.reduce((sum, { probabilityBest }) => sum + probabilityBest!, 0), 1, 1e-9);
  assertEquals(ranking.map(({ games }) => games), [5, 5, 5, 5, 5, 5]);
});

Deno.test("pivot buys no pair twice, and a full round robin where that is not dearer", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 99 }),
      async (count, pivots, seed) => {
        const judge = opinionated(Array.from({ length: count }, (_, i) => ((i * 7 + seed) % 11) / 11));
        const result = await run(judge, count, { pivots, seed });
        const pairs = judge.requests.map((request) => unordered(slotsOf(request)));
        assertEquals(new Set(pairs).size, pairs.length);
        const full = count * (count - 1) / 2;
        assert(pairs.length <= full);
        if (result.mode === "round_robin") assertEquals(pairs.length, full);
        else {
          assert(count + worstPivotRound(count, pivots) < full);
          assert(pairs.length <= count + worstPivotRound(count, pivots));
          assertEquals(result.pairs.filter(({ round }) => round === 1).length, count);
        }
        assertEquals(result.pairs.map(({ a, b }) => unordered([a, b])).sort(), [...pairs].sort());
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("every candidate meets the pivots of the ring", async () => {
  const values = [0.1, 0.2, 0.3, 0.9, 0.5, 0.6, 0.7, 0.05];
  const result = await run(opinionated(values), 8, { pivots: 1 });
  const met = new Set(result.pairs.flatMap(({ a, b }) => a === 3 ? [b] : b === 3 ? [a] : []));
  assertEquals(met.size, 7, "candidate 3 wins its ring games by far, so it is the pivot");
});

Deno.test("slots are balanced over the schedule, so that a slot bias doesn't decide", async () => {
  for (const mode of ["pivot", "round_robin"]) {
    for (let seed = 0; seed < 5; seed++) {
      const judge = opinionated([0.5, 0.5, 0.5, 0.58, 0.5, 0.5, 0.5], 0.3);
      const result = await run(judge, 7, { mode, seed });
      const inA = new Map<number, number>();
      const games = new Map<number, number>();
      for (const [a = 0, b = 0] of judge.requests.map(slotsOf)) {
        inA.set(a, (inA.get(a) ?? 0) + 1);
        for (const index of [a, b]) games.set(index, (games.get(index) ?? 0) + 1);
      }
      for (const [index, count] of games) {
        assert(
          Math.abs(2 * (inA.get(index) ?? 0) - count) <= 2,
          `${mode} ${seed}: ${index} stood ${inA.get(index)} of ${count} times in A`,
        );
      }
      assertEquals(result.best, 3, `${mode} ${seed}`);
      assert(result.slotBias! > 0.15);
    }
  }
});

Deno.test("repeats swap the slots of each pair", async () => {
  const judge = opinionated([0.2, 0.8], 0.1);
  const result = await run(judge, 2, { repeats: 2 });
  assertEquals(judge.requests.map((request) => slotsOf(request).join()).sort(), ["0,1", "1,0"]);
  assertAlmostEquals(Math.abs(result.pairs[0]!.rewardA! - result.pairs[0]!.rewardB!), 0.6);
});

Deno.test("one candidate and identical candidates cost no call", async () => {
  const judge = fakeJudge();
  const one = await run(judge, 1);
  assertEquals([one.best, one.pairs.length, one.ranking.length, one.usage.usd], [0, 0, 1, 0]);
  assertEquals(one.ranking[0], {
    index: 0,
    strength: null,
    standardError: null,
    probabilityBest: 1,
    winRate: null,
    games: 0,
  });
  const same = await run(judge, 3, { candidates: ["x", "x", { text: "x", id: "third" }] });
  assertEquals(same.ranking.map(({ index, identicalTo, id }) => [index, identicalTo, id]), [
    [0, undefined, undefined],
    [1, 0, undefined],
    [2, 0, "third"],
  ]);
  assertEquals(same.best, 0);
  assertEquals(judge.requests.length, 0);
});

Deno.test("identical candidates are judged once and the verdict holds for all of them", async () => {
  const texts = [candidate(0), candidate(1), candidate(0), candidate(2), candidate(1)];
  const judge = opinionated([0.2, 0.9, 0.4]);
  const result = await run(judge, 0, { candidates: texts });
  assertEquals(judge.requests.length, 3, "three kinds, three pairs");
  assertEquals(result.ranking.map(({ index, identicalTo }) => [index, identicalTo]), [
    [1, undefined],
    [4, 1],
    [3, undefined],
    [0, undefined],
    [2, 0],
  ]);
  const [first, copy] = result.ranking;
  assertEquals([copy!.strength, copy!.winRate], [first!.strength, first!.winRate]);
  assert(result.pairs.every(({ a, b }) => [0, 1, 3].includes(a) && [0, 1, 3].includes(b)));
});

Deno.test("all ties rank by index and say so", async () => {
  const result = await run(fakeJudge(), 5);
  assertEquals([result.best, result.stopped, order(result)], [0, "tie", [0, 1, 2, 3, 4]]);
  assert(result.pairs.every(({ winner }) => winner === "tie"));
});

Deno.test("the verdict doesn't depend on the order of the candidates when every pair is played", async () => {
  const values = [0.31, 0.52, 0.93, 0.14, 0.75];
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), async (places) => {
      const result = await run(opinionated(values), 0, {
        candidates: places.map(candidate),
        mode: "round_robin",
      });
      assertEquals(order(result).map((index) => places[index]), [2, 4, 1, 0, 3]);
    }),
    { numRuns: 20 },
  );
});

Deno.test("the same seed gives the same schedule, another one another ring", async () => {
  const rings = await Promise.all([1, 1, 2].map(async (seed) => {
    const result = await run(opinionated(Array(9).fill(0.5)), 9, { seed, pivots: 1 });
    return JSON.stringify(result.pairs.filter(({ round }) => round === 1).map(({ a, b }) => [a, b]));
  }));
  assertEquals(rings[0], rings[1]);
  assert(rings[0] !== rings[2]);
});

Deno.test("unscored parts are listed, left out, and never a number", async () => {
  const judge = fakeJudge({
    answer: (request) => {
      const slots = slotsOf(request);
      if (slots.includes(1)) throw new JudgeError("backend_error", "500");
      return answerWith(request.tags, slots.map((index) => [0.2, 0.5, 0.9][index]!));
    },
  });
  const result = await run(judge, 3);
  assertEquals([result.best, result.unscored, result.unscoredParts.length], [2, 4, 4]);
  assert(
    result.unscoredParts.every(({ a, b, reason, detail }) =>
      [a, b].includes(1) && reason === "backend_error" && detail === "500"
    ),
  );
  assertEquals(result.pairs.filter(({ winner }) => winner === null).length, 2);
  const dead = result.ranking.find(({ index }) => index === 1)!;
  assertEquals([dead.winRate, dead.games], [null, 0]);
  assertEquals(result.criteria.map(({ scored, unscored }) => [scored, unscored]), [[1, 2]]);
  const upstream = await run(judge, 3, { mode: "upstream" });
  assertEquals([upstream.best, upstream.ranking.at(-1)!.index, upstream.ranking.at(-1)!.winRate], [
    2,
    1,
    null,
  ]);
});

Deno.test("a dead judge is an error after the first round, and the second is not bought", async () => {
  const judge = fakeJudge({ answer: () => Promise.reject(new JudgeError("backend_error", "down")) });
  const error = await assertRejects(() => run(judge, 8), AssayError, "down");
  assertEquals([error.code, judge.requests.length], ["judge_failed", 8]);
});

Deno.test("the plan is the worst case, and nothing over budget is bought", async () => {
  const judge = opinionated([0.1, 0.5, 0.9, 0.3, 0.7, 0.2, 0.6, 0.4]);
  const base = { task: "the task", candidates: candidates(8), criteria: ["x", "y"] };
  const { plan } = await select(
    fakeEnvironment(judge),
    parseRequest(selectRequestSchema, { ...base, dryRun: true }),
  ) as { plan: Plan };
  assertEquals([plan.pairs, plan.calls], [8 + worstPivotRound(8, 2), 2 * (8 + worstPivotRound(8, 2))]);
  const error = await assertRejects(
    () =>
      select(
        fakeEnvironment(judge),
        parseRequest(selectRequestSchema, { ...base, budget: { calls: plan.calls - 1 } }),
      ),
    AssayError,
  );
  assertEquals([error.code, error.plan], ["over_budget", plan]);
  assertEquals(judge.requests.length, 0);
  const result = await run(judge, 8, { ...base, budget: { calls: plan.calls } });
  assert(result.usage.calls <= plan.calls);
  const doubled = parseRequest(selectRequestSchema, {
    ...base,
    candidates: [...candidates(8), ...candidates(8)],
    dryRun: true,
  });
  assertEquals(
    (await select(fakeEnvironment(judge), doubled) as { plan: Plan }).plan,
    plan,
    "copies cost nothing",
  );
});

Deno.test("events tell the plan, each call and each pair", async () => {
  const events: ProgressEvent[] = [];
  const result = await run(opinionated([0.1, 0.9, 0.5, 0.3, 0.7]), 5, {}, {
    onEvent: (event) => events.push(event),
  });
  const count = (type: ProgressEvent["type"]) => events.filter((event) => event.type === type).length;
  assertEquals([events[0]!.type, count("call"), count("pair")], [
    "plan",
    result.pairs.length,
    result.pairs.length,
  ]);
  const calls = events.filter((event) => event.type === "call");
  assertEquals(calls.at(-1)!.done, calls.at(-1)!.total);
  assert(calls.every(({ a, b }) => a !== undefined && b !== undefined && a !== b));
});

Deno.test("an abort rejects with the caller's reason and buys nothing more", async () => {
  const controller = new AbortController();
  const judge = opinionated(Array.from({ length: 8 }, (_, i) => i / 10), 0, { concurrency: 1 });
  let calls = 0;
  const open = run(judge, 8, {}, {
    signal: controller.signal,
    onEvent: ({ type }) => {
      if (type === "call" && ++calls === 2) controller.abort(new Error("left"));
    },
  });
  await assertRejects(() => open, Error, "left");
  assert(judge.requests.length <= 3);
});

/** Runs with the same closing commands agree; the odd one out does something else. */
const acting = (index: number, command: string): string =>
  `${candidate(index)}--- Agent Step 1 ---\nok\n[Command] ${command}\n[Output]\nresult of ${command}\n\n`;
const AGREEING = [
  acting(0, "rm -rf everything elsewhere unrelated"),
  acting(1, "make test target alpha beta gamma"),
  acting(2, "make test target alpha beta delta"),
  acting(3, "make test target alpha beta epsilon"),
];

Deno.test("agreement is shown from three candidates on and enters only on request", async () => {
  const judge = () => opinionated([0.5, 0.5, 0.5, 0.5]);
  const plain = await run(judge(), 0, { candidates: AGREEING });
  const shown = new Map(plain.ranking.map(({ index, agreement }) => [index, agreement!]));
  assert(shown.get(0)! < shown.get(1)!);
  assertEquals([plain.best, plain.stopped, plain.warnings], [0, "tie", []]);
  const asked = await run(judge(), 0, { candidates: AGREEING, prior: "agreement" });
  assert(asked.best !== 0);
  assertEquals(asked.ranking.at(-1)!.index, 0);
  assertStringIncludes(asked.warnings.join(), "agreement between the candidates entered");
  const two = await run(judge(), 0, { candidates: AGREEING.slice(0, 2), prior: "agreement" });
  assert(two.ranking.every(({ agreement }) => agreement === undefined));
  assertStringIncludes(two.warnings.join(), "needs three");
});

Deno.test("with an evidence judge agreement always enters and is always said", async () => {
  const result = await run(opinionated([0.5, 0.5, 0.5, 0.5], 0, { kind: "evidence" }), 0, {
    candidates: AGREEING,
  });
  assert(result.best !== 0);
  assertStringIncludes(result.warnings.join(), "evidence judge");
});

Deno.test("upstream mode has no prior to set", async () => {
  const error = await assertRejects(
    () => run(fakeJudge(), 3, { mode: "upstream", prior: "agreement" }),
    AssayError,
  );
  assertEquals(error.errors[0]?.path, "/prior");
});

Deno.test("the chance of being right is given only for a calibrated judge", async () => {
  const values = [0.2, 0.9, 0.4];
  assertEquals((await run(opinionated(values), 3)).probabilityRight, null);
  const calibration = { pairAccuracy: 0.78, passRate: 0.8, source: "a test" };
  const { probabilityRight } = await run(opinionated(values, 0, { calibration }), 3);
  assert(probabilityRight! > 0.5 && probabilityRight! <= 1);
});

Deno.test("criterion weights count in the rating", async () => {
  const judge = fakeJudge({
    answer: (request) => {
      const likes = request.suffix.includes("heavy") ? [0.9, 0.1] : [0.1, 0.9];
      return answerWith(request.tags, slotsOf(request).map((index) => likes[index]!));
    },
  });
  const criteria = [{ description: "heavy", weight: 5 }, { description: "light", weight: 1 }];
  const result = await run(judge, 2, { criteria });
  assertEquals([result.best, result.pairs[0]!.winner], [0, result.pairs[0]!.a === 0 ? "A" : "B"]);
});

Deno.test("worstPivotRound() is the most that a pivot round can add to a ring", () => {
  assertEquals([
    worstPivotRound(5, 1),
    worstPivotRound(5, 2),
    worstPivotRound(8, 2),
    worstPivotRound(4, 3),
    worstPivotRound(2, 1),
  ], [2, 4, 10, 2, 0]);
});
