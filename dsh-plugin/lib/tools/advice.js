// @ts-check
/**
 * What to do after a failure, for a model that reads nothing but the error.
 *
 * @module
 */

/** @typedef {import("../server/errors.js").VerifierError} VerifierError */
/** @typedef {import("./register.js").Deps} Deps */

/** @type {Readonly<Record<string, string>>} */
const ADVICE = {
  unauthorized: "Ask the user to set the token of the verifier's server (setting token or ASSAY_TOKEN).",
  judge_unauthorized:
    "Ask the user to fix the judge's key on the server; another judge may work (verifier_status lists them).",
  budget_exhausted:
    "Ask the user to raise the token's daily budget, or wait until it resets (verifier_status shows it).",
  channel_unavailable: "Leave channel out, or name a judge that gives log-probabilities.",
  nothing_scored: "There is no verdict, which speaks neither for the work nor against it, and is no tie.",
  deadline_exceeded: "Ask for less (fewer repeats, criteria or candidates), or raise the setting timeoutMs.",
  body_too_large: "Shorten what is to be judged.",
};

/**
 * One sentence, or `null` when the error says it all.
 *
 * @param {VerifierError} error @param {Deps} deps @returns {string | null}
 */
export function adviceFor(error, deps) {
  if (error.code === "server_unreachable") {
    return deps.settings.get()["autostart"] === true
      ? "verifier_status tells what became of starting it."
      : "In Assay's folder, deno task serve starts one.";
  }
  if (error.code === "over_budget") {
    return `${planText(error.plan)}Raise budget, or ask for fewer repeats, criteria or candidates.`;
  }
  if (error.errors?.some(({ path }) => path.startsWith("/redact/"))) {
    return "A pattern that you didn't give is from the setting redact (ASSAY_REDACT): ask the user to correct it.";
  }
  return ADVICE[error.code] ?? null;
}

/** @param {unknown} plan @returns {string} */
function planText(plan) {
  if (typeof plan !== "object" || plan === null || !("calls" in plan)) {
    return "";
  }
  return `It would take ${plan.calls} calls. `;
}
