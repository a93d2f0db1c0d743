// @ts-check
/**
 * `verifier_session` and `verifier_current_session`: how the agent's own session progresses, or whether its work is
 * accepted against an attempt in which nothing was done. The session's log goes to the server, with its images where
 * the judge reads any.
 *
 * @module
 */
import { ownEvents } from "../host/events.js";
import { sessionLog } from "../host/session_log.js";
import { userImages } from "../host/task.js";
import { buy } from "./call.js";
import { readCriteria, readShared } from "./parameters.js";
import { countOf, footer, list, oneLine, planText, show } from "./render.js";
import { isPlan, scoredParts, tally } from "./results.js";
import { rubricOf } from "./rubric_of.js";
import { askWithImages, sessionImages, sessionOf } from "./session_evidence.js";
import { invalid } from "./spelling.js";
import { curveLines, progressStatement } from "./track.js";

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

const NAME = "verifier_session";
const ALIAS = "verifier_current_session";

/** @param {Arguments} args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(args, exec, deps) {
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
    statement: statement(answer),
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

/** Of the completed call. @param {any} value @returns {string} */
export function headline(value) {
  return isPlan(value) ? `Session: ${value.plan.calls} calls` : value.statement;
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, value) {
  if (isPlan(value)) return planText(value.plan);
  return [
    value.statement,
    ...(value.progress === null ? [] : curveLines(value.progress.curve)),
    ...(value.acceptance === null ? [] : criterionLines(value.acceptance)),
    sourceLine(value),
    ...footer(value),
  ].join("\n");
}

/** @param {any} answer @returns {string} */
function statement({ progress, acceptance }) {
  if (progress !== null) return progressStatement(progress);
  const { decision, score, threshold, failing, reason } = acceptance;
  if (decision === "accept") return `Accepted: ${show(score)}, at least ${show(threshold)} was needed.`;
  if (decision === "open") {
    return `Undecided, which is no fail${typeof reason === "string" ? `: ${oneLine(reason)}` : ""}.`;
  }
  const weak = failing.length > 0
    ? `too weak: ${failing.map((/** @type {any} */ { name }) => oneLine(name, 60)).join(", ")}`
    : score < threshold
    ? "the mean is too low"
    : "it doesn't beat having done nothing";
  return `Not accepted: ${show(score)}, at least ${show(threshold)} is needed; ${weak}.`;
}

/** @param {any} acceptance @returns {string[]} */
function criterionLines({ criteria, failing, baselineScore }) {
  return [
    `Having done nothing scores ${show(baselineScore)}.`,
    ...list(criteria, (/** @type {any} */ { id, name, score, floor }) => {
      const found = failing.find((/** @type {any} */ each) => each.id === id);
      const why = typeof found?.analysis === "string" ? `; the judge: ${oneLine(found.analysis)}` : "";
      return `${oneLine(name, 80)}: ${show(score)}${
        found === undefined ? "" : ` (below ${show(floor)})`
      }${why}`;
    }, 12),
  ];
}

/** @param {any} value @returns {string} */
function sourceLine({ source, shortened }) {
  const { steps, range, redacted } = source;
  const cut = shortened.characters === 0
    ? ""
    : `; ${shortened.characters} characters of ${
      shortened.steps + shortened.leftOut
    } older steps weren't shown`;
  const events = range === null ? "" : `, events ${range.from} to ${range.to}`;
  return `Evidence: ${countOf(steps, "step")}${events}${
    redacted === 0 ? "" : `; ${redacted} places taken out`
  }${cut}.`;
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
