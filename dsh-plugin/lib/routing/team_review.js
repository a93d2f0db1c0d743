// @ts-check
/**
 * Tasks of a team of agents: when one is completed, what its owner reported and did is judged against what the task asked
 * for, once, before the lead agent builds on it.
 *
 * Hosts after 0.1.1 log a team in its lead's session: `team/task` holds a task whole (`{ task: { id, revision, subject,
 * description, status, ownerId?, … } }`), `team/message/queued` a message between members. No package of 0.1.0-rc.8 writes
 * them. Everything is read with care: a field that isn't what it should be counts as absent.
 *
 * @module
 */
import { allCalls } from "../host/calls.js";
import { assistantText, dataOf, isFields, liveEvents, textOf } from "../host/events.js";
import { acceptanceReview, failingLines } from "./acceptance.js";
import { fingerprint } from "./fingerprint.js";
import { bothEnds, cut, MAXIMUM_TEXT, oneLine, shown } from "./quote.js";
import { isEvidence, workMessages } from "./work.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {import("./acceptance.js").Verdict} Verdict */
/** @typedef {import("./types.js").Fields} Fields */
/** @typedef {import("./types.js").RoutingSettings} RoutingSettings */
/** @typedef {import("./types.js").Review} Review */
/** @typedef {import("./types.js").Steer} Steer */

/**
 * @typedef {object} TeamTask A task that is completed and has stayed so.
 * @property {string} teamId
 * @property {string} id
 * @property {string} subject
 * @property {string} description
 * @property {string | null} ownerId
 * @property {number} seq Of the event with which it was completed.
 * @property {number | null} begun Time in milliseconds of the event with which the owner took it; null when unknown.
 * @property {number | null} ended
 * @property {string} reported What the task itself and its owner's messages say of the result.
 */

const LONGEST_DESCRIPTION = 4000;
const LONGEST_REPORT = 20_000;
const LONGEST_SUBJECT = 100;
/** Where hosts may put a task's outcome; rc.8 has no team, so this is a list of what is likely. */
const RESULT_FIELDS = ["result", "evidence", "output", "summary", "outcome", "notes"];

/**
 * The completed team tasks of a window, oldest completion first. A task that was opened again or deleted afterwards isn't
 * among them.
 *
 * @param {readonly HostEvent[]} events
 * @param {number} from Sequence number of the user's task; what was completed before isn't looked at.
 * @returns {TeamTask[]}
 */
export function completedTasks(events, from) {
  /** @type {Map<string, { task: Fields, teamId: string, seq: number, begun: number | null, ended: number | null }>} */
  const completed = new Map();
  /** @type {Map<string, number | null>} */
  const begun = new Map();
  for (const event of events) {
    if (event.type !== "team/task") continue;
    const { teamId, task: given } = dataOf(event);
    const task = isFields(given) ? given : dataOf(event);
    if (typeof task.id !== "string" || task.id === "") continue;
    const team = typeof teamId === "string" ? teamId : "";
    const key = JSON.stringify([team, task.id]);
    const time = event.time ?? null;
    if (task.status === "completed") {
      const before = completed.get(key);
      completed.set(
        key,
        before === undefined
          ? { task, teamId: team, seq: event.seq, begun: begun.get(key) ?? null, ended: time }
          : { ...before, task },
      );
    } else {
      completed.delete(key);
      if (task.status === "in_progress" && !begun.has(key)) begun.set(key, time);
      if (task.status === "pending" || task.status === "deleted") begun.delete(key);
    }
  }
  return [...completed.values()].filter(({ seq }) => seq >= from).sort((a, b) => a.seq - b.seq)
    .map(({ task, teamId, seq, begun, ended }) => {
      const ownerId = typeof task.ownerId === "string" ? task.ownerId : null;
      return {
        teamId,
        id: String(task.id),
        subject: typeof task.subject === "string" ? task.subject : "",
        description: typeof task.description === "string" ? task.description : "",
        ownerId,
        seq,
        begun,
        ended,
        reported: [...ownResults(task), ...messagesOf(events, ownerId, begun, ended)].join("\n\n"),
      };
    });
}

/** @param {Fields} task @returns {string[]} */
function ownResults(task) {
  const verification = isFields(task.verification) ? task.verification : {};
  return [
    ...RESULT_FIELDS.map((field) => textOf(task[field])),
    ...(typeof verification.reason === "string"
      ? [`A peer's verdict: ${String(verification.verdict)}, ${verification.reason}`]
      : []),
  ].filter((text) => text.trim() !== "");
}

