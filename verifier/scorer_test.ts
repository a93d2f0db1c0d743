import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { answerWith, fakeEnvironment, fakeJudge, scoreToken } from "../tests/verbs/fake_judge.ts";
import { JOB, reasons, setup, values } from "../tests/verbs/scorer_setup.ts";
import { createCancellation } from "./cancellation.ts";
import { type Judge, type JudgeAnswer, JudgeError } from "./judges/judge.ts";
import { createScorer } from "./scorer.ts";
import { Warnings } from "./text.ts";

/** An answer as plain text without log-probabilities. */
const textAnswer = (text: string, more: Partial<JudgeAnswer> = {}): JudgeAnswer => ({
  text,
  reasoning: null,
  tokens: null,
  finishReason: "stop",
  refused: false,
  model: "m",
  ...more,
});

Deno.test("a scored call gives one score per tag, the analysis and the usage", async () => {
  const judge = fakeJudge({
    answer: (request) => answerWith(request.tags, [0.75, 0.25], "pairwise", "A did more."),
  });
  const { scorer } = setup(judge);
  const { scores, analysis, cached } = await scorer.score(JOB);
  assertAlmostEquals(values(scores)[0]!, 0.75);
  assertAlmostEquals(values(scores)[1]!, 0.25);
  assertEquals([analysis, cached], ["A did more.", false]);
  const { usd, ...counts } = scorer.usage();
  assertEquals(counts, {
    calls: 1,
    attempts: 1,
    cacheHits: 0,
    inputTokens: 100,
    cachedInputTokens: 40,
    outputTokens: 10,
    reasoningTokens: 2,
  });
  assertAlmostEquals(usd!, (60 * 1 + 40 * 0.1 + 10 * 2) / 1e6);
});

Deno.test("a truncated answer is asked for once more with a doubled budget", async () => {
  let asked = 0;
  const judge = fakeJudge({
    answer: (request) => ({
      ...answerWith(request.tags, [0.5, 0.5]),
      finishReason: ++asked === 1 ? "length" : "stop",
    }),
  });
  const { scorer } = setup(judge);
  assertEquals(reasons((await scorer.score(JOB)).scores), ["logprobs", "logprobs"]);
  assertEquals(judge.requests.map(({ maxTokens }) => maxTokens), [null, 2000]);
  assertEquals([scorer.usage().calls, scorer.usage().attempts], [1, 2]);
});

Deno.test("an answer that is truncated twice is unscored, and so is one whose budget is unknown", async () => {
  for (const [maxTokens, calls] of [[1000, 2], [null, 1]] as const) {
    const judge = fakeJudge({
      maxTokens,
      answer: (request) => ({ ...answerWith(request.tags, [0.5, 0.5]), finishReason: "length" }),
    });
    const { scorer, environment } = setup(judge);
    assertEquals(reasons((await scorer.score(JOB)).scores), ["truncated", "truncated"]);
    assertEquals(judge.requests.length, calls);
    assertEquals((await environment.store.list("score/")).keys, [], "failures are never cached");
  }
});

Deno.test("a refusal is unscored with the judge's words", async () => {
  for (const more of [{ refused: true }, { finishReason: "content_filter" as const }]) {
    const judge = fakeJudge({
      answer: (request) => ({ ...answerWith(request.tags, [0.5, 0.5], "pairwise", "I can't."), ...more }),
    });
    const { scores } = await setup(judge).scorer.score(JOB);
    assertEquals(reasons(scores), ["refused", "refused"]);
    assertStringIncludes((scores[0] as { detail: string }).detail, "I can't.");
  }
});

Deno.test("a judge's error becomes the reason of both parts, without retrying here", async () => {
  for (const reason of ["backend_error", "timeout", "rate_limited", "replay_miss", "unauthorized"] as const) {
    const judge = fakeJudge({ answer: () => Promise.reject(new JudgeError(reason, "it broke")) });
    const { scores, analysis } = await setup(judge).scorer.score(JOB);
    assertEquals(scores, [{ kind: "unscored", reason, detail: "it broke" }, {
      kind: "unscored",
      reason,
      detail: "it broke",
    }]);
    assertEquals([analysis, judge.requests.length], [null, 1]);
  }
});

Deno.test("an unexpected exception of a judge costs its call and says so", async () => {
  const judge = fakeJudge({ answer: () => Promise.reject(new TypeError("x is undefined")) });
  const { scores } = await setup(judge).scorer.score(JOB);
  assertEquals(scores[0], {
    kind: "unscored",
    reason: "backend_error",
    detail: "unexpected: x is undefined",
  });
});

