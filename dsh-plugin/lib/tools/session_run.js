// @ts-check
/**
 * What `verifier_session` does: sends the session's log to the server, with its images where the judge reads any.
 *
 * @module
 */
import { ownEvents } from "../host/events.js";
import { sessionLog } from "../host/session_log.js";
import { userImages } from "../host/task.js";
import { buy } from "./call.js";
import { readCriteria, readShared } from "./parameters.js";
import { isPlan, scoredParts, tally } from "./results.js";
import { rubricOf } from "./rubric_of.js";
import { askWithImages, sessionImages, sessionOf } from "./session_evidence.js";
import { invalid } from "./spelling.js";

const NAME = "verifier_session";
const ALIAS = "verifier_current_session";

/**
 * @param {import("./parameters.js").Arguments} args
 * @param {import("./register.js").Execution} exec
 * @param {import("./register.js").Deps} deps
 * @returns {Promise<any>} the value without its statement, or the plan of a dry run
 */
export async function runSession(args, exec, deps) {
  const session = sessionOf(exec, NAME);
  if (args["includeAssistantText"] === false) {
    throw invalid(
      "includeAssistantText",
      "must be left out or true: what the agent says is part of the evidence",
    );
  }
  checkRemember(args);
  const settings = deps.settings.get();
  const mode = args["mode"] ?? (/** @type {any} */ (exec).name === ALIAS ? "acceptance" : "progress");
  const fields = readShared(args, settings);
  const rubric = await rubricOf(deps, exec, readCriteria(args));
  const log = await sessionLog(deps.ctx, session, { signal: exec.signal });
  const refs = userImages(ownEvents(session, log.events).filter(({ seq }) => isWithin(args, seq)));
  const images = await sessionImages(deps, exec, args, refs);
  const range = { from: args["from"], to: args["to"] };
  const body = {
    ...fields,
    log: log.text,
    mode,
    criteria: rubric.criteria,
    task: args["task"],
    range: range.from === undefined && range.to === undefined ? undefined : range,
    redact: [...settings["redact"], ...readPatterns(args["redact"])],
    maxCharacters: args["maxCharacters"] ?? settings["maxCharacters"],
    checkpoints: args["checkpoints"],
    causal: args["causal"],
    threshold: args["threshold"],
    floors: args["floors"],
  };
  const { answer, warnings } = await askWithImages(
    images.urls,
    (
      shown,
    ) => /** @type {Promise<any>} */ (buy(deps, exec, "/v1/session", { ...withoutAbsent(body), ...shown })),
  );
  if (isPlan(answer)) return answer;
  return {
    ...answer,
    criteriaOrigin: rubric.origin,
    scored: scoredParts(answer),
    unscoredReasons: tally(
      (answer.progress?.unscoredParts ?? []).map((/** @type {any} */ { reason }) => reason),
    ),
    source: {
      ...answer.source,
      leftOut: Object.entries(answer.source.leftOut).map(([kind, count]) => ({ kind, count })),
    },
    stored: log.flushed,
    warnings: [
      ...(rubric.warning === undefined ? [] : [rubric.warning]),
      ...(log.fallback === null ? [] : [`the host's stored log wasn't used: ${log.fallback}`]),
      ...images.skipped.map(({ reason }) => `not shown: ${reason}`),
      ...warnings,
      ...answer.warnings,
    ],
  };
}

/**
 * Refuses a call that would remember nothing.
 * @param {import("./parameters.js").Arguments} args
 */
export function checkRemember(args) {
  const remember = args["rememberCriteria"] ?? args["remember_criteria"];
  if (remember === true && args["criteria"] === undefined) {
    throw invalid("rememberCriteria", "must be given together with the criteria that are to be remembered");
  }
}

/**
 * An object without its absent fields.
 * @param {Readonly<Record<string, unknown>>} fields @returns {Record<string, unknown>}
 */
function withoutAbsent(fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

/** @param {unknown} given @returns {readonly unknown[]} */
function readPatterns(given) {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw invalid("redact", "must be an array of regular expressions", given);
  return given;
}

/** @param {import("./parameters.js").Arguments} args @param {number} seq @returns {boolean} */
function isWithin({ from, to }, seq) {
  return !(typeof from === "number" && seq < from) && !(typeof to === "number" && seq > to);
}
