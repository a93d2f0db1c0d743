// @ts-check
/**
 * What the user asked, read from a session's log. Only what a person wrote counts: steering, notices, summaries of the
 * history and messages of plugins are never a task.
 *
 * @module
 */
import { assistantText, blocksOf, dataOf, isUserMessage, userText } from "./events.js";

/** @typedef {import("./events.js").HostEvent} HostEvent */
/** @typedef {import("./events.js").Fields} Fields */

/**
 * @typedef {object} Task
 * @property {string} text
 * @property {number} seq Of the first message of it: the work for the task comes after.
 * @property {Fields[]} images References of the attached images, in their order.
 */

/**
 * The task that is being worked on: the messages with which the user opened the newest turn that has any, joined by
 * blank lines. Several messages that wait in the queue open a turn together; what the user says while the agent already
 * works is no part of the task but of the session, where the judge reads it. A turn that something else opened (a
 * finished job, a goal's round) goes on with the task before it.
 *
 * @param {readonly HostEvent[]} events
 * @returns {Task | null} Null when no person has written any text.
 */
export function currentTask(events) {
  for (const turn of turnsOf(events).toReversed()) {
    const task = taskOf(opening(turn)) ??
      taskOf(turn.filter(isUserMessage).slice(0, 1));
    if (task !== null) return task;
  }
  return null;
}

/**
 * The first task of a log.
 *
 * @param {readonly HostEvent[]} events
 * @returns {Task | null}
 */
export function firstTask(events) {
  for (const turn of turnsOf(events)) {
    const task = taskOf(opening(turn)) ??
      taskOf(turn.filter(isUserMessage).slice(0, 1));
    if (task !== null) return task;
  }
  return null;
}

/**
 * What was said before a task, for a judge who would else read "yes, do that" and nothing more: the user's earlier
 * messages, and the agent's last answer before the task, oldest first. The newest is kept whole as long as it fits.
 *
 * @param {readonly HostEvent[]} events
 * @param {Task} task
 * @param {number} [maxCharacters]
 * @returns {string | null} Null when nothing was said before.
 */
export function earlierTalk(events, task, maxCharacters = 8000) {
  const before = events.filter(({ seq }) => seq < task.seq);
  const answer = before.findLast((event) => assistantText(event).trim() !== "");
  const said = before.flatMap((event) => {
    if (event === answer) return [`Agent: ${assistantText(event).trim()}`];
    const text = isUserMessage(event) ? userText(event).trim() : "";
    return text === "" ? [] : [`User: ${text}`];
  });
  let left = maxCharacters;
  /** @type {string[]} */
  const kept = [];
  for (const line of said.toReversed()) {
    if (left <= 0) break;
    const shown = line.length <= left ? line : `${line.slice(0, left).toWellFormed()}…`;
    kept.unshift(shown);
    left -= line.length;
  }
  return kept.length === 0 ? null : kept.join("\n\n");
}

/**
 * The user's images of a log, newest last.
 *
 * @param {readonly HostEvent[]} events
 * @returns {Fields[]} References for `attachments.readImage`.
 */
export function userImages(events) {
  return events.filter(isUserMessage).flatMap((event) => imagesOf(dataOf(event).content));
}

/**
 * The events between two turns' starts; what comes before the first is a turn of its own.
 * @param {readonly HostEvent[]} events @returns {HostEvent[][]}
 */
function turnsOf(events) {
  /** @type {HostEvent[][]} */
  const turns = [[]];
  for (const event of events) {
    if (event.type === "turn/start") turns.push([]);
    else turns.at(-1)?.push(event);
  }
  return turns;
}

/** The user's messages before the agent's first one. @param {readonly HostEvent[]} turn @returns {HostEvent[]} */
function opening(turn) {
  const answer = turn.findIndex(({ type }) => type === "assistant/message" || type === "tool/call");
  return (answer === -1 ? turn : turn.slice(0, answer)).filter(isUserMessage);
}

/** @param {readonly HostEvent[]} messages @returns {Task | null} */
function taskOf(messages) {
  const text = messages.map((event) => userText(event).trim()).filter((said) => said !== "").join("\n\n");
  const [first] = messages;
  if (first === undefined || text === "") return null;
  return {
    text,
    seq: first.seq,
    images: messages.flatMap((event) => imagesOf(dataOf(event).content)),
  };
}

/** @param {unknown} content @returns {Fields[]} */
function imagesOf(content) {
  return blocksOf(content).flatMap(({ type, attachment }) =>
    type === "image" && typeof attachment === "object" && attachment !== null
      ? [/** @type {Fields} */ (attachment)]
      : []
  );
}
