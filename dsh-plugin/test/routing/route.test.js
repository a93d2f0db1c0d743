// @ts-check
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { taskId } from "../../lib/gate/fingerprint.js";
import { ownEvents } from "../../lib/host/events.js";
import { pluginMessage } from "../../lib/host/messages.js";
import { currentTask } from "../../lib/host/task.js";
import { route } from "../../lib/routing/route.js";
import { keepResult, wholeResult } from "../../lib/routing/whole_results.js";
import { VerifierError } from "../../lib/server/errors.js";
import {
  acceptanceAnswer,
  asked,
  bash,
  compareAnswer,
  envelope,
  FakeLedger,
  fakeServer,
  gateSettings,
  progressAnswer,
  rendered,
  selectAnswer,
  todos,
  workflow,
} from "../fakes/routing.js";

/** @param {string} path @param {any} body @returns {unknown} */
function answers(path, body) {
  if (path === "/v1/compare") return compareAnswer();
  if (path === "/v1/select") {
    return selectAnswer(
      body.candidates.map((/** @type {any} */ _, /** @type {number} */ index) => ({
        index,
        strength: -index * 3,
      })),
    );
  }
  return body.mode === "progress"
    ? progressAnswer(body.checkpoints.map(() => 0.3), { advice: "plateau" })
    : acceptanceAnswer("steer");
}

/**
 * A turn that stops; what the agent is to be told is delivered as the gate does it.
 *
 * @param {any} session
 * @param {{ answer?: typeof answers, settings?: Record<string, unknown>, ledger?: FakeLedger, server?: ReturnType<typeof fakeServer>, more?: object, sessions?: Record<string, unknown>, deliver?: boolean }} [options]
 */
async function stop(
  session,
  {
    answer = answers,
    settings = {},
    ledger = new FakeLedger(),
    server = fakeServer(answer),
    more = {},
    sessions = {},
    deliver = true,
  } = {},
) {
  const events = ownEvents(session);
  const routed = await route({
    agent: { session },
    turn: session.turn,
    events,
    ctx: {
      get: (name) => name === "sessions" ? { get: (/** @type {string} */ id) => sessions[id] } : undefined,
    },
    settings: gateSettings(settings),
    connection: server,
    ledger,
    taskId: taskId(currentTask(events)),
    ...more,
  });
  if (routed.steer !== undefined && deliver) {
    const { text, summary, fingerprint } = routed.steer;
    const message = pluginMessage(session, { text, summary, fields: { purpose: "review", fingerprint } });
    session.append("user/message", message, { surfaceOp: "append" });
  }
  return { ...routed, server, ledger };
}

/** @param {Awaited<ReturnType<typeof stop>>} answer */
const quiet = ({ acted, steer, notices }) => acted === false && steer === undefined && notices.length === 0;

