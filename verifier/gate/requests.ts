/**
 * Request and answer of the gate.
 *
 * @module
 */
import * as z from "zod";
import type { ErrorCode } from "../errors.ts";
import { DEFAULT_THRESHOLD } from "./rule.ts";
import { compareRequestSchema, type Exact, trajectorySchema } from "../requests.ts";
import type { JudgeSummary, SharedResult } from "../types.ts";

const { a: _, b: __, ...shape } = compareRequestSchema.shape;

const unit = z.number().min(0).max(1);

/** Fields of the rule of acceptance, for every verb that applies it. */
export const ruleShape = {
  threshold: unit.default(DEFAULT_THRESHOLD).describe(
    `Least mean score that is accepted, 0 to 1, default ${DEFAULT_THRESHOLD}.`,
  ),
  floors: z.record(z.string().min(1).max(200), unit).optional().describe(
    "Least score of single criteria by id, default the threshold.",
  ),
};

/** Body of `POST /v1/gate`. */
export const gateRequestSchema = z.strictObject({
  ...shape,
  repeats: z.int().min(1).max(64).default(1).describe(
    "Judged calls per criterion, 1 to 64; every other one swaps the sides. Default 1, as an agent waits for it.",
  ),
  trajectory: trajectorySchema,
  ...ruleShape,
}).meta({ id: "GateRequest", description: "Decide whether finished work is accepted." });

/** `POST /v1/gate`, defaults filled in. */
export type GateRequest = Exact<z.output<typeof gateRequestSchema>>;

/** Why a gate stayed open: an error's code, or what only a gate knows. */
export type OpenCode =
  | Exclude<ErrorCode, "invalid_json" | "invalid_request">
  | "aborted" // the caller called it off
  | "context_too_long" // the prompt doesn't fit into the judge's context window
  | "unscored"; // some parts have no score, and the others don't accept

/** One criterion of the work against the empty baseline. */
export interface GateCriterion {
  readonly id: string;
  readonly name: string;
  readonly weight: number;
  /** Mean score of the work, 0 to 1; `null` where no call was scored. */
  readonly score: number | null;
  /** The same of the empty baseline. */
  readonly baseline: number | null;
  /** Least score that is accepted. */
  readonly floor: number;
  readonly scored: number;
  readonly unscored: number;
}

/** A criterion below its floor. */
export interface GateFailure {
  readonly id: string;
  readonly name: string;
  readonly score: number;
  readonly floor: number;
  /** What the judge wrote before its lowest score there, shortened; `null` when it wrote nothing. */
  readonly analysis: string | null;
}

/** The verdict that the rule gives. */
export interface GateVerdict {
  readonly decision: "accept" | "steer" | "open";
  /** Weighted mean score of the work, 0 to 1; `null` when a criterion has none. */
  readonly score: number | null;
  readonly baselineScore: number | null;
  readonly threshold: number;
  readonly criteria: readonly GateCriterion[];
  readonly failing: readonly GateFailure[];
  /** What to tell the agent; only with `steer`. */
  readonly steer?: string;
  /** Why there is no verdict, for people; only with `open`. */
  readonly reason?: string;
  /** The same for programs; only with `open`. */
  readonly code?: OpenCode;
  /** Only with an ensemble. */
  readonly judges?: readonly JudgeSummary[];
  /** Share of the judges whose own decision is the final one; only with an ensemble. */
  readonly agreement?: number | null;
}

/** What a gate answers. */
export interface GateResult extends SharedResult, GateVerdict {
  readonly verb: "gate";
}
