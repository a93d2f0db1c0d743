// @ts-check
/**
 * The agent's work as the server reads it: chat messages, one of the agent per stretch of work, its calls with what they
 * really gave. The server renders them (and quotes what looks like its own marks), takes secrets out and counts what it
 * shortens; here only single outputs are bounded, and what is missing says so in its place.
 *
 * @module
 */
import { isVerifierTool } from "../gate/consequential.js";
import { bothEnds } from "./quote.js";

/** @typedef {import("../host/calls.js").ToolCall} ToolCall */
/** @typedef {import("./types.js").Fields} Fields */

/** Tools that keep books, ask or show: what they give is no evidence of work. */
const BOOKKEEPING = new Set([
  "todo_write",
  "exit_plan_mode",
  "ask_user_question",
  "get_goal",
  "create_goal",
  "update_goal",
  "present",
  "skill",
  "job_list",
  "list_agents",
  "report",
]);
/** What a tool answers that has only begun something. */
const RECEIPT = /^started (?:background |subagent )/;
/** Tools that run commands. */
const SHELL = /(?:^|_)(?:bash|pwsh|shell|terminal|exec)/;
/** What may stand before a command's program. */
const BEFORE =
  /^(?:\w+=\S*\s+|(?:sudo|time|env|exec|npx|bunx|timeout \S+|(?:uv|poetry|pipenv) run|(?:bundle|pnpm|yarn) exec)\s+)+/;
/** Programs whose subcommand says whether they check. */
const RUNNER =
  /^(?:npm|pnpm|yarn|bun|deno|make|just|cargo|go|dotnet|swift|zig|(?:\.\/)?gradlew?|(?:\.\/)?mvnw?|sbt|mix|rake|bazel|meson|ninja|cmake)\s(?:.*[\s:-])?(?:test|tests|check|lint|build|clippy|vet|verify|typecheck|compile)(?![\w/.])/;
/** Programs that do nothing but check. */
const CHECKER =
  /^(?:\S*\/)?(?:pytest|jest|vitest|mocha|ava|rspec|phpunit|ctest|tox|nox|busted|bats|tsc|eslint|ruff|mypy|pyright|flake8|pylint|shellcheck)(?![\w/.-])/;
const MODULE = /^(?:python3?|node)\s+(?:-m\s+(?:pytest|unittest|mypy|doctest)|--test)(?![\w/])/;
/** A program or script that is named as a test. */
const SCRIPT =
  /^(?:(?:ba|z)?sh\s+|python3?\s+|node\s+|ruby\s+)?(?:\S*\/)?(?:\w+[-_.])*(?:tests?|check|verify)(?:[-_.]\w+)*\.(?:sh|py|js|mjs|ts|rb)(?!\S)/;
/** Longer commands are programs of their own; their beginning says enough. */
const LONGEST_COMMAND = 300;

/** Calls of one stretch of work that are shown, the newest. */
const MOST_CALLS = 40;
/** Characters of one output at most, and at least. */
const LARGEST_ITEM = 20_000;
const SMALLEST_ITEM = 200;
const LONGEST_NARRATION = 2000;

/**
 * Whether a call shows something of the work: it ended, and is neither one of the verifier's nor bookkeeping.
 * @param {ToolCall} call
 * @returns {boolean}
 */
export function isEvidence({ name, result }) {
  return result !== null && !isVerifierTool(name) && !BOOKKEEPING.has(name) &&
    !RECEIPT.test(result.text);
}

/**
 * Whether a call ran something that checks work: a test, a build, a linter. Whether it passed doesn't matter.
 * @param {ToolCall} call
 * @returns {boolean}
 */
export function isVerification({ name, arguments: given, result }) {
  if (
    result === null || !SHELL.test(name) || typeof given?.command !== "string"
  ) return false;
  // What stands behind `<<` is a text that is written somewhere, not a command.
  return (given.command.split("<<", 1)[0] ?? "").split(/[\n;&|()]+/).some(
    (part) => {
      const command = part.trim().slice(0, LONGEST_COMMAND).replace(BEFORE, "");
      return [RUNNER, CHECKER, MODULE, SCRIPT].some((pattern) => pattern.test(command));
    },
  );
}

/**
 * @typedef {object} Stretch
 * @property {readonly ToolCall[]} calls Evidence, in order.
 * @property {string} told What the agent said last, `""` for nothing; shown to the judge as the agent's words.
 */

/**
 * Chat messages: stretch k becomes step k of what the judge sees.
 *
 * @param {readonly Stretch[]} stretches
 * @param {number} maxCharacters Of all of them together, about.
 * @returns {Fields[]}
 */
export function workMessages(stretches, maxCharacters) {
  const calls = stretches.reduce(
    (sum, stretch) => sum + Math.min(stretch.calls.length, MOST_CALLS),
    0,
  );
  const share = Math.floor(maxCharacters * 0.8 / Math.max(1, calls * 2));
  const room = Math.min(LARGEST_ITEM, Math.max(SMALLEST_ITEM, share));
  return stretches.flatMap(({ calls, told }) => {
    const shownCalls = calls.slice(-MOST_CALLS);
    const missing = calls.length - shownCalls.length;
    const words = [
      ...(missing > 0 ? [`(${missing} earlier calls of this part are not shown.)`] : []),
      ...(told.trim() === "" ? [] : [bothEnds(told.trim(), LONGEST_NARRATION)]),
    ].join("\n");
    return [
      {
        role: "assistant",
        content: [
          ...(words === "" ? [] : [{ type: "text", text: words.toWellFormed() }]),
          ...shownCalls.map((call) => ({
            type: "tool_use",
            id: String(call.seq),
            name: call.name === "" ? "tool" : call.name,
            input: boundedInput(call, room),
          })),
        ],
      },
      ...(shownCalls.length === 0 ? [] : [{
        role: "user",
        content: shownCalls.map((call) => ({
          type: "tool_result",
          tool_use_id: String(call.seq),
          is_error: call.result?.isError === true,
          content: bothEnds(call.result?.text ?? "", room).toWellFormed(),
        })),
      }]),
    ];
  });
}

/**
 * Arguments with their long texts bounded, so that a written file doesn't crowd out the outputs.
 * @param {ToolCall} call @param {number} room @returns {unknown}
 */
function boundedInput({ arguments: given, rawArguments }, room) {
  if (rawArguments.length <= room) return given ?? rawArguments;
  if (given === null) return bothEnds(rawArguments, room);
  const fields = Object.entries(given);
  const each = Math.max(100, Math.floor(room / Math.max(1, fields.length)));
  return Object.fromEntries(fields.map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "null";
    return [
      key,
      text.length <= each ? value : bothEnds(text, each).toWellFormed(),
    ];
  }));
}
