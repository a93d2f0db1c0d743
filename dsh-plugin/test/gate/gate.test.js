// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { installGate, onTurnStopping } from "../../lib/gate/install.js";
import { steer } from "../../lib/gate/steers.js";
import { VerifierError } from "../../lib/server/errors.js";
import { gateBench, gateServer, verdict, workedSession } from "../fakes/gate.js";
import { envelope, rendered, workflow } from "../fakes/routing.js";
import { problem } from "../fakes/server.js";

/** @param {any} message */
const textOf = (message) => message.content[0].text;

describe("a gate that is off", () => {
  test("returns at once and looks at nothing", () => {
    const server = gateServer(verdict("steer"));
    const bench = gateBench(server, { config: { enabled: false } });
    Object.defineProperty(bench.agent, "session", {
      get: () => assert.fail("the session was looked at"),
    });
    assert.equal(bench.stop(), undefined);
    assert.deepEqual(server.seen, []);
  });
});

describe("a gate at the end of a turn", () => {
  test("lets accepted work pass and says nothing", async () => {
    const server = gateServer(verdict("accept"));
    const bench = gateBench(server);
    assert.equal(await bench.stop(), undefined);
    assert.deepEqual(bench.agent.steered, []);
    assert.deepEqual(bench.notices(), []);
    assert.deepEqual(bench.printed, []);
    assert.deepEqual(server.paths(), [
      "/v1/criteria/parse",
      "/v1/reviews",
      "/v1/session",
      "/v1/reviews/rev/settle",
    ]);
    assert.equal(server.reviews.get("rev_0").calls, 3);
  });

  test("asks for the work since the task by the gate's own rule, a little before its own deadline", async () => {
    const server = gateServer(verdict("accept"));
    const bench = gateBench(server, { config: { threshold: 0.7, evaluations: 2, totalMs: 60_000 } });
    await bench.stop();
    const { body, options } = server.seen.find(({ path }) => path === "/v1/session") ??
      assert.fail("nothing bought");
    assert.equal(body.mode, "acceptance");
    assert.equal(body.task, "Make the file.");
    assert.equal(body.threshold, 0.7);
    assert.equal(body.repeats, 2);
    assert.equal(body.criteria, "general");
    assert.deepEqual(body.range, { from: 2 });
    assert.match(body.log, /^\{"type":"session"/);
    assert.ok(body.deadlineMs < options.timeoutMs && body.deadlineMs > 50_000);
    assert.equal(options.idempotencyKey, "gate-rev_0");
    const reserved = server.seen.find(({ path }) => path === "/v1/reviews")?.body;
    assert.equal(reserved.calls, 6);
    assert.equal(reserved.purpose, "gate");
    assert.deepEqual(reserved.limits, { task: { calls: 96 }, session: { calls: 240 } });
  });

  test("sends the agent back to work with score, threshold, failing criteria and the judge's words", async () => {
    const bench = gateBench(gateServer(verdict("steer")));
    await bench.stop();
    const [message] = bench.agent.steered;
    assert.match(textOf(message), /^The verifier did not accept this work\.\nScore 0\.300; at least 0\.600/);
    assert.match(textOf(message), /- Checks: 0\.300, needs 0\.600\n {2}> Nothing was run\./);
    assert.equal(message.source.form, "notice");
    assert.equal(message.source.purpose, "steer");
    assert.ok(message.source.summary.length <= 120);
  });

  test("steers as often as the settings allow in a turn, and buys no verdict that it couldn't act on", async () => {
    const server = gateServer(verdict("steer"));
    const bench = gateBench(server);
    await bench.stop();
    bench.answer("Now it is done.");
    await bench.stop();
    assert.equal(bench.agent.steered.length, 1);
    assert.equal(server.bought(), 1);
  });

  test("judges all work since the task again after a steer", async () => {
    let calls = 0;
    const server = gateServer(() => verdict(calls++ === 0 ? "steer" : "accept"));
    const bench = gateBench(server, { config: { maxGatesPerTurn: 3 } });
    await bench.stop();
    bench.answer("Now it is done.");
    await bench.stop();
    assert.equal(bench.agent.steered.length, 1);
    const asked = server.seen.filter(({ path }) => path === "/v1/session");
    assert.deepEqual(asked.map(({ body }) => body.range.from), [2, 2]);
    assert.deepEqual(asked.map(({ body }) => body.task), ["Make the file.", "Make the file."]);
  });

  test("counts its steers in the log, so that a restart doesn't make it steer again", async () => {
    const server = gateServer(verdict("steer"));
    const first = gateBench(server);
    await first.stop();
    first.answer("Now it is done.");
    const again = first.session.resume();
    const bench = gateBench(server, { session: again });
    await bench.stop();
    assert.deepEqual(bench.agent.steered, []);
  });

  test("has a new count in the next turn, and none of the session that a fork came from", async () => {
    const server = gateServer(verdict("steer"));
    const first = gateBench(server);
    await first.stop();
    const fork = first.session.fork("session-2");
    for (const session of [first.session, fork]) {
      session.append("turn/end", { turn: session.turn, reason: { kind: "completed" } });
      session.startTurn();
      session.user("And another file.");
      session.tool("c9", "write", { path: "b.txt", content: session.id }, "written");
      session.append("step/end", { turn: session.turn, step: session.step });
      const bench = gateBench(server, { session });
      await bench.stop();
      assert.equal(bench.agent.steered.length, 1, session.id);
    }
  });

  test("doesn't pay twice for the same evidence", async () => {
    const server = gateServer(verdict("accept"));
    const bench = gateBench(server, { config: { maxGatesPerTurn: 3 } });
    await bench.stop();
    await bench.stop();
    assert.equal(server.bought(), 1);
    assert.deepEqual(bench.notices(), []);
  });

  test("steers again by a stored verdict when this turn hasn't been told it, and not twice", async () => {
    const server = gateServer(verdict("steer"));
    const lost = gateBench(server, { config: { maxGatesPerTurn: 3 } });
    lost.agent.steer = () => {};
    await lost.stop();
    const bench = gateBench(server, { session: lost.session, config: { maxGatesPerTurn: 3 } });
    await bench.stop();
    assert.equal(bench.agent.steered.length, 1);
    assert.match(textOf(bench.agent.steered[0]), /Nothing was run\./);
    await bench.stop();
    assert.equal(bench.agent.steered.length, 1);
    assert.equal(server.bought(), 1);
  });

  test("leaves an agent alone that something else has sent on already", async () => {
    const server = gateServer(verdict("steer"));
    const bench = gateBench(server);
    bench.agent.inbox = { nextStep: [{ id: "other" }] };
    await bench.stop();
    assert.deepEqual([bench.agent.steered, server.seen], [[], []]);
  });

  test("doesn't count what automatic reviews have said against its own limit", async () => {
    const server = gateServer(verdict("steer"));
    const bench = gateBench(server);
    steer(bench.agent, { text: "Take the other one.", summary: "Compared", fingerprint: "compare:1234" });
    bench.answer("Taken.");
    await bench.stop();
    assert.equal(bench.agent.steered.length, 2);
  });

  test("comes with the modes of automatic reviews, also where it isn't enabled by itself", async () => {
    for (const mode of ["manual", "smart", "strict"]) {
      const server = gateServer(verdict("steer"));
      const bench = gateBench(server, { config: { enabled: false, mode, minToolCalls: 1 } });
      await bench.stop();
      assert.equal(server.bought(), mode === "manual" ? 0 : 1, mode);
      assert.equal(bench.agent.steered.length, mode === "manual" ? 0 : 1, mode);
    }
  });

  test("runs after an automatic review in this turn, also where the work alone were too little", async () => {
    const server = gateServer(verdict("steer"));
    const bench = gateBench(server, { config: { enabled: false, mode: "smart", minToolCalls: 50 } });
    await bench.stop();
    assert.equal(server.bought(), 0, "without a review this is too little");
    steer(bench.agent, { text: "Take the other one.", summary: "Compared", fingerprint: "compare:1234" });
    bench.answer("Taken.");
    await bench.stop();
    assert.equal(server.bought(), 1);
    assert.equal(bench.agent.steered.length, 2);
  });

  test("works on logs of every format", async () => {
    for (const version of [0, 1, 2, 3, 4]) {
      const server = gateServer(verdict("steer"));
      const bench = gateBench(server, { session: workedSession({ version }) });
      await bench.stop();
      await bench.stop();
      assert.equal(bench.agent.steered.length, 1, `format ${version}`);
    }
  });

  test("leaves subagents alone unless it is told otherwise", async () => {
    for (const header of [{ delegationDepth: 1 }, { origin: "subagent" }]) {
      const server = gateServer(verdict("steer"));
      assert.equal(gateBench(server, { session: workedSession(header) }).stop(), undefined);
      const bench = gateBench(server, {
        session: workedSession(header),
        config: { includeSubagents: true },
      });
      await bench.stop();
      assert.equal(bench.agent.steered.length, 1);
    }
  });

  test("judges by the pinned task when the settings have one", async () => {
    const server = gateServer(verdict("accept"));
    await gateBench(server, { config: { problem: "Keep the build green." } }).stop();
    assert.equal(server.seen.find(({ path }) => path === "/v1/session")?.body.task, "Keep the build green.");
  });

  test("begins its message with the settings' own words", async () => {
    const bench = gateBench(gateServer(verdict("steer")), { config: { steerText: "Noch einmal, bitte." } });
    await bench.stop();
    assert.match(textOf(bench.agent.steered[0]), /^Noch einmal, bitte\.\nScore 0\.300/);
  });
});

describe("a gate without a verdict lets the turn end and says so once", () => {
  const unreachable = new VerifierError("server_unreachable", "Nothing listens there.");
  /** @type {[string, ReturnType<typeof gateServer>, string][]} */
  const failures = [
    [
      "no server",
      gateServer(null, { "POST /v1/criteria/parse": unreachable }),
      "open:server_unreachable",
    ],
    [
      "a wrong token",
      gateServer(null, { "POST /v1/criteria/parse": problem("unauthorized", 401, "No.") }),
      "open:unauthorized",
    ],
    ["a server error", gateServer(problem("internal", 500, "Oops.")), "open:internal"],
    ["an answer of another kind", gateServer({ hello: 1 }), "open:bad_answer"],
    ["a verdict without numbers", gateServer({ acceptance: { decision: "steer" } }), "open:bad_answer"],
    ["an open decision", gateServer(verdict("open")), "open:judge_failed"],
    ["no ledger", gateServer(null, { "POST /v1/reviews": problem("not_found", 404, "?") }), "open:not_found"],
    [
      "a ledger that answers nonsense",
      gateServer(null, { "POST /v1/reviews": { granted: "maybe" } }),
      "open:bad_answer",
    ],
    [
      "a spent budget",
      gateServer(null, { "POST /v1/reviews": { granted: false, reason: "task_calls" } }),
      "open:task_calls",
    ],
  ];
  for (const [name, server, reason] of failures) {
    test(name, async () => {
      const bench = gateBench(server);
      assert.equal(await bench.stop(), undefined);
      assert.deepEqual(bench.agent.steered, []);
      assert.deepEqual(bench.agent.injected, []);
      const [notice, ...others] = bench.notices();
      assert.deepEqual(others, []);
      assert.equal(notice.source.reason, reason);
      assert.equal(notice.source.form, "notice");
      assert.ok(notice.source.summary.length <= 120);
      assert.equal(bench.printed.length, 1);
      await bench.stop();
      assert.equal(bench.notices().length, 1);
      await gateBench(server, { session: bench.session.resume() }).stop();
      assert.equal(bench.printed.length, 1);
    });
  }

  test("a broken log", async () => {
    const bench = gateBench(gateServer(verdict("steer")));
    Object.defineProperty(bench.session, "events", { get: () => undefined });
    await bench.stop();
    await bench.stop();
    assert.deepEqual(bench.agent.steered, []);
    assert.equal(bench.printed.length, 1);
  });

  test("settings that can't be read", async () => {
    const bench = gateBench(gateServer(verdict("steer")));
    bench.deps.settings.get = () => {
      throw new TypeError("no settings");
    };
    assert.equal(await bench.stop(), undefined);
    assert.equal(bench.notices()[0].source.reason, "open:internal");
  });

  test("an agent that can't be steered", async () => {
    const bench = gateBench(gateServer(verdict("steer")));
    bench.agent.steer = () => {
      throw new Error("disposed");
    };
    assert.equal(await bench.stop(), undefined);
  });

  test("a server that never answers, after the whole time that a turn may wait", async () => {
    const server = gateServer(() => new Promise(() => {}));
    const bench = gateBench(server, { config: { totalMs: 1000 } });
    bench.deps.settings.get = () => ({ ...Object.freeze(createdSettings(bench)), totalMs: 20 });
    await bench.stop();
    assert.equal(bench.notices()[0].source.reason, "open:deadline_exceeded");
    assert.deepEqual(bench.agent.steered, []);
  });

  test("a store that never answers", async () => {
    const bench = gateBench(gateServer(verdict("steer")), {
      services: { sessions: { flush: () => new Promise(() => {}) } },
    });
    bench.deps.settings.get = () => ({ ...createdSettings(bench), totalMs: 20 });
    await bench.stop();
    assert.equal(bench.notices()[0].source.reason, "open:deadline_exceeded");
  });

  test("a failed check frees the evidence, so that a later stop judges it", async () => {
    let calls = 0;
    const server = gateServer(() => calls++ === 0 ? problem("internal", 500, "Oops.") : verdict("steer"));
    const bench = gateBench(server);
    await bench.stop();
    assert.equal(server.reviews.get("rev_0").state, "failed");
    await bench.stop();
    assert.equal(bench.agent.steered.length, 1);
  });

  test("a refused request costs nothing, one that broke off counts as bought", async () => {
    const refused = gateServer(problem("over_budget", 422, "No."));
    await gateBench(refused).stop();
    assert.equal(refused.reviews.get("rev_0").calls, 0);
    const broken = gateServer(unreachable);
    await gateBench(broken).stop();
    assert.equal(broken.reviews.get("rev_0").calls, 3);
  });
});

test("a host that numbers its turns otherwise than its log can't make the gate steer without end", async () => {
  const server = gateServer(verdict("steer"));
  const bench = gateBench(server);
  for (let i = 0; i < 4; i++) {
    await onTurnStopping(bench.ctx, bench.deps, { agent: bench.agent, turn: 700 + i });
    bench.answer(`I did more (${i}).`);
  }
  assert.equal(bench.agent.steered.length, 1);
});

describe("what automatic reviews found", () => {
  test("is told also when the final check fails after it", async () => {
    const session = workedSession();
    workflow(session, rendered(envelope(["a", "b"], { version: 7 })));
    session.append("step/end", { turn: session.turn, step: session.step });
    const bench = gateBench(gateServer(new VerifierError("rate_limited", "Too many.")), {
      session,
      config: { mode: "strict" },
    });
    await bench.stop();
    assert.deepEqual(bench.agent.steered, []);
    const told = bench.notices().map(textOf).join("\n");
    assert.match(told, /\/version must be 1 or 2/);
    assert.match(told, /rate_limited/);
  });
});

describe("a turn that is called off", () => {
  test("before the check isn't judged", () => {
    const server = gateServer(verdict("steer"));
    assert.equal(gateBench(server).stop(AbortSignal.abort({ kind: "disposed" })), undefined);
    assert.deepEqual(server.seen, []);
  });

  test("during the check ends the request, and nothing is said", async () => {
    const controller = new AbortController();
    /** @type {any} */
    let options;
    const server = gateServer((/** @type {any} */ asked) => {
      options = asked.options;
      controller.abort({ kind: "disposed" });
      return verdict("steer");
    });
    const bench = gateBench(server);
    assert.equal(await bench.stop(controller.signal), undefined);
    assert.equal(options.signal.aborted, true);
    assert.deepEqual(bench.agent.steered, []);
    assert.deepEqual(bench.notices(), []);
    assert.deepEqual(bench.printed, []);
  });
});

describe("plans that are presented", () => {
  /** @param {object} config @param {string} name */
  const present = (config, name) => {
    const bench = gateBench(gateServer(verdict("accept")), { config });
    /** @type {Map<string, (...given: any[]) => unknown>} */
    const listeners = new Map();
    const on = (/** @type {string} */ event, /** @type {any} */ listener) =>
      void listeners.set(event, listener);
    installGate({ on, get: bench.ctx.get }, bench.deps);
    const exec = { name, arguments: { plan: "# Plan" }, agent: bench.agent };
    return listeners.get("tools/pre-execute")?.(exec, () => "next");
  };

  test("and other calls pass at once while plans aren't reviewed", () => {
    assert.equal(present({ mode: "smart" }, "bash"), "next");
    assert.equal(present({ mode: "manual" }, "exit_plan_mode"), "next");
    assert.equal(present({ mode: "smart", reviewPlans: false }, "exit_plan_mode"), "next");
  });

  test("are handed to the plan review, which lets them pass outside of plan mode", async () => {
    assert.equal(await present({ mode: "smart" }, "exit_plan_mode"), "next");
  });
});

describe("images of the task", () => {
  const png = { attachmentId: "sha256:1", mediaType: "image/png", bytes: 3, name: "shot.png" };
  /** @param {unknown} verdicts @param {object} [config] */
  const shown = async (verdicts, config = {}) => {
    const session = workedSession();
    const task = session.log.find(({ type }) => type === "user/message");
    /** @type {any} */ (task?.data).content.push({ type: "image", attachment: png });
    const server = gateServer(verdicts);
    const attachments = { readImage: () => Promise.resolve({ ref: png, data: new Uint8Array([1, 2, 3]) }) };
    const bench = gateBench(server, { session, config, services: { attachments } });
    await bench.stop();
    const asked = server.seen.filter(({ path }) => path === "/v1/session");
    return {
      bench,
      asked: asked.map(({ body }) => body.images),
      keys: asked.map(({ options }) => options.idempotencyKey),
    };
  };

  test("are shown to the judge, unless the settings say no", async () => {
    assert.deepEqual((await shown(verdict("accept"))).asked, [["data:image/png;base64,AQID"]]);
    assert.deepEqual((await shown(verdict("accept"), { sendImages: false })).asked, [undefined]);
  });

  test("are left out for a judge that can't read them, and the user is told", async () => {
    const { bench, asked, keys } = await shown((/** @type {any} */ { body }) =>
      body.images === undefined ? verdict("steer") : problem("invalid_request", 400, "No.", {
        errors: [{ path: "/images", message: "must be left out: the judge can't read images" }],
      })
    );
    assert.deepEqual(asked.map((images) => images?.length), [1, undefined]);
    assert.equal(new Set(keys).size, 2);
    assert.equal(bench.agent.steered.length, 1);
    assert.match(textOf(bench.notices()[0]), /can't read images/);
  });
});

describe("a rubric that can't be used", () => {
  test("is replaced by the fallback, and the user is told once", async () => {
    const server = gateServer(verdict("accept"), {
      "POST /v1/criteria/parse": (/** @type {any} */ { body }) =>
        body.criteria === "coding"
          ? { criteria: [{}, {}] }
          : problem("invalid_request", 400, "No such rubric.", {
            errors: [{ path: "/criteria", message: "must be known" }],
          }),
    });
    const bench = gateBench(server, { config: { criteria: "codng" } });
    await bench.stop();
    await bench.stop();
    const bought = server.seen.find(({ path }) => path === "/v1/session")?.body;
    assert.equal(bought.criteria, "coding");
    assert.equal(bench.notices().length, 1);
    assert.match(textOf(bench.notices()[0]), /the rubric coding was used instead/);
  });
});

describe("a rubric that the agent chose", () => {
  test("holds, and the user is told once", async () => {
    const session = workedSession();
    session.tool("r1", "verifier_session", { criteria: "writing", rememberCriteria: true }, "0.9");
    const server = gateServer(verdict("accept"));
    const bench = gateBench(server, { session, config: { criteria: "coding" } });
    await bench.stop();
    await bench.stop();
    assert.equal(server.seen.find(({ path }) => path === "/v1/session")?.body.criteria, "writing");
    assert.equal(bench.notices().length, 1);
    assert.match(
      textOf(bench.notices()[0]),
      /tool call told this session to remember, not the configured one/,
    );
  });
});

/** @param {ReturnType<typeof gateBench>} bench */
function createdSettings(bench) {
  return gateBench(/** @type {any} */ (bench.deps.connection)).deps.settings.get();
}
