// @ts-check
/**
 * What happens between a turn's last answer and its end: whether the work is judged at all, automatic reviews, and the
 * final check.
 *
 * @module
 */
import { liveEvents, ownEvents } from "../host/events.js";
import { currentTask } from "../host/task.js";
import { route } from "../routing/route.js";
import { hostFacts } from "./background.js";
import { eligibility } from "./eligibility.js";
import { taskId } from "./fingerprint.js";
import { judgeWork } from "./judge.js";
import { reserve, settle } from "./ledger.js";
import { openNotice, warningNotice } from "./notice.js";
import { hasMail, steersOf } from "./steers.js";
import { steerText } from "./steer_text.js";

/** @typedef {import("./install.js").Stop} Stop */
/** @typedef {import("./turn.js").Outcome} Outcome */

/**
 * Everything between a turn's last answer and its end. It says what is to be done and does none of it, as it may still
 * run when its time is over.
 *
 * @param {Stop} stop
 * @param {import("./deadline.js").Deadline} deadline
 * @param {import("./notice.js").Notice[]} notices What the user is to be told, also when this fails later on: added to.
 * @returns {Promise<Outcome>}
 */
export async function check({ ctx, deps, agent, turn, settings }, deadline, notices) {
  const { session } = agent;
  const { connection, log } = deps;
  const events = liveEvents(session);
  const own = ownEvents(session, events);
  const steers = steersOf(own, turn);
  // The same limit for both, each counted by itself: what an automatic review has said doesn't replace the final check.
  const mayRoute = settings.mode !== "manual" && steers.routed < settings.maxGatesPerTurn;
  const mayGate = steers.gate < settings.maxGatesPerTurn;
  // Another plugin has sent the agent on already: its work isn't finished.
  if ((!mayRoute && !mayGate) || hasMail(agent)) return {};
  const given = {
    own,
    mode: settings.mode,
    minToolCalls: settings.minToolCalls,
    pinned: typeof settings.problem === "string",
  };
  const wasRouted = settings.mode !== "manual" && steers.routed > 0;
  const reviews = mayRoute || wasRouted;
  // The log alone says no to most turns; only then are the host's services asked.
  if (!mayGoOn(eligibility(events, given).reason, reviews)) return {};
  const services = await hostFacts(
    ctx,
    /** @type {any} */ (agent),
    deadline.signal,
  );
  const { eligible, reason } = eligibility(events, { ...given, services });
  if (!mayGoOn(reason, reviews)) return {};

  // Smart and strict mode judge whatever is work enough, and what was reviewed automatically.
  let gateRequired = wasRouted || (eligible && (settings.enabled === true || settings.mode !== "manual"));
  if (mayRoute) {
    const routed = await route(
      /** @type {any} */ ({
        agent,
        turn,
        events: own,
        ctx,
        settings,
        connection,
        ledger: { reserve, settle },
        log,
        signal: deadline.signal,
        deadline,
        taskId: taskId(currentTask(own)),
      }),
    );
    notices.push(...routed.notices);
    if (
      routed.steer !== undefined &&
      !steers.fingerprints.has(routed.steer.fingerprint)
    ) {
      return { steer: routed.steer };
    }
    gateRequired ||= routed.gateRequired;
  }
  if (!gateRequired || !mayGate) return {};

  const judged = await judgeWork({
    session,
    own,
    settings,
    connection,
    ctx,
    deadline,
    log,
  });
  for (const warning of judged.warnings) {
    log.warn(`assay gate: ${warning}`);
    notices.push(warningNotice(warning));
  }
  if (judged.decision === "open") {
    notices.push(openNotice(judged.code, judged.reason));
  }
  if (
    judged.decision !== "steer" || steers.fingerprints.has(judged.fingerprint)
  ) return {};
  const text = steerText(judged.rejection, settings.steerText);
  return { steer: { ...text, fingerprint: judged.fingerprint } };
}

/**
 * Too little work for the final check may still be worth a review: one workflow's candidates, a team's task.
 * @param {string | null} reason @param {boolean} reviews Whether there may be one, or was one in this turn.
 * @returns {boolean}
 */
function mayGoOn(reason, reviews) {
  return reason === null || (reviews && (reason === "nothing_done" || reason === "too_few_calls"));
}
