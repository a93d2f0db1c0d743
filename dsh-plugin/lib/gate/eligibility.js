// @ts-check
/**
 * Whether the work of a turn that stops is to be judged. Decided from what happened, never from how the agent words its
 * answer: an answer may end with a question mark or promise the world.
 *
 * @module
 */
import { allCalls } from "../host/calls.js";
import { blocksOf, dataOf, isFields } from "../host/events.js";
import { currentTask } from "../host/task.js";
import { inPlanMode, running, UNKNOWN_FACTS } from "./background.js";
import { ASKING, isConsequential, isVerifierTool, sandboxModes } from "./consequential.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */

/**
 * `no_task`: nobody has asked for anything. `plan_mode`: the agent may only plan. `nothing_done`: no call that could
 * have changed anything since the task. `too_few_calls`: fewer than smart mode looks at. `asking`: the agent has asked
 * the user and done nothing since. `goal_paused`: the goal waits for the user. `cut_off`: the answer ended at the model's
 * token limit, so the agent has not finished. `background`: jobs or subagents of the task still run.
 *
 * @typedef {"no_task" | "plan_mode" | "nothing_done" | "too_few_calls" | "asking" | "goal_paused" | "cut_off"
 *   | "background"} Ineligible
 */

/**
 * @typedef {object} EligibilityOptions
 * @property {readonly HostEvent[]} [own] The session's own events; default all.
 * @property {"manual" | "smart" | "strict"} mode
 * @property {number} minToolCalls Least calls in smart mode, the verifier's own not counted.
 * @property {import("./background.js").HostFacts} [services]
 * @property {boolean} [pinned] Whether the settings say the task, so that the log needn't.
 */

/**
 * @param {readonly HostEvent[]} events The whole log, also what was inherited: modes are inherited as well.
 * @param {EligibilityOptions} options
 * @returns {{ eligible: true, reason: null } | { eligible: false, reason: Ineligible }}
 */
export function eligibility(
  events,
  {
    own = events,
    mode,
    minToolCalls,
    services = UNKNOWN_FACTS,
    pinned = false,
  },
) {
  const from = currentTask(own)?.seq ?? (pinned ? own[0]?.seq : undefined);
  if (from === undefined) return no("no_task");
  if (services.planMode === true || inPlanMode(events)) return no("plan_mode");

  const modes = sandboxModes(events);
  const calls = allCalls(own).filter(({ seq }) => seq >= from);
  const last = calls.findLast((call) => isConsequential(call, modes(call.seq)));
  const since = last?.seq ?? from;
  if (calls.some(({ name, seq }) => ASKING.has(name) && seq > since)) {
    return no("asking");
  }
  const goal = own.findLast(({ type, seq }) => type === "goal/change" && seq > since);
  if (goal !== undefined && waits(dataOf(goal).goal)) return no("goal_paused");
  if (isCutOff(own)) return no("cut_off");
  const { jobs, subagents } = running(own, from, services);
  if (jobs.length + subagents.length > 0) return no("background");
  // Last, as little work may still be worth an automatic review.
  if (last === undefined) return no("nothing_done");
  if (
    mode === "smart" &&
    calls.filter(({ name }) => !isVerifierTool(name)).length < minToolCalls
  ) {
    return no("too_few_calls");
  }
  return { eligible: true, reason: null };
}

/** @param {Ineligible} reason @returns {{ eligible: false, reason: Ineligible }} */
const no = (reason) => ({ eligible: false, reason });

/** @param {unknown} goal @returns {boolean} */
function waits(goal) {
  return isFields(goal) &&
    (goal.phase === "paused" || goal.phase === "blocked");
}

/**
 * Whether the newest answer ended at the model's token limit. The host stops such a turn like any other, and its kind of
 * end stays what it is, whatever the agent would do after a steer.
 *
 * @param {readonly HostEvent[]} own
 * @returns {boolean}
 */
function isCutOff(own) {
  const at = own.findLastIndex(({ type }) => type === "assistant/message");
  const answer = own[at];
  if (answer === undefined) return false;
  const step = own.slice(0, at).findLastIndex(({ type }) => type === "step/start");
  // Formats up to 2 store the stream as events, later ones within the message.
  const stored = own.slice(Math.max(0, step), at).filter(({ type }) => type === "assistant/chunk").map(
    dataOf,
  );
  const finish = [...stored, ...blocksOf(dataOf(answer).stream)]
    .map(({ chunk }) => chunk)
    .findLast((chunk) => isFields(chunk) && chunk.type === "finish");
  return isFields(finish) && isFields(finish.reason) && finish.reason.kind === "max-tokens";
}
