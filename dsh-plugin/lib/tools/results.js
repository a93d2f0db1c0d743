// @ts-check
/**
 * The parts that the tools' results have in common, with the wire's names.
 *
 * Words that a newer server may add to (reasons, stages, advice) are declared as plain strings, so that a new one
 * doesn't lose the call.
 *
 * @module
 */
import { VerifierError } from "../server/errors.js";
import {
  array,
  boolean,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  withDefault,
} from "./output.js";

/** @typedef {import("./output.js").Schema} Schema */

const score = nullable(number());

/** What was bought. */
export const usage = object({
  calls: integer(),
  attempts: integer(),
  cacheHits: integer(),
  inputTokens: integer(),
  cachedInputTokens: integer(),
  outputTokens: integer(),
  reasoningTokens: integer(),
  usd: nullable(number()),
});

/** Who judged. */
export const judge = object({
  profile: string(),
  kind: string(),
  model: string(),
  promptVersion: string(),
  coreVersion: string(),
});

const count = withDefault(integer(), 0);

/** Scores by the channel they were read from. */
export const channels = object({
  logprobs: count,
  continuation: count,
  explicit_tag: count,
});

/** Only with several judges: what each of them did. */
export const judges = optional(array(object({
  profile: string(),
  model: string(),
  scored: integer(),
  unscored: integer(),
  ok: boolean(),
  winner: optional(oneOf([string(), integer()])),
  problem: optional(string()),
})));

/** Why parts have no score, most frequent first. */
export const unscoredReasons = array(
  object({ reason: string(), count: integer() }),
);

/** Fields of every judged result. */
export const shared = {
  id: string("Decision id."),
  statement: string("The verdict in words, and how certain it is."),
  criteriaOrigin: string(
    "Where the rubric came from: argument, session, workspace, setting or default.",
  ),
  scored: integer(),
  unscored: integer(),
  unscoredReasons,
  judge,
  judges,
  channels,
  usage,
  warnings: array(string()),
};

/** What the rule of acceptance says of work. */
export const verdict = object({
  decision: string("accept, steer or open."),
  score,
  baselineScore: score,
  threshold: number(),
  criteria: array(object({
    id: string(),
    name: string(),
    weight: number(),
    score,
    baseline: score,
    floor: number(),
    scored: integer(),
    unscored: integer(),
  })),
  failing: array(object({
    id: string(),
    name: string(),
    score: number(),
    floor: number(),
    analysis: nullable(string()),
  })),
  reason: optional(string()),
  code: optional(string()),
});

/** Order of drafts or candidates, best first. */
export const ranking = array(object({
  index: integer(),
  id: optional(string()),
  strength: score,
  standardError: score,
  probabilityBest: score,
  winRate: score,
  games: integer(),
  agreement: optional(number()),
  identicalTo: optional(integer()),
}));

/** Progress at the checkpoints. */
export const curve = array(object({
  step: integer(),
  score,
  standardError: score,
  scored: integer(),
  unscored: integer(),
}));

/** What a dry run answers instead of a result. */
export const planned = object({
  plan: object({
    pairs: integer(),
    calls: integer(),
    inputTokens: integer(),
    cachedInputTokens: integer(),
    outputTokens: integer(),
    usd: nullable(number()),
  }),
});

/** A result, or the plan of a dry run. @param {Readonly<Record<string, Schema>>} fields @returns {Schema} */
export const resultOrPlan = (fields) => oneOf([object(fields), planned]);

/**
 * Refuses an answer without the lists that a tool reads before the answer is checked against its schema.
 *
 * @param {any} answer @param {readonly string[]} lists names of fields that must be arrays
 * @throws {VerifierError} `bad_answer` naming the field
 */
export function requireLists(answer, lists) {
  const missing = lists.find((name) => !Array.isArray(answer[name]));
  if (missing === undefined) return;
  throw new VerifierError(
    "bad_answer",
    `The server's answer has no list /${missing}: server and plugin are of different versions.`,
    { errors: [{ path: `/${missing}`, message: "must be an array" }] },
  );
}

/**
 * Whether an answer is the plan of a dry run.
 *
 * @param {any} answer @returns {boolean}
 */
export function isPlan(answer) {
  return typeof answer === "object" && answer !== null &&
    Object.hasOwn(answer, "plan") && !Object.hasOwn(answer, "id");
}

/**
 * Reasons with how often each was given.
 *
 * @param {Iterable<string>} reasons @returns {readonly { reason: string, count: number }[]} most frequent first
 */
export function tally(reasons) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const reason of reasons) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => ({ reason, count })).sort((
    a,
    b,
  ) => b.count - a.count);
}

/**
 * Scores by all channels together: the parts that have one.
 *
 * @param {any} answer @returns {number}
 */
export function scoredParts(answer) {
  const counts = Object.values(
    /** @type {Record<string, unknown>} */ (answer?.channels ?? {}),
  );
  return counts.reduce(
    (/** @type {number} */ sum, value) => sum + (typeof value === "number" ? value : 0),
    0,
  );
}
