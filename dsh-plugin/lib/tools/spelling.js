// @ts-check
/**
 * Names of arguments: the ones this package declares, and the other spellings that calls written for other verifier
 * plugins use. Every argument reaches a tool under its declared name, and every error leaves it under the caller's.
 *
 * @module
 */
import { didYouMean, VerifierError } from "../server/errors.js";

/**
 * Other spellings by declared name.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const SPELLINGS = {
  task: ["problem"],
  a: ["traceA", "candidate_a", "candidateA"],
  b: ["traceB", "candidate_b", "candidateB"],
  candidates: ["traces"],
  steps: ["trajectory"],
  checkpoints: ["checkpointSteps", "checkpoint_steps"],
  prompt: ["task", "problem"],
  repeats: ["evaluations", "nEvaluations", "n_evaluations"],
  groundTruthNote: ["ground_truth_note"],
  dryRun: ["dry_run"],
  reviewStage: ["review_stage"],
  onError: ["on_error"],
  rememberCriteria: ["remember_criteria"],
  from: ["from_seq", "fromSeq"],
  to: ["to_seq", "toSeq"],
  redact: ["redact_patterns", "redactPatterns"],
  maxCharacters: ["max_chars", "maxChars"],
  includeAssistantText: ["include_assistant_text"],
  expectedLength: ["expected_length"],
};

/**
 * The arguments under their declared names, and how the caller spelt those that had another one. `null` counts as
 * absent, as models send it for optional fields.
 *
 * @param {unknown} raw what the host hands over
 * @param {readonly string[]} names every name the tool knows, the undeclared ones too
 * @param {readonly string[]} [shown] those that an error lists
 * @returns {{ args: Readonly<Record<string, unknown>>, spelled: Readonly<Record<string, string>> }}
 * @throws {VerifierError} `invalid_request`: no object, an unknown name (with the nearest known one), or two spellings
 * of one argument with different values
 */
export function readNames(raw, names, shown = names) {
  if (
    raw !== undefined && raw !== null &&
    (typeof raw !== "object" || Array.isArray(raw))
  ) {
    throw new VerifierError(
      "invalid_request",
      "The arguments must be a JSON object.",
      {
        errors: [{ path: "", message: "must be a JSON object", value: raw }],
      },
    );
  }
  /** @type {Map<string, string>} */
  const declaredBySpelling = new Map();
  for (const name of names) {
    for (const spelling of SPELLINGS[name] ?? []) {
      if (!names.includes(spelling)) declaredBySpelling.set(spelling, name);
    }
  }
  for (const name of names) declaredBySpelling.set(name, name);
  /** @type {Record<string, unknown>} */
  const args = {};
  /** @type {Record<string, string>} */
  const spelled = {};
  for (const [spelling, value] of Object.entries(raw ?? {})) {
    const name = declaredBySpelling.get(spelling);
    if (name === undefined) {
      throw unknownName(spelling, [...declaredBySpelling.keys()], shown, value);
    }
    if (value === null || value === undefined) continue;
    if (Object.hasOwn(args, name)) {
      const first = spelled[name] ?? name;
      if (JSON.stringify(args[name]) === JSON.stringify(value)) continue;
      throw invalid(
        spelling,
        `must be left out or equal to ${first}, as both mean the same`,
        value,
      );
    }
    args[name] = value;
    if (spelling !== name) spelled[name] = spelling;
  }
  return { args: Object.freeze(args), spelled: Object.freeze(spelled) };
}

/** @param {string} name @param {readonly string[]} spellings @param {readonly string[]} names @param {unknown} value @returns {VerifierError} */
function unknownName(name, spellings, names, value) {
  return invalid(
    name,
    `is not an argument of this tool${didYouMean(name, spellings)} (it takes ${
      names.length === 0 ? "none" : names.join(", ")
    })`,
    value,
  );
}

/**
 * An argument error; every one of this package has this form.
 *
 * @param {string} path of the argument, without the leading slash
 * @param {string} rule "must be …"
 * @param {unknown} [value]
 * @returns {VerifierError}
 */
export function invalid(path, rule, value) {
  return new VerifierError("invalid_request", "An argument is wrong", {
    errors: [{
      path: `/${path}`,
      message: rule,
      ...(value === undefined ? {} : { value }),
    }],
  });
}

/**
 * The same error with its field names turned into others, in its text and in its fields.
 *
 * @param {VerifierError} error
 * @param {readonly (readonly [string, string])[]} renames from JSON pointer to JSON pointer, the longest first
 * @returns {VerifierError}
 */
export function renameFields(error, renames) {
  if (renames.length === 0) return error;
  /** @param {string} path @returns {string} */
  const rename = (path) => {
    const found = renames.find(([from]) => path === from || path.startsWith(`${from}/`));
    return found === undefined ? path : found[1] + path.slice(found[0].length);
  };
  // Pointers in a sentence start after a space, a bracket or at its start.
  const detail = error.detail.replace(/(?<![^\s(])\/[A-Za-z][\w/~-]*/g, rename);
  const { status, retryAfterSeconds, stage, length, decision } = error;
  return new VerifierError(error.code, detail, {
    status,
    ...(error.errors === undefined ? {} : {
      errors: error.errors.map((field) => ({
        ...field,
        path: rename(field.path),
      })),
    }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(error.plan === undefined ? {} : { plan: error.plan }),
    ...(stage === undefined ? {} : { stage }),
    ...(length === undefined ? {} : { length }),
    ...(decision === undefined ? {} : { decision }),
  });
}
