// @ts-check
/**
 * Names under which the ledger books: of a task, and of the evidence that a verdict is about.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { allCalls } from "../host/calls.js";
import { assistantText, isUserMessage, userText } from "../host/events.js";
import { isVerifierTool } from "./consequential.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */

/**
 * The id of a task in the ledger: limits per task hold across the gate and routing.
 *
 * @param {{ seq: number, text: string } | null} task
 * @returns {string | null}
 */
export function taskId(task) {
  return task === null ? null : `task-${digest([task.seq, task.text])}`;
}

/**
 * Of everything that a verdict depends on: what the judge is asked, and the evidence itself. What this plugin said and
 * what the verifier's tools answered is no evidence, so a steer alone changes nothing here; the agent's answer to it does.
 *
 * @param {unknown} question Task, rubric, threshold and whatever else decides the verdict.
 * @param {readonly HostEvent[]} events From the task on.
 * @returns {string} 64 hexadecimal digits.
 */
export function evidenceFingerprint(question, events) {
  const said = events.flatMap((event) =>
    isUserMessage(event)
      ? [["user", userText(event)]]
      : assistantText(event) === ""
      ? []
      : [["agent", assistantText(event)]]
  );
  const done = allCalls(events).filter(({ name }) => !isVerifierTool(name)).map(
    ({ name, rawArguments, result }) => [
      name,
      rawArguments,
      result === null ? null : [result.isError, result.text],
    ],
  );
  return digest([question, said, done]);
}

/** @param {unknown} value @returns {string} */
function digest(value) {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
