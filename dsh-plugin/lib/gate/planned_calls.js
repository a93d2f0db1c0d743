// @ts-check
/**
 * How many judged calls a check will buy: the criteria of the rubric, times the evaluations, times the judges. The server
 * says how many criteria it reads in a rubric, which costs nothing; it is asked once per rubric.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { FALLBACK_RUBRIC, isRubricError } from "../host/rubric.js";
import { quoteValue, toVerifierError, VerifierError } from "../server/errors.js";

/** @typedef {import("../server/connection.js").Connection} Connection */

/** Rubrics that one connection remembers. */
const MOST = 32;

/** @type {WeakMap<object, Map<string, number>>} */
const known = new WeakMap();

/**
 * @param {Pick<Connection, "post">} connection
 * @param {{ criteria: unknown, evaluations: number, judge: unknown }} check
 * @param {import("../server/connection.js").RequestOptions} options
 * @returns {Promise<{ criteria: unknown, calls: number, warning: string | null }>} `criteria`: those that the server can
 * read. A gate isn't switched off by a rubric, so the fallback stands in for one that it can't.
 * @throws {VerifierError}
 */
export async function planCalls(
  connection,
  { criteria, evaluations, judge },
  options,
) {
  const judges = Array.isArray(judge) ? judge.length : 1;
  try {
    const count = await countCriteria(connection, criteria, options);
    return { criteria, calls: count * evaluations * judges, warning: null };
  } catch (error) {
    if (!isRubricError(error)) throw error;
    const count = await countCriteria(connection, FALLBACK_RUBRIC, options);
    return {
      criteria: FALLBACK_RUBRIC,
      calls: count * evaluations * judges,
      warning:
        `the rubric ${FALLBACK_RUBRIC} was used instead of the session's, the workspace's or the configured one: ${
          toVerifierError(error).detail
        }`,
    };
  }
}

/**
 * @param {Pick<Connection, "post">} connection @param {unknown} criteria
 * @param {import("../server/connection.js").RequestOptions} options
 */
async function countCriteria(connection, criteria, options) {
  const rubrics = known.get(connection) ?? new Map();
  known.set(connection, rubrics);
  const key = createHash("sha256").update(JSON.stringify(criteria)).digest("hex");
  const remembered = rubrics.get(key);
  if (remembered !== undefined) return remembered;
  const { value } = await connection.post(
    "/v1/criteria/parse",
    { criteria },
    options,
  );
  const count = value?.criteria?.length;
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new VerifierError("bad_answer", `The server read no criteria: ${quoteValue(value)}`);
  }
  if (rubrics.size >= MOST) rubrics.delete(rubrics.keys().next().value);
  rubrics.set(key, count);
  return count;
}
