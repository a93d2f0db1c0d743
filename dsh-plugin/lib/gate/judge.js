// @ts-check
/**
 * The final check of a turn: the work since the task, measured against an attempt in which nothing was done.
 *
 * The ledger is asked before anything is bought and told afterwards. A verdict that it already has for the same evidence
 * is used again and costs nothing.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { isFields } from "../host/events.js";
import { readImages } from "../host/images.js";
import { resolveRubric } from "../host/rubric.js";
import { sessionLog } from "../host/session_log.js";
import { currentTask, earlierTalk } from "../host/task.js";
import { quoteValue, toVerifierError, VerifierError } from "../server/errors.js";
import { askWithImages } from "../tools/session_evidence.js";
import { evidenceFingerprint, taskId } from "./fingerprint.js";
import { BOUGHT_NOTHING, LEDGER_TIMEOUT_MS, reserve, settle } from "./ledger.js";
import { planCalls } from "./planned_calls.js";
import { readRejection } from "./steer_text.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {import("../host/events.js").Fields} Fields */
/** @typedef {import("../server/connection.js").Connection} Connection */

/**
 * @typedef {object} Check
 * @property {HostSession} session
 * @property {readonly HostEvent[]} own The session's own events.
 * @property {Readonly<Record<string, any>>} settings Of the gate row, resolved.
 * @property {Pick<Connection, "post">} connection
 * @property {{ get(name: string): any }} ctx
 * @property {import("./deadline.js").Deadline} deadline
 * @property {{ warn(text: string): void }} [log]
 */

/**
 * `open`: there is no verdict, and the turn closes with a notice. `warnings`: what else the user should know.
 *
 * @typedef {{ warnings: readonly string[] } & ({ decision: "accept" }
 *   | { decision: "steer", rejection: import("./steer_text.js").Rejection, fingerprint: string }
 *   | { decision: "open", code: string, reason: string })} Judged
 */

/** What a refusal of the ledger means to a reader. @type {Readonly<Record<string, string>>} */
const REFUSALS = Object.freeze({
  in_flight:
    "the same work is being judged already, or was when the host went away (a quarter of an hour at most)",
  task_calls: "the judged calls of this task are spent (callsPerTask)",
  session_calls: "the judged calls of this session are spent (callsPerSession)",
  task_reviews: "the reviews of this task are spent",
  session_reviews: "the reviews of this session are spent",
});

/**
 * @param {Check} check
 * @returns {Promise<Judged>}
 * @throws {VerifierError} whatever keeps it from a verdict
 */
export async function judgeWork(check) {
  const { session, own, settings, connection, ctx, deadline } = check;
  const { signal } = deadline;
  const task = currentTask(own);
  const from = task?.seq ?? own[0]?.seq ?? 0;
  const text = settings.problem ?? task?.text;
  if (typeof text !== "string") {
    throw new VerifierError("invalid_request", "There is no task to judge the work by.");
  }
  const warnings = [];

  const rubric = await resolveRubric({
    session,
    setting: settings.criteria,
    forGate: true,
    signal,
  });
  if (rubric.warning !== undefined) warnings.push(rubric.warning);
  // Whoever is judged may have chosen it: the user is to know.
  if (rubric.origin === "session") {
    warnings.push(
      "the rubric is the one that a tool call told this session to remember, not the configured one",
    );
  }
  const plan = await planCalls(connection, {
    criteria: rubric.criteria,
    evaluations: settings.evaluations,
    judge: settings.judge,
  }, quick(deadline));
  if (plan.warning !== null) warnings.push(plan.warning);

  const question = {
    mode: "acceptance",
    task: text,
    criteria: plan.criteria,
    threshold: settings.threshold,
    repeats: settings.evaluations,
    maxCharacters: settings.maxCharacters,
    ...(isAbsent(settings.redact) ? {} : { redact: settings.redact }),
    ...(isAbsent(settings.judge) ? {} : { judge: settings.judge }),
    ...(isAbsent(settings.channel) ? {} : { channel: settings.channel }),
  };
  const context = task === null || settings.problem !== null ? null : earlierTalk(own, task);
  const fingerprint = evidenceFingerprint({ ...question, context }, own.filter(({ seq }) => seq >= from));

  const log = await sessionLog(ctx, session, { signal });
  const images = settings.sendImages === true && task !== null
    ? await readImages(ctx, task.images, { signal })
    : { urls: [], skipped: [] };
  warnings.push(...images.skipped.map(({ reason }) => reason));
  const body = {
    ...question,
    ...(context === null ? {} : { context }),
    log: log.text,
    range: { from },
  };

  const reserved = await reserve(connection, {
    session: session.id,
    task: taskId(task) ?? "pinned",
    purpose: "gate",
    fingerprint,
    calls: plan.calls,
    limits: {
      task: { calls: settings.callsPerTask },
      session: { calls: settings.callsPerSession },
    },
  }, quick(deadline));
  if (!reserved.granted) {
    const { reason, review } = reserved;
    if (reason === "reviewed") {
      return { ...readVerdict(review?.outcome, fingerprint), warnings };
    }
    return {
      decision: "open",
      code: reason,
      reason: REFUSALS[reason] ?? `the ledger refused (${reason})`,
      warnings,
    };
  }
  const { verdict, told } = await buy(check, body, images.urls, {
    id: reserved.id,
    calls: plan.calls,
    fingerprint,
  });
  return { ...verdict, warnings: [...warnings, ...told] };
}

