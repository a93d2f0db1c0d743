// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { pluginMessage } from "../../lib/host/messages.js";
import { currentTask, earlierTalk, firstTask, userImages } from "../../lib/host/task.js";
import { FakeAgent, FakeSession } from "../fakes/host.js";

test("the task is what opened the newest turn, however the agent was steered since", () => {
  for (const version of [0, 4]) {
    const session = new FakeSession({ version });
    const agent = new FakeAgent(session);
    session.startTurn();
    session.user("Write the parser.");
    session.agent("Done.");
    session.endTurn();
    session.startTurn();
    const { seq } = session.user("Now the tests.");
    session.user("context", {
      source: version >= 4 ? { kind: "runtime-context" } : { kind: "plugin", plugin: "x" },
    });
    session.tool("a", "bash", { command: "ls" }, "files");
    session.user("And keep it short.");
    session.agent("Done.");
    agent.steer(
      pluginMessage(session, {
        text: "Your work was not accepted.",
        summary: "gate",
      }),
    );
    session.agent("Done again.");
    assert.deepEqual(currentTask(session.log), {
      text: "Now the tests.",
      seq,
      images: [],
    });
    assert.equal(firstTask(session.log)?.text, "Write the parser.");
  }
});

test("messages that waited together open a turn together, and are one task", () => {
  const session = new FakeSession();
  session.startTurn();
  const { seq } = session.user("Write the parser.", {
    images: [{ attachmentId: "sha256:1" }],
  });
  session.user("  ");
  session.user("In Rust.", { images: [{ attachmentId: "sha256:2" }] });
  session.agent("Done.");
  assert.deepEqual(currentTask(session.log), {
    text: "Write the parser.\n\nIn Rust.",
    seq,
    images: [{ attachmentId: "sha256:1" }, { attachmentId: "sha256:2" }],
  });
});

test("a turn that a finished job opened goes on with the task before it", () => {
  const session = new FakeSession({ version: 4 });
  session.startTurn();
  session.user("Run the long build.");
  session.agent("Started.");
  session.endTurn();
  session.startTurn();
  session.user("job 1 has ended", { source: { kind: "job" } });
  session.agent("The build is done.");
  assert.equal(currentTask(session.log)?.text, "Run the long build.");
  session.user("Then deploy.");
  assert.equal(currentTask(session.log)?.text, "Then deploy.");
});

test("without a message of a person there is no task", () => {
  const session = new FakeSession();
  assert.equal(currentTask(session.log), null);
  session.startTurn();
  session.user("snapshot", { source: { kind: "plugin", plugin: "x" } });
  session.user("", { images: [{ attachmentId: "sha256:1" }] });
  assert.equal(currentTask(session.log), null);
  assert.equal(firstTask(session.log), null);
});

test("what was said before a short task can be shown to a judge, the newest first when room is short", () => {
  const session = new FakeSession();
  session.startTurn();
  session.user("Shall we use Rust or Go for the parser?");
  session.agent("I propose Rust, with these three steps.");
  session.endTurn();
  session.startTurn();
  session.user("Yes, do that.");
  session.agent("Working.");
  const task = currentTask(session.log);
  assert.ok(task);
  assert.equal(
    earlierTalk(session.log, task),
    "User: Shall we use Rust or Go for the parser?\n\nAgent: I propose Rust, with these three steps.",
  );
  assert.equal(earlierTalk(session.log, task, 17), "Agent: I propose …");
  const first = firstTask(session.log);
  assert.ok(first);
  assert.equal(earlierTalk(session.log, first), null);
});

test("the user's images are listed, those of tools and plugins are not", () => {
  const session = new FakeSession();
  session.user("look", { images: [{ attachmentId: "sha256:1" }] });
  session.user("plugin", {
    images: [{ attachmentId: "sha256:2" }],
    source: { kind: "plugin", plugin: "x" },
  });
  session.call("a", "shot", {});
  session.result("a", [{
    type: "image",
    attachment: { attachmentId: "sha256:3" },
  }]);
  assert.deepEqual(userImages(session.log), [{ attachmentId: "sha256:1" }]);
});
