// @ts-check
/**
 * `verifier_session` and `verifier_current_session`: how the agent's own session progresses, or whether its work is
 * accepted against an attempt in which nothing was done.
 *
 * @module
 */
import { array, boolean, integer, nullable, number, object, optional, string } from "./output.js";
import { parameters, UNDECLARED } from "./parameters.js";
import { countOf, footer, list, oneLine, planText, show } from "./render.js";
import { curve, isPlan, resultOrPlan, shared, verdict } from "./results.js";
import { curveLines, progressStatement } from "./track.js";

const output = resultOrPlan({
  ...shared,
  mode: string("progress or acceptance."),
  task: string("As the judge was shown it."),
  progress: nullable(object({
    causal: boolean(),
    curve,
    final: nullable(number()),
    advice: optional(string("rising, plateau, falling or done.")),
  })),
  acceptance: nullable(verdict),
  source: object({
    version: nullable(integer()),
    id: nullable(string()),
    steps: integer(),
    range: nullable(object({ from: integer(), to: integer() })),
    redacted: integer(),
    leftOut: array(object({ kind: string(), count: integer() })),
  }),
  shortened: object({ steps: integer(), leftOut: integer(), characters: integer() }),
  stored: boolean(),
});

/** @type {import("./register.js").ToolSpec} */
const tool = {
  name: "verifier_session",
  description:
    "Judges this session's own work so far: its progress, or (mode acceptance) whether it is good enough to " +
    "be called done.",
  aliases: [{
    name: "verifier_current_session",
    description: "Scores this session's work against no work at all (verifier_session with mode acceptance).",
  }],
  parameters: parameters(["context", "criteria", "repeats", "judge", "images", "dryRun"], {
    mode: { type: "string", enum: ["progress", "acceptance"], description: "Default progress." },
    task: { type: "string", description: "Default: what the user asked." },
    checkpoints: { type: "array", items: { type: "integer" }, description: "Steps to score, for progress." },
    threshold: { type: "number", description: "Least score to accept, 0 to 1." },
    from: { type: "integer", description: "First event (seq) that counts." },
    to: { type: "integer", description: "Last event (seq)." },
    redact: { type: "array", items: { type: "string" }, description: "Patterns the judge must not see." },
    rememberCriteria: { type: "boolean", description: "Keep criteria for this session." },
  }),
  accepts: [
    ...UNDECLARED,
    "reviewStage",
    "causal",
    "floors",
    "maxCharacters",
    "includeAssistantText",
    "remember_criteria",
  ],
  output,
  concurrencySafe: true,
  renames: [["/range/from", "/from"], ["/range/to", "/to"], ["/judge/profile", "/judge"]],
  async run(args, exec, deps) {
    // Loaded by the first call, so that a host starts faster.
    const { runSession } = await import("./session_run.js");
    const value = await runSession(args, exec, deps);
    return isPlan(value) ? value : { ...value, statement: statement(value) };
  },
  title: ({ mode }) => mode === "acceptance" ? "Check this session's work" : "Judge this session",
  headline: (value) => isPlan(value) ? `Session: ${value.plan.calls} calls` : value.statement,
  render(_args, value) {
    if (isPlan(value)) return planText(value.plan);
    return [
      value.statement,
      ...(value.progress === null ? [] : curveLines(value.progress.curve)),
      ...(value.acceptance === null ? [] : criterionLines(value.acceptance)),
      sourceLine(value),
      ...footer(value),
    ].join("\n");
  },
};

/** The tool. */
export const spec = () => tool;

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
