/**
 * `POST /v1/best-of-n`: several drafts, and the best of them.
 *
 * @module
 */
import { bestOfN } from "../verifier/best_of_n/best_of_n.ts";
import { bestOfNRequestSchema, type BestOfNResult } from "../verifier/best_of_n/requests.ts";
import { EXAMPLE_RESULT, VERB_PROBLEMS } from "./examples.ts";
import type { Operation, Services } from "./operation.ts";
import { ACCEPT_PARAMETER, answerVerb } from "./verb.ts";

const row = { strength: 0.2, standardError: 0.05, winRate: 0.7, games: 1 };

/** Example answer, checked against the schema by a test. */
export const BEST_OF_N_EXAMPLE: BestOfNResult = {
  id: "dec_01JD0000000000000000000020",
  verb: "best-of-n",
  generator: { profile: "deepseek", kind: "openai-compatible", model: "deepseek-flash" },
  drafts: [
    { index: 0, text: "Run `sort -u names.txt`.", finishReason: "stop", cached: false },
    { index: 1, text: "Run `sort names.txt | uniq`; then", finishReason: "length", cached: false },
    {
      index: 2,
      text: null,
      finishReason: "stop",
      cached: false,
      failure: { reason: "empty", detail: "the model answered nothing" },
    },
  ],
  best: 0,
  stopped: "complete",
  ranking: [
    { index: 0, ...row, probabilityBest: 0.97 },
    { index: 1, ...row, strength: -0.2, winRate: 0.3, probabilityBest: 0.03 },
  ],
  pairs: [{ a: 0, b: 1, rewardA: 0.82, rewardB: 0.41, winner: "A", round: 1 }],
  acceptance: {
    decision: "accept",
    score: 0.84,
    baselineScore: 0.01,
    threshold: 0.65,
    criteria: [{
      id: "feasibility",
      name: "Feasibility",
      weight: 1,
      score: 0.84,
      baseline: 0.01,
      floor: 0.65,
      scored: 1,
      unscored: 0,
    }],
    failing: [],
  },
  unscored: 0,
  judge: EXAMPLE_RESULT.compare.judge,
  channels: { logprobs: 4 },
  usage: { ...EXAMPLE_RESULT.compare.usage, calls: 5, attempts: 5 },
  warnings: [],
};

/** The endpoint. */
export function bestOfNOperation(services: Services): Operation {
  return {
    method: "post",
    path: "/v1/best-of-n",
    id: "bestOfN",
    tag: "Verbs",
    access: "token",
    summary: "Write several drafts and pick the best",
    description:
      "A generator (a judge profile with a model) writes `n` drafts of one answer; the judge compares them and ranks them; " +
      "the best is measured by the gate's rule (`acceptance`, which fails open). Drafts that were cut at the token limit " +
      "are kept and flagged, failed ones listed with the reason; fewer than two usable ones are an error. `budget` is held " +
      "against the worst case: every draft as long as the generator may make it. Drafts are kept, so that the same request " +
      "buys nothing twice; another `seed` asks for other drafts. Live progress also has `draft` events.",
    parameters: [ACCEPT_PARAMETER],
    body: {
      schema: "BestOfNRequest",
      examples: {
        draft: {
          summary: "Three drafts of an answer",
          value: {
            prompt: "One shell command that lists the distinct lines of names.txt in order.",
            n: 3,
            generator: { profile: "deepseek", maxTokens: 2000 },
          },
        },
        dryRun: {
          summary: "What would it cost",
          value: { prompt: "Write a commit message.", context: "diff --git …", dryRun: true },
        },
      },
    },
    answers: [{
      status: 200,
      description: "Drafts, ranking and acceptance, or the plan of a dry run.",
      content: {
        "application/json": { schema: "BestOfNAnswer", example: BEST_OF_N_EXAMPLE },
        "text/event-stream": { schema: null, example: EXAMPLE_RESULT.events },
      },
    }],
    problems: VERB_PROBLEMS,
    handle: (context) => answerVerb(context, services, bestOfNRequestSchema, bestOfN),
  };
}
