// @ts-check
/**
 * The gate at the end of a turn. It fails open: whatever goes wrong, the turn closes as it would have without the gate,
 * and the user finds one notice for it in the session.
 *
 * @module
 */
import { isFields } from "../host/events.js";
import { installWholeResults } from "../routing/whole_results.js";
import { toVerifierError } from "../server/errors.js";
import { startDeadline } from "./deadline.js";
import { notify, openNotice } from "./notice.js";
import { hasMail, steer } from "./steers.js";

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
 * Listens for turns that stop and plans that are presented. What checks them is loaded by the first one that is to be
 * checked, so that a host with a gate that is off starts as fast as without.
 *
 * @param {{ on(name: string, listener: (...given: any[]) => unknown): unknown, get(name: string): any }} ctx
 * @param {GateDeps} deps
 */
export function installGate(ctx, deps) {
  installWholeResults(ctx);
  ctx.on("agent/turn-stopping", (payload) => onTurnStopping(ctx, deps, payload));
  /** @type {Promise<(exec: unknown, next: unknown) => unknown> | null} */
  let planReview = null;
  ctx.on("tools/pre-execute", (exec, next) => {
    if (exec?.name !== PLAN_TOOL || !reviewsPlans(deps)) return next();
    planReview ??= loadPlanReview(deps);
    return planReview.then((review) => review(exec, next), (error) => {
      deps.log.warn(`assay gate: plans can't be reviewed: ${toVerifierError(error).message}`);
      return next();
    });
  });
}

/** The host's tool that presents a plan. */
const PLAN_TOOL = "exit_plan_mode";

/** @param {GateDeps} deps @returns {boolean} */
function reviewsPlans(deps) {
  try {
    const { mode, reviewPlans } = deps.settings.get();
    return mode !== "manual" && reviewPlans === true;
  } catch {
    // The end of the turn says so; a plan isn't held back for it.
    return false;
  }
}

/** @param {GateDeps} deps @returns {Promise<(exec: unknown, next: unknown) => unknown>} */
async function loadPlanReview(deps) {
  const [{ installPlanReview }, { reserve, settle }] = await Promise.all([
    import("../routing/plan_review.js"),
    import("./ledger.js"),
  ]);
  return await new Promise((done) => {
    installPlanReview(
      { on: (_, listener) => done(listener) },
      /** @type {any} */ ({ ...deps, ledger: { reserve, settle } }),
    );
  });
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
    if (signal?.aborted === true || (!settings.includeSubagents && isSubagent(agent.session))) return;
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
    const { steer: message, notices } = await deadline.bound(async () => {
      const { check } = await import("./check.js");
      return await check(stop, deadline);
    });
    for (const notice of notices) notify(agent, notice, deps);
    if (message !== undefined && signal?.aborted !== true && !hasMail(agent)) steer(agent, message);
  } catch (error) {
    if (deadline.ended() !== "aborted" && signal?.aborted !== true) {
      fault(agent, deps, error);
    }
  } finally {
    deadline.close();
  }
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

/** @param {HostSession} session @returns {boolean} */
function isSubagent({ header }) {
  return isFields(header) &&
    ((header.delegationDepth ?? 0) > 0 || header.origin === "subagent");
}
