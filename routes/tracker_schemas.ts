/**
 * The schemas of the trackers' answers; see `schemas.ts` for how they are kept true.
 *
 * @module
 */
import * as z from "zod";
import type {
  TrackerEvent,
  TrackerResult,
  TrackerStarted,
  TrackerStep,
  TrackerUpdateResult,
} from "../verifier/tracker/requests.ts";
import { criterion, planResult, trackResult, unscoredReason, usage } from "./schemas.ts";

const unit = z.number().min(0).max(1);
const count = z.int().min(0);
const { advice, judge, channels } = trackResult.shape;
const id = z.string().describe("`trk_…`, or as the caller chose it.");
const time = z.string().describe("ISO 8601, UTC.");

/** One step of a tracker. */
export const trackerStep = z.strictObject({
  index: z.int().min(1).describe("1-based."),
  state: z.enum(["scored", "unscored", "pending"]).describe(
    "unscored: the scoring failed and can be repeated. pending: it wasn't tried yet, or is under way.",
  ),
  score: unit.nullable().describe(
    "Progress after this step, from the steps up to it alone; null without a score.",
  ),
  standardError: z.number().min(0).nullable(),
  unscored: z.strictObject({ reason: unscoredReason, detail: z.string().exactOptional() }).exactOptional()
    .describe("Why there is no score; only in state unscored."),
  characters: count.describe("Characters of the step's text."),
  images: count,
  keyHash: z.string().nullable().describe(
    "SHA-256 of the `Idempotency-Key` that it came with, in hexadecimal digits, so that who sent it finds it again; " +
      "null without one.",
  ),
  createdAt: time,
});

/** Answer of `POST /v1/trackers`. */
export const trackerStarted = z.strictObject({
  id,
  created: z.boolean().describe("False when the same request had made it before."),
  length: count.describe("Steps that it has."),
  warnings: z.array(z.string()),
}).describe("A tracker that steps can be appended to.");

/** Answer of `POST /v1/trackers/{id}/steps`. */
export const trackerUpdated = z.strictObject({
  id,
  length: count.describe("Steps up to and with this one."),
  step: trackerStep,
  advice,
  shortened: z.strictObject({
    steps: count.describe("Steps that the prompt shows as head and tail."),
    leftOut: count.describe("Oldest steps that it doesn't show."),
    characters: count.describe("Characters that it doesn't show, of both."),
  }).describe("What the prompt did not show of the steps; all zero when it showed everything."),
  decision: z.string().nullable().describe("Id of the decision; null when the scoring failed."),
  judge: judge.nullable(),
  channels,
  usage,
  warnings: z.array(z.string()),
}).describe("One step with its score, or with the reason why it has none.");

/** What an update answers: the step, or the plan of a dry run. */
export const trackerUpdateAnswer = z.union([trackerUpdated, planResult]);

/** Answer of `GET /v1/trackers/{id}`. */
export const trackerResult = z.strictObject({
  id,
  task: z.string(),
  createdAt: time,
  criteria: z.array(criterion),
  length: count,
  steps: z.array(trackerStep),
  curve: z.array(z.strictObject({
    step: z.int().min(1),
    score: unit,
    standardError: z.number().min(0).nullable(),
  })).describe("The scored steps."),
  advice,
  warnings: z.array(z.string()),
}).describe("Everything that is known of a tracker.");

type Frozen<T> = T extends readonly (infer U)[] ? readonly Frozen<U>[]
  : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> }
  : T;
type Same<A, B> = [Frozen<A>] extends [Frozen<B>] ? ([Frozen<B>] extends [Frozen<A>] ? true : false) : false;
type AllTrue<T extends readonly true[]> = T;
/** Compiles only while the schemas and the verifier's types agree in both directions. @ignore */
export type TrackerSchemasMatchTypes = AllTrue<[
  Same<z.output<typeof trackerStep>, TrackerStep>,
  Same<z.output<typeof trackerStarted>, TrackerStarted>,
  Same<z.output<typeof trackerUpdated>, TrackerUpdateResult>,
  Same<z.output<typeof trackerResult>, TrackerResult>,
  Same<TrackerEvent["type"], "start" | "step" | "score">,
]>;
