// @ts-check
/**
 * Results as text that a model can act on: the verdict first, then what it rests on, what is missing, and the cost.
 * Names and warnings may quote what was judged, so they are kept to one line each.
 *
 * @module
 */

/** Lines of a list that are shown before the rest is counted. */
const LISTED = 20;
/** Characters of a name, a warning or a detail. */
const LONGEST = 240;

/**
 * A score, reward or strength, or that there is none.
 *
 * @param {number | null | undefined} value @param {number} [digits] @returns {string}
 */
export function show(value, digits = 2) {
  if (value === null || value === undefined) return "not scored";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text;
}

/** A value with its standard error, where there is one. @param {number | null} value @param {number | null | undefined} error @returns {string} */
export function showWithError(value, error) {
  return value === null || error === null || error === undefined
    ? show(value)
    : `${show(value)} ± ${show(error)}`;
}

/** A share in percent. @param {number} value @returns {string} */
export function percent(value) {
  return `${Math.round(value * 100)} %`;
}

/**
 * One line of whatever text, shortened.
 *
 * @param {unknown} text @param {number} [longest] @returns {string}
 */
export function oneLine(text, longest = LONGEST) {
  const line = String(text).replace(/\s+/g, " ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/**
 * A list, cut with a line that counts the rest.
 *
 * @template T
 * @param {readonly T[]} items @param {(item: T) => string} line @param {number} [most] @returns {string[]}
 */
export function list(items, line, most = LISTED) {
  const shown = items.slice(0, most).map((item) => `- ${line(item)}`);
  return items.length > most ? [...shown, `- … and ${items.length - most} more`] : shown;
}

/** @param {number} count @param {string} word @returns {string} */
export function countOf(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/**
 * The lines below every verdict: what has no score, who judged, what it cost, warnings and the decision.
 *
 * @param {any} value with the fields `results.js` shares @returns {string[]}
 */
export function footer(value) {
  return [
    ...unscoredLines(value),
    judgeLine(value),
    ...judgesLines(value.judges),
    `Cost: ${usageText(value.usage)}.`,
    ...list(
      value.warnings,
      (/** @type {string} */ warning) => `Warning: ${oneLine(warning)}`,
      8,
    ),
    `Decision ${value.id} (GET /v1/decisions/${value.id} has every call and prompt).`,
  ];
}

/** @param {any} value @returns {string[]} */
export function unscoredLines({ scored, unscored, unscoredReasons }) {
  if (unscored === 0) return [];
  const reasons = unscoredReasons.map((/** @type {any} */ each) => `${each.reason} ${each.count}`).join(", ");
  return [
    `Not scored: ${unscored} of ${countOf(scored + unscored, "part")}${
      reasons === "" ? "" : ` (${oneLine(reasons)})`
    }; they are left out of every mean.`,
  ];
}

/** @param {any} value @returns {string} */
function judgeLine({ judge, channels, criteriaOrigin }) {
  const isRules = judge.kind === "evidence";
  // Rules give their distribution outright: there is nothing that it was read from.
  const read = isRules
    ? []
    : Object.entries(channels).filter(([, count]) => count > 0).map(([name, count]) => `${count} by ${name}`);
  const by = isRules
    ? "rules, no model: it counts evidence and doesn't understand the work"
    : oneLine(judge.model, 80);
  const origin = criteriaOrigin === undefined ? "" : ` Rubric from the ${criteriaOrigin}.`;
  return `Judge: ${oneLine(judge.profile, 80)} (${by})${
    read.length === 0 ? "" : `; scores read: ${read.join(", ")}`
  }.${origin}`;
}

/** @param {readonly any[] | null} judges @returns {string[]} */
function judgesLines(judges) {
  return (judges ?? []).map(
    ({ profile, model, scored, unscored, winner, problem }) => {
      const own = winner === null ? "" : `, its own winner ${winner}`;
      return `- ${oneLine(profile, 80)} (${oneLine(model, 80)}): ${scored} scored, ${unscored} not${own}${
        problem === null ? "" : `; ${oneLine(problem)}`
      }`;
    },
  );
}

/** Calls, tokens and money. @param {any} usage @returns {string} */
export function usageText(
  { calls, cacheHits, inputTokens, cachedInputTokens, outputTokens, usd },
) {
  const cached = cacheHits > 0 ? `, ${cacheHits} from the cache` : "";
  if (calls === 0) return `nothing bought${cached}`;
  const money = usd === null ? "price unknown" : dollars(usd);
  return `${
    countOf(calls, "call")
  }${cached}, ${inputTokens} tokens in (${cachedInputTokens} cached), ${outputTokens} out, ${money}`;
}

/** @param {number} usd @returns {string} */
export function dollars(usd) {
  return usd === 0 ? "$0" : usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

/** What a dry run says. @param {any} plan @returns {string} */
export function planText(
  { pairs, calls, inputTokens, cachedInputTokens, outputTokens, usd },
) {
  return [
    `Nothing was bought. It would take at most ${countOf(calls, "call")}${
      pairs > 0 ? ` for ${countOf(pairs, "pair")}` : ""
    }:`,
    `about ${inputTokens} tokens in (${cachedInputTokens} cached), ${outputTokens} out, ${
      usd === null ? "price unknown" : dollars(usd)
    }.`,
  ].join("\n");
}
