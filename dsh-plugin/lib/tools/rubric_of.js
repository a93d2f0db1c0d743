// @ts-check
/**
 * The rubric of a tool call.
 *
 * @module
 */
import { invalid } from "./spelling.js";

/** @typedef {import("./register.js").Deps} Deps */
/** @typedef {import("./register.js").Execution} Execution */

/**
 * The rubric of a call: the argument, the session's, the workspace's, or the setting.
 *
 * @param {Deps} deps @param {Execution} exec @param {unknown} argument
 * @param {unknown} [setting] instead of the setting `criteria`
 * @returns {Promise<{ criteria: unknown, origin: string, warning?: string }>}
 */
export async function rubricOf(
  deps,
  exec,
  argument,
  setting = deps.settings.get()["criteria"],
) {
  if (argument === "") throw invalid("criteria", "must not be blank", argument);
  const session = exec.agent?.session;
  const { resolveRubric } = await import("../host/rubric.js");
  return await resolveRubric({
    argument,
    session,
    workspace: session?.header?.cwd ?? session?.cwd,
    setting,
    signal: exec.signal,
  });
}
