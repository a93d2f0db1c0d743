// @ts-check
/**
 * What the agent is told after its candidates were compared: who won and by how much, how sure that is, and what to do
 * now. Candidates are named by their place, label and id; their text stays where it is, in the agent's own history.
 *
 * @module
 */
import { counted, message, oneLine, shown } from "./quote.js";

/** @typedef {import("./envelopes.js").Envelope} Envelope */
/** @typedef {{ text: string, summary: string }} Feedback */

/**
 * What is used of an answer of `POST /v1/compare`.
 * @typedef {object} CompareAnswer
 * @property {"A" | "B" | "tie"} winner
 * @property {number | null} rewardA 0 to 1.
 * @property {number | null} rewardB
 * @property {number | null} margin
 * @property {number | null} standardError Of the margin; null with fewer than two repeats.
 * @property {boolean} identical
 * @property {readonly { name: string, rewardA: number | null, rewardB: number | null }[]} criteria
 * @property {number} unscored
 * @property {{ profile: string, model: string }} judge
 */
/**
 * What is used of an answer of `POST /v1/select`.
 * @typedef {object} SelectAnswer
 * @property {number | null} best Index.
 * @property {readonly RankingRow[]} ranking Best first.
 * @property {number} unscored
 * @property {{ profile: string, model: string }} judge
 */
/**
 * @typedef {object} RankingRow
 * @property {number} index
 * @property {number | null} strength
 * @property {number | null} standardError
 * @property {number | null} probabilityBest
 * @property {number | null} winRate
 * @property {number} [identicalTo]
 */

/** From this probability of being the best on a winner counts as clear. */
const CLEAR = 0.8;
/** Strengths that differ by less are equal but for rounding. */
const TIE = 1e-9;
const LONGEST_LABEL = 80;
const LONGEST_ID = 40;

/**
 * @param {Envelope} envelope With exactly two candidates: A is the first.
 * @param {CompareAnswer} answer
 * @returns {Feedback}
 */
export function compareFeedback(envelope, answer) {
  const first = nameOf(envelope, 0);
  const second = nameOf(envelope, 1);
  const { rewardA, rewardB, winner } = answer;
  if (answer.identical) {
    return written(envelope, answer, {
      verdict:
        `${first} and ${second}, as a judge would see them, are byte for byte the same, so nothing was judged: neither can win.`,
      rows: [],
      next: useAny(envelope, "Take it as the one result that it is."),
      summary: "both candidates are identical",
    });
  }
  const rows = answer.criteria.map(({ name, rewardA: a, rewardB: b }) =>
    `- ${oneLine(name, LONGEST_LABEL)}: ${reward(a)} against ${reward(b)}`
  );
  if (winner === "tie") {
    return written(envelope, answer, {
      verdict: `A tie: ${first} has the reward ${reward(rewardA)}, ${second} ${
        reward(rewardB)
      }. The judge sees no difference.`,
      rows,
      next: useAny(
        envelope,
        "Take either, for a reason of your own: the simpler one, or the closer one to the task.",
      ),
      summary: `a tie at ${reward(rewardA)}`,
    });
  }
  const won = winner === "A" ? 0 : 1;
  const own = won === 0 ? rewardA : rewardB;
  const other = won === 0 ? rewardB : rewardA;
  const margin = answer.margin === null ? null : Math.abs(answer.margin);
  return written(envelope, answer, {
    verdict: `Winner: ${won === 0 ? first : second}, reward ${reward(own)}; ` +
      `${won === 0 ? second : first} has ${reward(other)}.${howSure(margin, answer.standardError)}`,
    rows,
    next: useWinner(envelope, won),
    summary: `candidate ${won + 1} of 2 wins, ${reward(own)} against ${reward(other)}`,
  });
}

/**
 * @param {Envelope} envelope
 * @param {SelectAnswer} answer With a `best`.
 * @returns {Feedback}
 */