/**
 * What the owner wrote to others while it had the task.
 * @param {readonly HostEvent[]} events @param {string | null} ownerId @param {number | null} begun
 * @param {number | null} ended @returns {string[]}
 */
function messagesOf(events, ownerId, begun, ended) {
  if (ownerId === null) return [];
  return events.flatMap((event) => {
    if (event.type !== "team/message/queued" || !within(event, begun, ended)) return [];
    const { message } = dataOf(event);
    if (!isFields(message) || message.senderId !== ownerId) return [];
    const text = textOf(message.content).trim();
    return text === "" ? [] : [text];
  });
}

/** @param {HostEvent} event @param {number | null} begun @param {number | null} ended @returns {boolean} */
function within({ time }, begun, ended) {
  if (time === undefined) return true;
  return (begun === null || time >= begun) && (ended === null || time <= ended);
}

/**
 * The review of one task, or null when nothing is recorded of how it was done: a judge that is shown nothing can only
 * say that nothing was done, which would be no finding but a gap in the log.
 *
 * @param {TeamTask} task
 * @param {RoutingSettings} settings
 * @param {unknown} criteria
 * @param {HostSession | undefined} owner The owner's session, where the host still has it.
 * @returns {Review | null}
 */
export function teamReview(task, settings, criteria, owner) {
  const work = ownersWork(task, owner);
  const told = bothEnds(task.reported, LONGEST_REPORT);
  if (work.calls.length === 0 && work.told === "" && told.trim() === "") return null;
  const messages = workMessages([
    ...(work.calls.length === 0 && work.told === "" ? [] : [work]),
  ], settings.maxCharacters);
  const report = told.trim() === "" ? [] : [{
    role: "assistant",
    content: [{ type: "text", text: `Report of the task's owner:\n${told}`.toWellFormed() }],
  }];
  const asked = `${task.subject}\n\n${cut(task.description, LONGEST_DESCRIPTION)}`.trim().toWellFormed();
  const evidence = [...messages, ...report];
  return acceptanceReview(settings, {
    purpose: "team",
    fingerprint: fingerprint("team", {
      team: task.teamId,
      id: task.id,
      asked,
      // The owner's session may be gone after a restart, and the same task must not be bought again for that.
      reported: task.reported,
      completed: task.seq,
      criteria,
      threshold: settings.threshold,
      judge: settings.judge ?? null,
    }),
    task: asked === "" ? `The team's task ${task.id}` : asked,
    messages: evidence,
    criteria,
    steer: (verdict) => teamFeedback(task, verdict),
  });
}

/** @param {TeamTask} task @param {HostSession | undefined} owner @returns {import("./work.js").Stretch} */
function ownersWork({ begun, ended }, owner) {
  if (owner === undefined || begun === null) return { calls: [], told: "" };
  const events = liveEvents(owner).filter((event) => within(event, begun, ended));
  const told = events.findLast((event) => assistantText(event).trim() !== "");
  return { calls: allCalls(events).filter(isEvidence), told: told === undefined ? "" : assistantText(told) };
}

/**
 * @param {TeamTask} task
 * @param {Verdict} verdict Not accepted.
 * @returns {Steer}
 */
export function teamFeedback(task, verdict) {
  const name = oneLine(task.subject === "" ? task.id : task.subject, LONGEST_SUBJECT);
  const head = [
    `The verifier did not accept the team's completed task "${name}" (${
      oneLine(task.id, LONGEST_SUBJECT)
    }): ` +
    `score ${shown(verdict.score)}, at least ${shown(verdict.threshold)} is required.`,
  ];
  const tail = [
    "",
    "What to do next:",
    "1. Look at the task's result yourself, with your tools; don't take its report for it.",
    "2. Open the task again with what is missing, or repair it, and have the check that proves it run and shown.",
    "3. Then finish again. Tasks that were completed after it have not been reviewed yet.",
  ];
  const room = MAXIMUM_TEXT - [...head, ...tail].join("\n").length - 10;
  return {
    text: cut([...head, ...failingLines(verdict, room), ...tail].join("\n"), MAXIMUM_TEXT),
    summary: `Assay review of the team's task "${name}": not accepted, ${shown(verdict.score)}`,
  };
}