Deno.test("a rate-limited call halves the pool", async () => {
  const judge = fakeJudge({
    concurrency: 8,
    answer: () => Promise.reject(new JudgeError("rate_limited", "429")),
  });
  const { scorer, environment } = setup(judge);
  await scorer.score(JOB);
  assertEquals(environment.scheduler.status()[0]?.limit, 4);
});

Deno.test("a 429 that is retried halves the pool before the retries are used up", async () => {
  const judge = fakeJudge({
    concurrency: 8,
    answer: (request, { onRateLimited }) => {
      onRateLimited?.(1000);
      onRateLimited?.(1000);
      return answerWith(request.tags, [0.5, 0.5]);
    },
  });
  const { scorer, environment } = setup(judge);
  assertEquals(reasons((await scorer.score(JOB)).scores), ["logprobs", "logprobs"]);
  assertEquals(environment.scheduler.status()[0]?.limit, 4);
});

Deno.test("once the key is refused no further call is sent", async () => {
  const judge = fakeJudge({ answer: () => Promise.reject(new JudgeError("unauthorized", "401")) });
  const { scorer } = setup(judge);
  const jobs = [0, 1, 2, 3].map((repeat) => scorer.score({ ...JOB, repeat }));
  const scores = (await Promise.all(jobs)).flatMap((call) => call.scores);
  assertEquals(new Set(reasons(scores)), new Set(["unauthorized"]));
  assertEquals(judge.requests.length, 1);
  assertEquals(scorer.usage().calls, 1);
});

Deno.test("missing tags are read by continuation, B after A's likeliest letter", async () => {
  const prefixes: string[] = [];
  const judge: Judge = {
    ...fakeJudge({ answer: () => textAnswer("A is better. <score_A> is what I give:\n", { tokens: [] }) }),
    continuation: (_request, assistantPrefix) => {
      prefixes.push(assistantPrefix);
      const token = prefixes.length === 1
        ? {
          token: " C",
          logprob: -2,
          top_logprobs: [{ token: " B", logprob: Math.log(0.6) }, { token: " C", logprob: Math.log(0.4) }],
        }
        : scoreToken(0.25);
      return Promise.resolve(textAnswer(token.token, { tokens: [token] }));
    },
  };
  const { scores, analysis } = await setup(judge).scorer.score(JOB);
  assertEquals(reasons(scores), ["continuation", "continuation"]);
  assertAlmostEquals(values(scores)[0]!, 0.6 * 18 / 19 + 0.4 * 17 / 19);
  assertAlmostEquals(values(scores)[1]!, 0.25);
  assertEquals(prefixes, [
    "A is better.\n<score_A>",
    "A is better.\n<score_A> B </score_A>\n<score_B>",
  ]);
  assertEquals(analysis, "A is better.");
});

Deno.test("an analysis that quotes the format early is kept for the continuation", async () => {
  let seen = "";
  const judge: Judge = {
    ...fakeJudge({
      answer: () =>
        textAnswer(
          "I must end with <score_A> X </score_A>. Reasons follow.\n<score_A>?</score_A>\n<score_B>?</score_B>",
        ),
    }),
    continuation: (_request, assistantPrefix) => {
      seen ||= assistantPrefix;
      return Promise.resolve(textAnswer(" A", { tokens: [scoreToken(1)] }));
    },
  };
  await setup(judge).scorer.score(JOB);
  assertEquals(seen, "I must end with <score_A> X </score_A>. Reasons follow.\n<score_A>");
});

Deno.test("continuation is not asked where the answer's own tags are enough or logprobs are demanded", async () => {
  let continued = 0;
  const continuation = () => Promise.resolve((continued++, null));
  await setup({ ...fakeJudge(), continuation }).scorer.score(JOB);
  const silent: Judge = {
    ...fakeJudge({ answer: () => textAnswer("<score_A> A </score_A> <score_B> B </score_B>") }),
    continuation,
  };
  const { scores } = await setup(silent, { channel: "logprobs" }).scorer.score(JOB);
  assertEquals(reasons(scores), ["no_logprobs", "no_logprobs"]);
  assertEquals(continued, 0);
});

Deno.test("the sampled letter is read last, and only where any channel will do", async () => {
  const answer = () => textAnswer("Fine. <score_A> A </score_A>\n<score_B> K </score_B>");
  const any = await setup(fakeJudge({ answer })).scorer.score(JOB);
  assertEquals(reasons(any.scores), ["explicit_tag", "explicit_tag"]);
  assertAlmostEquals(values(any.scores)[1]!, 1 - 10 / 19);
  const strict = await setup(fakeJudge({ answer }), { channel: "continuation" }).scorer.score(JOB);
  assertEquals(reasons(strict.scores), ["no_logprobs", "no_logprobs"]);
});

