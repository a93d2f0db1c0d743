/**
 * Requests and answers of the online tracker.
 *
 * @module
 */
import * as z from "zod";
import { CHOSEN_ID } from "./records.ts";
import { DEFAULT_PROMPT_CHARACTERS, type Shortened } from "./bounded_steps.ts";
import { type Exact, MAXIMUM_IMAGES, PATTERN_RULE, trackRequestSchema } from "../requests.ts";
import type { Advice, Channel, Criterion, JudgeInfo, UnscoredReason, Usage } from "../types.ts";

const shape = trackRequestSchema.shape;

/** Most characters of one step (UTF-16 units). */
export const MAXIMUM_STEP_CHARACTERS = 16 * 1024 * 1024;

/** Body of `POST /v1/trackers`: everything that holds for all steps. */
export const trackerStartSchema = z.strictObject({
  id: z.string().regex(CHOSEN_ID, {
    error: "must be 8 to 64 lower-case letters, digits, hyphens or underscores, the first a letter or digit",
  }).optional().describe(
    "The caller's own id. The same request again answers 200 with the tracker there is; another one is 409 " +
      "idempotency_conflict. Default: a new one, `trk_…`.",
  ),
  task: shape.task,
  context: shape.context,
  criteria: shape.criteria,
  groundTruthNote: shape.groundTruthNote,
  repeats: shape.repeats,
  judge: shape.judge,
  channel: shape.channel,
  images: shape.images,
  seed: shape.seed,
  deadlineMs: shape.deadlineMs.describe("Of the scoring of one step."),
  redact: shape.redact.describe(
    "When given, also as an empty list: what these patterns match is taken out of task, context and every step before " +
      `it is stored, and a warning counts the places. Known kinds of secrets always are. ${PATTERN_RULE}`,
  ),
  promptCharacters: z.int().min(1000).max(10_000_000).default(DEFAULT_PROMPT_CHARACTERS).describe(
    "Above so many characters of steps the prompt shortens the oldest ones; the answer says how many.",
  ),
}).meta({ id: "TrackerStartRequest", description: "Start following a run step by step." });

/** Body of `POST /v1/trackers/{id}/steps`. */
export const trackerUpdateSchema = z.strictObject({
  step: z.union([
    z.string().max(MAXIMUM_STEP_CHARACTERS),
    z.strictObject({
      text: z.string().max(MAXIMUM_STEP_CHARACTERS).describe("What was said, done and observed."),
      images: shape.images.removeDefault().max(MAXIMUM_IMAGES).optional().describe(
        "Images the agent saw in this step.",
      ),
    }),
  ]).optional().describe("The step to append."),
  retry: z.int().min(1).optional().describe(
    "Instead of a step: the index of a step whose scoring failed or is missing, to be scored again.",
  ),
  expectedLength: z.int().min(0).optional().describe(
    "The length before this step; another one is answered with 409 length_conflict.",
  ),
  dryRun: shape.dryRun,
}).refine((body) => (body.step === undefined) !== (body.retry === undefined), {
  error: "must have exactly one of step and retry",
}).refine((body) => body.retry === undefined || body.expectedLength === undefined, {
  error: "must have expectedLength only together with step",
}).meta({ id: "TrackerUpdateRequest", description: "Append one step and score the run up to it." });

/** What a tracker starts with, defaults filled in. */
export type TrackerStartRequest = Exact<z.output<typeof trackerStartSchema>>;
/** One update. */
export type TrackerUpdateRequest = Exact<z.output<typeof trackerUpdateSchema>>;

/** `scored`, `unscored` (the scoring failed and can be repeated), or `pending` (not tried yet, or under way). */
export type TrackerStepState = "scored" | "unscored" | "pending";

/** One step of a tracker. */
export interface TrackerStep {
  /** 1-based. */
  readonly index: number;
  readonly state: TrackerStepState;
  /** Progress after this step, judged from the steps up to it alone; `null` without a score. */
  readonly score: number | null;
  /** Of `score`, over the repeats; `null` with fewer than two. */
  readonly standardError: number | null;
  /** Why there is no score; only in state `unscored`. */
  readonly unscored?: { readonly reason: UnscoredReason; readonly detail?: string };
  /** Characters of the step's text. */
  readonly characters: number;
  readonly images: number;
  /** SHA-256 of the idempotency key that it came with, in hexadecimal digits; `null` without one. */
  readonly keyHash: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** Answer of a start. */
export interface TrackerStarted {
  readonly id: string;
  /** False when the same request had made it before. */
  readonly created: boolean;
  /** Steps that it has. */
  readonly length: number;
  readonly warnings: readonly string[];
}

/** Answer of an update. */
export interface TrackerUpdateResult {
  readonly id: string;
  /** Steps up to and with this one. */
  readonly length: number;
  readonly step: TrackerStep;
  /** Whether to go on, from the scores up to this step. */
  readonly advice: Advice | null;
  /** What the prompt did not show of the steps. */
  readonly shortened: Shortened;
  /** Id of the decision; `null` when the scoring failed. */
  readonly decision: string | null;
  readonly judge: JudgeInfo | null;
  readonly channels: Readonly<Partial<Record<Channel, number>>>;
  readonly usage: Usage;
  readonly warnings: readonly string[];
}

/** Answer of `GET /v1/trackers/{id}`. */
export interface TrackerResult {
  readonly id: string;
  readonly task: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly criteria: readonly Criterion[];
  readonly length: number;
  readonly steps: readonly TrackerStep[];
  /** The scored steps. */
  readonly curve: readonly {
    readonly step: number;
    readonly score: number;
    readonly standardError: number | null;
  }[];
  readonly advice: Advice | null;
  readonly warnings: readonly string[];
}

/** One entry of a tracker's event stream. */
export type TrackerEvent =
  | { readonly type: "start"; readonly id: string; readonly task: string; readonly createdAt: string }
  | { readonly type: "step"; readonly step: TrackerStep }
  | { readonly type: "score"; readonly step: TrackerStep; readonly advice: Advice | null };
