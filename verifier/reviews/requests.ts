/**
 * Requests and answers of the review ledger: who automatic reviews of an agent's work ask before they buy anything.
 *
 * @module
 */
import * as z from "zod";
import type { Exact } from "../requests.ts";

/** Most characters of a name (session, task, fingerprint). */
export const MAXIMUM_NAME_CHARACTERS = 200;
/** Most bytes of an outcome as JSON. */
export const MAXIMUM_OUTCOME_BYTES = 8192;
/** Most calls of one review. */
export const MAXIMUM_CALLS = 1_000_000;

const name = z.string().min(1).max(MAXIMUM_NAME_CHARACTERS)
  .regex(/\S/, { error: "must not be blank" })
  .refine((text) => text.isWellFormed(), { error: "must hold no lone surrogate" });
const limits = z.strictObject({
  reviews: z.int().min(0).optional().describe(
    "Reviews of the same group: those with purpose gate, or all others.",
  ),
  calls: z.int().min(0).optional().describe("Judged calls of all reviews."),
});

/** Body of `POST /v1/reviews`. */
export const reviewReserveSchema = z.strictObject({
  session: name.describe("The agent's session, as the caller names it."),
  task: name.describe("What the session is at now, as the caller names it."),
  purpose: z.enum(["gate", "compare", "select", "track", "plan", "team"]).describe("Why it is reviewed."),
  fingerprint: name.describe(
    "Of the evidence: what has it in common is the same evidence, and is reviewed once a session.",
  ),
  calls: z.int().min(0).max(MAXIMUM_CALLS).describe("Judged calls that the review will buy at most."),
  limits: z.strictObject({ task: limits.optional(), session: limits.optional() }).optional().describe(
    "What may be spent with this review included; an absent limit is none.",
  ),
}).meta({
  id: "ReviewReserveRequest",
  description: "Ask whether a review may be bought, and hold its calls.",
});

/** Body of `POST /v1/reviews/{id}/settle`. */
export const reviewSettleSchema = z.strictObject({
  state: z.enum(["done", "failed", "abandoned"]).describe(
    "done: the evidence is reviewed for good. failed and abandoned: it may be reviewed again.",
  ),
  calls: z.int().min(0).max(MAXIMUM_CALLS).describe("Judged calls that were really bought."),
  outcome: z.record(z.string(), z.unknown()).refine(
    (outcome) => new TextEncoder().encode(JSON.stringify(outcome)).length <= MAXIMUM_OUTCOME_BYTES,
    { error: `must be at most ${MAXIMUM_OUTCOME_BYTES} bytes of JSON` },
  ).optional().describe(
    `Whatever the caller wants to find again: an object, at most ${MAXIMUM_OUTCOME_BYTES} bytes. Secrets are taken out.`,
  ),
}).meta({ id: "ReviewSettleRequest", description: "Say what became of a review." });

/** A question to the ledger. */
export type ReviewReserveRequest = Exact<z.output<typeof reviewReserveSchema>>;
/** What became of a review. */
export interface ReviewSettleRequest {
  readonly state: "done" | "failed" | "abandoned";
  readonly calls: number;
  readonly outcome?: ReviewOutcome;
}
/** A JSON object of the caller's own. */
export type ReviewOutcome = Readonly<Record<string, unknown>>;
/** Why a review is made. */
export type ReviewPurpose = ReviewReserveRequest["purpose"];
/** `held`: under way. `expired`: nobody settled it in time; it counts as bought, and its evidence is free again. */
export type ReviewState = "held" | "expired" | ReviewSettleRequest["state"];

/** One review. */
export interface Review {
  readonly id: string;
  readonly task: string;
  readonly purpose: ReviewPurpose;
  readonly fingerprint: string;
  readonly state: ReviewState;
  /** Judged calls that it counts for: those bought once it is settled, else those planned. */
  readonly calls: number;
  readonly outcome: ReviewOutcome | null;
  /** When it was granted, ISO 8601, UTC. */
  readonly at: string;
  readonly settledAt: string | null;
}

/** What was spent, held reviews included. */
export interface ReviewAmount {
  readonly reviews: number;
  readonly calls: number;
}

/** What a limit can be measured against: `reviews` are those of the asker's group, `calls` those of all. */
export interface ReviewSpent {
  readonly task: ReviewAmount;
  readonly session: ReviewAmount;
}

/** Why a review was not granted, the first that applies. */
export type ReviewRefusal =
  | "reviewed"
  | "in_flight"
  | "task_reviews"
  | "task_calls"
  | "session_reviews"
  | "session_calls";

/** Answer of a question. */
export type ReviewReservation =
  | { readonly granted: true; readonly id: string; readonly spent: ReviewSpent }
  | {
    readonly granted: false;
    readonly reason: ReviewRefusal;
    /** The other review of the same evidence; only with `reviewed` and `in_flight`. */
    readonly review?: Review;
    readonly spent: ReviewSpent;
  };

/** Answer of `GET /v1/reviews`. */
export interface ReviewList {
  readonly session: string;
  /** Of the whole session: all reviews, and both groups by themselves. */
  readonly spent: ReviewAmount & { readonly gate: ReviewAmount; readonly routed: ReviewAmount };
  /** Newest first. */
  readonly reviews: readonly Review[];
  readonly warnings: readonly string[];
}
