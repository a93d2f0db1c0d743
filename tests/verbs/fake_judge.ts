/**
 * A judge that a test controls, and an environment around it. Candidates are told apart by a mark in their text:
 * `candidate(3)` is the text of candidate 3, and the judge learns which one stood in which slot.
 *
 * @module
 */
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import type { Environment } from "../../verifier/environment.ts";
import type { Judge, JudgeAnswer, JudgeContext, JudgeRequest } from "../../verifier/judges/judge.ts";
import { createScheduler } from "../../verifier/scheduler.ts";
import type { TokenLogprob } from "../../verifier/types.ts";

/** Text of candidate `index`. */
export const candidate = (index: number): string => `work of candidate <<${index}>>\n`;

/** Marks in a prompt in order: slot A first. */
export function slotsOf(request: JudgeRequest): readonly number[] {
  return [...request.prefix.matchAll(/work of candidate <<(\d+)>>/g)].map((match) => Number(match[1]));
}

/** A token whose alternatives put `value` on the best letter and the rest on the worst: its expectation is `value`. */
export function scoreToken(value: number, direction: "pairwise" | "progress" = "pairwise"): TokenLogprob {
  const [best, worst] = direction === "pairwise" ? [" A", " T"] : [" T", " A"];
  const top = [{ token: best, logprob: Math.log(value) }, { token: worst, logprob: Math.log1p(-value) }]
    .filter((entry) => entry.logprob > -Infinity);
  const likeliest = top.reduce((x, y) => y.logprob > x.logprob ? y : x);
  return { ...likeliest, top_logprobs: top };
}

/** An answer with an analysis and one tag per value. */
export function answerWith(
  tags: readonly string[],
  values: readonly number[],
  direction: "pairwise" | "progress" = "pairwise",
  analysis = "Looked at both.",
): JudgeAnswer {
  const plain = (token: string): TokenLogprob => ({
    token,
    logprob: 0,
    top_logprobs: [{ token, logprob: 0 }],
  });
  const tokens = [
    plain(`${analysis}\n`),
    ...tags.flatMap((
      tag,
      i,
    ) => [plain(`<${tag}>`), scoreToken(values[i] ?? 0, direction), plain(` </${tag}>\n`)]),
  ];
  return {
    text: tokens.map(({ token }) => token).join(""),
    reasoning: null,
    tokens,
    finishReason: "stop",
    refused: false,
    model: "fake-1",
  };
}

/** What a test may set; `answer` defaults to all scores 0.5. */
export interface FakeJudgeOptions extends Partial<Omit<Judge, "answer">> {
  readonly answer?: (request: JudgeRequest, context: JudgeContext) => JudgeAnswer | Promise<JudgeAnswer>;
}

/** A judge and the requests it got. */
export function fakeJudge(options: FakeJudgeOptions = {}): Judge & { readonly requests: JudgeRequest[] } {
  const requests: JudgeRequest[] = [];
  const { answer = (request) => answerWith(request.tags, request.tags.map(() => 0.5)), ...rest } = options;
  return {
    profile: "fake",
    kind: "openai-compatible",
    model: "fake-1",
    identity: '{"model":"fake-1"}',
    concurrency: 4,
    readsImages: false,
    warmsPrefix: true,
    price: { inputPerMillion: 1, cachedInputPerMillion: 0.1, outputPerMillion: 2 },
    calibration: null,
    expectedOutputTokens: 100,
    contextTokens: null,
    maxTokens: 1000,
    ...rest,
    requests,
    async answer(request, context) {
      requests.push(request);
      context.signal.throwIfAborted();
      const answered = await answer(request, context);
      context.onAttempt({ inputTokens: 100, cachedInputTokens: 40, outputTokens: 10, reasoningTokens: 2 });
      return answered;
    },
  };
}

/** An environment with one judge. */
export function fakeEnvironment(judge: Judge, store: Store = createMemoryStore()): Environment {
  return {
    judges: {
      defaultProfile: judge.profile,
      profiles: () => [],
      resolve: () => judge,
      forget: () => Promise.resolve(),
    },
    store,
    delimiterSecret: "0123456789abcdef",
    scheduler: createScheduler(),
  };
}
