// @ts-check
/**
 * `verifier_tracker_result`: the curve of the session's tracker.
 *
 * @module
 */
import { liveEvents } from "../host/events.js";
import { ownCall } from "../trackers/fold.js";
import { array, integer, nullable, number, object, optional, string } from "./output.js";
import { parameters } from "./parameters.js";
import { list, oneLine, show } from "./render.js";
import { sessionOf } from "./session_evidence.js";
import { curveLines } from "./track.js";
import { countdown, trackerOf, upToDate } from "./tracker_session.js";

const NAME = "verifier_tracker_result";

const output = object({
  tracker: string("Its id at the server."),
  task: string(),
  length: integer(),
  steps: array(object({
    step: integer("1-based."),
    score: nullable(number()),
    standardError: nullable(number()),
    unscored: nullable(object({ reason: string(), detail: nullable(string()) })),
    characters: integer(),
    createdAt: string(),
  })),
  advice: optional(string("rising, plateau, falling or done.")),
  restored: integer("Steps that had to be sent again."),
  warnings: array(string()),
});

/** @type {import("./register.js").ToolSpec} */
const tool = {
  name: NAME,
  description: "The progress curve of this session's tracker.",
  parameters: parameters([]),
  output,
  concurrencySafe: false,
  async run(_args, exec, deps) {
    const session = sessionOf(exec, NAME);
    const call = exec.callId === undefined ? null : ownCall(liveEvents(session), exec.callId, NAME);
    const state = trackerOf(session, call);
    const { tracker, restored, warnings } = await upToDate(deps, exec, session, state, countdown(deps));
    return {
      tracker: tracker.id,
      task: tracker.task,
      length: tracker.length,
      steps: tracker.steps.map((
        /** @type {any} */ { index, state: stepState, unscored, score, ...rest },
      ) => ({
        ...rest,
        step: index,
        score,
        unscored: score === null
          ? { reason: unscored?.reason ?? stepState, detail: unscored?.detail ?? null }
          : null,
      })),
      advice: tracker.advice,
      restored,
      warnings: [...warnings, ...tracker.warnings],
    };
  },
  title: () => "Read the tracker",
  headline: ({ length, steps }) => `${length} steps, last ${show(steps.at(-1)?.score)}`,
  render(_args, { tracker, task, length, steps, advice, restored, warnings }) {
    if (length === 0) return `No step yet: call verifier_tracker_update after each step of: ${oneLine(task)}`;
    const last = steps.at(-1);
    const missing = steps.filter((/** @type {any} */ { score }) => score === null).length;
    return [
      `Progress after step ${last.step}: ${show(last.score)} of 1${
        typeof advice === "string" ? `; the curve says: ${advice}` : ""
      }.`,
      ...curveLines(
        steps.map((/** @type {any} */ each) => ({ ...each, unscored: each.score === null ? 1 : 0 })),
      ),
      `Tracker ${tracker}.`,
      ...(missing === 0 ? [] : [`${missing} of ${length} steps have no score.`]),
      ...(restored === 0 ? [] : [`${restored} steps were sent to the server again.`]),
      ...list(warnings, (/** @type {string} */ warning) => `Warning: ${oneLine(warning)}`, 8),
    ].join("\n");
  },
};

/** The tool. */
export const spec = () => tool;
