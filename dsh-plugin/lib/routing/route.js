// @ts-check
/**
 * Automatic reviews at the end of a turn, from what the agent's own records state outright and never from what its prose
 * might mean: completed tasks of a team, candidate groups of a workflow, the todo list. In this order; whatever sends the
 * agent back to work ends it, and the rest has its turn at the next stop.
 *
 * Nothing is bought in mode `manual`. Every review is reserved in the server's ledger first: the same evidence is never
 * paid for twice, budgets hold over restarts, and a spent one is said once.
 *
 * @module
 */
import { isFields, liveEvents, ownEvents, sourceOf } from "../host/events.js";
import { readImages } from "../host/images.js";
import { isOwnMessage } from "../host/messages.js";
import { resolveRubric } from "../host/rubric.js";
import { currentTask, earlierTalk } from "../host/task.js";
import { toVerifierError } from "../server/errors.js";
import { evidenceFields, judgeFields } from "./acceptance.js";
import { candidatesReview } from "./candidates.js";
import { findEnvelopes } from "./envelopes.js";
import { fingerprint } from "./fingerprint.js";
import { firstTime } from "./memory.js";
import { failedNotice, faultNotice, spentNotice } from "./notices.js";
import { oneLine } from "./quote.js";
import { buyReview } from "./review.js";
import { completedTasks, teamReview } from "./team_review.js";
import { todoTrack, trackFeedback } from "./todos.js";
import { wholeResult } from "./whole_results.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {import("../host/session_log.js").HostContext} HostContext */
/** @typedef {import("../host/task.js").Task} Task */
/** @typedef {import("./types.js").Desk} Desk */
/** @typedef {import("./types.js").Notice} Notice */
/** @typedef {import("./types.js").Outcome} Outcome */
/** @typedef {import("./types.js").Review} Review */
/** @typedef {import("./types.js").RoutingSettings} RoutingSettings */
/** @typedef {import("./types.js").Steer} Steer */

/**
 * @typedef {object} RouteInput
 * @property {{ session: HostSession }} agent
 * @property {number} turn
 * @property {readonly HostEvent[]} [events] The session's own; default: read from the agent's session.
 * @property {HostContext} ctx
 * @property {RoutingSettings & { sendImages?: boolean }} settings
 * @property {import("./types.js").Connection} connection
 * @property {import("./types.js").Ledger} ledger
 * @property {string | null} taskId Under which the ledger books this task; null without a task.
 * @property {AbortSignal} [signal]
 * @property {{ remaining(): number }} [deadline]
 * @property {{ warn(text: string): void }} [log]
 */
/**
 * @typedef {object} Routed
 * @property {boolean} acted Whether there is a `steer`.
 * @property {Steer & { fingerprint: string }} [steer]
 * @property {Notice[]} notices
 * @property {boolean} gateRequired A review of this task was bought, now or earlier: the final gate is to run.
 */
/**
 * What one kind of review came to.
 * @typedef {{ steer?: Steer & { fingerprint: string }, reviewed?: boolean, stop?: boolean }} Part
 *   `reviewed`: bought now or known. `stop`: a budget is spent, nothing else is tried.
 */

/** Fingerprints of routed reviews; the gate's own have no purpose in front. */
const REVIEW = /^(?:compare|select|track|team):/;

/**
 * @param {RouteInput} input
 * @returns {Promise<Routed>} Never rejects: a failure leaves the turn as it was, with a notice.
 */
export async function route(input) {
  /** @type {Notice[]} */
  const notices = [];
  /** @type {Routed} */
  const routed = { acted: false, notices, gateRequired: false };
  if (input.settings.mode === "manual") return routed;
  const { session } = input.agent;
  try {
    const bench = makeBench(input, notices);
    if (bench === null) return routed;
    routed.gateRequired = bench.desk.delivered.size > 0;
    for (const part of [teamPart, candidatesPart, todoPart]) {
      const { steer, reviewed, stop } = await part(bench);
      if (reviewed === true) routed.gateRequired = true;
      if (steer !== undefined) return { ...routed, acted: true, steer };
      if (stop === true) break;
    }
  } catch (thrown) {
    const error = toVerifierError(thrown);
    input.log?.warn(`assay routing: ${error.message}`);
    say(session, notices, failedNotice("the end of this turn", error.code, error.message));
  }
  return routed;
}

/**
 * @typedef {object} Bench
 * @property {RouteInput} input
 * @property {Desk} desk
 * @property {readonly HostEvent[]} events
 * @property {readonly HostEvent[]} since Those from the task on: long sessions hold much that isn't asked about.
 * @property {Task} task
 * @property {(notice: Notice) => void} tell
 * @property {() => Promise<unknown>} criteria
 * @property {() => Promise<readonly string[]>} images Of the task; read once, by the first part that shows them.
 */

