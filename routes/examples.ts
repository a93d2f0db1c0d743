/**
 * Example answers of the verbs for the OpenAPI document. A test checks them against the schemas.
 *
 * @module
 */
import type { ErrorCode } from "../verifier/errors.ts";
import type { CompareResult, Scored, SelectResult, TrackResult, Usage } from "../verifier/types.ts";

/** What can go wrong in any verb, beside a faulty request. */
export const VERB_PROBLEMS: readonly ErrorCode[] = [
  "over_budget",
  "budget_exhausted",
  "channel_unavailable",
  "nothing_scored",
  "judge_failed",
  "judge_unauthorized",
  "rate_limited",
  "store_unavailable",
  "deadline_exceeded",
];

const usage = (calls: number): Usage => ({
  calls,
  attempts: calls,
  cacheHits: 0,
  inputTokens: 1800 * calls,
  cachedInputTokens: 0,
  outputTokens: 120 * calls,
  reasoningTokens: 0,
  usd: null,
});

const judge = {
  profile: "evidence",
  kind: "evidence",
  model: "evidence-2",
  promptVersion: "1",
  coreVersion: "0.1.0",
};

/** All probability on the first two letters. */
const scored = (value: number, letters: readonly [number, number]): Scored => ({
  kind: "scored",
  value,
  letterMass: 0.99,
  entropy: 0.72,
  channel: "logprobs",
  letters: [...letters, ...Array<number>(18).fill(0)],
});

const compare: CompareResult = {
  id: "dec_01JD0000000000000000000000",
  verb: "compare",
  winner: "A",
  rewardA: 0.81,
  rewardB: 0.42,
  margin: 0.39,
  standardError: 0.03,
  slotBias: 0.01,
  agreement: 1,
  identical: false,
  criteria: [{
    id: "correctness",
    name: "Correctness",
    weight: 1,
    rewardA: 0.81,
    rewardB: 0.42,
    scored: 3,
    unscored: 1,
  }],
  calls: [{
    criterion: "correctness",
    repeat: 0,
    swapped: false,
    a: scored(0.99, [0.8, 0.2]),
    b: { kind: "unscored", reason: "low_letter_mass", detail: "0.31 of the probability lies on the letters" },
    cached: false,
    analysis: "A ran the tests after the last edit; B only says that they pass.",
  }],
  unscored: 1,
  judge,
  channels: { logprobs: 3 },
  usage: usage(2),
  warnings: [],
};

const select: SelectResult = {
  id: "dec_01JD0000000000000000000001",
  verb: "select",
  mode: "pivot",
  best: 0,
  probabilityRight: null,
  stopped: "complete",
  slotBias: 0.01,
  cycleResidual: 0.02,
  ranking: [
    {
      index: 0,
      id: "first",
      strength: 0.21,
      standardError: 0.05,
      probabilityBest: 0.97,
      winRate: 1,
      games: 2,
      agreement: 0.4,
    },
    {
      index: 1,
      id: "second",
      strength: -0.21,
      standardError: 0.05,
      probabilityBest: 0.03,
      winRate: 0,
      games: 2,
      agreement: 0.4,
    },
  ],
  pairs: [{ a: 0, b: 1, rewardA: 0.81, rewardB: 0.42, winner: "A", round: 0 }],
  criteria: [{ id: "correctness", name: "Correctness", weight: 1, scored: 2, unscored: 0 }],
  unscoredParts: [],
  unscored: 0,
  judge,
  channels: { logprobs: 2 },
  usage: usage(1),
  warnings: [],
};

const track: TrackResult = {
  id: "dec_01JD0000000000000000000002",
  verb: "track",
  causal: false,
  curve: [
    { step: 1, score: 0.1, standardError: 0.02, scored: 2, unscored: 0 },
    { step: 2, score: 0.4, standardError: 0.05, scored: 2, unscored: 0 },
    { step: 3, score: 0.9, standardError: 0.03, scored: 2, unscored: 0 },
  ],
  final: 0.9,
  advice: "rising",
  unscoredParts: [],
  unscored: 0,
  judge,
  channels: { logprobs: 6 },
  usage: usage(2),
  warnings: [],
};

const events = [
  'id: 1\nevent: plan\ndata: {"plan":{"pairs":1,"calls":2,"inputTokens":3600,"cachedInputTokens":0,"outputTokens":240,"usd":null}}\n',
  'id: 2\nevent: call\ndata: {"done":1,"total":2,"criterion":"correctness","repeat":0,"scores":[],"cached":false}\n',
  'id: 3\nevent: result\ndata: {"id":"dec_…","verb":"compare","winner":"A"}\n',
].join("\n");

/** One answer per verb, and a shortened event stream. */
export const EXAMPLE_RESULT = { compare, select, track, events } as const;
