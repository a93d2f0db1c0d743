import { assertEquals, assertRejects } from "@std/assert";
import { fakeEnvironment, fakeJudges } from "../tests/http_fakes.ts";
import { AssayError } from "./errors.ts";
import { type Compare, probeJudges } from "./probe.ts";
import type { CompareResult, Score, UnscoredReason } from "./types.ts";

const scored: Score = {
  kind: "scored",
  value: 0.9,
  letterMass: 1,
  entropy: 0,
  channel: "logprobs",
  letters: null,
};
const unscored = (reason: UnscoredReason): Score => ({ kind: "unscored", reason, detail: "why" });
const answering = (a: Score, b: Score): Compare => () => {
  const call = { criterion: "correctness", repeat: 0, swapped: false, a, b, cached: false, analysis: null };
  // A probe looks at the calls alone.
  return Promise.resolve({ verb: "compare", calls: [call] } as unknown as CompareResult);
};

Deno.test("probeJudges() forgets a judge's lessons, then buys one call that no cache answers", async () => {
  const judges = fakeJudges();
  let asked: unknown;
  const compare: Compare = (environment, { judge, repeats, cache, criteria }, options) => {
    asked = { judge, repeats, cache, criteria: criteria.length, forgotten: [...judges.forgotten] };
    return answering(scored, scored)(environment, {} as never, options);
  };
  const [probe] = await probeJudges(compare, fakeEnvironment({ judges }), { judge: "fake" });
  assertEquals(asked, { judge: "fake", repeats: 1, cache: "off", criteria: 1, forgotten: ["fake"] });
  assertEquals([probe?.ok, probe?.channel, probe?.score], [true, "logprobs", scored]);
});

Deno.test("probeJudges() is not ok when either side has no score, and says why", async () => {
  for (const [a, b] of [[unscored("no_logprobs"), scored], [scored, unscored("no_logprobs")]] as const) {
    const [probe] = await probeJudges(answering(a, b), fakeEnvironment());
    assertEquals([probe?.ok, probe?.code, probe?.detail], [false, "nothing_scored", "no_logprobs: why"]);
  }
});

Deno.test("probeJudges() reports a refused key as such", async () => {
  const refused: Compare = () =>
    Promise.reject(new AssayError("judge_unauthorized", "the host answered 401"));
  const [probe] = await probeJudges(refused, fakeEnvironment());
  assertEquals([probe?.ok, probe?.score, probe?.code], [false, null, "judge_unauthorized"]);
  assertEquals(probe?.detail, "the host answered 401");
});

Deno.test("probeJudges() names the judges there are when asked for another", async () => {
  const error = await assertRejects(
    () => probeJudges(answering(scored, scored), fakeEnvironment(), { judge: "other" }),
    AssayError,
    '"fake"',
  );
  assertEquals(error.errors[0]?.path, "/judge");
});

Deno.test("probeJudges() ends with the caller's abort, not with a judge that failed", async () => {
  const connection = new AbortController();
  const compare: Compare = () => {
    connection.abort(new DOMException("gone", "AbortError"));
    return Promise.reject(new AssayError("judge_failed", "aborted"));
  };
  await assertRejects(() => probeJudges(compare, fakeEnvironment(), { signal: connection.signal }));
});
