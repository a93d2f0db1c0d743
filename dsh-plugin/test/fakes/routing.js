// @ts-check
/**
 * What routing tests share: sessions with candidate groups and todo lists, the host's rendering of a workflow's result, a
 * ledger in memory and a server that answers by a function.
 *
 * @module
 */
import { FakeSession } from "./host.js";

/** @typedef {import("../../lib/routing/types.js").Fields} Fields */

/**
 * A workflow's value as the host shows it to the model.
 * @param {unknown} value
 * @param {{ name?: string, agents?: number, max?: number }} [options] `max`: the tool's `maxResultChars`.
 */
export function rendered(value, { name = "draft", agents = 2, max = 50_000 } = {}) {
  const text = JSON.stringify(value, null, 2);
  const shown = text.length > max
    ? `${text.slice(0, max)}\n\u2026 [truncated: ${text.length - max} more characters]`
    : text;
  return `workflow "${name}" completed (${agents} agent${agents === 1 ? "" : "s"}).\nReturn value:\n${shown}`;
}

/**
 * A well-formed envelope.
 * @param {readonly string[]} contents
 * @param {Fields} [more] Other fields of it.
 */
export function envelope(contents, more = {}) {
  return {
    protocol: "dsh-verifier-candidates",
    version: 1,
    groupId: "g1",
    candidates: contents.map((content, i) => ({ id: `c${i + 1}`, status: "completed", content })),
    ...more,
  };
}

/**
 * A session in whose running turn the user asked for something.
 * @param {ConstructorParameters<typeof FakeSession>[0]} [options]
 * @param {string} [text]
 */
export function asked(options = {}, text = "Add a retry to the client.") {
  const session = new FakeSession(options);
  session.startTurn();
  session.user(text);
  return session;
}

let calls = 0;

/**
 * A finished call of the workflow tool.
 * @param {FakeSession} session @param {string} text @param {{ name?: string, isError?: boolean }} [options]
 */
export function workflow(session, text, { name = "workflow", isError = false } = {}) {
  return session.tool(
    `w${++calls}`,
    name,
    { script: "return x", meta: { name: "draft", description: "d" } },
    text,
    {
      isError,
    },
  );
}

/** @param {FakeSession} session @param {string} command @param {string} output */
export function bash(session, command, output) {
  return session.tool(`b${++calls}`, "bash", { command, description: "run" }, output);
}

/**
 * A call of todo_write with the event that it makes.
 * @param {FakeSession} session @param {Readonly<Record<string, string>>} list Content to status.
 */
export function todos(session, list) {
  const items = Object.entries(list).map(([content, status]) => ({ content, status }));
  const id = `t${++calls}`;
  session.agent("", [{ id, name: "todo_write", args: { todos: items } }]);
  session.call(id, "todo_write", { todos: items });
  session.append("todo/write", { todos: items });
  session.result(id, "Updated todo list.");
}

/**
 * The server's ledger in memory, with its rules: a fingerprint that is done is never granted again, budgets hold.
 */
export class FakeLedger {
  /** @type {{ id: string, request: any, state: string, calls: number, outcome: any }[]} */
  reviews = [];
  /** Thrown by every reserve. @type {Error | null} */
  failing = null;

  /**
   * @param {unknown} _connection @param {any} request
   * @returns {Promise<import("../../lib/routing/types.js").Reservation>}
   */
  reserve = (_connection, request) => {
    if (this.failing !== null) return Promise.reject(this.failing);
    const { session, task, fingerprint, calls, limits } = request;
    const own = this.reviews.filter((review) => review.request.session === session);
    const same = own.find((review) => review.request.fingerprint === fingerprint);
    if (same?.state === "done") {
      return Promise.resolve({ granted: false, reason: "reviewed", review: { outcome: same.outcome } });
    }
    if (same?.state === "held") return Promise.resolve({ granted: false, reason: "in_flight" });
    for (const [name, among] of [["task", own.filter((r) => r.request.task === task)], ["session", own]]) {
      const limit = limits?.[String(name)] ?? {};
      const counted = /** @type {FakeLedger["reviews"]} */ (among).filter(({ state }) => state !== "freed");
      if (limit.reviews !== undefined && counted.length + 1 > limit.reviews) {
        return Promise.resolve({ granted: false, reason: `${name}_reviews` });
      }
      const spent = counted.reduce((sum, review) => sum + review.calls, 0);
      if (limit.calls !== undefined && spent + calls > limit.calls) {
        return Promise.resolve({ granted: false, reason: `${name}_calls` });
      }
    }
    const id = `rev_${this.reviews.length + 1}`;
    this.reviews.push({ id, request, state: "held", calls, outcome: null });
    return Promise.resolve({ granted: true, id, spent: {} });
  };

