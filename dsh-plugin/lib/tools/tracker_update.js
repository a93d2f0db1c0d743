// @ts-check
/**
 * `verifier_tracker_update`: appends one step and scores the work up to it, from the steps up to it alone. What the
 * server lacks of earlier steps is sent first.
 *
 * @module
 */
import { liveEvents } from "../host/events.js";
import { toVerifierError, VerifierError } from "../server/errors.js";
import { identityOf, keepsStep, ownCall, stepIdentity } from "../trackers/fold.js";
import { sessionKey, stepKey } from "../trackers/key.js";
import { UNSCORED_MARK, UPDATE } from "../trackers/names.js";
import { required } from "./parameters.js";
import { countOf, list, oneLine, showWithError, usageText } from "./render.js";
import { sessionOf } from "./session_evidence.js";
import { invalid } from "./spelling.js";
import { countdown, trackerOf, upToDate } from "./tracker_session.js";

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

/** What an advice means for whoever works. @type {Readonly<Record<string, string>>} */
const MEANING = {
  rising: "rising: go on.",
  plateau: "plateau: the last steps brought nothing; try another way.",
  falling: "falling: the last steps made it worse; look at what changed.",
  done: "done: it looks finished; prove it and end.",
};

/** @param {Arguments} args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(args, exec, deps) {
  const session = sessionOf(exec, UPDATE);
  const step = readStep(args);
  const remaining = countdown(deps);
  const events = liveEvents(session);
  const callId = exec.callId ?? `update-${events.length}`;
  const call = ownCall(events, callId, UPDATE);
  const state = trackerOf(session, call);
  const own = call === null ? { callId, occurrence: 0 } : identityOf(call);
  const { identity, isRetry } = stepIdentity(state, step, own);
  const earlier = isRetry && state.steps.at(-1) === state.retried ? state.steps.slice(0, -1) : state.steps;
  const expectedLength = isRetry ? undefined : args["expectedLength"];
  const { id, restored, warnings, value } = await deliver().catch(kept);
  const { index, score, standardError, unscored, state: stepState } = value.step;
  const reason = unscored ?? { reason: stepState };
  return {
    ...value,
    tracker: id,
    step: index,
    score,
    standardError,
    unscored: score === null ? { reason: reason.reason, detail: reason.detail ?? null } : null,
    restored,
    warnings: [...warnings, ...value.warnings],
  };

  async function deliver() {
    const synced = await upToDate(deps, exec, session, state, remaining, earlier);
    const answer = await deps.connection.post(`/v1/trackers/${synced.id}/steps`, {
      step,
      ...(expectedLength === undefined ? {} : { expectedLength }),
    }, {
      signal: exec.signal,
      timeoutMs: Math.max(1, remaining()),
      idempotencyKey: stepKey(sessionKey(session), identity),
    });
    return { ...synced, value: answer.value };
  }
}

/** Of the completed call. @param {any} value @returns {string} */
export function headline({ step, score, standardError }) {
  return `Step ${step}: ${showWithError(score, standardError)}`;
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, value) {
  const { tracker, step, length, score, standardError, unscored, advice, restored, warnings } = value;
  const head = score === null
    ? [
      `${UNSCORED_MARK} step ${step} is kept, but has no score (${oneLine(unscored.reason, 40)}${
        unscored.detail === null ? "" : `: ${oneLine(unscored.detail)}`
      }).`,
      "Call verifier_tracker_update with exactly the same step to have it scored again; it stays one step. Or go on.",
    ]
    : [`Progress after step ${step}: ${showWithError(score, standardError)} of 1.`];
  return [
    ...head,
    ...(typeof advice === "string" ? [`The curve is ${MEANING[advice] ?? `${oneLine(advice, 40)}.`}`] : []),
    `${countOf(length, "step")} so far in tracker ${tracker}${
      restored === 0 ? "" : `; ${restored} were sent to the server again`
    }.`,
    `Cost: ${usageText(value.usage)}.`,
    ...list(warnings, (/** @type {string} */ warning) => `Warning: ${oneLine(warning)}`, 8),
  ].join("\n");
}

/**
 * Tells a model whose step didn't get through that it needn't say it again.
 * @param {unknown} error @returns {never}
 */
function kept(error) {
  const known = toVerifierError(error);
  if (!keepsStep(known.code)) throw known;
  const { status, errors, retryAfterSeconds } = known;
  throw new VerifierError(
    known.code,
    `${known.detail} The step is kept and goes to the server with the next update.`,
    {
      status,
      ...(errors === undefined ? {} : { errors }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      cause: error,
    },
  );
}

/** @param {Arguments} args @returns {unknown} */
function readStep(args) {
  if (args["step"] !== undefined && args["text"] !== undefined) {
    throw invalid("text", "must be left out next to step, as both mean the same", args["text"]);
  }
  const step = args["text"] ?? required(args, "step");
  if (typeof step === "string" && step.trim() === "") throw invalid("step", "must not be blank", step);
  return step;
}