/**
 * Buys the verdict and books it.
 *
 * @param {Check} check @param {Fields} body @param {readonly string[]} images Left out when the judge reads none.
 * @param {{ id: string, calls: number, fingerprint: string }} hold
 */
async function buy(check, body, images, { id, calls, fingerprint }) {
  const { connection, deadline } = check;
  try {
    const { answer: value, warnings: told } = await askWithImages(images, async (shown) => {
      const remaining = deadline.remaining();
      const { value } = await connection.post("/v1/session", {
        ...body,
        ...shown,
        // The server opens by itself a little earlier, with what it knows.
        deadlineMs: Math.max(1, Math.floor(remaining - Math.min(2000, remaining / 10))),
      }, {
        signal: deadline.signal,
        timeoutMs: remaining + 1,
        idempotencyKey: `gate-${id}${"images" in shown ? "-images" : ""}`,
      });
      return value;
    });
    const acceptance = isFields(value) ? value.acceptance : undefined;
    const verdict = readVerdict(acceptance, fingerprint);
    const bought = value?.usage?.calls;
    await book(check, id, {
      state: verdict.decision === "open" ? "failed" : "done",
      calls: Number.isSafeInteger(bought) && bought >= 0 ? bought : calls,
      outcome: keep(acceptance),
    });
    return { verdict, told };
  } catch (thrown) {
    const error = toVerifierError(thrown);
    const state = deadline.ended() === "aborted" ? "abandoned" : "failed";
    // What a request has bought whose answer never came nobody can tell here, so all of it counts.
    const entry = {
      state,
      calls: BOUGHT_NOTHING.has(error.code) ? 0 : calls,
      outcome: { code: error.code },
    };
    // Not waited for: the turn has waited long enough, and the server lets go of a forgotten hold by itself.
    void book(check, id, entry);
    throw error;
  }
}

/**
 * @param {Check} check @param {string} id
 * @param {{ state: string, calls: number, outcome: Fields }} entry
 * @returns {Promise<void>} Never rejects.
 */
async function book({ connection, log }, id, entry) {
  try {
    // Without the turn's signal: what was bought is to be booked, also when the turn is over.
    await settle(connection, id, /** @type {any} */ (entry), {
      timeoutMs: 3000,
    });
  } catch (error) {
    log?.warn(`assay gate: review ${id} could not be settled: ${toVerifierError(error).message}`);
  }
}

/**
 * Options of a request that may be sent again when a kept-alive connection turns out to be gone.
 * @param {import("./deadline.js").Deadline} deadline
 */
function quick({ signal, remaining }) {
  return {
    signal,
    timeoutMs: Math.min(LEDGER_TIMEOUT_MS, remaining() + 1),
    idempotencyKey: randomUUID(),
  };
}

/**
 * @param {unknown} acceptance Of an answer, or what the ledger kept of one.
 * @param {string} fingerprint
 */
function readVerdict(acceptance, fingerprint) {
  const { decision, reason, code } = isFields(acceptance) ? acceptance : /** @type {Fields} */ ({});
  switch (decision) {
    case "accept":
      return { decision };
    case "steer":
      return { decision, rejection: readRejection(acceptance), fingerprint };
    case "open":
      return {
        decision,
        code: String(code ?? "open"),
        reason: String(reason ?? "the judge gave no complete verdict"),
      };
    default:
      throw new VerifierError(
        "bad_answer",
        `The server's answer holds no decision: ${quoteValue(acceptance)}`,
      );
  }
}

/** What the ledger keeps of a verdict. @param {unknown} acceptance @returns {Fields} */
function keep(acceptance) {
  if (!isFields(acceptance)) return {};
  const { decision, score, baselineScore, threshold, failing, code, reason } = acceptance;
  return { decision, score, baselineScore, threshold, failing, code, reason };
}

/** @param {unknown} value @returns {boolean} */
function isAbsent(value) {
  return value === undefined || value === null ||
    (Array.isArray(value) && value.length === 0);
}