  /** @param {unknown} _connection @param {string} id @param {any} entry */
  settle = (_connection, id, entry) => {
    const review = this.reviews.find((each) => each.id === id);
    if (review === undefined) return Promise.reject(new Error(`no review ${id}`));
    review.state = entry.state;
    review.calls = entry.calls;
    review.outcome = JSON.parse(JSON.stringify(entry.outcome));
    return Promise.resolve();
  };
}

/**
 * A connection that answers dry runs with a plan and everything else by `answer`.
 * @param {(path: string, body: any) => unknown} answer May throw.
 * @param {number} [planned]
 * @param {(body: any) => void} [check] Of every request; may throw.
 */
export function fakeServer(answer, planned = 6, check = () => {}) {
  /** @type {{ path: string, body: any, options: any }[]} */
  const bought = [];
  /** @type {string[]} */
  const dry = [];
  return {
    bought,
    dry,
    /** @param {string} path @param {any} body @param {any} options */
    post: (path, body, options) =>
      Promise.resolve().then(() => {
        check(body);
        if (body.dryRun === true) {
          dry.push(path);
          return { value: { plan: { calls: planned } }, status: 200, headers: {} };
        }
        bought.push({ path, body, options });
        return { value: answer(path, body), status: 200, headers: {} };
      }),
  };
}

const judge = { profile: "stub", kind: "openai-compatible", model: "stub-judge" };
const usage = { calls: 6 };

/** @param {Fields} [more] */
export function compareAnswer(more = {}) {
  return {
    winner: "A",
    rewardA: 0.8,
    rewardB: 0.4,
    margin: 0.4,
    standardError: 0.03,
    identical: false,
    criteria: [{ id: "x", name: "Correctness", rewardA: 0.8, rewardB: 0.4 }],
    unscored: 0,
    judge,
    usage,
    ...more,
  };
}

/** @param {readonly Fields[]} ranking @param {Fields} [more] */
export function selectAnswer(ranking, more = {}) {
  const rows = ranking.map((row) => ({
    strength: 0,
    standardError: 0.1,
    probabilityBest: null,
    winRate: 0.5,
    ...row,
  }));
  return {
    best: /** @type {Fields} */ (rows[0] ?? {}).index ?? null,
    ranking: rows,
    unscored: 0,
    judge,
    usage,
    ...more,
  };
}

/** @param {readonly (number | null)[]} scores @param {Fields} [more] */
export function progressAnswer(scores, more = {}) {
  return {
    mode: "progress",
    progress: {
      curve: scores.map((score, i) => ({ step: i + 1, score })),
      final: scores.at(-1) ?? null,
      advice: null,
      ...more,
    },
    acceptance: null,
    usage,
  };
}

/** @param {"accept" | "steer" | "open"} decision @param {Fields} [more] */
export function acceptanceAnswer(decision, more = {}) {
  return {
    mode: "acceptance",
    progress: null,
    acceptance: {
      decision,
      score: decision === "accept" ? 0.9 : decision === "steer" ? 0.3 : null,
      threshold: 0.6,
      failing: decision === "steer"
        ? [{
          id: "f",
          name: "Feasibility",
          score: 0.2,
          floor: 0.6,
          analysis: "Step 2 needs a tool that is not there.",
        }]
        : [],
      ...(decision === "open" ? { reason: "the judge refused the key", code: "judge_unauthorized" } : {}),
      ...more,
    },
    usage,
  };
}

/** The gate row's settings as they are resolved, in mode smart. @param {Fields} [more] @returns {any} */
export function gateSettings(more = {}) {
  return Object.freeze({
    mode: "smart",
    enabled: false,
    threshold: 0.6,
    evaluations: 1,
    criteria: "general",
    judge: null,
    channel: null,
    maxCharacters: 200_000,
    redact: [],
    sendImages: true,
    totalMs: 120_000,
    reviewPlans: true,
    reviewTeamTasks: true,
    includeSubagents: false,
    callsPerTask: 96,
    callsPerSession: 240,
    reviewsPerTask: 2,
    reviewsPerSession: 8,
    ...more,
  });
}
