/**
 * The schemas of the review ledger's answers; see `schemas.ts` for how they are kept true.
 *
 * @module
 */
import * as z from "zod";
import type { Review, ReviewList, ReviewReservation } from "../verifier/reviews/requests.ts";

const count = z.int().min(0);
const id = z.string().describe("`rev_…`");
const time = z.string().describe("ISO 8601, UTC.");
const amount = z.strictObject({
  reviews: count.describe("Done ones, ones under way, and failed or abandoned ones that bought anything."),
  calls: count.describe("Judged calls that were bought or are held."),
});

/** One review. */
export const review = z.strictObject({
  id,
  task: z.string(),
  purpose: z.enum(["gate", "compare", "select", "track", "plan", "team"]),
  fingerprint: z.string(),
  state: z.enum(["held", "expired", "done", "failed", "abandoned"]).describe(
    "held: under way. expired: nobody settled it within 15 minutes; it counts as bought, and its evidence is free again.",
  ),
  calls: count.describe("Bought ones once it is settled, else planned ones."),
  outcome: z.record(z.string(), z.unknown()).nullable().describe("The caller's own, as it was settled with."),
  at: time.describe("When it was granted, ISO 8601, UTC."),
  settledAt: time.nullable(),
}).describe("One review of an agent's work.");

const spent = z.strictObject({
  task: amount,
  session: amount,
}).describe(
  "What limits are measured against, held reviews included: `reviews` of the same group (purpose gate, or all others), " +
    "`calls` of all.",
);

/** Answer of `POST /v1/reviews` where the review may be bought. */
export const reviewGranted = z.strictObject({ id, granted: z.literal(true), spent })
  .describe("The review may be bought, and its calls are held.");

/** Answer of `POST /v1/reviews` where it may not. */
export const reviewRefused = z.strictObject({
  granted: z.literal(false),
  reason: z.enum([
    "reviewed",
    "in_flight",
    "task_reviews",
    "task_calls",
    "session_reviews",
    "session_calls",
  ]).describe(
    "reviewed: this session has a done review of the same evidence. in_flight: one is under way. Else the first limit " +
      "that the review would exceed; more than 500 under way are session_reviews too.",
  ),
  review: review.exactOptional().describe("The other one of the same evidence; with reviewed and in_flight."),
  spent,
}).describe("Nothing may be bought, and nothing is held.");

/** Answer of `GET /v1/reviews`. */
export const reviewList = z.strictObject({
  session: z.string(),
  spent: amount.extend({ gate: amount, routed: amount }).describe(
    "Of the whole session: all reviews, and by themselves those with purpose gate and all others.",
  ),
  reviews: z.array(review).describe("Newest first."),
  warnings: z.array(z.string()),
}).describe("A session's reviews.");

type Frozen<T> = T extends readonly (infer U)[] ? readonly Frozen<U>[]
  : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> }
  : T;
type Same<A, B> = [Frozen<A>] extends [Frozen<B>] ? ([Frozen<B>] extends [Frozen<A>] ? true : false) : false;
type AllTrue<T extends readonly true[]> = T;
/** Compiles only while the schemas and the verifier's types agree in both directions. @ignore */
export type ReviewSchemasMatchTypes = AllTrue<[
  Same<z.output<typeof review>, Review>,
  Same<z.output<typeof reviewGranted> | z.output<typeof reviewRefused>, ReviewReservation>,
  Same<z.output<typeof reviewList>, ReviewList>,
]>;
