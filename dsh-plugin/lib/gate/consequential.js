// @ts-check
/**
 * Which of an agent's tool calls do something: everything that isn't known to only look, plan, ask or verify. Names
 * decide only where the host's own tools are known; a tool nobody knows (another plugin's, an MCP server's) counts.
 *
 * @module
 */
import { dataOf } from "../host/events.js";
import { onlyLooks } from "./shell.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/calls.js").ToolCall} ToolCall */

/** The host's tools that ask a person. */
export const ASKING = new Set(["ask_user_question", "exit_plan_mode"]);

/** The host's tools that change nothing that a task is about. */
const HARMLESS = new Set([
  ...ASKING,
  // Look.
  "read",
  "read_image",
  "glob",
  "grep",
  "skill",
  "web_search",
  "web_fetch",
  "job_output",
  "job_list",
  "list_agents",
  "schedule_list",
  "cordis_inspect_list",
  "cordis_inspect_query",
  "cordis_inspect_self",
  // Plan and keep books.
  "todo_write",
  "get_goal",
  "create_goal",
  "update_goal",
  // Stop or report what others do.
  "job_kill",
  "interrupt_agent",
  "report",
]);

/** What a program needs to do more than call tools. */
const REACHES_OUT =
  /\b(?:import|require|process|globalThis|global|self|eval|Function|constructor|fetch|WebSocket|Worker|open|exec|subprocess|os|sys|__\w+)\b/;

/**
 * Whether a tool is one of the verifier's own: asking for a judgement is no work.
 * @param {string} name
 * @returns {boolean}
 */
export function isVerifierTool(name) {
  return /^(?:verifier|verify)_/.test(name);
}

/**
 * Whether a call may have changed something, whether it succeeded or not.
 *
 * @param {ToolCall} call
 * @param {string | null} sandboxMode The mode in force when it ran, as the log says; null when the log doesn't say.
 * @returns {boolean}
 */
export function isConsequential(call, sandboxMode) {
  const { name, arguments: given } = call;
  if (HARMLESS.has(name) || isVerifierTool(name)) return false;
  switch (name) {
    case "str_replace_editor":
      return given?.command !== "view";
    case "bash":
    case "pwsh": {
      const escalated = given !== null &&
        given.sandbox_permissions !== undefined;
      if (sandboxMode === "read-only" && !escalated) return false;
      return name === "pwsh" || typeof given?.command !== "string" ||
        !onlyLooks(given.command);
    }
    case "run_code": {
      const code = given?.code;
      return typeof code !== "string" || REACHES_OUT.test(code) ||
        call.nested.some((nested) => isConsequential(nested, sandboxMode));
    }
    default:
      return true;
  }
}

/**
 * The sandbox mode of every moment of a log.
 *
 * @param {readonly HostEvent[]} events With what was inherited, as modes are.
 * @returns {(seq: number) => string | null} The mode in force at an event; null before the log says one.
 */
export function sandboxModes(events) {
  const switches = events.flatMap((event) => {
    const { mode } = dataOf(event);
    return event.type === "sandbox/mode" && typeof mode === "string" ? [{ seq: event.seq, mode }] : [];
  });
  return (seq) => switches.findLast((change) => change.seq <= seq)?.mode ?? null;
}