/** @param {RouteInput} input @param {Notice[]} notices @returns {Bench | null} */
function makeBench(input, notices) {
  const { agent, connection, ledger, settings, taskId, turn, signal, deadline, log } = input;
  const { session } = agent;
  const events = input.events ?? ownEvents(session);
  const task = currentTask(events);
  if (task === null || taskId === null) return null;
  /** @type {Promise<unknown> | null} */
  let rubric = null;
  /** @type {Promise<readonly string[]> | null} */
  let pictures = null;
  const tell = (/** @type {Notice} */ notice) => say(session, notices, notice);
  return {
    input,
    events,
    since: events.filter(({ seq }) => seq >= task.seq),
    task,
    tell,
    desk: {
      connection,
      ledger,
      settings,
      session,
      task: taskId,
      delivered: deliveredReviews(events, task),
      turn,
      signal,
      deadline,
      log,
    },
    criteria: () => rubric ??= readRubric(input, tell),
    images: () => pictures ??= taskImages(input, task, tell),
  };
}

/** @param {RouteInput} input @param {(notice: Notice) => void} tell @returns {Promise<unknown>} */
async function readRubric({ agent: { session }, settings, signal }, tell) {
  const { criteria, warning } = await resolveRubric({
    session,
    setting: settings.criteria,
    ...(signal === undefined ? {} : { signal }),
    forGate: true,
  });
  if (warning !== undefined) {
    tell({
      text: `Assay: ${oneLine(warning, 1000)}`,
      summary: "Assay: the rubric can't be read",
      reason: "routing:rubric",
    });
  }
  return criteria;
}

/**
 * The routed reviews of which the agent was told in this task: read from the log, so also after a restart.
 * @param {readonly HostEvent[]} events @param {Task} task @returns {Set<string>} Fingerprints.
 */
function deliveredReviews(events, task) {
  return new Set(events.flatMap((event) => {
    const mark = event.seq > task.seq && isOwnMessage(event) ? sourceOf(event)?.fingerprint : undefined;
    return typeof mark === "string" && REVIEW.test(mark) ? [mark] : [];
  }));
}

/** @param {Bench} bench @returns {Promise<Part>} */
async function teamPart({ desk, events, task, input, tell, criteria }) {
  if (!desk.settings.reviewTeamTasks) return {};
  let reviewed = false;
  for (const done of completedTasks(events, task.seq)) {
    const name = `the team's task "${oneLine(done.subject === "" ? done.id : done.subject, 60)}"`;
    const review = teamReview(done, desk.settings, await criteria(), ownersSession(input.ctx, done.ownerId));
    if (review === null) {
      tell({
        text: `Assay did not review ${name}: neither the task nor its owner's messages say what came of it.`,
        summary: `Assay: no review of ${name} (nothing recorded)`,
        reason: `routing:team:${done.seq}`,
      });
      continue;
    }
    const part = await reviewPart(desk, review, name, tell);
    reviewed ||= part.reviewed === true;
    if (part.steer !== undefined || part.stop === true) return { ...part, reviewed };
  }
  return { reviewed };
}

/**
 * The session of a team's member, where this host still has it loaded.
 * @param {HostContext} ctx @param {string | null} id @returns {HostSession | undefined}
 */
function ownersSession(ctx, id) {
  if (id === null) return undefined;
  try {
    const found = /** @type {{ get?(id: string): HostSession | undefined } | undefined} */ (
      /** @type {unknown} */ (ctx.get("sessions"))
    )?.get?.(id);
    if (found !== undefined) liveEvents(found);
    return found;
  } catch {
    // A member that is gone is no fault: what it reported stands in the lead's own log.
    return undefined;
  }
}

/** @param {Bench} bench @returns {Promise<Part>} */
async function candidatesPart({ desk, events, since, task, input, tell, criteria, images }) {
  const { session } = input.agent;
  const whole = (/** @type {string} */ callId, /** @type {string} */ shown) =>
    wholeResult(session, callId, shown);
  const { envelopes, faults } = findEnvelopes(since, task.seq, whole);
  for (const fault of faults) tell(faultNotice(fault));
  let reviewed = false;
  for (const envelope of envelopes) {
    const name = `the candidate group "${oneLine(envelope.groupId, 60)}"`;
    const review = candidatesReview(envelope, {
      settings: desk.settings,
      task: task.text,
      context: earlierTalk(events, task),
      criteria: envelope.stage === "proposal" ? null : await criteria(),
      images: await images(),
    });
    const part = await reviewPart(desk, review, name, tell);
    reviewed ||= part.reviewed === true;
    if (part.steer !== undefined || part.reviewed !== true) return { ...part, reviewed };
  }
  return { reviewed };
}

