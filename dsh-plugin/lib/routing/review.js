// @ts-check
/**
 * Buying one automatic review: what it would cost is asked first, the ledger of the server reserves it (so that neither a
 * budget nor the same evidence is spent twice, also not by another process or after a restart), then it is bought, then
 * what was really bought is written down.
 *
 * @module
 */
import { isFields } from "../host/events.js";
import { BOUGHT_NOTHING, LEDGER_TIMEOUT_MS } from "../gate/ledger.js";
import { toVerifierError } from "../server/errors.js";
import { askWithImages } from "../tools/session_evidence.js";
import { known, remember } from "./memory.js";

/** @typedef {import("./types.js").Review} Review */
/** @typedef {import("./types.js").Desk} Desk */
/** @typedef {import("./types.js").Outcome} Outcome */
/** @typedef {import("./types.js").Fields} Fields */

/**
 * Buys a review unless its evidence was judged before, another process is at it, or a budget is spent.
 *
 * @param {Desk} desk
 * @param {Review} review
 * @returns {Promise<Outcome>} Never rejects.
 */
export async function buyReview(desk, review) {
  const { connection, ledger, settings, session, signal, turn, log } = desk;
  const timeoutMs = Math.max(1, Math.min(settings.totalMs, desk.deadline?.remaining() ?? Infinity));
  const before = known(session, review.fingerprint);
  if (before === "done" || desk.delivered.has(review.fingerprint)) return { kind: "known", steer: null };
  // What failed in this turn would fail again at its next stop, a second later.
  if (before !== undefined && before === turn) return { kind: "skipped" };
  const options = { ...(signal === undefined ? {} : { signal }), timeoutMs };
  /** @type {{ id: string, calls: number } | null} */
  let held = null;
  try {
    const { images, ...rest } = review.body;
    // A judge that reads no images is asked without them; a dry run finds that out for nothing.
    let body = review.body;
    const { answer: dry, warnings } = await askWithImages(isTexts(images) ? images : [], async (shown) => {
      body = { ...rest, ...shown };
      return (await connection.post(review.path, { ...body, dryRun: true }, options)).value;
    });
    const planned = callsOf(dry, "plan");
    const reserved = await ledger.reserve(connection, {
      session: session.id,
      task: desk.task,
      purpose: review.purpose,
      fingerprint: review.fingerprint,
      calls: planned,
      limits: {
        task: {
          reviews: settings.reviewsPerTask,
          calls: settings.callsPerTask,
        },
        session: {
          reviews: settings.reviewsPerSession,
          calls: settings.callsPerSession,
        },
      },
    }, { ...options, timeoutMs: Math.min(timeoutMs, LEDGER_TIMEOUT_MS) });
    if (!reserved.granted) {
      if (reserved.reason === "reviewed") {
        remember(session, review.fingerprint, "done");
        // Judged and paid for, but the turn or the process ended before the agent was told.
        return { kind: "known", steer: storedSteer(reserved.review?.outcome) };
      }
      return reserved.reason === "in_flight"
        ? { kind: "skipped" }
        : { kind: "spent", reason: String(reserved.reason) };
    }
    held = { id: reserved.id, calls: planned };
    const { value } = await connection.post(review.path, body, {
      ...options,
      idempotencyKey: `review-${reserved.id}`,
    });
    const read = review.read(value);
    const state = read.open === undefined ? "done" : "failed";
    const steer = read.open === undefined ? review.steer(read.value) : null;
    await settle(desk, held.id, {
      state,
      calls: callsOf(value, "usage"),
      outcome: { ...read.outcome, ...(steer === null ? {} : { steer }) },
    });
    held = null;
    if (read.open !== undefined) {
      remember(session, review.fingerprint, turn);
      return { kind: "failed", code: read.open.code, message: read.open.message };
    }
    // What the agent is told shows in its log; until then the ledger has it.
    if (steer === null) remember(session, review.fingerprint, "done");
    return { kind: "bought", value: read.value, steer, warnings };
  } catch (thrown) {
    const error = toVerifierError(thrown);
    remember(session, review.fingerprint, turn);
    if (held !== null) {
      // What a broken request has bought nobody can tell, so the whole hold counts.
      const calls = BOUGHT_NOTHING.has(error.code) ? 0 : held.calls;
      const state = error.code === "aborted" ? "abandoned" : "failed";
      await settle(desk, held.id, {
        state,
        calls,
        outcome: { code: error.code },
      });
    }
    log?.warn(`assay routing: ${review.purpose} failed: ${error.message}`);
    return { kind: "failed", code: error.code, message: error.message };
  }
}

/**
 * Writes down what was bought, without the turn's signal: an entry must be made also when the turn was called off. When it
 * can't, the server counts the hold as bought, so nothing is spent twice.
 *
 * @param {Desk} desk
 * @param {string} id
 * @param {{ state: "done" | "failed" | "abandoned", calls: number, outcome: Fields }} entry
 */
async function settle({ connection, ledger, log }, id, entry) {
  try {
    await ledger.settle(connection, id, entry, { timeoutMs: LEDGER_TIMEOUT_MS });
  } catch (error) {
    log?.warn(`assay routing: review ${id} could not be settled: ${toVerifierError(error).message}`);
  }
}

/** @param {unknown} value @returns {value is readonly string[]} */
function isTexts(value) {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/**
 * What the ledger kept for the agent.
 * @param {Fields | null | undefined} outcome @returns {import("./types.js").Steer | null}
 */
function storedSteer(outcome) {
  const steer = outcome?.steer;
  return isFields(steer) && typeof steer.text === "string" && typeof steer.summary === "string"
    ? { text: steer.text, summary: steer.summary }
    : null;
}

/**
 * The calls that an answer's `plan` or `usage` counts.
 * @param {unknown} value @param {"plan" | "usage"} field @returns {number}
 */
function callsOf(value, field) {
  const part = /** @type {Record<string, { calls?: unknown } | undefined>} */ (value ??
    {})[field];
  const calls = part?.calls;
  if (typeof calls === "number" && Number.isSafeInteger(calls) && calls >= 0) {
    return calls;
  }
  throw new TypeError(
    `the server's answer has no count of calls at /${field}/calls (value: ${String(calls)})`,
  );
}
