// @ts-check
/**
 * The gate at the end of a turn. It fails open: whatever goes wrong, the turn closes as it would have without the gate,
 * and the user finds one notice for it in the session.
 *
 * @module
 */
import { toVerifierError } from "../server/errors.js";

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
 * Listens for turns that stop and plans that are presented. What checks them is loaded by the first one that is to be
 * checked, so that a host with a gate that is off starts as fast as without.
 *
 * @param {{ on(name: string, listener: (...given: any[]) => unknown): unknown, get(name: string): any }} ctx
 * @param {GateDeps} deps
 */
export function installGate(ctx, deps) {
  ctx.on("tools/result", (exec, result) => onToolResult(deps, exec, result));
  ctx.on("agent/turn-stopping", (payload) => onTurnStopping(ctx, deps, payload));
  /** @type {Promise<(exec: any, next: any) => unknown> | null} */
  let planReview = null;
  ctx.on("tools/pre-execute", (exec, next) => {
    if (exec?.name !== PLAN_TOOL || !reviews(deps, "reviewPlans")) return next();
    planReview ??= loadPlanReview(deps);
    return planReview.then((review) => review(exec, next), (error) => {
      // The next plan tries again.
      planReview = null;
      deps.log.warn(`assay gate: plans can't be reviewed: ${toVerifierError(error).message}`);
      return next();
    });
  });
}

/** The host's tool that presents a plan. */
const PLAN_TOOL = "exit_plan_mode";

/**
 * Whether automatic reviews are on, and this switch of theirs with them.
 * @param {GateDeps} deps @param {string} [switchName] @returns {boolean}
 */
function reviews(deps, switchName) {
  try {
    const settings = deps.settings.get();
    return settings["mode"] !== "manual" && (switchName === undefined || settings[switchName] === true);
  } catch {
    // The end of the turn says so; nothing is held back for it.
    return false;
  }
}

/** @param {GateDeps} deps @returns {Promise<(exec: any, next: any) => unknown>} */
async function loadPlanReview(deps) {
  const [{ onPlan }, { reserve, settle }] = await Promise.all([
    import("../routing/plan_review.js"),
    import("./ledger.js"),
  ]);
  return onPlan.bind(null, /** @type {any} */ ({ ...deps, ledger: { reserve, settle } }));
}

/**
 * A workflow's result may be longer than what the log shows of it: it is kept until the turn's end.
 *
 * @param {GateDeps} deps @param {unknown} exec @param {any} result @returns {void}
 */
function onToolResult(deps, exec, result) {
  const value = result?.value?.result;
  if (typeof value !== "object" || value === null || !reviews(deps)) return;
  import("../routing/whole_results.js").then(
    ({ keepResult }) => keepResult(exec, result),
    (error) => deps.log.warn(`assay gate: a result can't be kept whole: ${toVerifierError(error).message}`),
  );
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
    return withTurn(deps, ({ checkTurn }) => checkTurn({ ctx, deps, agent, turn, signal, settings }));
  } catch (error) {
    return withTurn(deps, ({ fault }) => fault(agent, deps, error));
  }
}

/**
 * @param {GateDeps} deps
 * @param {(turn: typeof import("./turn.js")) => Promise<void> | void} run Never fails.
 * @returns {Promise<void>} Never rejects.
 */
async function withTurn(deps, run) {
  try {
    await run(await import("./turn.js"));
  } catch (error) {
    // Files of the plugin that are gone: there is nothing left to leave a notice with.
    deps.log.warn(`assay gate: a turn wasn't judged: ${toVerifierError(error).message}`);
  }
}

/** @param {HostSession} session @returns {boolean} */
function isSubagent({ header }) {
  return (header?.delegationDepth ?? 0) > 0 || header?.origin === "subagent";
}