export function selectFeedback(envelope, answer) {
  const { ranking } = answer;
  const count = envelope.candidates.length;
  const best = ranking.find(({ index }) => index === answer.best);
  if (best === undefined) {
    throw new TypeError(`the server's ranking has no row of its best candidate (value: ${answer.best})`);
  }
  const others = ranking.filter((row) => row !== best);
  const same = others.filter((row) => isCopy(row, best));
  const distinct = others.filter((row) => !isCopy(row, best));
  const rows = ranking.map((row, place) => rankingRow(envelope, row, place));
  if (distinct.length === 0) {
    return written(envelope, answer, {
      verdict:
        `All ${count} candidates, as a judge would see them, are byte for byte the same: none can win.`,
      rows: [],
      next: useAny(envelope, "Take it as the one result that it is."),
      summary: `all ${count} candidates are identical`,
    });
  }
  const copies = same.length === 0
    ? ""
    : ` (the same text as ${same.map(({ index }) => `candidate ${index + 1}`).join(", ")})`;
  const tied = distinct.filter((row) =>
    row.strength !== null && best.strength !== null && Math.abs(row.strength - best.strength) <= TIE
  );
  if (tied.length > 0) {
    const names = [best, ...tied].map(({ index }) => nameOf(envelope, index));
    return written(envelope, answer, {
      verdict: `A tie for the first place of ${count}: ${list(names)}${copies}.`,
      rows: ["Ranking:", ...rows],
      next: useAny(
        envelope,
        "Take one of the tied ones, for a reason of your own: the simplest one, or the closest one to the task.",
      ),
      summary: `a tie of ${names.length} for the first place of ${count}`,
    });
  }
  // Where another one may as well be the best, the order says little.
  const near = distinct.filter((row) => isNear(best, row));
  const unclear = near.length === 0
    ? ""
    : ` Not clearly better than ${list(near.map(({ index }) => `candidate ${index + 1}`))}: ` +
      "the judge may as well find one of these the best.";
  return written(envelope, answer, {
    verdict: `Winner of ${count}: ${nameOf(envelope, best.index)}${copies}.${unclear}`,
    rows: ["Ranking:", ...rows],
    next: useWinner(envelope, best.index),
    summary: `candidate ${best.index + 1} of ${count} wins`,
  });
}

/**
 * @param {Envelope} envelope
 * @param {CompareAnswer | SelectAnswer} answer
 * @param {{ verdict: string, rows: readonly string[], next: readonly string[], summary: string }} parts
 * @returns {Feedback}
 */
function written(
  envelope,
  { unscored, judge },
  { verdict, rows, next, summary },
) {
  const { stage, candidates, leftOut } = envelope;
  const group = oneLine(envelope.groupId, LONGEST_LABEL);
  const kind = stage === "proposal" ? "proposals, none of them carried out" : "finished pieces of work";
  const head = [
    `The verifier compared the candidate group "${group}": ${candidates.length} ${kind}.`,
    verdict,
    ...(unscored > 0
      ? [
        `${counted(unscored, "part")} of the judging gave no score and counted for nothing.`,
      ]
      : []),
  ];
  const missing = leftOut.slice(0, 10).map(({ id, status }) =>
    `"${oneLine(id, LONGEST_ID)}" (${oneLine(status, LONGEST_ID)})`
  );
  const tail = [
    ...(leftOut.length === 0 ? [] : [
      `Left out, as not completed: ${missing.join(", ")}${
        leftOut.length > 10 ? ` and ${leftOut.length - 10} more` : ""
      }.`,
    ]),
    `Judge: ${oneLine(judge.profile, LONGEST_ID)} (${oneLine(judge.model, LONGEST_LABEL)}).`,
    "",
    "What to do next:",
    ...next.map((line, i) => `${i + 1}. ${line}`),
  ];
  return {
    text: message(head, rows, tail),
    summary: `Assay review of "${group}": ${summary}`,
  };
}

