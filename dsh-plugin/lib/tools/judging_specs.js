// @ts-check
/**
 * What the host and the model are told of the tools that judge work given in the call: `verifier_compare`,
 * `verifier_select`, `verifier_track` and `verifier_best_of_n`. What they do is loaded by the first call.
 *
 * @module
 */
import {
  array,
  boolean,
  integer,
  nullable,
  number,
  object,
  oneOfStrings,
  optional,
  string,
} from "./output.js";
import { parameters, TEXT_OR_OBJECT, UNDECLARED } from "./parameters.js";
import { curve, ranking, resultOrPlan, shared, verdict } from "./results.js";

/** @typedef {import("./register.js").ToolSpec} ToolSpec */

/** Arguments that the judging tools share. */
const SHARED = ["task", "context", "criteria", "repeats", "judge", "images", "dryRun"];

const ATTEMPTS_TASK = { type: "string", description: "Required. What the attempts were asked to do." };

/** Which of two pieces of work is better. @type {ToolSpec} */
export const compare = {
  name: "verifier_compare",
  description:
    "Which of two attempts at a task is better, and how sure: both are graded per criterion in both orders.",
  parameters: parameters(SHARED, {
    task: ATTEMPTS_TASK,
    a: {
      ...TEXT_OR_OBJECT,
      description: "Required. One attempt: what was done, commands and outputs included.",
    },
    b: { ...TEXT_OR_OBJECT, description: "Required. The other." },
  }),
  accepts: [...UNDECLARED, "reviewStage"],
  output: resultOrPlan({
    ...shared,
    winner: oneOfStrings(["A", "B", "tie"]),
    rewardA: nullable(number()),
    rewardB: nullable(number()),
    margin: nullable(number()),
    standardError: nullable(number()),
    slotBias: nullable(number()),
    agreement: nullable(number()),
    identical: boolean(),
    criteria: array(object({
      id: string(),
      name: string(),
      weight: number(),
      rewardA: nullable(number()),
      rewardB: nullable(number()),
      scored: integer(),
      unscored: integer(),
    })),
  }),
  concurrencySafe: true,
  renames: [["/judge/profile", "/judge"]],
  title: () => "Compare two attempts",
  work: () => import("./compare.js"),
};

/** The best of several pieces of work. @type {ToolSpec} */
export const select = {
  name: "verifier_select",
  description:
    "The best of several attempts at a task, as a ranking with probabilities. Indices are 0-based.",
  parameters: parameters(SHARED, {
    task: ATTEMPTS_TASK,
    candidates: {
      type: "array",
      items: TEXT_OR_OBJECT,
      description: "Required. The attempts.",
    },
    pivots: { type: "integer", description: "Attempts that all others meet." },
    seed: { type: "integer" },
  }),
  accepts: [...UNDECLARED, "mode", "prior", "worth", "reviewStage"],
  output: resultOrPlan({
    ...shared,
    best: nullable(integer()),
    mode: string(),
    stopped: string("complete, tie, not_worth, unusable or budget."),
    probabilityRight: nullable(number()),
    agreement: optional(number()),
    slotBias: nullable(number()),
    cycleResidual: nullable(number()),
    comparisons: integer(),
    ranking,
    criteria: array(object({
      id: string(),
      name: string(),
      weight: number(),
      scored: integer(),
      unscored: integer(),
    })),
  }),
  concurrencySafe: true,
  renames: [["/judge/profile", "/judge"]],
  title: ({ candidates }) =>
    Array.isArray(candidates) ? `Select the best of ${candidates.length}` : "Select the best",
  work: () => import("./select.js"),
};

/** How far the work had come after each step. @type {ToolSpec} */
export const track = {
  name: "verifier_track",
  description: "Progress of finished work at checkpoints along its steps. Steps are 1-based.",
  parameters: parameters(SHARED, {
    steps: {
      type: "array",
      items: TEXT_OR_OBJECT,
      description: "Required. What was done, step by step.",
    },
    checkpoints: {
      type: "array",
      items: { type: "integer" },
      description: "Steps to score; default up to 12 evenly.",
    },
    causal: {
      type: "boolean",
      description: "Later steps stay unseen; dearer.",
    },
  }),
  accepts: [...UNDECLARED, "reviewStage"],
  output: resultOrPlan({
    ...shared,
    causal: boolean(),
    curve,
    final: nullable(number()),
    advice: optional(string("rising, plateau, falling or done.")),
  }),
  concurrencySafe: true,
  renames: [["/trajectory/steps", "/steps"], ["/trajectory", "/steps"], ["/judge/profile", "/judge"]],
  title: ({ steps }) => Array.isArray(steps) ? `Track progress over ${steps.length} steps` : "Track progress",
  work: () => import("./track.js"),
};

/** Several drafts of one answer, and the best of them. The server writes them. @type {ToolSpec} */
export const bestOfN = {
  name: "verifier_best_of_n",
  description:
    "Has several drafts of one answer written by the server's model and gives back the best, measured.",
  parameters: parameters(SHARED.slice(1), {
    prompt: { type: "string", description: "Required. What to write." },
    n: { type: "integer", description: "Drafts, 2 to 8, default 3." },
    generator: { ...TEXT_OR_OBJECT, description: "Judge that writes." },
  }),
  accepts: [...UNDECLARED, "pivots", "threshold", "floors"],
  output: resultOrPlan({
    ...shared,
    best: integer(),
    draft: string("The best draft."),
    generator: object({ profile: string(), kind: string(), model: string() }),
    drafts: array(object({
      index: integer(),
      characters: nullable(integer()),
      finishReason: nullable(string()),
      failure: optional(object({ reason: string(), detail: string() })),
    })),
    stopped: string(),
    agreement: optional(number()),
    ranking,
    acceptance: verdict,
  }),
  concurrencySafe: true,
  renames: [["/judge/profile", "/judge"]],
  title: ({ n }) => typeof n === "number" ? `Best of ${n} drafts` : "Best of several drafts",
  work: () => import("./best_of_n.js"),
};