describe("a candidate group at the end of a turn", () => {
  test("of two is compared in both orders, and of three ranked, as the real host renders it", async () => {
    for (const version of [0, 3, 4]) {
      const two = asked({ version });
      workflow(two, rendered(envelope(["first", "second"], { scope: "Only the client." })));
      const { steer, acted, gateRequired, server, ledger, notices } = await stop(two);
      assert.equal(acted, true);
      assert.equal(gateRequired, true);
      assert.deepEqual(notices, []);
      assert.match(steer?.text ?? "", /Winner: candidate 1/);
      assert.deepEqual(server.dry, ["/v1/compare"]);
      const [{ path, body, options } = {}] = /** @type {any[]} */ (server.bought);
      assert.equal(path, "/v1/compare");
      assert.deepEqual(body, {
        task: "Add a retry to the client.",
        context: "Only the client.",
        a: { id: "c1", text: "first" },
        b: { id: "c2", text: "second" },
        criteria: "general",
        repeats: 2,
        redact: [],
      });
      assert.equal(options.idempotencyKey, `review-${ledger.reviews[0]?.id}`);
      assert.deepEqual(
        ledger.reviews.map(({ state, calls, request }) => [state, calls, request.purpose, request.session]),
        [["done", 6, "compare", "session-1"]],
      );
      assert.equal(steer?.fingerprint, ledger.reviews[0]?.request.fingerprint);
    }
    const three = asked();
    workflow(three, rendered(envelope(["a", "b", "c"])));
    const ranked = await stop(three, {
      settings: {
        judge: { profile: "deepseek" },
        channel: "logprobs",
        evaluations: 3,
        redact: ["secret-\\d+"],
      },
    });
    assert.match(ranked.steer?.text ?? "", /Winner of 3: candidate 1/);
    const { body } = /** @type {any} */ (ranked.server.bought[0]);
    assert.deepEqual(body.redact, ["secret-\\d+"]);
    assert.deepEqual(body.candidates.map((/** @type {any} */ c) => c.text), ["a", "b", "c"]);
    assert.equal(body.repeats, 3);
    assert.deepEqual([body.judge, body.channel], [{ profile: "deepseek" }, "logprobs"]);
  });

  test("of proposals is judged by the rubric for proposals", async () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b"], { version: 2, reviewStage: "proposal" })));
    const { server, steer } = await stop(session, { settings: { evaluations: 3 } });
    assert.equal(server.bought[0]?.body.criteria, "proposal");
    assert.equal(server.bought[0]?.body.repeats, 4, "both orders equally often");
    assert.match(steer?.text ?? "", /Nothing was executed yet/);
  });

  test("is nothing in mode manual, without a task, and in an ordinary turn", async () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b"])));
    const manual = await stop(session, { settings: { mode: "manual" } });
    assert.ok(quiet(manual) && !manual.gateRequired && manual.server.dry.length === 0);
    const plain = asked();
    bash(plain, "npm test", "ok");
    const ordinary = await stop(plain);
    assert.ok(quiet(ordinary) && !ordinary.gateRequired && ordinary.server.dry.length === 0);
    const nobody = asked();
    nobody.log = nobody.log.filter(({ type }) => type !== "user/message");
    workflow(nobody, rendered(envelope(["a", "b"])));
    assert.ok(quiet(await stop(nobody)));
  });

  test("is paid for once, in one process and after a restart", async () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b"])));
    const first = await stop(session);
    const again = await stop(session, first);
    assert.ok(quiet(again));
    assert.equal(again.gateRequired, true);
    assert.equal(first.server.dry.length, 1, "what is known costs no request");
    const restarted = await stop(session.resume(), first);
    assert.ok(quiet(restarted));
    assert.equal(restarted.gateRequired, true);
    assert.equal(first.server.bought.length, 1);
    const other = asked();
    workflow(other, rendered(envelope(["a", "b"], { version: 2, reviewStage: "proposal" })));
    assert.equal((await stop(other, first)).acted, true, "another stage is another review");
    assert.equal(first.ledger.reviews.length, 2);
  });

  test("that is newer comes first, and the older one at the next stop", async () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b"], { groupId: "old" })));
    workflow(session, rendered(envelope(["c", "d"], { groupId: "new" })));
    const first = await stop(session);
    assert.match(first.steer?.text ?? "", /group "new"/);
    const second = await stop(session, first);
    assert.match(second.steer?.text ?? "", /group "old"/);
    assert.ok(quiet(await stop(session, first)));
  });

  test("that is malformed is told once, and doesn't hide a good one", async () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b"], { version: 7 })));
    const first = await stop(session);
    assert.equal(first.acted, false);
    assert.match(
      first.notices[0]?.text ?? "",
      /Assay did not compare a workflow's candidates: .* \/version must be 1 or 2 \(value: 7\)/,
    );
    assert.ok(quiet(await stop(session, first)));
    workflow(session, rendered(envelope(["a", "b"])));
    assert.equal((await stop(session, first)).acted, true);
  });

  test("that is larger than maxCharacters is judged whole, and that is said", async () => {
    const session = asked();
    workflow(session, rendered(envelope(["a".repeat(800), "b".repeat(800)])));
    const { steer, server } = await stop(session, { settings: { maxCharacters: 1000 } });
    assert.equal(server.bought[0]?.body.a.text.length, 800);
    assert.match(
      steer?.text ?? "",
      /1600 characters together, more than maxCharacters 1000; they were judged whole/,
    );
  });

  test("that the host shows only in part is judged whole while the process lives, and told to be cut afterwards", async () => {
    const value = envelope(["a".repeat(400), "b".repeat(400)]);
    const moved = `${
      rendered(value).slice(0, 300)
    }\n\n(Omitted 700 bytes. Full formatted result stored at: /x. Use read.)`;
    for (const text of [rendered(value, { max: 500 }), moved]) {
      const session = asked();
      const { data } = workflow(session, text);
      const callId = /** @type {any} */ (data).message.source.callId;
      const done = {
        isError: false,
        value: { runId: "r", agentsStarted: 2, result: value },
        content: [{ type: "text", text }],
      };
      keepResult({ agent: { session }, callId, name: "workflow" }, done);
      const { steer, server } = await stop(session);
      assert.match(steer?.text ?? "", /Winner: candidate 1/);
      assert.equal(server.bought[0]?.body.b.text, "b".repeat(400));
      assert.match((await stop(session.resume())).notices[0]?.text ?? "", /can't be read/);
    }
  });

  test("isn't taken from another call's value", () => {
    const session = asked();
    const value = envelope(["a".repeat(400), "b".repeat(400)]);
    const text = rendered(value, { max: 500 });
    /** @param {string} callId @param {unknown} result */
    const keep = (callId, result) =>
      keepResult({ agent: { session }, callId }, { value: { result }, content: [{ type: "text", text }] });
    keep("w", { ...value, groupId: "other" });
    const shown = text.slice(text.indexOf("{"));
    assert.equal(wholeResult(session, "w", shown), undefined);
    for (const strange of [null, 4, "x", {}, { agent: null }, { agent: {}, callId: 3 }]) {
      keepResult(strange, strange);
    }
    for (let i = 0; i < 6; i++) keep(`w${i}`, value);
    assert.deepEqual(["w1", "w2", "w5"].map((id) => wholeResult(session, id, shown) === value), [
      false,
      true,
      true,
    ]);
  });

  test("sends the task's images along where the host has them", async () => {
    const session = asked();
    session.log = [];
    session.startTurn();
    session.user("Like this picture.", {
      images: [{ attachmentId: "sha256:1", mediaType: "image/png", bytes: 3 }],
    });
    workflow(session, rendered(envelope(["a", "b"])));
    const ctx = {
      get: (/** @type {string} */ name) =>
        name === "attachments"
          ? {
            readImage: () =>
              Promise.resolve({ ref: { mediaType: "image/png" }, data: new Uint8Array([1, 2, 3]) }),
          }
          : undefined,
    };
    const { server } = await stop(session, { more: { ctx } });
    assert.deepEqual(server.bought[0]?.body.images, ["data:image/png;base64,AQID"]);
    const blind = fakeServer((path, body) => answers(path, body), 6, (body) => {
      if (body.images !== undefined) {
        const errors = [{ path: "/images", message: "must be left out: judge x can't read images" }];
        throw new VerifierError("invalid_request", "no images", { status: 400, errors });
      }
    });
    const without = await stop(session, { more: { ctx }, server: blind, settings: { judge: "blind" } });
    assert.equal(without.acted, true);
    assert.equal(blind.bought[0]?.body.images, undefined);
    assert.match(
      without.notices[0]?.text ?? "",
      /1 image of the session wasn't shown: the judge can't read images/,
    );
    const lost = await stop(session, {
      more: { ctx: { get: () => undefined } },
      settings: { judge: "third" },
    });
    assert.equal(lost.server.bought[0]?.body.images, undefined);
    assert.match(lost.notices[0]?.text ?? "", /an image wasn't shown: .*the host stores no attachments/);
    const off = await stop(session, { more: { ctx }, settings: { sendImages: false, judge: "other" } });
    assert.equal(off.server.bought[0]?.body.images, undefined);
  });
});

