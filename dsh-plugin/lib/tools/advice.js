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
  unauthorized:
    "Ask the user to set the token of the verifier's server (setting token or ASSAY_TOKEN).",
  judge_unauthorized:
    "Ask the user to fix the judge's key on the server; another judge may work (verifier_status lists them).",
  budget_exhausted:
    "Ask the user to raise the token's daily budget, or wait until it resets (verifier_status shows it).",
  channel_unavailable:
    "Leave channel out, or name a judge that gives log-probabilities.",
  nothing_scored: "There is no verdict: neither side won, and it isn't a tie.",
  deadline_exceeded:
    "Ask for less (fewer repeats, criteria or candidates), or raise the setting timeoutMs.",
  body_too_large: "Shorten what is to be judged.",
};

/** How a server gets a model that writes drafts. */
const WRITER =
  "Drafts need an openai-compatible or gemini judge: the user adds one to the server's configuration (ASSAY_JUDGE_BASE_URL, ASSAY_JUDGE_MODEL and ASSAY_JUDGE_API_KEY define one); or write the drafts yourself and give them to verifier_select.";

/**
 * One sentence, or `null` when the error says it all.
 *
 * @param {VerifierError} error @param {Deps} deps @returns {string | null}
 */
export function adviceFor(error, deps) {
  if (error.code === "server_unreachable") {
    const { autostart, url } = deps.settings.get();
    return autostart
      ? "verifier_status tells why it didn't start."
      : `Start the server (deno task serve) at ${url}, or ask the user to set url or autostart.`;
  }
  if (error.code === "over_budget") {
    return `${
      planText(error.plan)
    }Raise budget, or ask for fewer repeats, criteria or candidates.`;
  }
  if (
    error.errors?.some(({ path }) => path === "/generator") &&
    error.status !== null
  ) return WRITER;
  return ADVICE[error.code] ?? null;
}

/** @param {unknown} plan @returns {string} */
function planText(plan) {
  if (typeof plan !== "object" || plan === null || !("calls" in plan)) {
    return "";
  }
  return `It would take ${plan.calls} calls. `;
}
