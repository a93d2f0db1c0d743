// @ts-check
/**
 * What `verifier_tracker_update` does: sends what the server lacks, then the new step.
 *
 * @module
 */
import { liveEvents } from "../host/events.js";
import { toVerifierError, VerifierError } from "../server/errors.js";
import { identityOf, keepsStep, ownCall, stepIdentity } from "../trackers/fold.js";
import { sessionKey, stepKey } from "../trackers/key.js";
import { UPDATE } from "../trackers/names.js";
import { required } from "./parameters.js";
import { sessionOf } from "./session_evidence.js";
import { invalid } from "./spelling.js";
import { countdown, trackerOf, upToDate } from "./tracker_session.js";

/**
 * @param {import("./parameters.js").Arguments} args
 * @param {import("./register.js").Execution} exec
 * @param {import("./register.js").Deps} deps
 */
export async function updateTracker(args, exec, deps) {
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

/** @param {import("./parameters.js").Arguments} args @returns {unknown} */
function readStep(args) {
  if (args["step"] !== undefined && args["text"] !== undefined) {
    throw invalid("text", "must be left out next to step, as both mean the same", args["text"]);
  }
  const step = args["text"] ?? required(args, "step");
  if (typeof step === "string" && step.trim() === "") throw invalid("step", "must not be blank", step);
  return step;
}
