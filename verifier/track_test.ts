import { assert, assertAlmostEquals, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { answerWith, fakeEnvironment, fakeJudge } from "../tests/verbs/fake_judge.ts";
import { AssayError } from "./errors.ts";
import type { Judge } from "./judges/judge.ts";
import { parseRequest, trackRequestSchema } from "./requests.ts";
import { adviceOf, defaultCheckpoints, track } from "./track.ts";
import type { CallOptions, Plan, ProgressEvent, TrackResult } from "./types.ts";

const steps = (count: number): string[] => Array.from({ length: count }, (_, i) => `did thing ${i + 1}.`);

function request(count: number, more: Record<string, unknown> = {}) {
  return parseRequest(trackRequestSchema, { task: "the task", trajectory: { steps: steps(count) }, ...more });
}

async function run(
  judge: Judge,
  count: number,
  more: Record<string, unknown> = {},
  options?: CallOptions,
): Promise<TrackResult> {
  const result = await track(fakeEnvironment(judge), request(count, more), options);
  assert(!("plan" in result));
  return result;
}

/** Scores of the checkpoints by position. */
const curve = (values: readonly number[], shift = 0) =>
  fakeJudge({
    answer: ({ tags, repeat }) =>
      answerWith(tags, tags.map((_, i) => values[i]! + shift * repeat), "progress"),
  });

Deno.test("track() scores every step of a short trajectory in one call per repeat", async () => {
  const judge = curve([0.1, 0.3, 0.6], 0.1);
  const result = await run(judge, 3);
  // Repeats are sent side by side: which one reaches the judge first is nobody's promise.
  assertEquals(judge.requests.map(({ tags, repeat }) => `${tags.join()} ${repeat}`).sort(), [
    "c1,c2,c3 0",
    "c1,c2,c3 1",
  ]);
  assertEquals(result.curve.map(({ step, scored, unscored }) => [step, scored, unscored]), [[1, 2, 0], [
    2,
    2,
    0,
  ], [3, 2, 0]]);
  result.curve.forEach(({ score }, i) => assertAlmostEquals(score!, [0.15, 0.35, 0.65][i]!));
  assertAlmostEquals(result.curve[0]!.standardError!, 0.05);
  assertAlmostEquals(result.final!, 0.65);
  assertEquals([result.advice, result.causal, result.unscored], ["rising", false, 0]);
  for (const text of ["the task", "did thing 3."]) assertStringIncludes(judge.requests[0]!.prefix, text);
});

Deno.test("with causal each checkpoint sees its own steps and nothing later", async () => {
  const judge = fakeJudge({
    answer: ({ tags, prefix }) => answerWith(tags, [prefix.match(/did thing/g)!.length / 10], "progress"),
  });
  const result = await run(judge, 5, { causal: true, repeats: 1, checkpoints: [4, 2] });
  assertEquals(
    judge.requests.map(({ tags, prefix }) => `${tags.join()} ${prefix.match(/did thing/g)!.length}`).sort(),
    ["c1 2", "c1 4"],
  );
  assertEquals(result.curve.map(({ step }) => step), [2, 4]);
  result.curve.forEach(({ step, score }) => assertAlmostEquals(score!, step / 10));
  assertEquals(result.curve[0]!.standardError, null, "one repeat has no standard error");
});

Deno.test("images of later steps don't leak into a causal look", async () => {
  const judge = fakeJudge({ readsImages: true, answer: ({ tags }) => answerWith(tags, [0.5], "progress") });
  const url = (n: number) => `https://example.com/${n}.png`;
  await run(judge, 2, {
    causal: true,
    repeats: 1,
    trajectory: { steps: [{ text: "a", images: [url(1)] }, { text: "b", images: [url(2)] }] },
  });
  assertEquals(judge.requests.map(({ images }) => images.join(" ")).sort(), [url(1), `${url(1)} ${url(2)}`]);
});

Deno.test("default checkpoints are all steps up to 12, else 10 with the last", () => {
  assertEquals(defaultCheckpoints(12).length, 12);
  assertEquals(defaultCheckpoints(13), [1, 3, 4, 5, 7, 8, 9, 10, 12, 13]);
  fc.assert(fc.property(fc.integer({ min: 1, max: 100_000 }), (count) => {
    const points = defaultCheckpoints(count);
    assertEquals(points.at(-1), count);
    assertEquals(points.length, count <= 12 ? count : 10);
    assert(points.every((point, i) => Number.isInteger(point) && point >= 1 && point > (points[i - 1] ?? 0)));
  }));
});

Deno.test("advice follows the last three scored points", () => {
  const cases: readonly [readonly (number | null)[], string | null][] = [
    [[], null],
    [[null], null],
    [[0.4], null],
    [[0.95], "done"],
    [[0.2, 0.4], "rising"],
    [[0.4, 0.2], "falling"],
    [[0.4, 0.42], "plateau"],
    [[0.1, 0.5, 0.5, 0.5], "plateau"],
    [[0.5, 0.5, 0.5, 0.6], "rising"],
    [[0.5, null, 0.9, null], "done"],
    [[0.9, 0.8, 0.3, null], "falling"],
  ];
  for (const [scores, advice] of cases) assertEquals(adviceOf(scores), advice, JSON.stringify(scores));
});

Deno.test("a point without scores is null, and the advice goes by the others", async () => {
  const judge = fakeJudge({ answer: ({ tags }) => answerWith(tags.slice(0, 2), [0.2, 0.5], "progress") });
  const result = await run(judge, 3, { repeats: 1, channel: "logprobs" });
  assertEquals(result.curve.map(({ score, unscored }) => [score === null, unscored]), [
    [false, 0],
    [false, 0],
    [true, 1],
  ]);
  assertEquals([result.final, result.advice, result.unscored], [null, "rising", 1]);
  assertEquals(result.unscoredParts.map(({ step, repeat, reason }) => [step, repeat, reason]), [[
    3,
    0,
    "no_tag",
  ]]);
});

Deno.test("nothing scored at any checkpoint is an error", async () => {
  const judge = fakeJudge({ answer: () => answerWith(["other"], [1], "progress") });
  const error = await assertRejects(() => run(judge, 2), AssayError, "no_tag (4");
  assertEquals(error.code, "nothing_scored");
});

Deno.test("checkpoints are checked against the trajectory", async () => {
  for (const [checkpoints, path] of [[[1, 4], "/checkpoints/1"], [[3, 3], "/checkpoints"]] as const) {
    const error = await assertRejects(
      () => Promise.resolve().then(() => run(fakeJudge(), 3, { checkpoints })),
      AssayError,
    );
    assertEquals(error.errors[0]?.path, path);
  }
  const blank = await assertRejects(() => run(fakeJudge(), 1, { trajectory: " " }), AssayError);
  assertEquals(blank.errors[0]?.path, "/trajectory");
});

Deno.test("plain text is one step", async () => {
  const result = await run(curve([0.5]), 1, { trajectory: "I did it all." });
  assertEquals(result.curve.map(({ step }) => step), [1]);
});

Deno.test("a dry run counts the calls of both ways, and events come as they happen", async () => {
  const judge = curve([0.1, 0.2, 0.3]);
  const plan = async (more: Record<string, unknown>) =>
    (await track(fakeEnvironment(judge), request(3, { dryRun: true, ...more })) as { plan: Plan }).plan.calls;
  assertEquals([await plan({}), await plan({ causal: true }), await plan({ causal: true, repeats: 5 })], [
    2,
    6,
    15,
  ]);
  const events: ProgressEvent[] = [];
  await run(judge, 3, { repeats: 1 }, { onEvent: (event) => events.push(event) });
  assertEquals(events.map(({ type }) => type), ["plan", "call", "checkpoint", "checkpoint", "checkpoint"]);
});
