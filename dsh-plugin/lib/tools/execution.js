// @ts-check
/**
 * What is common to the calls of all tools: arguments are read, errors made readable, results checked against their
 * schema. Loaded by the first call.
 *
 * @module
 */
import { isRubricError } from "../host/rubric.js";
import { toVerifierError, VerifierError } from "../server/errors.js";
import { adviceFor } from "./advice.js";
import { project } from "./output.js";
import { oneLine } from "./render.js";
import { renameFields } from "./spelling.js";

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Deps} Deps */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").ToolSpec} ToolSpec */
/** @typedef {import("./register.js").ToolWork} ToolWork */
/** @typedef {(raw: unknown) => ReturnType<typeof import("./spelling.js").readNames>} ReadNames */

/** Characters of a card's title. */
const LONGEST_TITLE = 120;

/**
 * A tool that can be called.
 *
 * @typedef {object} Tool
 * @property {(raw: unknown, exec: Execution) => Promise<unknown>} execute From raw arguments to a value that the output
 *   schema accepts. Throws a `VerifierError` whose message begins with a code and is written for a model.
 * @property {(args: Arguments, value: unknown) => string} render
 * @property {(value: unknown) => string | null} headline
 */

/**
 * @param {Deps} deps @param {ToolSpec} spec @param {ToolWork} work @param {ReadNames} read @returns {Tool}
 */
export function prepare(deps, spec, work, read) {
  return {
    execute: (raw, exec) => execute(deps, spec, work, read, raw, exec),
    render: work.render,
    headline: (value) => work.headline === undefined ? null : oneLine(work.headline(value), LONGEST_TITLE),
  };
}

/**
 * @param {Deps} deps @param {ToolSpec} spec @param {ToolWork} work @param {ReadNames} read @param {unknown} raw @param {Execution} exec
 * @returns {Promise<unknown>}
 */
async function execute(deps, spec, work, read, raw, exec) {
  /** @type {Readonly<Record<string, string>>} */
  let spelled = {};
  /** @type {Arguments | null} */
  let given = null;
  try {
    const { args, spelled: names } = read(raw);
    spelled = names;
    given = args;
    if (exec.signal.aborted) {
      throw new VerifierError(
        "aborted",
        "The call was cancelled before it began.",
      );
    }
    return project(spec.output, await work.run(args, exec, deps));
  } catch (error) {
    let known = toVerifierError(error);
    if (known.status !== null) known = renameFields(known, spec.renames ?? []);
    known = renameFields(
      known,
      Object.entries(spelled).map((
        [name, spelling],
      ) => [`/${name}`, `/${spelling}`]),
    );
    throw readable(known, work.advise?.(known) ?? rubricAdvice(known, given) ?? adviceFor(known, deps));
  }
}

/**
 * Where a rubric comes from that is refused although the call gave none.
 *
 * @param {VerifierError} error @param {Arguments | null} args @returns {string | null}
 */
function rubricAdvice(error, args) {
  if (args === null || args["criteria"] !== undefined || !isRubricError(error)) return null;
  return "This call gave no criteria: the rubric is the one that this session remembers, else .assay/criteria.md " +
    "or .json in the working directory, else the setting criteria. Repair it there, or give criteria.";
}

/**
 * The error with a message for a model: what was bought until then, and what to do next.
 *
 * @param {VerifierError} error @param {string | null} advice @returns {VerifierError}
 */
function readable(error, advice) {
  const { decision } = error;
  const more = [
    ...(decision === undefined ? [] : [`Decision ${decision} tells what was judged before.`]),
    ...(advice === null ? [] : [advice]),
  ];
  if (more.length === 0) return error;
  // A copy: calls that wait for the same start of a server fail with the very same error.
  const told = Object.assign(new VerifierError(error.code, error.detail, { cause: error }), error);
  told.message = `${error.message.replace(/(?<![.!?…])$/, ".")} ${more.join(" ")}`;
  return told;
}
