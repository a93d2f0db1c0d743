// @ts-check
/**
 * What the tools' arguments have in common: their declared schemas, and how they become fields of the wire.
 *
 * The declared objects are open: calls written for other plugins spell arguments in other ways (`spelling.js`), and a
 * closed schema would have to list them all on every request. What nobody knows is refused in code, with the nearest
 * known name. For the same reason nothing is declared as required: "one of these spellings" can't be said in the host's
 * schema subset, so a missing argument is an error that names both spellings.
 *
 * @module
 */
import { invalid, SPELLINGS } from "./spelling.js";

/** @typedef {import("./output.js").Schema} Schema */
/** @typedef {Readonly<Record<string, unknown>>} Arguments Arguments under their declared names. */

const integer = (/** @type {string} */ description) => ({
  type: "integer",
  description,
});
const text = (/** @type {string} */ description) => ({
  type: "string",
  description,
});
/** A name, a list or a document. */
const nameOrDocument = { oneOf: [{ type: "string" }, { type: "array", items: {} }, { type: "object" }] };

/**
 * Schemas of shared arguments, by declared name. Short, as they are part of every request to the model.
 *
 * @type {Readonly<Record<string, Schema>>}
 */
export const PARAMETERS = {
  task: text("Required. What the work was asked to do."),
  context: text("Facts the judge may know."),
  criteria: {
    description:
      "Rubric: general, coding, debug, research, ops, writing, proposal (not executed yet), a file's path, Markdown, or a list of checks.",
    ...nameOrDocument,
  },
  repeats: integer("Judgings per pair and criterion."),
  judge: { description: "Judge's name; see verifier_status.", ...nameOrDocument },
  images: {
    type: "array",
    items: { type: "string" },
    description: "https: or data: URLs.",
  },
  dryRun: { type: "boolean", description: "Only tell the cost." },
};

/** A trajectory is text, or an object with `text`, `steps` or `messages`; a step or a writing judge likewise. @type {Schema} */
export const TEXT_OR_OBJECT = { oneOf: [{ type: "string" }, { type: "object" }] };

/** Arguments that every judging tool takes without declaring them. */
export const UNDECLARED = [
  "groundTruthNote",
  "model",
  "channel",
  "seed",
  "budget",
  "cache",
  "backend",
  "onError",
  "rememberCriteria",
];

/**
 * The declared parameters of a tool.
 *
 * @param {readonly string[]} shared names from {@linkcode PARAMETERS}
 * @param {Readonly<Record<string, Schema>>} [own] the tool's own, which come first
 * @returns {Schema}
 */
export function parameters(shared, own = {}) {
  /** @type {Record<string, Schema>} */
  const properties = { ...own };
  for (const name of shared) {
    const schema = PARAMETERS[name];
    if (schema === undefined) {
      throw new TypeError(`no shared parameter is named ${name}`);
    }
    properties[name] = properties[name] ?? schema;
  }
  return { type: "object", properties };
}

/**
 * A required string.
 *
 * @param {Arguments} args @param {string} name @returns {string}
 * @throws {import("../server/errors.js").VerifierError} `invalid_request` when it is missing, blank or no string
 */
export function requiredText(args, name) {
  const value = required(args, name);
  if (typeof value !== "string") throw invalid(name, "must be a string", value);
  if (value.trim() === "") throw invalid(name, "must not be blank", value);
  return value;
}

/**
 * A required argument of any type.
 *
 * @param {Arguments} args @param {string} name @returns {unknown}
 * @throws {import("../server/errors.js").VerifierError} `invalid_request` naming every spelling
 */
export function required(args, name) {
  if (Object.hasOwn(args, name)) return args[name];
  const others = SPELLINGS[name] ?? [];
  throw invalid(
    name,
    `must be given${others.length === 0 ? "" : ` (${[name, ...others].join(" or ")})`}`,
  );
}

/**
 * A piece of work as the wire takes it. What it must look like otherwise is the server's to say.
 *
 * @param {unknown} value @param {string} path of the argument, without the leading slash @returns {unknown}
 * @throws {import("../server/errors.js").VerifierError} `invalid_request` when it is blank
 */
export function readTrajectory(value, path) {
  if (isBlank(value)) {
    throw invalid(
      path,
      "must not be blank: nothing can be judged there, and leaving it out would shift the others",
      value,
    );
  }
  if (Array.isArray(value)) return { steps: readSteps(value, path) };
  if (typeof value !== "object" || value === null) return value;
  const { steps } = /** @type {{ steps?: unknown }} */ (value);
  if (Array.isArray(steps)) readSteps(steps, `${path}/steps`);
  return value;
}

