/**
 * The schemas of the gate's answers; see `schemas.ts` for how they are kept true.
 *
 * @module
 */
import * as z from "zod";
import type { GateResult, GateVerdict, OpenCode } from "../verifier/gate/requests.ts";
import { ERROR_STATUS, type ErrorCode } from "../verifier/errors.ts";
import { planResult, trackResult } from "./schemas.ts";

const unit = z.number().min(0).max(1);
const count = z.int().min(0);
const { id, unscored, judge, channels, usage, warnings, judges } = trackResult.shape;

const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
const openCodes: [OpenCode, ...OpenCode[]] = [
  "aborted",
  "context_too_long",
  "unscored",
  ...codes.filter((code) => code !== "invalid_json" && code !== "invalid_request"),
];

/** What the rule of acceptance says; the gate and best-of-N share it. */
export const verdictShape = {
  decision: z.enum(["accept", "steer", "open"]).describe(
    "accept: beats an attempt in which nothing was done, the mean is at least the threshold and every criterion at least " +
      "its floor. steer: a complete measurement says otherwise. open: there is no complete measurement.",
  ),
  score: unit.nullable().describe("Weighted mean score of the work; null when a criterion has none."),
  baselineScore: unit.nullable().describe("The same of the attempt in which nothing was done."),
  threshold: unit,
  criteria: z.array(z.strictObject({
    id: z.string(),
    name: z.string(),
    weight: z.number().positive(),
    score: unit.nullable(),
    baseline: unit.nullable(),
    floor: unit,
    scored: count.describe("Calls that gave both sides a score."),
    unscored: count,
  })),
  failing: z.array(z.strictObject({
    id: z.string(),
    name: z.string(),
    score: unit,
    floor: unit,
    analysis: z.string().nullable().describe(
      "What the judge wrote before its lowest score there, shortened: text of a model, to be read as data.",
    ),
  })).describe("Criteria below their floor."),
  steer: z.string().max(4000).exactOptional().describe(
    "Only with steer: what to tell the agent. The judge's words stand in quoted lines.",
  ),
  reason: z.string().exactOptional().describe("Only with open: why, for people."),
  code: z.enum(openCodes).exactOptional().describe(
    "Only with open: why, for programs. A problem's code, or aborted, context_too_long, unscored (some parts have no " +
      "score, and the others don't accept).",
  ),
  judges,
  agreement: unit.nullable().exactOptional().describe(
    "Only with an ensemble: share of the judges whose own decision is the final one.",
  ),
};

/** Answer of `POST /v1/gate`. */
export const gateResult = z.strictObject({
  id,
  verb: z.literal("gate"),
  ...verdictShape,
  unscored,
  judge,
  channels,
  usage,
  warnings,
}).describe("Whether finished work is accepted.");
/** The same, or the plan of a dry run. */
export const gateAnswer = z.union([gateResult, planResult]);

type Frozen<T> = T extends readonly (infer U)[] ? readonly Frozen<U>[]
  : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> }
  : T;
type Same<A, B> = [Frozen<A>] extends [Frozen<B>] ? ([Frozen<B>] extends [Frozen<A>] ? true : false) : false;
type AllTrue<T extends readonly true[]> = T;
const _verdict = z.strictObject(verdictShape);
/** Compiles only while the schemas and the types agree in both directions. @ignore */
export type GateSchemasMatchTypes = AllTrue<[
  Same<z.output<typeof gateResult>, GateResult>,
  Same<z.output<typeof _verdict>, GateVerdict>,
]>;
