// @ts-check
/**
 * What the tracker tools share: the request that makes a tracker, and the tracker of the session that asks.
 *
 * @module
 */
import { liveEvents } from "../host/events.js";
import { currentTask } from "../host/task.js";
import { VerifierError } from "../server/errors.js";
import { foldTracker } from "../trackers/fold.js";
import { START } from "../trackers/names.js";
import { sessionKey } from "../trackers/key.js";
import { syncTracker } from "../trackers/sync.js";
import { deadlines } from "./call.js";
import { parameters, readCriteria, readShared } from "./parameters.js";
import { rubricOf } from "./rubric_of.js";
import { askWithImages, sessionImages } from "./session_evidence.js";
import { readNames } from "./spelling.js";

/** @typedef {import("./register.js").Deps} Deps */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {import("../trackers/fold.js").TrackerState} TrackerState */

/** Names of arguments that a start takes, whichever way they are spelt. */
const START_ARGUMENTS = [
  ...Object.keys(
    /** @type {object} */ (parameters([
      "task",
      "context",
      "criteria",
      "repeats",
      "judge",
      "images",
    ])["properties"]),
  ),
  "rememberCriteria",
  "remember_criteria",
  "groundTruthNote",
  "model",
  "channel",
  "seed",
  "reviewStage",
  "backend",
  "onError",
];

/**
 * Body of `POST /v1/trackers`, without its id, and how to ask with the task's images.
 *
 * @param {Deps} deps @param {Execution} exec
 * @param {Readonly<Record<string, unknown>>} args of the start, under their declared names, with `task`
 * @param {readonly HostEvent[]} events
 */
export async function startBody(deps, exec, args, events) {
  const settings = deps.settings.get();
  const { budget: _, dryRun: __, cache: ___, ...fields } = readShared(args, settings);
  const rubric = await rubricOf(deps, exec, readCriteria(args));
  const { urls, skipped } = await sessionImages(deps, exec, args, currentTask(events)?.images ?? []);
  const { server } = deadlines(/** @type {number} */ (settings["timeoutMs"]));
  return {
    rubric,
    body: {
      ...fields,
      task: args["task"],
      criteria: rubric.criteria,
      promptCharacters: settings["maxCharacters"],
      deadlineMs: server,
    },
    /** @template T @param {(shown: { images?: readonly string[] }) => Promise<T>} ask */
    images: async (ask) => {
      const { answer, warnings } = await askWithImages(urls, ask);
      return { answer, warnings: [...skipped.map(({ reason }) => `not shown: ${reason}`), ...warnings] };
    },
  };
}

/**
 * The session's tracker, brought up to the session's log at the server.
 *
 * @param {Deps} deps @param {Execution} exec @param {HostSession} session @param {TrackerState} state
 * @param {() => number} remaining milliseconds until the call's deadline
 * @param {readonly import("../trackers/fold.js").TrackedStep[]} [steps] Those that the server must have.
 */
export async function upToDate(deps, exec, session, state, remaining, steps = state.steps) {
  return await syncTracker(deps.connection, sessionKey(session), state, steps, async (post) => {
    const { args } = readNames(state.arguments, START_ARGUMENTS);
    const events = liveEvents(session).filter(({ seq }) => seq <= state.seq);
    const task = args["task"] ?? currentTask(events)?.text;
    const { body, images } = await startBody(deps, exec, { ...args, task }, events);
    return (await images((shown) => post({ ...body, ...shown }))).warnings;
  }, { signal: exec.signal, remaining });
}

/**
 * The session's tracker as its log tells it.
 *
 * @param {HostSession} session @param {import("../host/calls.js").ToolCall | null} before
 * @returns {TrackerState}
 * @throws {VerifierError} `invalid_request` when none was started
 */
export function trackerOf(session, before) {
  const state = foldTracker(liveEvents(session), before);
  if (state !== null) return state;
  throw new VerifierError("invalid_request", `This session has no tracker yet: call ${START} first.`);
}

/**
 * A countdown of a whole call.
 *
 * @param {Deps} deps @returns {() => number} milliseconds that are left, at least 0
 */
export function countdown(deps) {
  const end = Date.now() + deadlines(/** @type {number} */ (deps.settings.get()["timeoutMs"])).own;
  return () => Math.max(0, end - Date.now());
}