/**
 * Steps as the wire takes them; indices never shift.
 *
 * @param {readonly unknown[]} steps @param {string} path @returns {readonly unknown[]}
 * @throws {import("../server/errors.js").VerifierError} `invalid_request` naming the index of a blank one
 */
export function readSteps(steps, path) {
  if (steps.length === 0) {
    throw invalid(path, "must have at least one step", steps);
  }
  steps.forEach((step, i) => {
    if (isBlank(step)) throw invalid(`${path}/${i}`, "must not be blank", step);
  });
  return steps;
}

/** @param {unknown} value @returns {boolean} */
function isBlank(value) {
  const shown = typeof value === "object" && value !== null && "text" in value ? value.text : value;
  return shown === null || (typeof shown === "string" && shown.trim() === "");
}

/**
 * The fields that every judging request shares, beside task and criteria. Absent ones are left out, so that the
 * server's own defaults hold.
 *
 * @param {Arguments} args under their declared names
 * @param {Readonly<Record<string, unknown>>} settings resolved settings: `judge`, `channel`, `repeats`, `sendImages`, `redact`
 * @returns {Record<string, unknown>}
 * @throws {import("../server/errors.js").VerifierError} `invalid_request` for an argument that other plugins have and
 * this one can't honour, with the reason
 */
export function readShared(args, settings) {
  checkForeign(args);
  const images = args["images"];
  if (
    images !== undefined && settings["sendImages"] === false &&
    !(Array.isArray(images) && images.length === 0)
  ) {
    throw invalid(
      "images",
      "must be left out: the setting sendImages is off, and only a user may turn it on",
    );
  }
  /** @type {Record<string, unknown>} */
  const fields = {
    context: args["context"],
    groundTruthNote: args["groundTruthNote"],
    repeats: args["repeats"] ?? settings["repeats"],
    judge: readJudge(args, settings["judge"]),
    channel: args["channel"] ?? settings["channel"],
    images,
    seed: args["seed"],
    budget: args["budget"],
    dryRun: args["dryRun"],
    cache: args["cache"],
    // Always, also when it is empty: so known secrets never get from an agent's session to a judge.
    redact: settings["redact"],
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

/**
 * The judge: the argument, else the setting; `model` is another model of that judge.
 *
 * @param {Arguments} args @param {unknown} setting @returns {unknown}
 */
function readJudge(args, setting) {
  const judge = readJson(args["judge"] ?? setting);
  const model = args["model"];
  if (model === undefined) return judge;
  if (judge === undefined || judge === null || judge === "") return { model };
  if (typeof judge === "string") return { profile: judge, model };
  if (typeof judge === "object" && !Array.isArray(judge)) {
    return { ...judge, model };
  }
  throw invalid(
    "model",
    "must be left out with a list of judges: give the model with each of them",
    model,
  );
}

/** A judge as JSON text is read; any other text is a name. @param {unknown} value @returns {unknown} */
function readJson(value) {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    throw invalid(
      "judge",
      `must be valid JSON as it starts like it: ${/** @type {Error} */ (error).message}`,
      value,
    );
  }
}

/** Arguments of other plugins whose promise can't be kept are refused instead of ignored. @param {Arguments} args */
function checkForeign({ onError, backend }) {
  if (onError !== undefined && onError !== "raise") {
    throw invalid(
      "onError",
      onError === "tie"
        ? 'must be "raise" or left out: a failure is always an error here and never a tie, as a tie looks like a verdict'
        : 'must be "raise" or left out',
      onError,
    );
  }
  if (backend !== undefined && backend !== "auto") {
    throw invalid(
      "backend",
      "must be left out: the server's configuration knows the models; name one of its judges with judge (verifier_status lists them)",
      backend,
    );
  }
}

/**
 * The criteria argument that a review stage stands for.
 *
 * @param {Arguments} args @returns {unknown} the argument `criteria`, `"proposal"` for that stage without criteria, or `undefined`
 */
export function readCriteria(args) {
  const { criteria, reviewStage } = args;
  if (
    reviewStage !== undefined && reviewStage !== "proposal" &&
    reviewStage !== "artifact"
  ) {
    throw invalid("reviewStage", "must be proposal or artifact", reviewStage);
  }
  return criteria ?? (reviewStage === "proposal" ? "proposal" : undefined);
}
