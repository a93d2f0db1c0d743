// @ts-check
/**
 * Candidate groups: a workflow whose script returns the versioned envelope
 *
 * `{ protocol: "dsh-verifier-candidates", version: 1 | 2, groupId, candidates: [{ id, label?, status, content }],
 *    reviewStage?: "proposal" | "artifact", scope? }`
 *
 * asks for its candidates to be compared. Version 2 must carry `reviewStage`; without one the candidates count as
 * artifacts, that is as finished work. `scope` (at most 2,000 characters) is what more the judge should know.
 *
 * What a group is worth must not hang on one failed subagent, so candidates whose status isn't `completed` are left out
 * and named, and the others are compared as long as two remain. Anything else that is wrong voids the whole envelope and
 * is reported with its place and value: a guess at what was meant would be a verdict nobody asked for.
 *
 * @module
 */
import { dataOf, isFields } from "../host/events.js";
import { allCalls } from "../host/calls.js";
import { quoteValue } from "../server/errors.js";

/** @typedef {import("../host/events.js").HostEvent} HostEvent */
/** @typedef {import("../host/calls.js").ToolCall} ToolCall */

/** @typedef {{ id: string, label: string | null, content: string }} Candidate */
/** @typedef {{ id: string, label: string | null, status: string }} LeftOut */
/**
 * @typedef {object} Envelope
 * @property {1 | 2} version
 * @property {string} groupId
 * @property {"proposal" | "artifact"} stage
 * @property {string | null} scope
 * @property {readonly Candidate[]} candidates The completed ones, two or more, in the envelope's order.
 * @property {readonly LeftOut[]} leftOut
 * @property {number} seq Of the result that holds it.
 */
/** @typedef {{ seq: number, message: string }} Fault One unreadable envelope, said for people. */

/** The protocol's name in an envelope. */
export const PROTOCOL = "dsh-verifier-candidates";
/** The name that the host's workflow tool has unless a deployment renames it. */
const WORKFLOW_TOOL = "workflow";
/** Most characters of `scope`. */
export const MAXIMUM_SCOPE = 2000;
/** The server's own bounds of names and numbers. */
const MAXIMUM_NAME = 200;
const MAXIMUM_CANDIDATES = 1000;
/** Faults that one notice names. */
const LISTED_FAULTS = 3;

