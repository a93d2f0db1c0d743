// @ts-check
/**
 * What the host and the model are told of the tools that judge the agent's own session: `verifier_session`, and the
 * tracker that is started, updated and read. What they do is loaded by the first call.
 *
 * @module
 */
import { array, boolean, integer, nullable, number, object, optional, string } from "./output.js";
import { parameters, UNDECLARED } from "./parameters.js";
import { channels, curve, judge, resultOrPlan, shared, usage, verdict } from "./results.js";

/** @typedef {import("./register.js").ToolSpec} ToolSpec */

const ADVICE = "rising, plateau, falling or done.";

/**
 * How the agent's own session progresses, or whether its work is accepted against an attempt in which nothing was done.
 *
 * @type {ToolSpec}
 */
export const session = {
  name: "verifier_session",
  description:
    "Judges this session's own work so far: its progress, or (mode acceptance) whether it is good enough to " +
    "be called done.",
  aliases: [{
    name: "verifier_current_session",
    description: "Scores this session's work against no work at all (verifier_session with mode acceptance).",
  }],
  parameters: parameters(["context", "criteria", "repeats", "judge", "images", "dryRun"], {
    mode: { type: "string", enum: ["progress", "acceptance"], description: "Default progress." },
    task: { type: "string", description: "Default: what the user asked." },
    checkpoints: { type: "array", items: { type: "integer" }, description: "Steps to score, for progress." },
    threshold: { type: "number", description: "Least score to accept, 0 to 1." },
    from: { type: "integer", description: "First event (seq) that counts." },
    to: { type: "integer", description: "Last event (seq)." },
    redact: { type: "array", items: { type: "string" }, description: "Patterns the judge must not see." },
    rememberCriteria: { type: "boolean", description: "Keep criteria for this session." },
  }),
  accepts: [
    ...UNDECLARED,
    "reviewStage",
    "causal",
    "floors",
    "maxCharacters",
    "includeAssistantText",
    "remember_criteria",
  ],
  output: resultOrPlan({
    ...shared,
    mode: string("progress or acceptance."),
    task: string("As the judge was shown it."),
    progress: nullable(object({
      causal: boolean(),
      curve,
      final: nullable(number()),
      advice: optional(string(ADVICE)),
    })),
    acceptance: nullable(verdict),
    source: object({
      version: nullable(integer()),
      id: nullable(string()),
      steps: integer(),
      range: nullable(object({ from: integer(), to: integer() })),
      redacted: integer(),
      leftOut: array(object({ kind: string(), count: integer() })),
    }),
    shortened: object({ steps: integer(), leftOut: integer(), characters: integer() }),
    stored: boolean(),
  }),
  concurrencySafe: true,
  renames: [["/range/from", "/from"], ["/range/to", "/to"], ["/range", "/from"], [
    "/judge/profile",
    "/judge",
  ]],
  title: ({ mode }) => mode === "acceptance" ? "Check this session's work" : "Judge this session",
  work: () => import("./session.js"),
};

/** Begins to follow the session's work step by step. @type {ToolSpec} */
export const trackerStart = {
  name: "verifier_tracker_start",
  description:
    "Begins to track this session's progress. Then call verifier_tracker_update after each step of the work. " +
    "Starting again begins anew.",
  parameters: parameters(["context", "criteria", "repeats", "judge"], {
    task: { type: "string", description: "Default: what the user asked." },
    rememberCriteria: { type: "boolean", description: "Keep criteria for this session." },
  }),
  accepts: [
    "groundTruthNote",
    "model",
    "channel",
    "seed",
    "images",
    "reviewStage",
    "remember_criteria",
    "backend",
    "onError",
  ],
  output: object({
    tracker: string("Its id at the server."),
    task: string(),
    length: integer(),
    criteriaOrigin: string("Where the rubric came from: argument, session, workspace or setting."),
    warnings: array(string()),
  }),
  concurrencySafe: false,
  renames: [["/judge/profile", "/judge"]],
  title: () => "Start tracking progress",
  work: () => import("./tracker_start.js"),
};

/** Appends one step and scores the work up to it, from the steps up to it alone. @type {ToolSpec} */
export const trackerUpdate = {
  name: "verifier_tracker_update",
  description: "Adds one step to the session's tracker and scores the work so far. One call per step.",
  parameters: parameters([], {
    step: { type: "string", description: "Required. What was done and observed, with the outputs." },
    expectedLength: { type: "integer", description: "Steps before this one, to notice a lost one." },
  }),
  accepts: ["text"],
  output: object({
    tracker: string("Its id at the server."),
    step: integer("1-based."),
    length: integer(),
    score: nullable(number()),
    standardError: nullable(number()),
    unscored: nullable(object({ reason: string(), detail: nullable(string()) })),
    advice: optional(string(ADVICE)),
    restored: integer("Earlier steps that had to be sent again."),
    shortened: object({ steps: integer(), leftOut: integer(), characters: integer() }),
    decision: nullable(string()),
    judge: nullable(judge),
    channels,
    usage,
    warnings: array(string()),
  }),
  // Steps have an order: calls of one answer run one after the other.
  concurrencySafe: false,
  renames: [["/step/text", "/step"]],
  title: () => "Add a step to the tracker",
  work: () => import("./tracker_update.js"),
};

/** The curve of the session's tracker. @type {ToolSpec} */
export const trackerResult = {
  name: "verifier_tracker_result",
  description: "The progress curve of this session's tracker.",
  parameters: parameters([]),
  output: object({
    tracker: string("Its id at the server."),
    task: string(),
    length: integer(),
    steps: array(object({
      step: integer("1-based."),
      score: nullable(number()),
      standardError: nullable(number()),
      unscored: nullable(object({ reason: string(), detail: nullable(string()) })),
      characters: integer(),
      createdAt: string(),
    })),
    advice: optional(string(ADVICE)),
    restored: integer("Steps that had to be sent again."),
    warnings: array(string()),
  }),
  concurrencySafe: false,
  title: () => "Read the tracker",
  work: () => import("./tracker_result.js"),
};
