// @ts-check
/**
 * The gate at the end of a turn. It fails open: whatever goes wrong, the turn closes as it would have without the gate,
 * and the user finds one notice for it in the session.
 *
 * @module
 */
import { isFields, liveEvents, ownEvents } from "../host/events.js";
import { currentTask } from "../host/task.js";
import { installPlanReview } from "../routing/plan_review.js";
import { route } from "../routing/route.js";
import { toVerifierError } from "../server/errors.js";
import { hostFacts } from "./background.js";
import { startDeadline } from "./deadline.js";
import { eligibility } from "./eligibility.js";
import { taskId } from "./fingerprint.js";
import { judgeWork } from "./judge.js";
import { reserve, settle } from "./ledger.js";
import { notify } from "./notice.js";
import { steer, steersOf } from "./steers.js";
import { steerText } from "./steer_text.js";

/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {import("../server/connection.js").Connection} Connection */
/** @typedef {Readonly<Record<string, any>>} Settings */
/** @typedef {{ warn(text: string): void }} Log */

/**
 * @typedef {object} HostAgent
 * @property {HostSession} session
 * @property {(message: unknown) => void} steer
 * @property {{ readonly nextStep?: readonly unknown[] }} [inbox]
 */
/**
 * @typedef {object} GateDeps
 * @property {{ get(): Settings }} settings Of the gate row, read anew at every stop.
 * @property {Pick<Connection, "post">} connection
 * @property {Log} log
 * @property {(line: string) => void} [print] For notices; default standard error.
 */
/**
 * What a check comes to.
 * @typedef {object} Outcome
 * @property {{ text: string, summary: string, fingerprint: string }} [steer]
 * @property {readonly import("./notice.js").Notice[]} notices
 */

/**
 * @param {{ on(name: string, listener: (payload: any) => unknown): unknown, get(name: string): any }} ctx
 * @param {GateDeps} deps
 */
export function installGate(ctx, deps) {
  ctx.on(
    "agent/turn-stopping",
    (payload) => onTurnStopping(ctx, deps, payload),
  );
  installPlanReview(
    ctx,
    /** @type {any} */ ({ ...deps, ledger: { reserve, settle } }),
  );
}

/**
 * @param {{ get(name: string): any }} ctx
 * @param {GateDeps} deps
 * @param {{ agent: HostAgent, turn: number, signal?: AbortSignal }} payload
 * @returns {Promise<void> | undefined} Never rejects, and never gives a value, which would keep it from other listeners.
 */
export function onTurnStopping(ctx, deps, { agent, turn, signal }) {
  try {
    const settings = deps.settings.get();
    if (settings.enabled !== true && settings.mode === "manual") return;
    if (
      signal?.aborted === true ||
      (!settings.includeSubagents && isSubagent(agent.session))
    ) return;
    return checkTurn({ ctx, deps, agent, turn, signal, settings });
  } catch (error) {
    fault(agent, deps, error);
  }
}

/**
 * @typedef {object} Stop
 * @property {{ get(name: string): any }} ctx
 * @property {GateDeps} deps
 * @property {HostAgent} agent
 * @property {number} turn
 * @property {AbortSignal | undefined} signal
 * @property {Settings} settings
 */

/** @param {Stop} stop @returns {Promise<void>} */
async function checkTurn(stop) {
  const { deps, agent, signal, settings } = stop;
  const deadline = startDeadline(signal, settings.totalMs);
  try {
    const { steer: message, notices } = await deadline.bound(() => check(stop, deadline));
    for (const notice of notices) notify(agent, notice, deps);
    if (message !== undefined && signal?.aborted !== true) {
      steer(agent, message);
    }
  } catch (error) {
    if (deadline.ended() !== "aborted" && signal?.aborted !== true) {
      fault(agent, deps, error);
    }
  } finally {
    deadline.close();
  }
}

/**
 * Everything between a turn's last answer and its end. It says what is to be done and does none of it, as it may still
 * run when its time is over.
 *
 * @param {Stop} stop
 * @param {import("./deadline.js").Deadline} deadline
 * @returns {Promise<Outcome>}
 */
async function check({ ctx, deps, agent, turn, settings }, deadline) {
  const { session } = agent;
  const { connection, log } = deps;
  const events = liveEvents(session);
  const own = ownEvents(session, events);
  const steers = steersOf(own, turn);
  // The same limit for both, each counted by itself: what an automatic review has said doesn't replace the final check.
  const mayRoute = settings.mode !== "manual" && steers.routed < settings.maxGatesPerTurn;
  const mayGate = steers.gate < settings.maxGatesPerTurn;
  // Another plugin has sent the agent on already: its work isn't finished.
  if ((!mayRoute && !mayGate) || hasMail(agent)) return { notices: [] };
  const given = {
    own,
    mode: settings.mode,
    minToolCalls: settings.minToolCalls,
    pinned: typeof settings.problem === "string",
  };
  // The log alone says no to most turns; only then are the host's services asked.
  if (!eligibility(events, given).eligible) return { notices: [] };
  const services = await hostFacts(
    ctx,
    /** @type {any} */ (agent),
    deadline.signal,
  );
  if (!eligibility(events, { ...given, services }).eligible) {
    return { notices: [] };
  }

  /** @type {import("./notice.js").Notice[]} */
  const notices = [];
  let gateRequired = settings.enabled === true || (settings.mode !== "manual" && steers.routed > 0);
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
      return { steer: routed.steer, notices };
    }
    gateRequired ||= routed.gateRequired;
  }
  if (!gateRequired || !mayGate) return { notices };

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
  ) return { notices };
  const text = steerText(judged.rejection, settings.steerText);
  return { steer: { ...text, fingerprint: judged.fingerprint }, notices };
}

/** Whether something waits for the agent's next step, so that the turn doesn't end. @param {HostAgent} agent */
function hasMail({ inbox }) {
  return (inbox?.nextStep?.length ?? 0) > 0;
}

/**
 * A turn that wasn't judged, for whatever reason. Never throws.
 * @param {HostAgent} agent @param {GateDeps} deps @param {unknown} error
 */
function fault(agent, deps, error) {
  const known = toVerifierError(error);
  try {
    notify(agent, openNotice(known.code, known.detail), deps);
  } catch {
    deps.log.warn(`assay gate: ${known.message}`);
  }
}

/** @param {string} code @param {string} reason @returns {import("./notice.js").Notice} */
function openNotice(code, reason) {
  return {
    text: `The gate let a turn end without a verdict (${code}): ${sentence(reason)} ` +
      "Its work was not verified. This note is for the user; nothing is to be done about it.",
    summary: `Not verified: ${code}`,
    reason: `open:${code}`,
  };
}

/** @param {string} warning @returns {import("./notice.js").Notice} */
function warningNotice(warning) {
  const what = sentence(warning);
  return {
    text: `The gate judged a turn with a reservation: ${what} ` +
      "This note is for the user; nothing is to be done about it.",
    summary: `With a reservation: ${what}`,
    reason: `warning:${what.slice(0, 80)}`,
  };
}

/** On one line, bounded, with a full stop. @param {string} text @returns {string} */
function sentence(text) {
  const line = text.replace(/\s+/g, " ").trim().slice(0, 600).toWellFormed();
  return /[.!?\u3002]$/.test(line) ? line : `${line}.`;
}

/** @param {HostSession} session @returns {boolean} */
function isSubagent({ header }) {
  return isFields(header) &&
    ((header.delegationDepth ?? 0) > 0 || header.origin === "subagent");
}