/** @param {Envelope} envelope @param {number} index @returns {string[]} */
function useWinner({ stage }, index) {
  const which = `candidate ${index + 1}`;
  return stage === "proposal"
    ? [
      `Nothing was executed yet. Go on with ${which} and carry it out.`,
      "Run the check that it names, or one that would fail if the work were wrong, and let its output be seen.",
      "Then finish. The group needs no other comparison.",
    ]
    : [
      `Go on with ${which}: put it into place where that hasn't happened, and leave the others out.`,
      "Run a check that would fail if the result were wrong, and let its output be seen.",
      "Then finish. The group needs no other comparison.",
    ];
}

/** @param {Envelope} envelope @param {string} how @returns {string[]} */
function useAny({ stage }, how) {
  return [
    stage === "proposal"
      ? `Nothing was executed yet. ${how} Then carry it out.`
      : `${how} Put it into place.`,
    "Run a check that would fail if the result were wrong, and let its output be seen.",
    "Then finish. Asking for the same comparison again would give the same answer.",
  ];
}

/** @param {Envelope} envelope @param {number} index @returns {string} */
function nameOf({ candidates }, index) {
  const candidate = candidates[index];
  if (candidate === undefined) return `candidate ${index + 1}`;
  const id = oneLine(candidate.id, LONGEST_ID);
  return candidate.label === null
    ? `candidate ${index + 1} ("${id}")`
    : `candidate ${index + 1} "${oneLine(candidate.label, LONGEST_LABEL)}" ("${id}")`;
}

/** @param {Envelope} envelope @param {RankingRow} row @param {number} place @returns {string} */
function rankingRow(envelope, row, place) {
  const facts = [
    ...(row.winRate === null ? [] : [`win rate ${shown(row.winRate)}`]),
    ...(row.strength === null ? [] : [
      `strength ${shown(row.strength)}${
        row.standardError === null ? "" : ` \u00b1 ${shown(row.standardError)}`
      }`,
    ]),
    ...(row.probabilityBest === null ? [] : [`best with probability ${shown(row.probabilityBest)}`]),
    ...(row.identicalTo === undefined ? [] : [`the same text as candidate ${row.identicalTo + 1}`]),
  ];
  return `- ${place + 1}. ${nameOf(envelope, row.index)}: ${
    facts.length === 0 ? "not scored" : facts.join(", ")
  }`;
}

/** @param {RankingRow} a @param {RankingRow} b @returns {boolean} */
function isCopy(a, b) {
  return a.identicalTo === b.index || b.identicalTo === a.index ||
    (a.identicalTo !== undefined && a.identicalTo === b.identicalTo);
}

/**
 * Whether a candidate may well be the best one in truth.
 * @param {RankingRow} best @param {RankingRow} row @returns {boolean}
 */
function isNear(best, row) {
  if (best.probabilityBest !== null && row.probabilityBest !== null) {
    return best.probabilityBest < CLEAR && row.probabilityBest >= best.probabilityBest / 3;
  }
  if (best.strength === null || row.strength === null) return false;
  const difference = Math.abs(best.strength - row.strength);
  if (best.standardError === null || row.standardError === null) {
    return difference === 0;
  }
  return difference <= Math.hypot(best.standardError, row.standardError);
}

/** @param {number | null} margin @param {number | null} error @returns {string} */
function howSure(margin, error) {
  if (margin === null) return "";
  if (error === null) {
    return ` Margin ${shown(margin)}, from one look, so its uncertainty is unknown.`;
  }
  const small = margin <= 2 * error ? ": hardly more than chance, take both as nearly equal" : "";
  return ` Margin ${shown(margin)} \u00b1 ${shown(error)} (standard error)${small}.`;
}

/** @param {number | null} value @returns {string} */
function reward(value) {
  return value === null ? "no score" : shown(value);
}

/** @param {readonly string[]} names @returns {string} */
function list(names) {
  const shownNames = names.slice(0, 5);
  const more = names.length - shownNames.length;
  if (more > 0) return `${shownNames.join(", ")} and ${more} more`;
  return shownNames.length < 2
    ? shownNames.join("")
    : `${shownNames.slice(0, -1).join(", ")} and ${shownNames.at(-1)}`;
}
