/**
 * Example answers of the decisions' endpoints for the OpenAPI document. A test checks them against the schemas.
 *
 * @module
 */
import { turned } from "../verifier/decisions/store.ts";

const ULID = "01JD0000000000000000000000";
const id = `dec_${ULID}`;
const startedAt = "2026-12-01T02:00:00.000Z";

const usage = {
  calls: 1,
  attempts: 1,
  cacheHits: 0,
  inputTokens: 1800,
  cachedInputTokens: 0,
  outputTokens: 120,
  reasoningTokens: 0,
  usd: 0,
};

const letters = (share: number) => [share, 1 - share, ...Array<number>(18).fill(0)];

const scored = (value: number, share: number) => ({
  kind: "scored",
  value,
  letterMass: 1,
  entropy: 0.72,
  channel: "logprobs",
  letters: letters(share),
});

const summary = {
  format: 1,
  id,
  verb: "compare",
  session: null,
  startedAt,
  durationMs: 840,
  problem: null,
  judges: ["evidence"],
  rubric: "coding",
  usage,
  channels: { logprobs: 2 },
  unscored: {},
};

const sums = {
  invocations: 1,
  failed: 0,
  calls: 1,
  attempts: 1,
  cacheHits: 0,
  inputTokens: 1800,
  cachedInputTokens: 0,
  outputTokens: 120,
  reasoningTokens: 0,
  usdKnown: 0,
  usdUnknown: 0,
  durationMs: 840,
  longestMs: 840,
  channels: { logprobs: 2 },
  unscored: {},
  problems: {},
  usd: 0,
  cacheHitRate: 0,
  prefixCacheHitRate: 0,
  unscoredRate: 0,
  channelMix: { logprobs: 1 },
  failureRate: 0,
  meanMs: 840,
  callsPerInvocation: 1,
};

/** Examples by endpoint. */
export const DECISION_EXAMPLES = {
  list: { decisions: [summary], cursor: turned(ULID), corrupt: 0 },
  decision: {
    format: 1,
    id,
    verb: "compare",
    topic: "compare",
    startedAt,
    durationMs: 840,
    promptVersion: "1",
    coreVersion: "0.1.0",
    outlines: {
      "": {
        verb: "compare",
        settings: { repeats: 1, channel: "any", seed: 0, cache: "use", dryRun: false },
        task: { sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", characters: 4 },
        rubric: {
          name: "custom",
          groundTruthNote: "",
          criteria: [{ id: "correctness", name: "Correctness", description: "It works.", weight: 1 }],
        },
      },
    },
    result: { id, verb: "compare", winner: "A", rewardA: 0.99, rewardB: 0.96 },
    problem: null,
    usage,
    calls: [{
      label: { criterion: "correctness", repeat: 0, swapped: false },
      judge: "evidence",
      tags: ["score_A", "score_B"],
      direction: "pairwise",
      channel: "logprobs",
      cached: false,
      scores: [scored(0.99, 0.8), scored(0.96, 0.2)],
      evidence: {
        tokens: [
          ["<score_A>", 0],
          [" A", -0.22, [[" A", -0.22], [" B", -1.61]]],
          ["</score_A>\n<score_B>", 0],
          [" B", -0.22, [[" B", -0.22], [" A", -1.61]]],
          ["</score_B>", 0],
        ],
      },
      promptCharacters: 5200,
      prompt: "…",
      output: "…",
    }],
  },
  replay: {
    id,
    verb: "compare",
    equal: false,
    differences: [{ path: "/rewardA", stored: 0.99, now: 0.98 }],
    total: 1,
    scope: "verdict",
    calls: 1,
    coreVersion: { stored: "0.1.0", now: "0.2.0" },
  },
  statistics: {
    from: "2026-12-01T00:00:00.000Z",
    to: "2026-12-02T00:00:00.000Z",
    group: "verb",
    groups: [{ key: "compare", ...sums }],
    total: sums,
    corrupt: 0,
    cursor: null,
  },
} as const;
