// @ts-check
/**
 * Which rubric holds: the call's own, the session's, the workspace's, or the configured one.
 *
 * A session's rubric is what the newest successful verifier call with `remember_criteria: true` gave. It is read from the
 * log, so it survives restarts, goes along with a fork, and nothing of it is kept elsewhere.
 *
 * @module
 */
import { toVerifierError, VerifierError } from "../server/errors.js";
import { throwIfAborted } from "./abort.js";
import { allCalls } from "./calls.js";
import { liveEvents } from "./events.js";
import { readRubric, readRubricFile } from "./rubric_file.js";

/** @typedef {import("./events.js").HostEvent} HostEvent */
/** @typedef {import("./events.js").HostSession} HostSession */

/** What a gate falls back to when a custom rubric can't be read. */
export const FALLBACK_RUBRIC = "coding";
/** Where a workspace keeps its rubric. */
const WORKSPACE_FILES = [".assay/criteria.md", ".assay/criteria.json"];

/**
 * @typedef {object} RubricQuestion
 * @property {unknown} [argument] Of the tool call.
 * @property {HostSession} [session]
 * @property {readonly HostEvent[]} [events] Default: the session's live log.
 * @property {string} [cwd] Default: the session's.
 * @property {string} [workspace] The same as `cwd`.
 * @property {unknown} [setting] The configured one; default `general`.
 * @property {boolean} [forGate] A gate is never switched off by a rubric: instead of an error there is the fallback, and
 * a warning.
 * @property {AbortSignal} [signal]
 */

/**
 * @typedef {object} ResolvedRubric
 * @property {unknown} criteria What the server takes.
 * @property {"argument" | "session" | "workspace" | "setting" | "fallback"} origin
 * @property {string} [warning] Why the rubric that was meant isn't used.
 */

/**
 * The rubric that holds. Names aren't checked here: the server knows which there are.
 *
 * @param {RubricQuestion} question
 * @returns {Promise<ResolvedRubric>}
 * @throws {VerifierError} `invalid_request` naming the path of a rubric that can't be read (not with `forGate`);
 * `aborted`
 */
export async function resolveRubric(question) {
  const { argument, session, events, setting, forGate = false, signal } = question;
  const cwd = question.cwd ?? question.workspace ?? session?.header?.cwd;
  /** @type {ResolvedRubric["origin"]} */
  let origin = "argument";
  try {
    if (!isAbsent(argument)) {
      return { criteria: await readRubric(argument, { cwd, inside: true, signal }), origin };
    }
    origin = "session";
    const remembered = rememberedCriteria(events ?? (session === undefined ? [] : liveEvents(session)));
    if (!isAbsent(remembered)) {
      return { criteria: await readRubric(remembered, { cwd, inside: true, signal }), origin };
    }
    origin = "workspace";
    for (const file of cwd === undefined ? [] : WORKSPACE_FILES) {
      const criteria = await readRubricFile(file, { cwd, inside: true, signal });
      if (criteria !== null) return { criteria, origin };
    }
    origin = "setting";
    const configured = isAbsent(setting) ? "general" : setting;
    return { criteria: await readRubric(configured, { cwd, inside: false, signal }), origin };
  } catch (error) {
    throwIfAborted(signal);
    const known = toVerifierError(error);
    if (!forGate) throw known;
    return {
      criteria: FALLBACK_RUBRIC,
      origin: "fallback",
      warning: `the rubric of the ${origin} can't be used, ${FALLBACK_RUBRIC} is: ${known.message}`,
    };
  }
}

/**
 * The rubric that a session was told to remember; null without one.
 *
 * @param {readonly HostEvent[]} events
 * @returns {unknown}
 */
export function rememberedCriteria(events) {
  const call = allCalls(events).findLast(({ name, arguments: args, result }) =>
    name.startsWith("verifier_") && args !== null && !isAbsent(args.criteria) &&
    (args.remember_criteria === true || args.rememberCriteria === true) &&
    result !== null && !result.isError
  );
  return call?.arguments?.criteria ?? null;
}

/**
 * Whether the server refused a request for its rubric. A gate then asks again with {@linkcode FALLBACK_RUBRIC}.
 *
 * @param {unknown} error
 * @returns {boolean}
 */
export function isRubricError(error) {
  return error instanceof VerifierError &&
    (error.errors ?? []).some(({ path }) => path === "/criteria" || path.startsWith("/criteria/"));
}

/** @param {unknown} value @returns {boolean} */
function isAbsent(value) {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}
