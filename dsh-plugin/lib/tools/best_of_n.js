// @ts-check
/**
 * `verifier_best_of_n`: several drafts of one answer, and the best of them. The server writes them.
 *
 * @module
 */
import { buy } from "./call.js";
import { readCriteria, readShared, requiredText } from "./parameters.js";
import { footer, list, oneLine, percent, planText, show } from "./render.js";
import { isPlan, requireLists, scoredParts, tally } from "./results.js";
import { rubricOf } from "./rubric_of.js";

/** Characters of the winning draft that are given back; the rest is a notice. */
const LONGEST_DRAFT = 100_000;
/** How a server gets a model that writes drafts. */
const WRITER = [
  "Drafts need a judge of kind openai-compatible or gemini: name one with generator (verifier_status lists them), or ask",
  "the user to add one to the server (ASSAY_JUDGE_BASE_URL, ASSAY_JUDGE_MODEL and ASSAY_JUDGE_API_KEY define one).",
  "Otherwise write the drafts yourself and give them to verifier_select.",
].join(" ");
/** A session's, a workspace's and the configured rubric are for finished work; of drafts nothing was executed. */
const DRAFT_RUBRIC = { criteria: "proposal", origin: "default" };

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

/** @param {Arguments} args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(args, exec, deps) {
  const prompt = requiredText(args, "prompt");
  // Drafts answer the prompt as it is, so the server takes nothing out of it.
  const { redact: _, ...fields } = readShared(args, deps.settings.get());
  const asked = readCriteria(args);
  const rubric = asked === undefined ? DRAFT_RUBRIC : await rubricOf(deps, exec, asked);
  const own = ["n", "generator", "pivots", "threshold", "floors"].filter((
    name,
  ) => args[name] !== undefined);
  const answer = /** @type {any} */ (await buy(deps, exec, "/v1/best-of-n", {
    ...fields,
    prompt,
    criteria: rubric.criteria,
    ...Object.fromEntries(own.map((name) => [name, args[name]])),
  }));
  if (isPlan(answer)) return answer;
  requireLists(answer, ["drafts", "ranking"]);
  const text = answer.drafts[answer.best]?.text;
  return {
    ...answer,
    draft: bounded(text, answer.id),
    drafts: answer.drafts.map((/** @type {any} */ draft) => ({
      ...draft,
      characters: draft.text?.length ?? null,
    })),
    statement: statement(answer),
    criteriaOrigin: rubric.origin,
    scored: scoredParts(answer),
    unscoredReasons: tally([]),
  };
}

/** What to do after a failure that only this tool knows. @param {import("../server/errors.js").VerifierError} error @returns {string | null} */
export function advise({ errors }) {
  return errors?.some(({ path }) => path === "/generator") ? WRITER : null;
}

/** Of the completed call. @param {any} value @returns {string} */
export function headline(value) {
  return isPlan(value) ? `Best of N: ${value.plan.calls} calls` : value.statement;
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, value) {
  if (isPlan(value)) return planText(value.plan);
  const odd = value.drafts.filter((/** @type {any} */ draft) =>
    draft.failure !== null || draft.finishReason !== "stop"
  );
  return [
    value.statement,
    ...acceptanceLines(value.acceptance),
    ...list(value.ranking, rankingLine),
    ...list(odd, oddLine),
    ...footer(value),
    `Written by ${oneLine(value.generator.profile, 80)} (${
      oneLine(value.generator.model, 80)
    }). Draft ${value.best}:`,
    "",
    value.draft,
  ].join("\n");
}

/** @param {string | null | undefined} text @param {string} id @returns {string | null} */
function bounded(text, id) {
  if (typeof text !== "string" || text.length <= LONGEST_DRAFT) {
    return text ?? null;
  }
  const head = text.slice(0, LONGEST_DRAFT).replace(/[\uD800-\uDBFF]$/, "");
  return `${head}\n[… cut after ${head.length} of ${text.length} characters; decision ${id} has the whole draft]`;
}

/** @param {any} answer @returns {string} */
function statement({ best, drafts, acceptance, ranking }) {
  const usable = drafts.filter((/** @type {any} */ draft) => draft.text !== null).length;
  // Copies share a place without it being a tie.
  const [first, second] = ranking.filter((/** @type {any} */ row) => (row.identicalTo ?? null) === null);
  const tie = first !== undefined && second !== undefined &&
    first.strength !== null && first.strength === second.strength;
  const chance = first?.probabilityBest ?? null;
  const head = tie
    ? `Tie: draft ${best} comes first of ${usable} usable drafts by order alone.`
    : `Draft ${best} is the best of ${usable} usable drafts${
      chance === null ? "" : ` with ${percent(chance)}`
    }.`;
  return `${head} ${accepted(acceptance ?? {})}`;
}

/** @param {any} acceptance @returns {string} */
function accepted({ decision, score, threshold, reason }) {
  if (decision === "accept") {
    return `It is good enough: ${show(score)} of at least ${show(threshold)}.`;
  }
  if (decision === "steer") {
    return `It isn't good enough: ${show(score)}, ${show(threshold)} is needed.`;
  }
  return `Whether it is good enough can't be told${
    typeof reason === "string" ? `: ${oneLine(reason)}` : ""
  }.`;
}

/** @param {any} acceptance @returns {string[]} */
function acceptanceLines({ failing }) {
  return list(
    failing,
    (/** @type {any} */ { name, score, floor, analysis }) =>
      `below its floor: ${oneLine(name, 80)} ${show(score)} of ${show(floor)}${
        analysis === null ? "" : `; the judge: ${oneLine(analysis)}`
      }`,
    12,
  );
}

/** @param {any} row @returns {string} */
function rankingLine({ index, winRate, probabilityBest, identicalTo }) {
  if (identicalTo !== null) {
    return `draft ${index}: the same as draft ${identicalTo}`;
  }
  const chance = probabilityBest === null ? "" : `, best with ${percent(probabilityBest)}`;
  return `draft ${index}: win rate ${show(winRate)}${chance}`;
}

/** @param {any} draft @returns {string} */
function oddLine({ index, finishReason, failure }) {
  if (failure !== null) {
    return `draft ${index} failed: ${oneLine(failure.reason, 40)}, ${oneLine(failure.detail)}`;
  }
  return finishReason === "length"
    ? `draft ${index} was cut at the token limit and judged as it is`
    : `draft ${index} ended with ${oneLine(finishReason, 40)}`;
}
