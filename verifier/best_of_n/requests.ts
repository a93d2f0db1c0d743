/**
 * Request and answer of best-of-N.
 *
 * @module
 */
import * as z from "zod";
import { ruleShape } from "../gate/requests.ts";
import type { GateVerdict } from "../gate/requests.ts";
import {
  compareRequestSchema,
  criteriaSchema,
  type Exact,
  judgeChoice,
  selectRequestSchema,
} from "../requests.ts";
import type { Draft, JudgeSummary, PairResult, RankingEntry, SelectResult, SharedResult } from "../types.ts";

/** Fewest and most drafts. */
export const DRAFTS = { least: 2, most: 8, usual: 3 } as const;
/** The rubric of drafts: they are answers that nobody has executed. */
export const DRAFT_RUBRIC = "proposal";

// A draft answers its prompt as it is: what was taken out of it would be missing from every draft.
const { a: _, b: __, redact: ___, task, ...shape } = compareRequestSchema.shape;
const { repeats, pivots } = selectRequestSchema.shape;

/** Body of `POST /v1/best-of-n`. */
export const bestOfNRequestSchema = z.strictObject({
  ...shape,
  prompt: task.describe("What to write: the instruction for every draft, and the task they are judged by."),
  context: shape.context.describe(
    "Reference material that every draft and the judge get; facts, no instructions.",
  ),
  n: z.int().min(DRAFTS.least).max(DRAFTS.most).default(DRAFTS.usual).describe("Drafts, 2 to 8, default 3."),
  generator: judgeChoice.optional().describe(
    "Judge profile with a model, which writes the drafts; its maxTokens bounds each. Default the server's default judge.",
  ),
  criteria: criteriaSchema.default(DRAFT_RUBRIC).describe(
    "The rubric of the tournament and of the acceptance, default proposal. Whatever it is, the judge is told that nothing was executed.",
  ),
  repeats,
  pivots,
  ...ruleShape,
}).meta({ id: "BestOfNRequest", description: "Write several drafts, pick the best, and measure it." });

/** `POST /v1/best-of-n`, defaults filled in. */
export type BestOfNRequest = Exact<z.output<typeof bestOfNRequestSchema>>;

/** The winner against an attempt in which nothing was done, by the gate's rule; `steer` means not accepted. */
export type Acceptance = Omit<GateVerdict, "steer">;

/** What a best-of-N answers. */
export interface BestOfNResult extends SharedResult {
  readonly verb: "best-of-n";
  /** Who wrote. */
  readonly generator: { readonly profile: string; readonly kind: string; readonly model: string };
  /** All drafts, the failed ones with the reason. */
  readonly drafts: readonly Draft[];
  /** Index of the best draft. */
  readonly best: number;
  readonly stopped: SelectResult["stopped"];
  /** The usable drafts, best first. */
  readonly ranking: readonly RankingEntry[];
  readonly pairs: readonly PairResult[];
  readonly acceptance: Acceptance;
  /** Only with an ensemble: what each judge did in the tournament. */
  readonly judges?: readonly JudgeSummary[];
  /** Share of the judges whose own best draft is the final one; only with an ensemble. */
  readonly agreement?: number | null;
}
