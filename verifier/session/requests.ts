/**
 * Request and answer of `session`.
 *
 * @module
 */
import * as z from "zod";
import type { SessionCounts } from "../../transcripts/dsh_session.ts";
import type { Shortened } from "../tracker/bounded_steps.ts";
import { type GateResult, ruleShape } from "../gate/requests.ts";
import { type Exact, MAXIMUM_STEPS, PATTERN_RULE, redactPatterns, trackRequestSchema } from "../requests.ts";
import type { SharedResult, TrackResult } from "../types.ts";

const { trajectory: _, task, checkpoints, causal, ...shared } = trackRequestSchema.shape;
const seq = z.int().min(0);

/** Characters of evidence that a judge is shown by default. */
export const DEFAULT_SESSION_CHARACTERS = 200_000;

/** Body of `POST /v1/session`. */
export const sessionRequestSchema = z.strictObject({
  ...shared,
  task: task.optional().describe("What the agent was asked; default: what the session says."),
  log: z.string().min(1).optional().describe("A DeepSeek Harness session log, formats 0 to 4: JSON Lines."),
  messages: z.array(z.looseObject({ role: z.string() })).min(1).max(MAXIMUM_STEPS).optional().describe(
    "A chat transcript in OpenAI's or Anthropic's shape.",
  ),
  steps: z.array(z.union([
    z.string(),
    z.strictObject({ text: z.string(), images: shared.images.removeDefault().optional() }),
  ])).min(1).max(MAXIMUM_STEPS).optional().describe("The session step by step."),
  mode: z.enum(["progress", "acceptance"]).default("progress").describe(
    "progress: the curve that track gives. acceptance: the rule of the gate, against an attempt in which nothing was done.",
  ),
  range: z.strictObject({
    from: seq.optional().describe("What came from here on is shown."),
    to: seq.optional().describe("The log is read as if it ended here."),
  }).optional().describe("Sequence numbers of a log's events, both included; only with log."),
  redact: redactPatterns.default([]).describe(
    `Patterns of what the judge must not see, beside the secrets that are always taken out. ${PATTERN_RULE}`,
  ),
  maxCharacters: z.int().min(1000).max(10_000_000).default(DEFAULT_SESSION_CHARACTERS).describe(
    "Above so many characters the oldest steps are shortened; the answer says how many.",
  ),
  checkpoints: checkpoints.describe("Steps after which progress is scored; only with mode progress."),
  causal,
  ...ruleShape,
}).refine(
  ({ log, messages, steps }) => [log, messages, steps].filter((given) => given !== undefined).length === 1,
  { error: "must have exactly one of log, messages and steps" },
).meta({ id: "SessionRequest", description: "Judge an agent's session." });

/** `POST /v1/session`, defaults filled in. */
export type SessionRequest = Exact<z.output<typeof sessionRequestSchema>>;

/** What the session was read from. */
export interface SessionSource {
  readonly kind: "dsh" | "messages" | "steps";
  /** Format of a DSH log, else `null`. */
  readonly version: number | null;
  /** The log's own id, else `null`. */
  readonly id: string | null;
  /** Steps of the agent. */
  readonly steps: number;
  /** First and last sequence number of the evidence; `null` without a log. */
  readonly range: { readonly from: number; readonly to: number } | null;
  /** Of a log, else `null`. */
  readonly counts: SessionCounts | null;
  /** What a log holds beside the evidence, by kind. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Places that the request's patterns took out. */
  readonly redacted: number;
}

/** What a session's verdict is made of. */
export interface SessionResult extends SharedResult {
  readonly verb: "session";
  readonly mode: "progress" | "acceptance";
  /** As the judge was shown it. */
  readonly task: string;
  readonly source: SessionSource;
  /** What the judge was not shown of the steps. */
  readonly shortened: Shortened;
  /** Only in mode progress, else `null`. */
  readonly progress: Omit<TrackResult, keyof SharedResult | "verb"> | null;
  /** Only in mode acceptance, else `null`: the gate's verdict. `open`: it can't be decided, which is never a fail. */
  readonly acceptance: Omit<GateResult, keyof SharedResult | "verb"> | null;
}
