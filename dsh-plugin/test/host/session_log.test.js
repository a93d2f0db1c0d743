// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionLog } from "../../lib/host/session_log.js";
import { pluginMessage } from "../../lib/host/messages.js";
import { FakeAgent, fakeContext, FakeSession } from "../fakes/host.js";

/** @param {number} version */
function worked(version) {
  const session = new FakeSession({ version });
  session.startTurn();
  session.append("request/header", { header: { system: "You are…" } });
  session.user("Fix it.");
  session.user("context", { source: { kind: "plugin", plugin: "x", form: "snapshot", sections: ["long"] } });
  session.append("assistant/chunk", { turn: 1, step: 1, chunk: { type: "text-delta", text: "Look" } });
  session.tool("a", "bash", { command: "ls" }, "files");
  session.agent("Done.");
  session.endTurn();
  return session;
}

/** @param {string} text @returns {any[]} */
const parse = (text) => text.trim().split("\n").map((line) => JSON.parse(line));

test("the stored log is read after a flush, through the old store's face and the new one's, whose handle is closed", async () => {
  for (const [version, persistence] of /** @type {const} */ ([[0, "readFrom"], [3, "open"], [4, "open"]])) {
    const session = worked(version);
    const ctx = fakeContext({ sessions: [session], persistence, page: 3 });
    const log = await sessionLog(ctx, session);
    assert.deepEqual(
      [log.version, log.id, log.flushed, log.fallback, log.events.length],
      [version, "session-1", true, null, session.log.length],
    );
    assert.deepEqual([ctx.seen.flushed, ctx.seen.opened, ctx.seen.closed], [
      1,
      persistence === "open" ? 1 : 0,
      persistence === "open" ? 1 : 0,
    ]);
    const [header, ...events] = parse(log.text);
    assert.deepEqual([header.type, header.version, header.id], ["session", version, "session-1"]);
    assert.deepEqual(events.map(({ seq }) => seq), session.log.map(({ seq }) => seq));
    assert.deepEqual(events.map(({ type }) => type), session.log.map(({ type }) => type));
  }
});

test("what no judge sees isn't sent: streams, system prompt, plugins' texts, reasoning, data for the interface", async () => {
  const session = new FakeSession();
  session.startTurn();
  session.append("request/header", { header: { system: "SECRET-1" } });
  session.user("SECRET-2", { source: { kind: "plugin", plugin: "x", form: "snapshot", sections: [] } });
  session.append("assistant/chunk", { chunk: { type: "text-delta", text: "SECRET-3" } });
  session.append("assistant/message", {
    turn: 1,
    step: 1,
    message: { content: [{ type: "reasoning", text: "SECRET-4" }, { type: "text", text: "seen" }] },
    stream: ["SECRET-5"],
  }, { sourceEventSeqs: [3, 4] });
  session.append("tool/result", { message: {}, meta: { diff: "SECRET-6" } }, { sourceEventSeqs: [1] });
  session.append("agent/inbox/spliced", { inserted: ["SECRET-7"] });
  session.append("custom/thing", { x: "SECRET-8" }, { ignorable: true });
  const { text } = await sessionLog(fakeContext(), session);
  assert.doesNotMatch(text, /SECRET/);
  const events = parse(text).slice(1);
  assert.deepEqual(events.map(({ seq }) => seq), session.log.map(({ seq }) => seq));
  assert.deepEqual(events[3].data, {
    role: "user",
    content: [],
    source: { kind: "plugin", plugin: "x", form: "snapshot" },
  });
  assert.deepEqual(events[5].data.message.content, [{ type: "reasoning" }, { type: "text", text: "seen" }]);
  assert.deepEqual([events[5].sourceEventSeqs, events[6].sourceEventSeqs], [undefined, [1]]);
  assert.equal(events[8].ignorable, true);
});

test("the plugin's own steering goes out as a message of nobody's, in every format", async () => {
  for (const version of [0, 4]) {
    const session = worked(version);
    new FakeAgent(session).steer(pluginMessage(session, { text: "Your work scored 0.3.", summary: "gate" }));
    const { text } = await sessionLog(fakeContext({ sessions: [session] }), session);
    assert.doesNotMatch(text, /scored 0\.3/);
    assert.notEqual(parse(text).at(-1).data.source.kind, "user");
  }
});

test("without a store, or with one that fails or lags behind, the log comes from memory and the answer says so", async () => {
  const session = worked(0);
  const cases = /** @type {const} */ ([
    [{ persistence: "none" }, null],
    [{ flush: false }, null],
    [{ flush: new Error("disk full") }, "disk full"],
    [
      { stored: (/** @type {FakeSession} */ { log }) => log.slice(0, 4) },
      `it ends after 4 of ${session.log.length} events`,
    ],
    [{ sessions: [] }, "no session session-1"],
  ]);
  for (const [options, fallback] of cases) {
    const ctx = fakeContext({ sessions: [session], ...options });
    const log = await sessionLog(ctx, session);
    assert.deepEqual([log.flushed, log.fallback, log.events.length], [false, fallback, session.log.length]);
  }
});

test("a handle is closed when reading fails, and a cancelled call ends with aborted whatever the host's reason is", async () => {
  const session = worked(4);
  const controller = new AbortController();
  const ctx = fakeContext({ sessions: [session], persistence: "open", page: 2 });
  const stored = ctx.get("sessionPersistence");
  const { open } = stored;
  stored.open = async (/** @type {string} */ id, /** @type {string} */ mode) => {
    const handle = await open(id, mode);
    return {
      ...handle,
      read: (/** @type {number} */ offset, /** @type {number} */ length, /** @type {any} */ options) => {
        if (offset > 0) controller.abort({ kind: "disposed" });
        return handle.read(offset, length, options);
      },
    };
  };
  await assert.rejects(sessionLog(ctx, session, { signal: controller.signal }), { code: "aborted" });
  assert.deepEqual([ctx.seen.opened, ctx.seen.closed], [1, 1]);
  await assert.rejects(sessionLog(ctx, session, { signal: controller.signal }), { code: "aborted" });
});

test("a flush that never ends is left when the call is cancelled", async () => {
  const session = worked(0);
  const ctx = fakeContext({ sessions: [session] });
  ctx.get("sessions").flush = () => new Promise(() => {});
  const controller = new AbortController();
  const reading = sessionLog(ctx, session, { signal: controller.signal });
  controller.abort({ kind: "user" });
  await assert.rejects(reading, { code: "aborted" });
});