describe("a todo list at the end of a turn", () => {
  /** @param {string} [task] */
  const listed = (task) => {
    const session = asked({}, task);
    todos(session, { a: "in_progress", b: "pending" });
    bash(session, "edit", "ok");
    todos(session, { a: "completed", b: "completed" });
    return session;
  };

  test("is followed by the judge, and a finding sends the agent back", async () => {
    const { steer, server, ledger, gateRequired } = await stop(listed(), {
      settings: { redact: ["secret-\\d+"] },
    });
    assert.match(steer?.text ?? "", /all 2 entries are completed, but the curve does not rise/);
    assert.equal(gateRequired, true);
    const [{ path, body } = {}] = /** @type {any[]} */ (server.bought);
    assert.equal(path, "/v1/session");
    assert.equal(body.mode, "progress");
    assert.deepEqual(body.checkpoints, [1]);
    assert.deepEqual(body.redact, ["secret-\\d+"]);
    assert.equal(body.messages[1].content[0].content, "ok");
    assert.equal(ledger.reviews[0]?.request.purpose, "track");
  });

  test("without a finding is silent, and the final gate has its turn", async () => {
    const silent = await stop(listed(), { answer: () => progressAnswer([0.5], { advice: null }) });
    assert.ok(quiet(silent));
    assert.equal(silent.gateRequired, true);
    const strict = await stop(listed(), {
      answer: () => progressAnswer([0.5]),
      settings: { mode: "strict" },
    });
    assert.match(strict.steer?.text ?? "", /progress is 0\.500 now/);
    const good = await stop(listed(), {
      answer: () => progressAnswer([0.9], { advice: "done" }),
      settings: { mode: "strict" },
    });
    assert.ok(quiet(good) && good.gateRequired);
  });

  test("that was delivered and checked afterwards costs nothing and asks for the gate", async () => {
    const session = listed();
    bash(session, "npm test", "2 passing");
    const routed = await stop(session);
    assert.ok(quiet(routed));
    assert.equal(routed.gateRequired, true);
    assert.deepEqual([routed.server.dry, routed.ledger.reviews], [[], []]);
  });

  test("comes after a candidate group", async () => {
    const session = listed();
    workflow(session, rendered(envelope(["a", "b"])));
    const first = await stop(session);
    assert.match(first.steer?.text ?? "", /candidate group/);
    const second = await stop(session, first);
    assert.match(second.steer?.text ?? "", /todo list/);
  });
});

