// @ts-check
/**
 * `verifier_best_of_n`: several drafts of one answer, and the best of them. The server writes them.
 *
 * @module
 */
import { buy } from "./call.js";
import { array, integer, nullable, number, object, optional, string } from "./output.js";
import {
  parameters,
  readCriteria,
  readShared,
  requiredText,
  TEXT_OR_OBJECT,
  UNDECLARED,
} from "./parameters.js";
import { footer, list, oneLine, percent, planText, show } from "./render.js";
import {
  isPlan,
  ranking,
  requireLists,
  resultOrPlan,
  scoredParts,
  shared,
  tally,
  verdict,
} from "./results.js";
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

const output = resultOrPlan({
  ...shared,
  best: integer(),
  draft: string("The best draft."),
  generator: object({ profile: string(), kind: string(), model: string() }),
  drafts: array(object({
    index: integer(),
    characters: nullable(integer()),
    finishReason: nullable(string()),
    failure: optional(object({ reason: string(), detail: string() })),
  })),
  stopped: string(),
  agreement: optional(number()),
  ranking,
  acceptance: verdict,
});

/** @type {import("./register.js").ToolSpec} */
const tool = {
  name: "verifier_best_of_n",
  description:
    "Has several drafts of one answer written by the server's model and gives back the best, measured.",
  parameters: parameters([
    "context",
    "criteria",
    "repeats",
    "judge",
    "images",
    "dryRun",
  ], {
    prompt: { type: "string", description: "Required. What to write." },
    n: { type: "integer", description: "Drafts, 2 to 8, default 3." },
    generator: { ...TEXT_OR_OBJECT, description: "Judge that writes." },
  }),
  accepts: [...UNDECLARED, "pivots", "threshold", "floors"],
  output,
  concurrencySafe: true,
  renames: [["/judge/profile", "/judge"]],
  async run(args, exec, deps) {
    const prompt = requiredText(args, "prompt");
    const fields = readShared(args, deps.settings.get());
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
  },
  advise: ({ errors }) => errors?.some(({ path }) => path === "/generator") ? WRITER : null,
  title: ({ n }) => typeof n === "number" ? `Best of ${n} drafts` : "Best of several drafts",
  headline: (value) => isPlan(value) ? `Best of N: ${value.plan.calls} calls` : value.statement,
  render(_args, value) {
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
  },
};

/** The tool. */
export const spec = () => tool;

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
