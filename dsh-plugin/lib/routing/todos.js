// @ts-check
/**
 * The agent's own list of what is to be done, read as checkpoints: between two changed snapshots of the list lies work,
 * and whether that work brought the task forward is what a progress curve tells. The list itself is only what the agent
 * says, and is shown to the judge as that.
 *
 * @module
 */
import { allCalls } from "../host/calls.js";
import { assistantText, dataOf, isFields } from "../host/events.js";
import { counted, message, oneLine, shown } from "./quote.js";
import { isEvidence, isVerification, workMessages } from "./work.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/calls.js").ToolCall} ToolCall */
/** @typedef {import("./types.js").Fields} Fields */
/** @typedef {import("./types.js").Steer} Steer */

/** @typedef {{ content: string, status: string }} Todo */
/** @typedef {{ seq: number, todos: readonly Todo[] }} Snapshot */
/**
 * @typedef {object} Step One stretch of work between two states of the list.
 * @property {readonly ToolCall[]} calls
 * @property {string} told
 * @property {readonly Todo[]} todos The list after it.
 * @property {readonly string[]} newlyDone Entries that became completed with it.
 */
/**
 * @typedef {object} TodoTrack
 * @property {"track"} kind
 * @property {readonly Step[]} steps
 * @property {readonly Fields[]} messages What `POST /v1/session` takes; message k of the agent is step k.
 * @property {readonly number[]} checkpoints 1-based: the end of every step.
 * @property {readonly Todo[]} todos The newest list.
 */

/** Least progress that counts as finished: letter N of the 20, 13/19. */
export const PROGRESS_THRESHOLD = 13 / 19;
/** A change by less than about a letter is none; the server's own measure for a plateau. */
const LETTER = 0.05;
/** Changes of the list that become checkpoints, the newest ones; with the work after the last one, seven steps. */
const MOST_SNAPSHOTS = 6;
const SHORTEST_LIST = 2;
const LONGEST_ITEM = 120;

/**
 * What the todo lists of a task give to judge.
 *
 * @param {readonly HostEvent[]} events
 * @param {{ from: number, maxCharacters: number }} options `from`: sequence number of the task.
 * @returns {TodoTrack | { kind: "delivered" } | null} `delivered`: everything is ticked off and something was run to check
 *   it afterwards, so the final gate has all it needs. Null: no list that changed, or no work along with it.
 */
export function todoTrack(events, { from, maxCharacters }) {
  const own = events.filter(({ seq }) => seq >= from);
  const snapshots = changedSnapshots(own);
  const last = snapshots.at(-1);
  if (snapshots.length < 2 || last === undefined) return null;
  const calls = allCalls(own);
  if (
    isAllDone(last.todos) &&
    calls.some((call) => call.seq > last.seq && isVerification(call))
  ) {
    return { kind: "delivered" };
  }
  const steps = stepsBetween(own, calls.filter(isEvidence), snapshots);
  if (steps.length === 0) return null;
  const messages = workMessages(
    steps.map(({ calls, told, todos, newlyDone }) => ({
      calls,
      told: [told, listAsTold(todos, newlyDone)].filter((text) => text !== "")
        .join("\n"),
    })),
    maxCharacters,
  );
  return {
    kind: "track",
    steps,
    messages,
    checkpoints: steps.map((_, i) => i + 1),
    todos: last.todos,
  };
}

/**
 * Snapshots of lists of two or more entries that differ from the one before.
 * @param {readonly HostEvent[]} events
 * @returns {Snapshot[]}
 */
export function changedSnapshots(events) {
  /** @type {Snapshot[]} */
  const found = [];
  let before = "";
  for (const event of events) {
    if (event.type !== "todo/write") continue;
    const todos = readTodos(dataOf(event).todos);
    if (todos === null || todos.length < SHORTEST_LIST) continue;
    const text = JSON.stringify(todos);
    if (text !== before) found.push({ seq: event.seq, todos });
    before = text;
  }
  return found;
}

