// @ts-check
/**
 * What every buying call has in common: its deadline and its idempotency key.
 *
 * @module
 */
import { createHash, randomUUID } from "node:crypto";
import { VerifierError } from "../server/errors.js";

/** @typedef {import("./register.js").Deps} Deps */
/** @typedef {import("./register.js").Execution} Execution */

/**
 * The deadlines of a call: the server gives up first and answers with what it has, then this package, then the host (its
 * deadline is set where the tool is registered).
 *
 * @param {number} timeoutMs the setting: whole time of one call
 * @returns {{ server: number, own: number }} milliseconds
 */
export function deadlines(timeoutMs) {
  return {
    server: Math.max(1, Math.floor(timeoutMs - Math.min(5000, timeoutMs / 10))),
    own: timeoutMs,
  };
}

/**
 * The key of a request: the same call of the same session with the same body has the same one, so that a retry gets
 * the first answer and buys nothing. The body is part of it as some models number their calls anew in every turn.
 *
 * @param {Execution} exec @param {string} path @param {unknown} body @returns {string}
 */
export function idempotencyKey(exec, path, body) {
  const session = exec.agent?.session?.id ?? exec.agent?.session?.header?.id;
  if (session === undefined || exec.callId === undefined) return randomUUID();
  const digest = createHash("sha256").update(
    JSON.stringify([session, exec.callId, path, body]),
  ).digest("hex");
  return `dsh-${digest}`;
}

/**
 * Posts a request that buys something and gives the server's answer.
 *
 * @param {Deps} deps @param {Execution} exec @param {string} path @param {Readonly<Record<string, unknown>>} body
 * @returns {Promise<unknown>}
 * @throws {VerifierError}
 */
export async function buy(deps, exec, path, body) {
  const { server, own } = deadlines(
    /** @type {number} */ (deps.settings.get()["timeoutMs"]),
  );
  const sent = { ...body, deadlineMs: server };
  const { value } = await deps.connection.post(path, sent, {
    signal: exec.signal,
    timeoutMs: own,
    idempotencyKey: idempotencyKey(exec, path, sent),
  });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new VerifierError("bad_answer", `The server's answer to ${path} isn't a JSON object.`);
  }
  return value;
}
