/**
 * The schemas of best-of-N's answers; see `schemas.ts` for how they are kept true.
 *
 * @module
 */
import * as z from "zod";
import type { BestOfNResult } from "../verifier/best_of_n/requests.ts";
import type { Draft } from "../verifier/types.ts";
import { verdictShape } from "./gate_schemas.ts";
import { planResult, selectResult, unscoredReason } from "./schemas.ts";

const count = z.int().min(0);
const { id, unscored, judge, channels, usage, warnings, judges, agreement, stopped, ranking, pairs } =
  selectResult.shape;
const { steer: _, ...acceptance } = verdictShape;

/** One draft, or why there is none. */
export const draft = z.strictObject({
  index: count.describe("0-based."),
  text: z.string().nullable().describe("null when it failed."),
  finishReason: z.enum(["stop", "length", "content_filter", "other"]).nullable().describe(
    "length: cut at the token limit, kept and judged as it is. null when nothing came.",
  ),
  cached: z.boolean().describe("From the store, or from an identical request in flight: not written again."),
  failure: z.strictObject({
    reason: z.enum([...unscoredReason.options, "empty"]),
    detail: z.string(),
  }).exactOptional().describe("Why there is no draft."),
});

/** Data of a `draft` event. */
export const draftEvent = z.strictObject({ draft });

/** Answer of `POST /v1/best-of-n`. */
export const bestOfNResult = z.strictObject({
  id,
  verb: z.literal("best-of-n"),
  generator: z.strictObject({ profile: z.string(), kind: z.string(), model: z.string() }).describe(
    "Who wrote.",
  ),
  drafts: z.array(draft).describe("All drafts, the failed ones too."),
  best: count.describe("Index of the best draft."),
  stopped,
  ranking: ranking.describe("The usable drafts, best first, by their index among all drafts."),
  pairs,
  acceptance: z.strictObject(acceptance).describe(
    "The best draft against an attempt in which nothing was done, by the gate's rule; steer means not accepted.",
  ),
  judges,
  agreement,
  unscored,
  judge,
  channels,
  usage,
  warnings,
}).describe("Several drafts, the best of them, and whether it is good enough.");
/** The same, or the plan of a dry run. */
export const bestOfNAnswer = z.union([bestOfNResult, planResult]);

type Frozen<T> = T extends readonly (infer U)[] ? readonly Frozen<U>[]
  : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> }
  : T;
type Same<A, B> = [Frozen<A>] extends [Frozen<B>] ? ([Frozen<B>] extends [Frozen<A>] ? true : false) : false;
type AllTrue<T extends readonly true[]> = T;
/** Compiles only while the schemas and the types agree in both directions. @ignore */
export type BestOfNSchemasMatchTypes = AllTrue<[
  Same<z.output<typeof draft>, Draft>,
  Same<z.output<typeof bestOfNResult>, BestOfNResult>,
]>;