/** @param {unknown} given @returns {Todo[] | null} */
function readTodos(given) {
  if (!Array.isArray(given)) return null;
  /** @type {Todo[]} */
  const todos = [];
  for (const item of given) {
    if (
      !isFields(item) || typeof item.content !== "string" ||
      typeof item.status !== "string"
    ) return null;
    todos.push({ content: item.content, status: item.status });
  }
  return todos;
}

/** @param {readonly Todo[]} todos @returns {boolean} */
export function isAllDone(todos) {
  return todos.length > 0 &&
    todos.every(({ status }) => status === "completed");
}

/**
 * @param {readonly HostEvent[]} events
 * @param {readonly ToolCall[]} calls
 * @param {readonly Snapshot[]} snapshots
 * @returns {Step[]}
 */
function stepsBetween(events, calls, snapshots) {
  const shownSnapshots = snapshots.slice(-MOST_SNAPSHOTS);
  /** @type {{ calls: ToolCall[], told: string, todos: readonly Todo[] }[]} */
  const stretches = [];
  let start = -1;
  // What comes after the last change is work for the list as it stands.
  for (
    const end of [...shownSnapshots, {
      seq: Infinity,
      todos: snapshots.at(-1)?.todos ?? [],
    }]
  ) {
    const inside = (/** @type {number} */ seq) => seq > start && seq < end.seq;
    const done = calls.filter(({ seq }) => inside(seq));
    const told = events.findLast((event) => inside(event.seq) && assistantText(event).trim() !== "");
    const words = told === undefined ? "" : assistantText(told);
    const previous = stretches.at(-1);
    if (done.length > 0) {
      stretches.push({ calls: done, told: words, todos: end.todos });
    } else if (previous !== undefined) {
      // A list that was only rewritten belongs to the work before it.
      previous.todos = end.todos;
      if (words !== "") previous.told = words;
    }
    start = end.seq;
  }
  const completed = new Set(
    stretches.length === 0 ? [] : doneBefore(snapshots, stretches[0]?.calls[0]?.seq ?? 0),
  );
  return stretches.map((stretch) => {
    const done = stretch.todos.filter(({ status }) => status === "completed")
      .map(({ content }) => content);
    const newlyDone = done.filter((content) => !completed.has(content));
    for (const content of done) completed.add(content);
    return { ...stretch, newlyDone };
  });
}

/** @param {readonly Snapshot[]} snapshots @param {number} seq @returns {string[]} */
function doneBefore(snapshots, seq) {
  const before = snapshots.findLast((snapshot) => snapshot.seq < seq);
  return (before?.todos ?? []).filter(({ status }) => status === "completed")
    .map(({ content }) => content);
}

/** @param {readonly Todo[]} todos @param {readonly string[]} newlyDone @returns {string} */
function listAsTold(todos, newlyDone) {
  const done = todos.filter(({ status }) => status === "completed").length;
  const ticked = newlyDone.slice(0, 10).map((content) => `"${oneLine(content, LONGEST_ITEM)}"`).join(", ");
  const more = newlyDone.length > 10 ? ` and ${newlyDone.length - 10} more` : "";
  return `My todo list after this (my own claim): ${done} of ${todos.length} completed` +
    `${ticked === "" ? "" : `; newly completed: ${ticked}${more}`}.`;
}

/**
 * What is used of the progress curve in an answer of `POST /v1/session`.
 * @typedef {object} Progress
 * @property {readonly { step: number, score: number | null }[]} curve
 * @property {number | null} final
 * @property {"rising" | "plateau" | "falling" | "done" | null} advice
 */

/**
 * What a curve means for the end of the turn.
 *
 * In `strict` mode a final score below 13/19 always sends the agent back. In `smart` mode only a finding that has a place
 * does: a curve that doesn't rise while the list says that all is done, or a fall by more than a letter from an earlier
 * checkpoint. Anything else is left to the final gate.
 *
 * @param {TodoTrack} track
 * @param {Progress} progress
 * @param {"smart" | "strict"} mode
 * @returns {Steer | null} Null: nothing to say.
 */
