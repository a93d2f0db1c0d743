/**
 * The schemas of the session's answers; see `schemas.ts` for how they are kept true.
 *
 * @module
 */
import * as z from "zod";
import type { SessionResult, SessionSource } from "../verifier/session/requests.ts";
import { verdictShape } from "./gate_schemas.ts";
import { planResult, trackResult } from "./schemas.ts";
import { trackerUpdated } from "./tracker_schemas.ts";

const count = z.int().min(0);
const { verb: _, id, unscored, judge, channels, usage, warnings, ...curve } = trackResult.shape;

const source = z.strictObject({
  kind: z.enum(["dsh", "messages", "steps"]),
  version: count.nullable().describe("Format of a DSH log, 0 to 4."),
  id: z.string().nullable().describe("The log's own id."),
  steps: count.describe("Steps of the agent."),
  range: z.strictObject({ from: count, to: count }).nullable().describe(
    "First and last sequence number of the evidence; null without a log.",
  ),
  counts: z.strictObject({
    lines: count,
    events: count.describe("Members of packed rows included."),
    turns: count,
    modelRequests: count,
    toolCalls: count,
    nestedCalls: count.describe("Calls that programs of the agent made."),
    replacements: count.describe("Surfaces that stand in place of others."),
    compactions: count.describe("Those of them in which the host compacted its history."),
    badLines: count.describe("Lines that can't be read and were left out."),
    unknownEvents: count,
  }).nullable().describe("Of a log."),
  leftOut: z.record(z.string(), count).describe("What the session holds beside the evidence, by kind."),
  redacted: count.describe("Places that the request's patterns took out."),
});

/** Answer of `POST /v1/session`. */
export const sessionResult = z.strictObject({
  verb: z.literal("session"),
  mode: z.enum(["progress", "acceptance"]),
  task: z.string().describe("As the judge was shown it."),
  source,
  shortened: trackerUpdated.shape.shortened,
  progress: z.strictObject(curve).nullable().describe("Only in mode progress."),
  acceptance: z.strictObject(verdictShape).nullable().describe(
    "Only in mode acceptance: the gate's verdict. open: it can't be decided, which is never a fail.",
  ),
  id,
  unscored,
  judge,
  channels,
  usage,
  warnings,
}).describe("How a session progressed, or whether its work is accepted.");
/** The same, or the plan of a dry run. */
export const sessionAnswer = z.union([sessionResult, planResult]);

type Frozen<T> = T extends readonly (infer U)[] ? readonly Frozen<U>[]
  : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> }
  : T;
type Same<A, B> = [Frozen<A>] extends [Frozen<B>] ? ([Frozen<B>] extends [Frozen<A>] ? true : false) : false;
type AllTrue<T extends readonly true[]> = T;
/** Compiles only while the schemas and the types agree in both directions. @ignore */
export type SessionSchemasMatchTypes = AllTrue<[
  Same<z.output<typeof sessionResult>, SessionResult>,
  Same<z.output<typeof source>, SessionSource>,
]>;
