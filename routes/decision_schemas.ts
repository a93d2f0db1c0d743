/**
 * The schemas of what the decisions' and the statistics' endpoints answer.
 *
 * @module
 */
import * as z from "zod";
import { STATISTIC_GROUPS } from "../verifier/decisions/statistics.ts";
import { score, unscoredReason, usage } from "./schemas.ts";

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const channel = z.enum(["logprobs", "continuation", "explicit_tag"]);
const counts = z.record(z.string(), count);
const id = z.string().describe("The same in the result, in its decision and in statistics.");

const summary = z.strictObject({
  format: z.literal(1),
  id,
  verb: z.string(),
  session: z.string().nullable().describe("Id of the session or tracker."),
  startedAt: z.iso.datetime(),
  durationMs: count,
  problem: z.string().nullable().describe("Code of the problem it ended in; null for success."),
  judges: z.array(z.string()),
  rubric: z.string().nullable(),
  usage,
  channels: z.partialRecord(channel, count),
  unscored: z.partialRecord(unscoredReason, count),
});

/** Answer of `GET /v1/decisions`. */
export const decisionList = z.strictObject({
  decisions: z.array(summary).describe("Newest first."),
  cursor: z.string().nullable().describe("Where the next page begins; null at the end."),
  corrupt: count.describe("Records of this page that can't be read and are left out."),
}).describe("One page of decisions.");

const token = z.tuple([z.string(), z.number().nullable()]).rest(
  z.array(z.tuple([z.string(), z.number().nullable()])),
).describe("Text, log-probability and, where it is read, alternatives.");

/** Answer of `GET /v1/decisions/{id}`. */
export const decision = z.strictObject({
  format: z.literal(1),
  id,
  verb: z.string(),
  topic: z.string().describe("What the newest records are counted per: the verb, a session or a tracker."),
  startedAt: z.iso.datetime(),
  durationMs: count,
  promptVersion: z.string(),
  coreVersion: z.string(),
  outlines: z.record(z.string(), z.record(z.string(), z.unknown())).describe(
    "Settings, rubric and judge, digests and lengths of the texts; by part, the verb's own under the empty name.",
  ),
  result: z.record(z.string(), z.unknown()).nullable().describe(
    "The result without its calls; null after a failure.",
  ),
  problem: z.strictObject({ code: z.string(), detail: z.string() }).nullable(),
  usage,
  calls: z.array(z.strictObject({
    label: z.strictObject({
      part: z.string().exactOptional(),
      criterion: z.string().exactOptional(),
      repeat: count,
      swapped: z.boolean().exactOptional(),
      a: count.exactOptional(),
      b: count.exactOptional(),
      round: count.exactOptional(),
      steps: z.array(z.int().min(1)).exactOptional(),
      judge: count.exactOptional().describe("Which judge of an ensemble."),
    }),
    judge: z.string(),
    tags: z.array(z.string()),
    direction: z.enum(["pairwise", "progress"]),
    channel: channel.nullable(),
    cached: z.boolean(),
    scores: z.array(score),
    evidence: z.strictObject({
      tokens: z.array(token).nullable(),
      continued: z.array(token.nullable()).exactOptional(),
      text: z.string().exactOptional(),
    }).nullable().describe("What decodes to the scores; null for a call that failed."),
    promptCharacters: count,
    prompt: z.string().exactOptional().describe("Head and tail; of at most 32 calls."),
    output: z.string().exactOptional(),
  })),
}).describe("What was judged, with the scores of every call. Secrets are taken out.");

/** Answer of `POST /v1/decisions/{id}/replay`. */
export const replay = z.strictObject({
  id,
  verb: z.string(),
  equal: z.boolean().describe("Scores and verdict are the same: numbers within 1e-12, all else exactly."),
  differences: z.array(z.strictObject({
    path: z.string().describe("JSON pointer into the decision's calls, or into the result."),
    stored: z.unknown(),
    now: z.unknown(),
  })).max(1000),
  total: count.describe("Differences in all."),
  scope: z.enum(["verdict", "scores"]).describe("What could be derived."),
  calls: count,
  coreVersion: z.strictObject({ stored: z.string(), now: z.string() }),
}).describe("The decision, derived again from its stored answers.");

const sums = {
  invocations: count,
  failed: count,
  calls: count,
  attempts: count,
  cacheHits: count,
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  usdKnown: z.number().min(0).describe("Dollars of the invocations whose cost is known."),
  usdUnknown: count.describe("Invocations whose cost nobody knows."),
  durationMs: count,
  longestMs: count,
  channels: counts.describe("Parts with a score by channel."),
  unscored: counts.describe("Parts without a score by reason."),
  problems: counts.describe("Failed invocations by code."),
  usd: z.number().min(0).nullable().describe("Dollars; null when any cost is unknown."),
  cacheHitRate: share.nullable().describe("Share of calls answered by the score cache."),
  prefixCacheHitRate: share.nullable().describe("Share of input tokens in the provider's prompt cache."),
  unscoredRate: share.nullable(),
  channelMix: z.record(z.string(), share).nullable(),
  failureRate: share.nullable(),
  meanMs: z.number().min(0).nullable(),
  callsPerInvocation: z.number().min(0).nullable(),
};

/** Answer of `GET /v1/statistics`. */
export const statistics = z.strictObject({
  from: z.iso.datetime(),
  to: z.iso.datetime().describe("Exclusive."),
  group: z.enum(STATISTIC_GROUPS),
  groups: z.array(z.strictObject({ key: z.string().nullable(), ...sums })),
  total: z.strictObject(sums),
  corrupt: count.describe("Records that can't be read and are left out."),
  cursor: z.string().nullable().describe("Where the next page begins; null when everything was counted."),
}).describe(
  "Sums over the invocations that judged something. Rates are null where there is nothing to divide by.",
);
