/**
 * A scorer around a fake judge, for the tests of scorer and score cache.
 *
 * @module
 */
import type { Store } from "../../store/store.ts";
import { type Cancellation, createCancellation } from "../../verifier/cancellation.ts";
import type { Environment } from "../../verifier/environment.ts";
import type { Judge } from "../../verifier/judges/judge.ts";
import { createScorer, type ScoreJob, type Scorer } from "../../verifier/scorer.ts";
import { Warnings } from "../../verifier/text.ts";
import type { Score, UnscoredReason } from "../../verifier/types.ts";
import { fakeEnvironment } from "./fake_judge.ts";

/** A call to be scored. */
export const JOB: ScoreJob = {
  prefix: { text: "prefix ", digest: "d1", bytes: 7 },
  suffix: "suffix",
  images: [],
  imagesDigest: "",
  tags: ["score_A", "score_B"],
  direction: "pairwise",
  repeat: 0,
};

/** What a test may set. */
export interface Setup {
  readonly channel?: "any" | "logprobs" | "continuation";
  readonly cache?: "use" | "refresh" | "off";
  readonly store?: Store;
  readonly signal?: AbortSignal;
}

/** A scorer of its own environment. */
export function setup(judge: Judge, options: Setup = {}): {
  readonly scorer: Scorer;
  readonly warnings: Warnings;
  readonly environment: Environment;
  readonly cancellation: Cancellation;
} {
  const warnings = new Warnings();
  const cancellation = createCancellation(options.signal);
  const environment = fakeEnvironment(judge, options.store);
  const { channel = "any", cache = "use" } = options;
  const scorer = createScorer({ environment, judge, channel, cache, cancellation, warnings });
  return { scorer, warnings, environment, cancellation };
}

/** Channel or reason of each part. */
export const reasons = (scores: readonly Score[]): (UnscoredReason | string)[] =>
  scores.map((score) => score.kind === "scored" ? score.channel : score.reason);
/** Value of each part. */
export const values = (scores: readonly Score[]): (number | null)[] =>
  scores.map((score) => score.kind === "scored" ? score.value : null);