describe("a team's completed task at the end of a turn", () => {
  /** @param {any} session @param {string} id @param {string} status @param {Record<string, unknown>} [more] */
  const task = (session, id, status, more = {}) =>
    session.append("team/task", {
      version: 2,
      teamId: "t",
      task: {
        id,
        revision: 1,
        subject: `Subject ${id}`,
        description: `Describe ${id}`,
        status,
        ownerId: "m1",
        ...more,
      },
    });
  /** @param {any} session @param {string} text @param {string} [senderId] */
  const says = (session, text, senderId = "m1") =>
    session.append("team/message/queued", {
      version: 2,
      teamId: "t",
      message: {
        id: "x",
        senderId,
        senderName: "ann",
        targetId: session.id,
        content: [{ type: "text", text }],
      },
    });

  /** @param {number} version */
  const team = (version) => {
    const session = asked({ version });
    task(session, "1", "in_progress");
    says(session, "Did the first.");
    task(session, "1", "completed");
    task(session, "2", "in_progress");
    says(session, "Did the second.");
    task(session, "2", "completed");
    return session;
  };

  test("is judged by what its owner reported, oldest first, and stops at the first that is not accepted", async () => {
    for (const version of [0, 4]) {
      const session = team(version);
      const first = await stop(session);
      assert.equal(first.server.bought.length, 1);
      const { path, body } = /** @type {any} */ (first.server.bought[0]);
      assert.equal(path, "/v1/session");
      assert.equal(body.mode, "acceptance");
      assert.equal(body.task, "Subject 1\n\nDescribe 1");
      assert.equal(body.threshold, 0.6);
      assert.match(JSON.stringify(body.messages), /Did the first/);
      assert.doesNotMatch(JSON.stringify(body.messages), /Did the second/);
      assert.match(
        first.steer?.text ?? "",
        /did not accept the team's completed task "Subject 1" \(1\): score 0\.300/,
      );
      assert.match(first.steer?.text ?? "", /- Feasibility: 0\.200, needs 0\.600\n {2}> Step 2 needs a tool/);
      const second = await stop(session, first);
      assert.match(second.steer?.text ?? "", /Subject 2/);
      const third = await stop(session, first);
      assert.ok(quiet(third) && third.gateRequired);
    }
  });

  test("that is accepted lets the next review of the same stop go on", async () => {
    const session = team(0);
    workflow(session, rendered(envelope(["a", "b"])));
    const routed = await stop(session, {
      settings: { reviewsPerTask: 3 },
      answer: (path, body) => path === "/v1/session" ? acceptanceAnswer("accept") : answers(path, body),
    });
    assert.deepEqual(routed.server.bought.map(({ path }) => path), [
      "/v1/session",
      "/v1/session",
      "/v1/compare",
    ]);
    assert.match(routed.steer?.text ?? "", /candidate group/);
  });

  test("is judged by its owner's own calls where the host still has that session", async () => {
    const session = asked();
    task(session, "1", "in_progress");
    const owner = asked({ id: "m1" }, "Do it.");
    owner.append("turn/start", { turn: 9 }, { time: 1 });
    bash(owner, "make it", "MADE");
    task(session, "1", "completed", { result: "It is made." });
    for (const event of owner.log) /** @type {any} */ (event).time = 1003;
    const { server } = await stop(session, { sessions: { m1: owner } });
    assert.match(JSON.stringify(server.bought[0]?.body.messages), /MADE.*It is made\./);
  });

  test("of which nothing is recorded is told, not judged", async () => {
    const session = asked();
    task(session, "1", "in_progress");
    task(session, "1", "completed");
    says(session, "somebody else", "m2");
    const routed = await stop(session);
    assert.deepEqual(routed.server.dry, []);
    assert.match(routed.notices[0]?.text ?? "", /did not review the team's task "Subject 1": neither/);
  });

  test("that was opened again, deleted, switched off or of an earlier user task isn't looked at", async () => {
    for (const status of ["pending", "in_progress", "deleted"]) {
      const session = asked();
      task(session, "1", "completed", { result: "x" });
      task(session, "1", status);
      assert.ok(quiet(await stop(session)), status);
    }
    assert.ok(quiet(await stop(team(0), { settings: { reviewTeamTasks: false } })));
    const next = team(0);
    next.endTurn();
    next.startTurn();
    next.user("And now?");
    assert.ok(quiet(await stop(next)));
  });

  test("of a strange shape is ignored, not fatal", async () => {
    const session = asked();
    for (
      const data of [
        null,
        {},
        { task: null },
        { task: { id: 4 } },
        { task: { id: "", status: "completed" } },
        "x",
      ]
    ) session.append("team/task", data);
    session.append("team/task", {
      id: "flat",
      status: "completed",
      subject: 4,
      description: null,
      result: { no: "text" },
    });
    const routed = await stop(session);
    assert.equal(routed.acted, false);
    assert.match(routed.notices[0]?.text ?? "", /"flat"/);
  });
});

describe("what keeps a review from being bought", () => {
  const group = () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b"])));
    return session;
  };
  const failing = (/** @type {Error} */ error) => () => {
    throw error;
  };

  test("is one notice, and the turn closes as if routing weren't there", async () => {
    const error = new VerifierError("judge_failed", "The judge answered 500.", { status: 502 });
    const first = await stop(group(), { answer: failing(error) });
    assert.equal(first.acted, false);
    assert.equal(first.gateRequired, false);
    assert.match(
      first.notices[0]?.text ?? "",
      /could not review the candidate group "g1": judge_failed: The judge answered 500\./,
    );
    assert.deepEqual(
      first.ledger.reviews.map(({ state, calls }) => [state, calls]),
      [["failed", 6]],
      "who knows what it bought",
    );
  });

  test("counts nothing as bought when the request never reached a judge", async () => {
    const error = new VerifierError("invalid_request", "too long", { status: 400 });
    const { ledger } = await stop(group(), { answer: failing(error) });
    assert.deepEqual(ledger.reviews.map(({ state, calls }) => [state, calls]), [["failed", 0]]);
  });

  test("isn't tried again at the next stop of the same turn, but in the next turn", async () => {
    const session = group();
    let down = true;
    const server = fakeServer((path, body) => {
      if (down) throw new VerifierError("judge_failed", "down");
      return answers(path, body);
    });
    const first = await stop(session, { server });
    await stop(session, { server, ledger: first.ledger });
    assert.equal(server.dry.length, 1);
    down = false;
    session.endTurn();
    session.turn++;
    const later = await stop(session, { server, ledger: first.ledger });
    assert.equal(later.acted, true);
  });

  test("is a ledger that can't be asked: then nothing is bought", async () => {
    const ledger = new FakeLedger();
    ledger.failing = new VerifierError("store_unavailable", "The store is away.", { status: 503 });
    const { server, notices } = await stop(group(), { ledger });
    assert.deepEqual(server.bought, []);
    assert.match(notices[0]?.text ?? "", /store_unavailable/);
  });

  test("is a spent budget: one notice that names the setting, for every kind of budget", async () => {
    /** @type {[Record<string, unknown>, RegExp][]} */
    const cases = [
      [{ reviewsPerTask: 0 }, /reviewsPerTask/],
      [{ callsPerTask: 5 }, /callsPerTask/],
      [{ reviewsPerSession: 0 }, /reviewsPerSession/],
      [{ callsPerSession: 5 }, /callsPerSession/],
    ];
    for (const [settings, name] of cases) {
      const session = group();
      todos(session, { a: "pending", b: "pending" });
      bash(session, "x", "y");
      todos(session, { a: "completed", b: "completed" });
      const first = await stop(session, { settings });
      assert.deepEqual([first.acted, first.server.bought], [false, []]);
      assert.equal(first.notices.length, 1);
      assert.match(first.notices[0]?.text ?? "", name);
      assert.ok(quiet(await stop(session, { ...first, settings })), "said once");
    }
  });

  test("is what was really bought, not what was planned", async () => {
    const session = group();
    const server = fakeServer(
      (path, body) => ({ .../** @type {object} */ (answers(path, body)), usage: { calls: 1 } }),
      6,
    );
    const ledger = new FakeLedger();
    await stop(session, { server, ledger, settings: { callsPerTask: 7 } });
    workflow(session, rendered(envelope(["c", "d"], { groupId: "g2" })));
    assert.equal(
      (await stop(session, { server, ledger, settings: { callsPerTask: 7 } })).acted,
      true,
      "1 + 6 fit into 7",
    );
  });

  test("is a turn that was called off: no notice, and the hold is given back", async () => {
    const controller = new AbortController();
    const { notices, ledger, acted } = await stop(group(), {
      answer: () => {
        controller.abort({ kind: "user" });
        throw new VerifierError("aborted", "The call was cancelled.");
      },
      more: { signal: controller.signal },
    });
    assert.deepEqual([notices, acted], [[], false]);
    assert.equal(ledger.reviews[0]?.state, "abandoned");
  });

  test("is the turn's deadline, and that is told as such", async () => {
    let left = 1000;
    const { notices } = await stop(group(), {
      answer: () => {
        left = 0;
        throw new VerifierError("aborted", "The call was cancelled.");
      },
      more: { deadline: { remaining: () => left } },
    });
    assert.match(notices[0]?.text ?? "", /longer than totalMs \(120000 ms\)/);
  });

  test("is an answer nobody understands, whatever it is", async () => {
    for (
      const answer of [null, {}, [], "x", 4, { usage: { calls: 1 } }, { winner: "C", usage: { calls: 1 } }, {
        plan: {},
      }]
    ) {
      const { acted, notices, ledger } = await stop(group(), { answer: () => answer });
      assert.equal(acted, false);
      assert.equal(notices.length, 1);
      assert.equal(ledger.reviews[0]?.state, "failed");
    }
    const nothing = await stop(group(), {
      answer: () => ({ .../** @type {object} */ (selectAnswer([])), usage: { calls: 1 } }),
    });
    assert.equal(nothing.acted, false);
  });

  test("is a select in which nothing was scored", async () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b", "c"])));
    const { notices, ledger } = await stop(session, {
      answer: () => selectAnswer([{ index: 0, strength: null }], { best: null }),
    });
    assert.match(notices[0]?.text ?? "", /no pair of candidates got a score/);
    assert.equal(ledger.reviews[0]?.state, "failed");
  });

  test("is a session that can't be read: said, never thrown", async () => {
    const routed = await route(
      /** @type {any} */ ({
        agent: { session: { id: "s", header: { version: 0, id: "s" } } },
        turn: 1,
        settings: gateSettings(),
        connection: fakeServer(answers),
        ledger: new FakeLedger(),
        taskId: "t",
        ctx: { get: () => undefined },
      }),
    );
    assert.equal(routed.acted, false);
    assert.match(routed.notices[0]?.text ?? "", /neither snapshotEvents\(\) nor events/);
  });
});

