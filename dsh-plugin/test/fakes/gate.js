// @ts-check
/**
 * A verifier server with a ledger, and a host around one agent, for tests of the gate.
 *
 * @module
 */
import { createSettings } from "../../lib/config/resolve.js";
import { onTurnStopping } from "../../lib/gate/install.js";
import { FakeAgent, fakeContext, FakeSession } from "./host.js";
import { fakeConnection } from "./server.js";

/** A verdict of the gate. @param {"accept" | "steer" | "open"} decision @param {object} [more] */
export function verdict(decision, more = {}) {
  const score = decision === "accept" ? 0.9 : decision === "steer" ? 0.3 : null;
  return {
    verb: "session",
    mode: "acceptance",
    acceptance: {
      decision,
      score,
      baselineScore: score === null ? null : 0.1,
      threshold: 0.6,
      criteria: [],
      failing: decision === "steer"
        ? [{ id: "checks", name: "Checks", score: 0.3, floor: 0.6, analysis: "Nothing was run." }]
        : [],
      ...(decision === "open" ? { code: "judge_failed", reason: "the judge is down" } : {}),
      ...more,
    },
    usage: { calls: 3 },
    warnings: [],
  };
}

/**
 * A server that keeps a ledger as the real one does.
 *
 * @param {unknown} verdicts What `/v1/session` answers: a document, an error, or a function.
 * @param {Readonly<Record<string, unknown>>} [more] Other answers.
 */
export function gateServer(verdicts, more = {}) {
  /** @type {Map<string, any>} */
  const reviews = new Map();
  const connection = fakeConnection({
    "POST /v1/criteria/parse": { criteria: [{}, {}, {}], warnings: [] },
    "POST /v1/session": verdicts,
    "POST /v1/reviews": (/** @type {any} */ { body }) => {
      const same = [...reviews.values()].find((review) =>
        review.fingerprint === body.fingerprint && (review.state === "done" || review.state === "held")
      );
      if (same !== undefined) {
        return { granted: false, reason: same.state === "done" ? "reviewed" : "in_flight", review: same };
      }
      const id = `rev_${reviews.size}`;
      reviews.set(id, { id, ...body, state: "held", outcome: null });
      return { granted: true, id, spent: {} };
    },
    ...Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => [
        `POST /v1/reviews/rev_${i}/settle`,
        (/** @type {any} */ { body }) => {
          reviews.set(`rev_${i}`, { ...reviews.get(`rev_${i}`), ...body });
          return reviews.get(`rev_${i}`);
        },
      ]),
    ),
    ...more,
  });
  const paths = () => connection.seen.map(({ path }) => path.replace(/rev_\d+/, "rev"));
  return {
    ...connection,
    reviews,
    paths,
    bought: () => paths().filter((path) => path === "/v1/session").length,
  };
}

/** A session in which an agent was asked something and made a file. @param {ConstructorParameters<typeof FakeSession>[0]} [header] */
export function workedSession(header) {
  const session = new FakeSession(header);
  session.startTurn();
  session.user("Make the file.");
  session.tool("c1", "write", { path: "a.txt", content: "a" }, "written");
  session.nextStep();
  session.agent("Done.");
  session.append("step/end", { turn: session.turn, step: session.step });
  return session;
}

/**
 * @param {ReturnType<typeof gateServer>} connection
 * @param {{ session?: FakeSession, config?: object, services?: Record<string, unknown> }} [options]
 */
export function gateBench(connection, { session = workedSession(), config = {}, services = {} } = {}) {
  const agent = /** @type {any} */ (new FakeAgent(session));
  /** @type {unknown[]} */
  agent.injected = [];
  agent.inject = (/** @type {unknown} */ message) => void agent.injected.push(message);
  const context = fakeContext({ sessions: [session] });
  /** @type {string[]} */
  const lines = [];
  /** @type {string[]} */
  const printed = [];
  const settings = createSettings({ row: "gate", config: { enabled: true, ...config } });
  const deps = {
    settings,
    connection,
    log: { warn: (/** @type {string} */ line) => void lines.push(line) },
    print: (/** @type {string} */ line) => void printed.push(line),
  };
  const ctx = { get: (/** @type {string} */ name) => services[name] ?? context.get(name) };
  const notices = () =>
    session.log.filter(({ type, data }) =>
      type === "user/message" && /** @type {any} */ (data).source.purpose === "notice"
    ).map(({ data }) => /** @type {any} */ (data));
  return {
    agent,
    session,
    deps,
    ctx,
    lines,
    printed,
    notices,
    /** @param {AbortSignal} [signal] */
    stop: (signal = new AbortController().signal) =>
      onTurnStopping(ctx, deps, { agent, turn: session.turn, signal }),
    /** The agent's answer to a steer. @param {string} text */
    answer(text) {
      session.nextStep();
      session.agent(text);
      session.append("step/end", { turn: session.turn, step: session.step });
    },
  };
}