/** How the host's tool shows the value that a workflow returned. */
const RENDERED = /^workflow "([\s\S]*?)" completed \(\d+ agents?\)\.\nReturn value:\n/;
const TRUNCATED = /\n\u2026 \[truncated: (\d+) more characters\]\s*(?:$|\n\(Omitted )/;
const SPILLED = /\(Omitted (\d+) bytes\. Full formatted result stored at: /;

/**
 * The candidate groups in a session's events, newest first; of several with the same `groupId` the newest.
 *
 * @param {readonly HostEvent[]} events
 * @param {number} [from] Results before this sequence number aren't looked at.
 * @param {(callId: string, shown: string) => unknown} [whole] The value of a result that the host shows only in part;
 *   undefined when nobody has it.
 * @returns {{ envelopes: Envelope[], faults: Fault[] }} Both newest first.
 */
export function findEnvelopes(events, from = 0, whole = () => undefined) {
  const runs = workflowRuns(events);
  /** @type {Envelope[]} */
  const envelopes = [];
  /** @type {Fault[]} */
  const faults = [];
  const groups = new Set();
  const calls = allCalls(events).filter(({ result }) =>
    result !== null && !result.isError && result.seq >= from
  )
    .sort((a, b) => (b.result?.seq ?? 0) - (a.result?.seq ?? 0));
  for (const call of calls) {
    if (call.result === null || !isWorkflow(call, runs)) continue;
    const read = readResult(call.result.text, call.result.seq, (shown) => whole(call.callId, shown));
    if (read === null) continue;
    if ("message" in read) faults.push(read);
    else if (!groups.has(read.groupId)) {
      groups.add(read.groupId);
      envelopes.push(read);
    }
  }
  return { envelopes, faults };
}

/**
 * Runs that the host itself recorded as completed: a tool that a deployment renamed is known by them.
 * @param {readonly HostEvent[]} events @returns {{ name: string, from: number, to: number }[]}
 */
function workflowRuns(events) {
  /** @type {Map<unknown, { name: string, from: number }>} */
  const open = new Map();
  const done = [];
  for (const event of events) {
    const { runId, name, stopReason } = dataOf(event);
    if (event.type === "tool-workflow/run-start" && typeof name === "string") {
      open.set(runId, { name, from: event.seq });
    } else if (
      event.type === "tool-workflow/run-end" && stopReason === "completed"
    ) {
      const start = open.get(runId);
      if (start !== undefined) done.push({ ...start, to: event.seq });
    }
  }
  return done;
}

/** @param {ToolCall} call @param {ReturnType<typeof workflowRuns>} runs @returns {boolean} */
function isWorkflow({ name, seq, result }, runs) {
  if (name === WORKFLOW_TOOL) return true;
  const shown = RENDERED.exec(result?.text ?? "");
  return shown !== null && result !== null &&
    runs.some((run) => run.name === shown[1] && run.from > seq && run.to < result.seq);
}

/**
 * Reads one result of the workflow tool: the bare JSON, or the host's rendering of it.
 *
 * @param {string} text
 * @param {number} seq
 * @param {(shown: string) => unknown} [whole] The value behind a text that is cut.
 * @returns {Envelope | Fault | null} Null for a workflow that returned something else than an envelope.
 */
export function readResult(text, seq, whole = () => undefined) {
  const body = text.replace(RENDERED, "").trim();
  const mentions = body.includes(`"${PROTOCOL}"`) ||
    body.includes(`\\"${PROTOCOL}\\"`);
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(body);
    // Scripts do return their value as JSON text.
    if (typeof value === "string" && value.trimStart().startsWith("{")) {
      value = JSON.parse(value);
    }
  } catch {
    value = whole(body);
    if (value === undefined) return mentions ? { seq, message: unreadable(text) } : null;
  }
  if (!isFields(value)) return null;
  if (
    value.protocol !== PROTOCOL &&
    !("groupId" in value && "candidates" in value)
  ) return null;
  return readEnvelope(value, seq);
}

/**
 * Why a result that names the protocol is no JSON.
 * @param {string} text @returns {string}
 */
function unreadable(text) {
  const cut = TRUNCATED.exec(text)?.[1];
  const moved = SPILLED.exec(text)?.[1];
  if (cut === undefined && moved === undefined) {
    return "the workflow's result names the protocol but is no JSON";
  }
  const why = [
    ...(cut === undefined ? [] : [`cut ${cut} characters off it (maxResultChars of its workflow tool)`]),
    ...(moved === undefined
      ? []
      : [`moved ${moved} bytes of it into a file (maxInlineBytes of its spill policy)`]),
  ];
  return `the host ${why.join(" and ")}, so the envelope in the workflow's result can't be read any more. ` +
    "Run the workflow again, or with shorter candidates";
}

/**
 * @param {Readonly<Record<string, unknown>>} value
 * @param {number} seq
 * @returns {Envelope | Fault}
 */
function readEnvelope(value, seq) {
  /** @type {string[]} */
  const faults = [];
  /** @param {string} path @param {string} must @param {unknown} found */
  const fault = (path, must, found) =>
    faults.push(
      `${path} ${must} (value: ${found === undefined ? "none" : quoteValue(found)})`,
    );
  const { protocol, version, groupId, reviewStage, scope, candidates } = value;

  if (protocol !== PROTOCOL) {
    fault("/protocol", `must be "${PROTOCOL}"`, protocol);
  }
  if (version !== 1 && version !== 2) {
    fault("/version", "must be 1 or 2", version);
  }
  if (!isName(groupId)) {
    fault(
      "/groupId",
      `must be a text of 1 to ${MAXIMUM_NAME} characters`,
      groupId,
    );
  }
  const staged = reviewStage === "proposal" || reviewStage === "artifact";
  if (!staged && (reviewStage !== undefined || version === 2)) {
    fault(
      "/reviewStage",
      `must be "proposal" or "artifact"${version === 2 ? " in version 2" : ""}`,
      reviewStage,
    );
  }
  if (
    scope !== undefined &&
    (typeof scope !== "string" || scope.length > MAXIMUM_SCOPE)
  ) {
    fault(
      "/scope",
      `must be a text of at most ${MAXIMUM_SCOPE} characters`,
      typeof scope === "string" ? `${scope.length} characters` : scope,
    );
  }
  /** @type {Candidate[]} */
  const completed = [];
  /** @type {LeftOut[]} */
  const leftOut = [];
  if (!Array.isArray(candidates)) {
    fault("/candidates", "must be an array", candidates);
  } else if (candidates.length < 2 || candidates.length > MAXIMUM_CANDIDATES) {
    fault(
      "/candidates",
      `must have 2 to ${MAXIMUM_CANDIDATES} entries`,
      `${candidates.length} entries`,
    );
  } else {
    const ids = new Set();
    candidates.forEach((candidate, i) => {
      const at = `/candidates/${i}`;
      if (!isFields(candidate)) {
        return fault(at, "must be an object", candidate);
      }
      const { id, label, status, content } = candidate;
      if (!isName(id)) {
        fault(
          `${at}/id`,
          `must be a text of 1 to ${MAXIMUM_NAME} characters`,
          id,
        );
      } else if (ids.has(id)) {
        fault(`${at}/id`, "must not repeat an earlier candidate's id", id);
      }
      ids.add(id);
      if (
        label !== undefined &&
        (typeof label !== "string" || label.trim() === "")
      ) {
        fault(
          `${at}/label`,
          "must be a text that isn't blank, where it is given",
          label,
        );
      }
      if (typeof status !== "string" || status.trim() === "") {
        fault(
          `${at}/status`,
          'must be "completed", or the state in which the candidate ended',
          status,
        );
      }
      const named = {
        id: String(id),
        label: typeof label === "string" ? label : null,
      };
      if (status !== "completed") {
        leftOut.push({ ...named, status: String(status) });
      } else if (typeof content !== "string" || content.trim() === "") {
        fault(`${at}/content`, "must be a text that isn't blank", content);
      } else {
        completed.push({ ...named, content });
      }
    });
    if (faults.length === 0 && completed.length < 2) {
      const others = leftOut.map(({ id, status }) => `${quoteValue(id)} is ${quoteValue(status)}`).join(", ");
      fault(
        "/candidates",
        "must have at least 2 completed entries",
        `${completed.length}; ${others}`,
      );
    }
  }
  if (faults.length > 0) {
    const listed = faults.slice(0, LISTED_FAULTS).join("; ");
    const more = faults.length > LISTED_FAULTS ? `; and ${faults.length - LISTED_FAULTS} more` : "";
    const group = isName(groupId) ? ` of the group ${quoteValue(groupId)}` : "";
    return {
      seq,
      message: `the candidate envelope${group} is void: ${listed}${more}`,
    };
  }
  return {
    version: version === 2 ? 2 : 1,
    groupId: String(groupId),
    stage: reviewStage === "proposal" ? "proposal" : "artifact",
    scope: typeof scope === "string" && scope.trim() !== "" ? scope : null,
    candidates: completed,
    leftOut,
    seq,
  };
}

/** @param {unknown} value @returns {value is string} */
function isName(value) {
  return typeof value === "string" && value.trim() !== "" &&
    value.length <= MAXIMUM_NAME;
}
