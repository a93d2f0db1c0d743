// @ts-check
/**
 * The review of a plan before the user sees it: `exit_plan_mode` with a plan that the judge doesn't accept is answered with
 * what it lacks, and the agent revises it first.
 *
 * Plan mode has this one exit, so a review may never close it. Whatever keeps the review from a verdict lets the plan
 * through, with a notice; the same plan is never held back twice, also not after a restart, whatever was said of it; and a
 * task has at most `reviewsPerTask` reviews.
 *
 * @module
 */
import { inPlanMode } from "../gate/background.js";
import { startDeadline } from "../gate/deadline.js";
import { taskId } from "../gate/fingerprint.js";
import { notify } from "../gate/notice.js";
import { isFields, liveEvents, ownEvents } from "../host/events.js";
import { currentTask, earlierTalk } from "../host/task.js";
import { toVerifierError } from "../server/errors.js";
import { acceptanceReview, failingLines } from "./acceptance.js";
import { PROPOSAL_RUBRIC } from "./candidates.js";
import { fingerprint } from "./fingerprint.js";
import { firstTime } from "./memory.js";
import { failedNotice, spentNotice } from "./notices.js";
import { cut, MAXIMUM_TEXT, shown } from "./quote.js";
import { buyReview } from "./review.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {import("./acceptance.js").Verdict} Verdict */
/** @typedef {import("./types.js").Notice} Notice */
/** @typedef {import("./types.js").RoutingSettings} RoutingSettings */

/** @typedef {{ kind: string, reason?: string }} Decision What the host's hook gives and takes. */
/**
 * @typedef {object} Execution The part of a pending tool call that is read here.
 * @property {string} name
 * @property {unknown} arguments
 * @property {{ session: HostSession }} [agent]
 * @property {AbortSignal} [signal]
 */
/**
 * @typedef {object} PlanReviewDeps
 * @property {{ get(): RoutingSettings }} settings
 * @property {import("./types.js").Connection} connection
 * @property {import("./types.js").Ledger} ledger
 * @property {{ warn(text: string): void }} [log]
 */

const EXIT_PLAN_MODE = "exit_plan_mode";

/**
 * Listener for `tools/pre-execute`.
 *
 * @param {PlanReviewDeps} deps
 * @param {Execution} exec
 * @param {() => Promise<Decision>} next
 * @returns {Promise<Decision>}
 */
export async function onPlan(deps, exec, next) {
  // What others refuse anyway needs no review, and what they ask of the user stays as it is.
  const decision = await next();
  if (exec.name !== EXIT_PLAN_MODE || decision?.kind === "deny") return decision;
  const reason = await reviewPlan(exec, deps);
  return reason === null ? decision : { kind: "deny", reason };
}

/**
 * @param {Execution} exec
 * @param {PlanReviewDeps} deps
 * @returns {Promise<string | null>} Why the plan is held back, at most 4,000 characters; null lets it through. Never
 *   rejects.
 */
export async function reviewPlan({ agent, arguments: given, signal }, deps) {
  const plan = isFields(given) && typeof given.plan === "string" ? given.plan.trim() : "";
  if (agent === undefined || plan === "") return null;
  const { session } = agent;
  /** @param {Notice} notice */
  const tell = (notice) => {
    if (firstTime(session, notice.reason)) notify(agent, notice, { log: deps.log });
  };
  try {
    const settings = deps.settings.get();
    if (settings.mode === "manual" || !settings.reviewPlans) return null;
    if (!settings.includeSubagents && isSubagent(session)) return null;
    const events = ownEvents(session);
    const task = currentTask(events);
    const id = task === null ? null : taskId(task);
    // Outside of plan mode the tool only fails, and a review would be paid for nothing. The mode is inherited by a fork.
    if (task === null || id === null || !inPlanMode(liveEvents(session))) return null;
    return await judged({ plan, task, id, events, session, settings, signal, deps, tell });
  } catch (thrown) {
    const error = toVerifierError(thrown);
    deps.log?.warn(`assay plan review: ${error.message}`);
    // A call that its user stopped needs no explanation.
    if (signal?.aborted !== true) tell(failedNotice("the plan", error.code, error.message));
    return null;
  }
}

/**
 * @param {object} given
 * @param {string} given.plan
 * @param {import("../host/task.js").Task} given.task
 * @param {string} given.id
 * @param {readonly HostEvent[]} given.events
 * @param {HostSession} given.session
 * @param {RoutingSettings} given.settings
 * @param {AbortSignal | undefined} given.signal
 * @param {PlanReviewDeps} given.deps
 * @param {(notice: Notice) => void} given.tell
 * @returns {Promise<string | null>}
 */
async function judged({ plan, task, id, events, session, settings, signal, deps, tell }) {
  const review = acceptanceReview(settings, {
    purpose: "plan",
    // Of the text alone: with other settings the same plan may be judged differently, but is still the same plan.
    fingerprint: fingerprint("plan", { plan: plan.replace(/\s+/g, " ") }),
    task: task.text,
    context: earlierTalk(events, task),
    messages: [],
    text: plan.toWellFormed(),
    criteria: PROPOSAL_RUBRIC,
  });
  // Over everything together: each request alone may take as long as the whole.
  const deadline = startDeadline(signal, settings.totalMs);
  const outcome = await deadline.bound(() =>
    buyReview({
      connection: deps.connection,
      ledger: deps.ledger,
      settings,
      session,
      task: id,
      delivered: new Set(),
      turn: -1,
      signal: deadline.signal,
      deadline,
      log: deps.log,
    }, review)
  ).finally(deadline.close);
  if (outcome.kind === "bought") {
    const verdict = /** @type {Verdict} */ (outcome.value);
    return verdict.accepted ? null : denial(verdict);
  }
  if (outcome.kind === "spent") tell(spentNotice("the plan", outcome.reason));
  if (outcome.kind === "failed" && signal?.aborted !== true) {
    tell(failedNotice("the plan", outcome.code, outcome.message));
  }
  return null;
}

/**
 * @param {Verdict} verdict Not accepted.
 * @returns {string}
 */
export function denial(verdict) {
  const head = [
    `The verifier read this plan before the user and did not accept it: score ${shown(verdict.score)}, ` +
    `at least ${
      shown(verdict.threshold)
    } is required. Nothing of it was executed, and the user has not seen it.`,
  ];
  const tail = [
    "",
    "What to do next:",
    "1. Stay in plan mode. Look up with your tools what the plan takes for granted at these points.",
    "2. Revise the plan: aim, steps that can work here, and a check with its expected result that could fail.",
    `3. Call ${EXIT_PLAN_MODE} again. If you are sure that the plan is right as it is, present it unchanged: ` +
    "the same plan is not held back a second time.",
  ];
  const room = MAXIMUM_TEXT - [...head, ...tail].join("\n").length - 10;
  return cut([...head, ...failingLines(verdict, room), ...tail].join("\n"), MAXIMUM_TEXT);
}

/** @param {HostSession} session @returns {boolean} */
function isSubagent({ header }) {
  return (header.delegationDepth ?? 0) > 0 || header.origin === "subagent";
}
