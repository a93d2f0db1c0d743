// @ts-check
/**
 * The check of one turn: everything under one deadline, whatever it comes to carried out, and every failure told.
 *
 * @module
 */
import { toVerifierError } from "../server/errors.js";
import { startDeadline } from "./deadline.js";
import { notify, openNotice } from "./notice.js";
import { hasMail, steer } from "./steers.js";

/** @typedef {import("./install.js").GateDeps} GateDeps */
/** @typedef {import("./install.js").HostAgent} HostAgent */
/** @typedef {import("./install.js").Stop} Stop */

/**
 * What a check comes to.
 * @typedef {object} Outcome
 * @property {{ text: string, summary: string, fingerprint: string }} [steer]
 */

/** @param {Stop} stop @returns {Promise<void>} Never rejects. */
export async function checkTurn(stop) {
  const { deps, agent, signal, settings } = stop;
  const deadline = startDeadline(signal, settings.totalMs);
  /** Told also when what comes after them fails: whoever found them says them once. @type {import("./notice.js").Notice[]} */
  const notices = [];
  const tell = () => notices.splice(0).forEach((notice) => notify(agent, notice, deps));
  try {
    const { steer: message } = await deadline.bound(async () => {
      const { check } = await import("./check.js");
      return await check(stop, deadline, notices);
    });
    tell();
    if (message !== undefined && signal?.aborted !== true && !hasMail(agent)) steer(agent, message);
  } catch (error) {
    if (deadline.ended() !== "aborted" && signal?.aborted !== true) {
      tell();
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
export function fault(agent, deps, error) {
  const known = toVerifierError(error);
  try {
    notify(agent, openNotice(known.code, known.detail), deps);
  } catch {
    deps.log.warn(`assay gate: ${known.message}`);
  }
}