describe("a review of which the agent was not told", () => {
  const group = () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b"])));
    return session;
  };

  test("is told at the next stop, from the ledger and for nothing, in this process and after a restart", async () => {
    for (const restarted of [false, true]) {
      const session = group();
      const lost = await stop(session, { deliver: false });
      const later = restarted ? session.resume() : session;
      const told = await stop(later, lost);
      assert.deepEqual(told.steer, lost.steer);
      assert.equal(lost.server.bought.length, 1);
      assert.equal(lost.ledger.reviews.length, 1);
      assert.ok(quiet(await stop(later, lost)), "once");
    }
  });

  test("is told once from the ledger, also on a host whose log doesn't show it", async () => {
    const session = group();
    const first = await stop(session, { deliver: false });
    assert.equal((await stop(session, { ...first, deliver: false })).acted, true);
    assert.ok(quiet(await stop(session, { ...first, deliver: false })));
  });
});

test("a routed review that the log shows asks for the final gate, also after a restart and without a ledger", async () => {
  for (const version of [0, 4]) {
    const session = asked({ version });
    workflow(session, rendered(envelope(["a", "b"])));
    await stop(session);
    const ledger = new FakeLedger();
    ledger.failing = new VerifierError("server_unreachable", "Nothing listens.");
    const routed = await stop(session.resume(), { ledger });
    assert.ok(quiet(routed));
    assert.equal(routed.gateRequired, true);
    assert.deepEqual(routed.server.dry, []);
  }
});