Deno.test("a failing continuation leaves the first reason and adds its own", async () => {
  const judge: Judge = {
    ...fakeJudge({ answer: () => textAnswer("no tags at all") }),
    continuation: () => Promise.reject(new JudgeError("backend_error", "400 unknown field")),
  };
  const { scores } = await setup(judge).scorer.score(JOB);
  assertEquals(reasons(scores), ["no_logprobs", "no_logprobs"]);
  assertStringIncludes((scores[0] as { detail: string }).detail, "continuation failed: 400 unknown field");
});

Deno.test("identical calls of two requests in flight are bought once; with the cache off each buys its own", async () => {
  const judge = fakeJudge();
  const environment = fakeEnvironment(judge);
  const request = (cache: "use" | "off") =>
    createScorer({
      environment,
      judge,
      channel: "any",
      cache,
      cancellation: createCancellation(),
      warnings: new Warnings(),
    });
  const [one, two] = [request("use"), request("use")];
  const calls = await Promise.all([one.score(JOB), two.score(JOB)]);
  // Which of the two buys is nobody's promise: their keys are digests that the runtime computes side by side.
  assertEquals(calls.map(({ cached }) => cached).sort(), [false, true]);
  assertEquals(calls[0].scores, calls[1].scores);
  assertEquals(judge.requests.length, 1);
  const usages = [one.usage(), two.usage()];
  assertEquals(usages.map(({ calls, cacheHits }) => `${calls} bought, ${cacheHits} joined`).sort(), [
    "0 bought, 1 joined",
    "1 bought, 0 joined",
  ]);
  await Promise.all([request("off").score(JOB), request("off").score(JOB)]);
  assertEquals(judge.requests.length, 3);
});

Deno.test("a key that is refused for one request is no verdict on another that joined it", async () => {
  const asked = Promise.withResolvers<void>();
  const reply = Promise.withResolvers<never>();
  const judge = fakeJudge({
    answer: () => {
      asked.resolve();
      return reply.promise;
    },
  });
  const good = fakeJudge();
  const environment = fakeEnvironment(judge);
  const scorerOf = (own: Judge) =>
    createScorer({
      environment,
      judge: own,
      channel: "any",
      cache: "use",
      cancellation: createCancellation(),
      warnings: new Warnings(),
    });
  const first = scorerOf(judge).score(JOB);
  await asked.promise;
  const second = scorerOf(good).score(JOB);
  // Time for the second to join; should it come later, it buys its own, which is what is asked for too.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  reply.reject(new JudgeError("unauthorized", "401"));
  const [bad, fine] = await Promise.all([first, second]);
  assertEquals(reasons(bad.scores), ["unauthorized", "unauthorized"]);
  assertEquals([reasons(fine.scores), fine.cached], [["logprobs", "logprobs"], false]);
});

Deno.test("abort and deadline end open calls with their own reasons", async () => {
  const hanging = () =>
    fakeJudge({
      answer: (_request, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
  const controller = new AbortController();
  const { scorer } = setup(hanging(), { signal: controller.signal });
  const open = scorer.score(JOB);
  controller.abort();
  assertEquals(reasons((await open).scores), ["aborted", "aborted"]);

  const judge = hanging();
  const cancellation = createCancellation(undefined, 1);
  const late = createScorer({
    environment: fakeEnvironment(judge),
    judge,
    channel: "any",
    cache: "use",
    cancellation,
    warnings: new Warnings(),
  });
  const { scores } = await late.score(JOB);
  assertEquals(reasons(scores), ["timeout", "timeout"]);
  assertStringIncludes((scores[0] as { detail: string }).detail, "deadline of 1 ms");
  cancellation.close();
  assertEquals(
    reasons((await late.score({ ...JOB, repeat: 1 })).scores),
    ["timeout", "timeout"],
    "and nothing new is bought",
  );
  assert(judge.requests.length <= 1);
});

Deno.test("unknown token counts make the money unknown, not zero", async () => {
  const judge: Judge = {
    ...fakeJudge(),
    answer: (request, context) => {
      context.onAttempt(null);
      return Promise.resolve(answerWith(request.tags, [0.5, 0.5]));
    },
  };
  const { scorer } = setup(judge);
  await scorer.score(JOB);
  assertEquals(scorer.usage().usd, null);
});
