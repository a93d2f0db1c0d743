import { assert, assertAlmostEquals, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import * as fc from "fast-check";
import { createMemoryStore } from "../../store/memory.ts";
import {
  answerWith,
  candidate,
  fakeEnvironment,
  fakeJudge,
  type FakeJudgeOptions,
  slotsOf,
} from "../../tests/verbs/fake_judge.ts";
import { compare } from "../compare.ts";
import { listDecisions, readDecision } from "../decisions/store.ts";
import { combine, medianScore } from "./ensemble.ts";
import type { Environment } from "../environment.ts";
import { AssayError } from "../errors.ts";
import { gate } from "../gate/gate.ts";
import { gateRequestSchema } from "../gate/requests.ts";
import { type Judge, JudgeError } from "../judges/judge.ts";
import { replayDecision } from "../decisions/replay.ts";
import { compareRequestSchema, parseRequest, selectRequestSchema, trackRequestSchema } from "../requests.ts";
import type { ScoredCall } from "../scorer.ts";
import { select } from "../select/select.ts";
import { track } from "../track.ts";
import type { CompareResult, JudgeChoice, ProgressEvent, Score, Scored } from "../types.ts";

/** Judges by profile; each grades candidate i with `grades[i]`, whatever slot it stands in. */
function judges(
  profiles: Readonly<Record<string, readonly number[] | FakeJudgeOptions>>,
  store = createMemoryStore(),
): Environment {
  const made = new Map(
    Object.entries(profiles).map(([profile, what]): [string, Judge] => {
      const options: FakeJudgeOptions = Array.isArray(what)
        ? {
          answer: (request) =>
            answerWith(
              request.tags,
              slotsOf(request).map((i) => (what as readonly number[])[i] ?? 0),
              "pairwise",
              `${profile} looked.`,
            ),
        }
        : what as FakeJudgeOptions;
      return [profile, fakeJudge({ profile, model: `${profile}-model`, identity: profile, ...options })];
    }),
  );
  const environment = fakeEnvironment([...made.values()][0]!, store);
  return {
    ...environment,
    judges: {
      ...environment.judges,
      resolve: (choice: JudgeChoice = [...made.keys()][0]!) => {
        const name = typeof choice === "string" ? choice : choice.profile!;
        const judge = made.get(name);
        if (judge === undefined) throw AssayError.field("/judge", "must be known", name);
        return judge;
      },
    },
  };
}
const failing = (reason: ConstructorParameters<typeof JudgeError>[0]): FakeJudgeOptions => ({
  answer: () => {
    throw new JudgeError(reason, `because of ${reason}`);
  },
});
const ABC = ["a", "b", "c"];

async function comparing(
  environment: Environment,
  judge: readonly JudgeChoice[] = ABC,
  more: Record<string, unknown> = {},
): Promise<CompareResult> {
  const request = parseRequest(compareRequestSchema, {
    task: "t",
    criteria: ["x"],
    a: candidate(0),
    b: candidate(1),
    judge,
    ...more,
  });
  const result = await compare(environment, request);
  assert(!("plan" in result));
  return result;
}
const scored = (value: number, channel: Scored["channel"] = "logprobs"): Scored => (
  { kind: "scored", value, letterMass: 0.9, entropy: 1, channel, letters: Array(20).fill(0.05) }
);
const unscored: Score = { kind: "unscored", reason: "timeout", detail: "too late" };
const call = (...scores: Score[]): ScoredCall => ({ scores, analysis: null, cached: false });
const NAMES = ["a", "b", "c"].map((profile) => ({ profile }));
const PAIR = { tags: ["score_A", "score_B"], direction: "pairwise" } as const;

Deno.test("the score of an ensemble is the median over its judges, of an even number the middle two's mean", async () => {
  const three = await comparing(judges({ a: [0.9, 0.2], b: [0.1, 0.6], c: [0.8, 0.3] }));
  assertAlmostEquals(three.rewardA!, 0.8);
  assertAlmostEquals(three.rewardB!, 0.3);
  const four = await comparing(judges({ a: [0.9, 0], b: [0.1, 0], c: [0.8, 0], d: [0.4, 0] }), [
    "a",
    "b",
    "c",
    "d",
  ]);
  assertAlmostEquals(four.rewardA!, 0.6);
});

Deno.test("the result names every judge with its own winner, and the share that agrees", async () => {
  const result = await comparing(judges({ a: [0.9, 0.2], b: [0.1, 0.6], c: [0.8, 0.3] }), ABC, {
    repeats: 2,
  });
  assertEquals(result.judges, [
    { profile: "a", model: "a-model", scored: 4, unscored: 0, ok: true, winner: "A" },
    { profile: "b", model: "b-model", scored: 4, unscored: 0, ok: true, winner: "B" },
    { profile: "c", model: "c-model", scored: 4, unscored: 0, ok: true, winner: "A" },
  ]);
  assertAlmostEquals(result.agreement!, 2 / 3);
  assertEquals([result.judge.profile, result.judge.kind, result.judge.model], [
    "ensemble",
    "ensemble",
    "a-model + b-model + c-model",
  ]);
  // Two repeats, three judges; results are counted by places in the schedule.
  assertEquals([result.usage.calls, result.calls.length], [6, 2]);
  assertEquals(result.calls.map(({ a }) => a.kind === "scored" && a.letters), [null, null]);
  assert(
    result.calls.every(({ analysis }) => ABC.every((name) => analysis?.includes(`${name}: ${name} looked.`))),
  );
  assert(!result.calls.some((own) => "byJudge" in own));
});

Deno.test("one judge in a list is that judge, as ever", async () => {
  const environment = judges({ a: [0.9, 0.2] });
  const [list, plain] = [
    await comparing(environment, ["a"]),
    await comparing(environment, ["a"], { judge: "a" }),
  ];
  assertEquals([list.judge.profile, list.agreement, "judges" in list], ["a", 1, false]);
  assertEquals(plain.calls.map(({ a }) => a.kind === "scored" && a.letters?.length), [20, 20]);
});

Deno.test("a judge that fails is dropped there and reported, and the others decide", async () => {
  const result = await comparing(judges({ a: [0.9, 0.2], b: failing("unauthorized"), c: [0.7, 0.3] }));
  assertAlmostEquals(result.rewardA!, 0.8);
  assertEquals(result.unscored, 0);
  const dropped = result.judges?.[1];
  assertEquals([dropped?.ok, dropped?.scored, dropped?.unscored, "winner" in dropped!], [false, 0, 4, false]);
  assertStringIncludes(dropped!.problem!, "unauthorized");
  assert(
    result.warnings.some((warning) =>
      warning.startsWith("judge b (b-model) scored nothing and was dropped: unauthorized")
    ),
  );
  assertEquals(result.agreement, 1);
  const alone = await comparing(
    judges({ a: failing("timeout"), b: [0.9, 0.2], c: failing("backend_error") }),
  );
  assert(
    alone.warnings.some((warning) =>
      warning.includes("only b (b-model) scored: this is one judge's verdict")
    ),
  );
  // With one judge left there is a distribution again.
  assertEquals(alone.calls[0]?.a.kind === "scored" && alone.calls[0].a.letters?.length, 20);
});

Deno.test("when all judges fail it is an error that lists each one's reason", async () => {
  const cases: readonly [Record<string, FakeJudgeOptions>, string][] = [
    [{ a: failing("unauthorized"), b: failing("unauthorized") }, "judge_unauthorized"],
    [{ a: failing("timeout"), b: failing("timeout") }, "deadline_exceeded"],
    [{ a: failing("unauthorized"), b: failing("timeout") }, "judge_failed"],
    [{ a: failing("backend_error"), b: failing("refused") }, "nothing_scored"],
  ];
  for (const [profiles, code] of cases) {
    const error = await assertRejects(() => comparing(judges(profiles), ["a", "b"]), AssayError);
    assertEquals(error.code, code);
    assertStringIncludes(error.message, "a: ");
    assertStringIncludes(error.message, "b: ");
  }
});

Deno.test("a judge that stands twice in the list, or isn't known, is an error at its place", async () => {
  const environment = judges({ a: [1, 0], b: [1, 0], same: { identity: "a" } });
  for (
    const [list, path] of [[["a", "b", "a"], "/judge/2"], [["a", "same"], "/judge/1"], [
      ["a", "x"],
      "/judge/1",
    ]] as const
  ) {
    const error = await assertRejects(() => comparing(environment, list), AssayError);
    assertEquals([error.code, error.errors[0]?.path], ["invalid_request", path]);
  }
  const many = await assertRejects(() => comparing(environment, Array(6).fill("a")), AssayError);
  assertEquals(many.errors[0]?.path, "/judge");
});

Deno.test("plans and usage add up over the judges, each at its own price", async () => {
  const price = (rate: number) => ({
    inputPerMillion: rate,
    cachedInputPerMillion: rate,
    outputPerMillion: rate,
  });
  const environment = judges({ a: { price: price(1) }, b: { price: price(3) } });
  const request = { task: "t", criteria: ["x"], a: candidate(0), b: candidate(1) };
  const plan = async (judge: unknown) => {
    const result = await compare(
      environment,
      parseRequest(compareRequestSchema, { ...request, judge, dryRun: true }),
    );
    assert("plan" in result);
    return result.plan;
  };
  const [a, b, both] = [await plan("a"), await plan("b"), await plan(["a", "b"])];
  assertEquals([both.pairs, both.calls, both.inputTokens], [
    1,
    a.calls + b.calls,
    a.inputTokens + b.inputTokens,
  ]);
  assertAlmostEquals(both.usd!, a.usd! + b.usd!);
  const bought = await comparing(environment, ["a", "b"]);
  assertAlmostEquals(bought.usage.usd!, 2 * 110 * (1 + 3) / 1e6);
  const over = await assertRejects(
    () => comparing(environment, ["a", "b"], { budget: { calls: 3 } }),
    AssayError,
  );
  assertEquals([over.code, over.plan?.calls], ["over_budget", 4]);
});

Deno.test("cached scores stay per judge: a new ensemble buys only from its new judge", async () => {
  const environment = judges({ a: [0.9, 0.2], b: [0.8, 0.1], c: [0.7, 0.3] });
  await comparing(environment, ["a", "b"]);
  const more = await comparing(environment);
  assertEquals([more.usage.calls, more.usage.cacheHits], [2, 4]);
  const alone = await comparing(environment, ["c"]);
  assertEquals([alone.usage.calls, alone.usage.cacheHits], [0, 2]);
});

Deno.test("an ensemble selects, with each judge's own best", async () => {
  const environment = judges({ a: [0.9, 0.5, 0.1], b: [0.8, 0.6, 0.2], c: [0.1, 0.9, 0.3] });
  const events: ProgressEvent[] = [];
  const request = parseRequest(selectRequestSchema, {
    task: "t",
    criteria: ["x"],
    judge: ABC,
    candidates: [0, 1, 2].map(candidate),
  });
  const result = await select(environment, request, { onEvent: (event) => events.push(event) });
  assert(!("plan" in result));
  assertEquals([result.best, result.judges?.map(({ winner }) => winner)], [0, [0, 0, 1]]);
  assertAlmostEquals(result.agreement!, 2 / 3);
  const calls = events.filter((event) => event.type === "call");
  assertEquals(calls.map(({ done, total }) => [done, total]), [[1, 3], [2, 3], [3, 3]]);
  const { decisions } = await listDecisions(environment.store, { limit: 5 });
  const replayed = replayDecision(await readDecision(environment.store, decisions[0]!.id));
  assertEquals([replayed.equal, replayed.calls, replayed.differences], [true, 9, []]);
});

Deno.test("an ensemble tracks, part by part", async () => {
  const curve = (...scores: readonly number[]): FakeJudgeOptions => ({
    answer: (request) => answerWith(request.tags, scores, "progress"),
  });
  const environment = judges({
    a: curve(0.1, 0.5),
    b: { answer: (request) => answerWith(request.tags.slice(0, 1), [0.3], "progress") },
    c: curve(0.2, 0.9),
  });
  const request = parseRequest(trackRequestSchema, {
    task: "t",
    judge: ABC,
    repeats: 1,
    trajectory: { steps: ["one", "two"] },
  });
  const result = await track(environment, request);
  assert(!("plan" in result));
  assertAlmostEquals(result.curve[0]!.score!, 0.2);
  assertAlmostEquals(result.curve[1]!.score!, 0.7);
  assertEquals(result.judges?.map(({ scored, unscored, ok }) => [scored, unscored, ok]), [[2, 0, true], [
    1,
    1,
    true,
  ], [2, 0, true]]);
  assert(
    result.warnings.some((warning) =>
      warning.includes("judge b (b-model) was dropped where it gave no score (1 of 2 parts)")
    ),
  );
  const { decisions } = await listDecisions(environment.store, { limit: 5 });
  assertEquals(replayDecision(await readDecision(environment.store, decisions[0]!.id)).differences, []);
});

Deno.test("an ensemble gates: one dead judge doesn't open the gate, all dead do", async () => {
  const request = (judge: unknown) =>
    parseRequest(gateRequestSchema, { task: "t", criteria: ["x"], trajectory: candidate(0), judge });
  const grade = (value: number): FakeJudgeOptions => ({ answer: (own) => answerWith(own.tags, [value, 0]) });
  const environment = judges({
    a: grade(0.9),
    b: grade(0.2),
    c: grade(0.3),
    dead: failing("backend_error"),
    key: failing("unauthorized"),
  });
  const steers = await gate(environment, request(["a", "b", "c", "dead"]));
  assert(!("plan" in steers));
  assertEquals([steers.decision, steers.judges?.map(({ winner }) => winner)], ["steer", [
    "accept",
    "steer",
    "steer",
    undefined,
  ]]);
  assertAlmostEquals(steers.agreement!, 2 / 3);
  const open = await gate(environment, request(["dead", "key"]));
  assert(!("plan" in open));
  assertEquals([open.decision, open.code], ["open", "judge_failed"]);
  for (const { id } of (await listDecisions(environment.store, { limit: 5 })).decisions) {
    assertEquals(replayDecision(await readDecision(environment.store, id)).differences, []);
  }
});

Deno.test("a judge that scored one side only doesn't count for a pair: both medians come from the same judges", () => {
  const half = combine(NAMES, PAIR, [
    call(scored(0.9), unscored),
    call(scored(0.2), scored(0.4)),
    call(unscored, scored(1)),
  ]);
  assertEquals(half.scores, [scored(0.2), scored(0.4)]);
  const none = combine(NAMES, PAIR, [
    call(scored(0.9), unscored),
    call(unscored, scored(0.4)),
    call(unscored, unscored),
  ]);
  assertEquals(none.scores.map(({ kind }) => kind), ["unscored", "unscored"]);
  const [part] = none.scores;
  assert(part?.kind === "unscored");
  assertEquals([part.reason, part.detail], [
    "timeout",
    "a: timeout (too late); b: timeout (too late); c: timeout (too late)",
  ]);
});

Deno.test("a median has no distribution, and the least channel of those that were used", () => {
  assertEquals(medianScore([scored(0.1), scored(0.5, "explicit_tag"), scored(0.9, "continuation")]), {
    kind: "scored",
    value: 0.5,
    letterMass: null,
    entropy: null,
    channel: "explicit_tag",
    letters: null,
  });
  assertEquals(medianScore([scored(0.3)]), scored(0.3));
});

Deno.test("the median lies between its scores, moves with them, and doesn't depend on their order", () => {
  const values = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, lift) => {
    const of = (own: readonly number[]): number => medianScore(own.map((value) => scored(value))).value;
    const median = of(list);
    assert(median >= Math.min(...list) && median <= Math.max(...list));
    assertEquals(of(list.toReversed()), median);
    assert(of(list.map((value) => value + (1 - value) * lift)) >= median);
    // Fewer than half of the judges can't move it out of the range of the others.
    if (list.length >= 3) assert(of([...list.slice(1), 1]) <= Math.max(...list.slice(1)));
  }));
});
