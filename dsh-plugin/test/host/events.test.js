// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assistantText,
  isUserMessage,
  liveEvents,
  newestTurn,
  ownEvents,
  textOf,
  turnEvents,
  userText,
} from "../../lib/host/events.js";
import { isOwnMessage, PLUGIN, pluginMessage } from "../../lib/host/messages.js";
import { VerifierError } from "../../lib/server/errors.js";
import { FakeAgent, FakeSession } from "../fakes/host.js";

test("the live log is read from hosts with events and from those with snapshotEvents", () => {
  for (const reads of /** @type {const} */ (["events", "snapshotEvents"])) {
    const session = new FakeSession({ reads });
    session.startTurn();
    session.user("hello");
    assert.equal(liveEvents(session).length, 3);
  }
  assert.throws(
    () => liveEvents(/** @type {any} */ ({ id: "x", header: {} })),
    (error) => error instanceof VerifierError && error.code === "invalid_request",
  );
});

test("what a fork inherited is not its own, in old and new formats, and stays so when the fork is resumed", () => {
  for (const version of [0, 1, 2, 3, 4]) {
    const parent = new FakeSession({ version });
    parent.startTurn();
    parent.user("of the parent");
    parent.endTurn();
    const child = parent.fork("child");
    child.startTurn();
    child.user("of the fork");
    const texts = (/** @type {FakeSession} */ session) =>
      ownEvents(session).map(userText).filter((text) => text !== "");
    assert.deepEqual(texts(child), ["of the fork"], `format ${version}`);
    assert.deepEqual(
      texts(child.resume()),
      ["of the fork"],
      `format ${version}, resumed`,
    );
    const grandchild = child.fork("grandchild");
    grandchild.user("of the fork's fork");
    assert.deepEqual(
      texts(grandchild),
      ["of the fork's fork"],
      `format ${version}, forked twice`,
    );
  }
});

test("a session that was only resumed keeps all of its events", () => {
  for (const version of [0, 4]) {
    const session = new FakeSession({ version });
    session.user("before");
    const again = session.resume();
    assert.deepEqual(ownEvents(again).map(userText), ["before", ""]);
  }
});

test("a turn's events go from its start to its end, and of equal numbers the newer turn is meant", () => {
  const session = new FakeSession();
  session.startTurn();
  session.user("one");
  session.endTurn();
  session.turn = 0;
  session.startTurn();
  session.user("two");
  assert.equal(newestTurn(session.log), 1);
  assert.deepEqual(turnEvents(session.log, 1).map(({ type }) => type), [
    "turn/start",
    "step/start",
    "user/message",
  ]);
  assert.deepEqual(turnEvents(session.log, 7), []);
  assert.equal(newestTurn([]), null);
});

test("only a person's messages are the user's", () => {
  const session = new FakeSession({ version: 4 });
  assert.equal(isUserMessage(session.user("hi")), true);
  for (
    const source of [
      { kind: "plugin", plugin: "x" },
      { kind: "runtime-context" },
      { kind: "compact-checkpoint" },
      {},
    ]
  ) {
    assert.equal(
      isUserMessage(session.user("hi", { source })),
      false,
      JSON.stringify(source),
    );
  }
  assert.equal(isUserMessage(session.agent("hi")), false);
  assert.equal(
    isUserMessage({ type: "user/message", seq: 0, data: null }),
    false,
  );
});

test("text is read from strings and blocks, without reasoning, images and calls", () => {
  assert.equal(textOf("plain"), "plain");
  const blocks = [
    { type: "reasoning", text: "hidden" },
    { type: "text", text: "a" },
    { type: "image", attachment: {} },
    null,
    { type: "text", text: 7 },
    { type: "text", text: "b" },
  ];
  assert.equal(textOf(blocks), "a\nb");
  assert.equal(textOf({ text: "no" }), "");
  const session = new FakeSession();
  assert.equal(
    assistantText(session.agent("said", [{ id: "a", name: "bash", args: {} }])),
    "said",
  );
  assert.equal(assistantText(session.user("asked")), "");
  assert.equal(userText(session.agent("said")), "");
});

test("the plugin's own messages carry the source that the log's format takes, and are known again", () => {
  for (const version of [0, 1, 2, 3, 4]) {
    const agent = new FakeAgent(new FakeSession({ version }));
    agent.steer(
      pluginMessage(agent.session, {
        text: "Go on.",
        summary: "score 0.3\n below 0.6",
      }),
    );
    const [event] = agent.session.log;
    assert.ok(event);
    const source = /** @type {any} */ (event.data).source;
    assert.equal(source.kind, version >= 4 ? PLUGIN : "plugin");
    assert.equal(source.form, "notice");
    assert.equal(source.summary, "score 0.3 below 0.6");
    assert.equal(isOwnMessage(event), true);
    assert.equal(isUserMessage(event), false);
  }
  const session = new FakeSession();
  assert.equal(
    isOwnMessage(
      session.user("x", { source: { kind: "plugin", plugin: "another" } }),
    ),
    false,
  );
  assert.equal(isOwnMessage(session.user("x")), false);
  assert.equal(isOwnMessage(session.agent("x")), false);
});

test("a message of the plugin is frozen throughout, has its own id, and its summary keeps within 120 characters", () => {
  const session = new FakeSession();
  const message = pluginMessage(session, {
    text: "t",
    summary: `${"x".repeat(118)}🙂🙂`,
  });
  assert.ok(
    Object.isFrozen(message) && Object.isFrozen(message.content) &&
      Object.isFrozen(message.source),
  );
  assert.ok(
    message.source.summary.length <= 120 &&
      message.source.summary.isWellFormed(),
  );
  assert.match(message.source.summary, /^x+…$/);
  assert.notEqual(
    message.id,
    pluginMessage(session, { text: "t", summary: "s" }).id,
  );
  assert.deepEqual([message.role, message.content], ["user", [{
    type: "text",
    text: "t",
  }]]);
});