/** @param {Bench} bench @returns {Promise<Part>} */
async function todoPart({ desk, events, since, task, tell, criteria, images }) {
  const { settings } = desk;
  const track = todoTrack(since, { from: task.seq, maxCharacters: settings.maxCharacters });
  if (track === null) return {};
  if (track.kind === "delivered") return { reviewed: true };
  const rubric = await criteria();
  const context = earlierTalk(events, task);
  const evidence = { task: task.text, messages: track.messages, checkpoints: track.checkpoints };
  /** @type {Review} */
  const review = {
    purpose: "track",
    fingerprint: fingerprint("track", { ...evidence, criteria: rubric, judge: settings.judge ?? null }),
    path: "/v1/session",
    body: {
      mode: "progress",
      ...evidence,
      ...(context === null ? {} : { context }),
      criteria: rubric,
      repeats: settings.evaluations,
      ...judgeFields(settings),
      ...evidenceFields(settings, JSON.stringify(track.messages).length),
      ...imagesField(await images()),
    },
    read: readProgress,
    steer: (progress) => trackFeedback(track, progress, settings.mode === "strict" ? "strict" : "smart"),
  };
  return await reviewPart(desk, review, "the todo list", tell);
}

/**
 * Buys one review, and says what it could not take into account or why it wasn't bought.
 * @param {Desk} desk @param {Review} review @param {string} name @param {(notice: Notice) => void} tell
 * @returns {Promise<Part>}
 */
async function reviewPart(desk, review, name, tell) {
  const outcome = await buyReview(desk, review);
  if (outcome.kind !== "known" && outcome.kind !== "bought") {
    return { stop: report(desk, outcome, name, tell) };
  }
  if (outcome.kind === "bought") outcome.warnings.forEach((warning) => warn(warning, tell));
  return outcome.steer === null
    ? { reviewed: true }
    : { reviewed: true, steer: { ...outcome.steer, fingerprint: review.fingerprint } };
}

/** @param {unknown} value @returns {ReturnType<Review["read"]>} */
function readProgress(value) {
  const progress = isFields(value) && isFields(value.progress) ? value.progress : {};
  const { curve, final, advice } = progress;
  if (!Array.isArray(curve) || (final !== null && typeof final !== "number")) {
    throw new TypeError(`the server's answer has no curve at /progress/curve (value: ${String(curve)})`);
  }
  if (final === null) {
    const open = { code: "unscored", message: "the newest checkpoint got no score" };
    return { value: null, outcome: { final: null }, open };
  }
  const points = curve.filter(isFields).map(({ step, score }) => ({
    step: Number(step),
    score: typeof score === "number" ? score : null,
  }));
  return {
    value: { curve: points, final, advice: advice ?? null },
    outcome: { final, advice: advice ?? null },
  };
}

/**
 * @param {RouteInput} input @param {Task} task @param {(notice: Notice) => void} tell
 * @returns {Promise<readonly string[]>} Data URLs.
 */
async function taskImages({ ctx, settings, signal }, task, tell) {
  if (settings.sendImages !== true || task.images.length === 0) return [];
  const { urls, skipped } = await readImages(ctx, task.images, signal === undefined ? {} : { signal });
  for (const { reason } of skipped) warn(`an image wasn't shown: ${reason}`, tell);
  return urls;
}

/** @param {readonly string[]} images */
function imagesField(images) {
  return images.length === 0 ? {} : { images };
}

/**
 * What a review could not take into account.
 * @param {string} warning @param {(notice: Notice) => void} tell
 */
function warn(warning, tell) {
  tell({
    text: `Assay reviewed, but ${oneLine(warning, 600)}.`,
    summary: `Assay: ${oneLine(warning, 90)}`,
    reason: `routing:warning:${oneLine(warning, 60)}`,
  });
}

/**
 * Says why a review wasn't bought.
 *
 * @param {Desk} desk
 * @param {Exclude<Outcome, { kind: "bought" } | { kind: "known" }>} outcome
 * @param {string} name
 * @param {(notice: Notice) => void} tell
 * @returns {boolean} Whether nothing else should be tried at this stop.
 */
function report({ deadline, signal, settings }, outcome, name, tell) {
  if (outcome.kind === "skipped") return false;
  if (outcome.kind === "spent") {
    tell(spentNotice(name, outcome.reason));
    return true;
  }
  const late = deadline !== undefined && deadline.remaining() <= 0;
  if (late) {
    tell(failedNotice(name, "deadline_exceeded", `it took longer than totalMs (${settings.totalMs} ms).`));
    return true;
  }
  // A turn that its user called off needs no explanation.
  if (signal?.aborted === true) return true;
  tell(failedNotice(name, outcome.code, outcome.message));
  return outcome.code === "server_unreachable";
}

/** @param {object} session @param {Notice[]} notices @param {Notice} notice */
function say(session, notices, notice) {
  if (firstTime(session, notice.reason)) notices.push(notice);
}