export function trackFeedback(track, progress, mode) {
  const { final, advice, curve } = progress;
  if (final === null || final >= PROGRESS_THRESHOLD - 1e-9) return null;
  const claimsDone = isAllDone(track.todos);
  const fall = largestFall(curve);
  const stalled = claimsDone && (advice === "plateau" || advice === "falling");
  if (mode === "smart" && fall === null && !stalled) return null;

  const findings = [
    ...(fall === null ? [] : [
      `Progress fell at checkpoint ${fall.at} (from ${shown(fall.from)} to ${shown(fall.to)})${
        doneAt(track, fall.at)
      }: what was done there may have broken something, or shown that it doesn't work.`,
    ]),
    ...(stalled
      ? [
        `The list says that all ${track.todos.length} entries are completed, but the curve does not rise${
          lastTicked(track)
        }: these entries are not shown to be done.`,
      ]
      : []),
    ...(fall === null && !stalled && claimsDone
      ? [
        `The list says that all ${track.todos.length} entries are completed, but the work shown does not get there yet.`,
      ]
      : []),
  ];
  const text = message(
    [
      `The verifier followed your todo list over ${counted(track.steps.length, "checkpoint")}: ` +
      `progress is ${shown(final)} now, at least ${shown(PROGRESS_THRESHOLD)} is needed.`,
      ...findings,
      "Checkpoints (progress, entries newly completed there):",
    ],
    curve.map(({ step, score }) => {
      const ticked = (track.steps[step - 1]?.newlyDone ?? []).slice(0, 3)
        .map((content) => `"${oneLine(content, LONGEST_ITEM)}"`).join(", ");
      return `- ${step}: ${score === null ? "no score" : shown(score)}${ticked === "" ? "" : `, ${ticked}`}`;
    }),
    [
      "",
      "What to do next:",
      `1. ${
        fall === null
          ? "Go through the entries above against the real state, with your tools."
          : `Look at what was done at checkpoint ${fall.at} first, with your tools.`
      }`,
      "2. Repair or finish what does not hold, and set the list to what is true.",
      "3. Run a check that would fail if the work were wrong, and let its output be seen. Then finish again.",
    ],
  );
  const where = fall !== null ? `fell at checkpoint ${fall.at}` : stalled ? "does not rise" : "is low";
  return {
    text,
    summary: `Assay review of the todo list: progress ${where}, ${shown(final)} now`,
  };
}

/**
 * The largest fall between two neighbouring scores, of those that the end of the curve has not made good.
 * @param {Progress["curve"]} curve
 * @returns {{ at: number, from: number, to: number } | null} Null for a fall of a letter or less.
 */
function largestFall(curve) {
  const points = curve.flatMap(({ step, score }) => score === null ? [] : [{ step, score }]);
  const end = points.at(-1)?.score ?? 0;
  /** @type {{ at: number, from: number, to: number } | null} */
  let worst = null;
  for (let i = 1; i < points.length; i++) {
    const from = points[i - 1]?.score ?? 0;
    const to = points[i]?.score ?? 0;
    const lasting = from - end > LETTER;
    if (
      lasting && from - to > LETTER &&
      (worst === null || from - to > worst.from - worst.to)
    ) {
      worst = { at: points[i]?.step ?? 0, from, to };
    }
  }
  return worst;
}

/** @param {TodoTrack} track @param {number} step @returns {string} */
function doneAt(track, step) {
  const tools = [
    ...new Set(track.steps[step - 1]?.calls.map(({ name }) => name)),
  ].slice(0, 4).join(", ");
  return tools === "" ? "" : `, after calls of ${oneLine(tools, LONGEST_ITEM)}`;
}

/** @param {TodoTrack} track @returns {string} */
function lastTicked({ steps }) {
  const items = steps.slice(-3).flatMap(({ newlyDone }) => newlyDone).slice(-3);
  return items.length === 0
    ? ""
    : ` over ${items.map((item) => `"${oneLine(item, LONGEST_ITEM)}"`).join(", ")}`;
}
