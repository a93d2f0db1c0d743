// @ts-check
/**
 * `verifier_select`: the best of several pieces of work.
 *
 * @module
 */
import { buy } from "./call.js";
import { readCriteria, readShared, readTrajectory, required, requiredText } from "./parameters.js";
import { countOf, footer, list, oneLine, percent, planText, show, showWithError } from "./render.js";
import { isPlan, requireLists, scoredParts, tally } from "./results.js";
import { rubricOf } from "./rubric_of.js";
import { invalid } from "./spelling.js";

/** Strengths count as equal within this. */
const EQUAL = 1e-9;
/** Below this probability of being the judge's own best, the pick is called uncertain. */
const CERTAIN = 0.8;

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

/** @param {Arguments} args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(args, exec, deps) {
  const task = requiredText(args, "task");
  const candidates = readCandidates(args);
  const fields = readShared(args, deps.settings.get());
  const rubric = await rubricOf(deps, exec, readCriteria(args));
  const { mode, pivots, prior, worth } = args;
  const answer = /** @type {any} */ (await buy(deps, exec, "/v1/select", {
    ...fields,
    task,
    criteria: rubric.criteria,
    candidates,
    ...present({ mode, pivots, prior, worth }),
  }));
  if (isPlan(answer)) return answer;
  requireLists(answer, ["ranking", "pairs", "criteria", "unscoredParts"]);
  return {
    ...answer,
    statement: statement(answer),
    criteriaOrigin: rubric.origin,
    scored: scoredParts(answer),
    comparisons: answer.pairs.length,
    unscoredReasons: tally(
      answer.unscoredParts.map((/** @type {any} */ part) => part.reason),
    ),
  };
}

/** Of the completed call. @param {any} value @returns {string} */
export function headline(value) {
  return isPlan(value) ? `Select: ${value.plan.calls} calls` : value.statement;
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, value) {
  if (isPlan(value)) return planText(value.plan);
  const unsure = value.criteria.filter((/** @type {any} */ row) => row.unscored > 0);
  return [
    value.statement,
    "Ranking, best first:",
    ...list(value.ranking, rankingLine),
    `${countOf(value.comparisons, "comparison")} (${oneLine(value.mode, 40)}).`,
    ...list(
      unsure,
      (/** @type {any} */ row) => `${oneLine(row.name, 80)}: ${row.unscored} not scored`,
    ),
    ...footer(value),
  ].join("\n");
}

/** @param {import("./parameters.js").Arguments} args @returns {readonly unknown[]} */
function readCandidates(args) {
  const candidates = required(args, "candidates");
  if (!Array.isArray(candidates)) {
    throw invalid("candidates", "must be an array of attempts", candidates);
  }
  return candidates.map((candidate, i) => readTrajectory(candidate, `candidates/${i}`));
}

/** Without fields that are absent. @param {Record<string, unknown>} fields @returns {Record<string, unknown>} */
function present(fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  );
}

/**
 * The verdict in a sentence or two.
 *
 * @param {any} answer @returns {string}
 */
function statement({ best, stopped, ranking, probabilityRight }) {
  // Copies share a place without it being a tie.
  const different = ranking.filter((/** @type {any} */ row) => (row.identicalTo ?? null) === null);
  const [first, second] = different;
  if (best === null) {
    return "No pick: nothing that a ranking could rest on was scored.";
  }
  if (different.length === 1 && ranking.length > 1) {
    return `All ${ranking.length} candidates are the same; nothing was judged.`;
  }
  if (ranking.length === 1) {
    return `Only candidate ${best} was given: nothing was compared.`;
  }
  const equal = different.filter((/** @type {any} */ row) =>
    row.strength !== null && first.strength !== null &&
    Math.abs(row.strength - first.strength) <= EQUAL
  );
  if (first.strength === null || equal.length > 1) {
    const who = equal.length > 1 && equal.length < different.length
      ? `candidates ${equal.map((/** @type {any} */ row) => row.index).join(", ")} share the first place`
      : "no candidate is better than the others";
    return `Tie: ${who}; candidate ${best} comes first by order alone.`;
  }
  const chance = first.probabilityBest;
  const sure = chance === null
    ? ""
    : chance < CERTAIN
    ? ` Not certain: it is this judge's best with ${percent(chance)}${
      typeof second?.probabilityBest === "number"
        ? `, candidate ${second.index} with ${percent(second.probabilityBest)}`
        : ""
    }.`
    : ` It is this judge's best with ${percent(chance)}.`;
  const right = probabilityRight === null
    ? ""
    : ` It really passes with ${percent(probabilityRight)}, by the measured calibration.`;
  const why = STOPPED[stopped] ?? "";
  return `Candidate ${best} is the best of ${ranking.length}.${sure}${right}${why}`;
}

/** @type {Readonly<Record<string, string>>} */
const STOPPED = {
  budget: " The budget ended the tournament early.",
  not_worth: " The tournament ended early, as more judging wasn't worth its price.",
  unusable: " The judge's answers were hardly usable.",
};

/** @param {any} row @returns {string} */
function rankingLine(
  {
    index,
    id,
    strength,
    standardError,
    probabilityBest,
    winRate,
    games,
    identicalTo,
  },
) {
  const name = id === null ? `candidate ${index}` : `candidate ${index} (${oneLine(id, 60)})`;
  if (identicalTo !== null) {
    return `${name}: the same as candidate ${identicalTo}`;
  }
  const chance = probabilityBest === null ? "" : `, best with ${percent(probabilityBest)}`;
  const wins = winRate === null ? "" : `, win rate ${show(winRate)} in ${countOf(games, "game")}`;
  return `${name}: strength ${showWithError(strength, standardError)}${chance}${wins}`;
}
