// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hostFacts, UNKNOWN_FACTS } from "../../lib/gate/background.js";
import { eligibility } from "../../lib/gate/eligibility.js";
import { FakeSession } from "../fakes/host.js";

const WRITE = /** @type {const} */ (["write", { path: "a", content: "b" }]);

/**
 * A turn with these calls since the task.
 * @param {readonly (readonly [string, unknown, string?, boolean?])[]} calls
 */
function worked(calls) {
  const session = new FakeSession();
  session.startTurn();
  session.user("Do it.");
  calls.forEach(([name, args, output = "ok", isError = false], i) =>
    session.tool(`c${i}`, name, args, output, { isError })
  );
  session.agent("Done. Shall I go on?");
  return session;
}

/** @param {FakeSession} session @param {object} [options] */
const decide = (session, options = {}) =>
  eligibility(session.log, { mode: "manual", minToolCalls: 3, ...options }).reason;

describe("work that is judged", () => {
  /** @type {[string, Parameters<typeof worked>[0]][]} */
  const cases = [
    ["a written file", [WRITE]],
    ["a failed edit", [["edit", {}, "no such text", true]]],
    ["an unknown tool", [["deploy", {}]]],
    ["a tool of an MCP server, whatever it is called", [["mcp__files__read_file", {}]]],
    ["a command that does something", [["bash", { command: "npm test" }]]],
    ["a command that can't be read", [["bash", "{broken"]]],
    ["an edit among views", [["str_replace_editor", { command: "view" }], ["str_replace_editor", {
      command: "create",
    }]]],
    ["a delegation", [["subagent", { prompt: "x" }]]],
    ["work before the plan's books", [WRITE, ["todo_write", { todos: [] }]]],
    ["a program that reaches out", [["run_code", { code: "const fs = await import('node:fs')" }]]],
    ["work after a question", [["ask_user_question", {}, "yes"], WRITE]],
  ];
  for (const [name, calls] of cases) test(name, () => assert.equal(decide(worked(calls)), null));

  test("a program whose calls do something", () => {
    const session = worked([]);
    session.agent("", [{ id: "p", name: "run_code", args: { code: "await tools.write({})" } }]);
    session.call("p", "run_code", { code: "await tools.write({})" });
    session.dispatched(session.dispatch("p", "write", {}), "ok");
    session.result("p", "ok");
    assert.equal(decide(session), null);
  });
});

describe("work that isn't judged", () => {
  /** @type {[string, Parameters<typeof worked>[0], string][]} */
  const cases = [
    ["an answer in words alone", [], "nothing_done"],
    ["reading", [["read", {}], ["grep", {}], ["bash", { command: "ls | head" }]], "nothing_done"],
    ["a program that only reads", [["run_code", { code: "return await tools.read({})" }]], "nothing_done"],
    [
      "the verifier's own tools",
      [["verifier_session", {}], ["verifier_current_session", {}]],
      "nothing_done",
    ],
    ["planning", [["todo_write", {}]], "nothing_done"],
    ["a plan that the user is shown", [["todo_write", {}], ["exit_plan_mode", {}]], "asking"],
    ["looking after jobs", [["job_output", {}], ["job_list", {}]], "nothing_done"],
    ["a question after the work", [WRITE, ["ask_user_question", {}, "later"], ["read", {}]], "asking"],
    [
      "a question that the user dismissed",
      [WRITE, ["ask_user_question", {}, "Error: dismissed", true]],
      "asking",
    ],
  ];
  for (const [name, calls, reason] of cases) {
    test(name, () => assert.equal(decide(worked(calls)), reason));
    test(`${name}, in strict mode either`, () =>
      assert.equal(decide(worked(calls), { mode: "strict" }), reason));
  }

  test("a question that is still open", () => {
    const session = worked([WRITE]);
    session.call("q", "ask_user_question", {});
    assert.equal(decide(session), "asking");
  });

  test("what nobody asked for", () => {
    const session = new FakeSession();
    session.startTurn();
    session.tool("c", ...WRITE, "ok");
    assert.equal(decide(session), "no_task");
    assert.equal(decide(session, { pinned: true }), null);
  });

  test("work for an earlier task", () => {
    const session = worked([WRITE]);
    session.endTurn();
    session.startTurn();
    session.user("What did you do?");
    session.agent("I wrote a file.");
    assert.equal(decide(session), "nothing_done");
  });

  test("plan mode, from the log or from the service, also when it was inherited", () => {
    const session = worked([WRITE]);
    assert.equal(decide(session, { services: { ...UNKNOWN_FACTS, planMode: true } }), "plan_mode");
    session.append("plan/mode", { active: true });
    assert.equal(decide(session), "plan_mode");
    session.append("plan/mode", { active: false });
    assert.equal(decide(session), null);
  });

  test("a goal that was paused or is blocked, until something is done again", () => {
    const session = worked([WRITE]);
    session.append("goal/change", { operation: "block", goal: { phase: "blocked" } });
    assert.equal(decide(session), "goal_paused");
    session.tool("again", ...WRITE, "ok");
    assert.equal(decide(session), null);
  });

  test("commands in a sandbox that the log says is read-only, unless they were let out of it", () => {
    const session = new FakeSession();
    session.append("sandbox/mode", { mode: "read-only" });
    session.startTurn();
    session.user("Look.");
    session.tool("c1", "bash", { command: "npm test" }, "ok");
    assert.equal(decide(session), "nothing_done");
    session.tool("c2", "bash", { command: "npm test", sandbox_permissions: "workspace-write" }, "ok");
    assert.equal(decide(session), null);
  });

  test("fewer calls than smart mode wants, the verifier's not counted", () => {
    const two = worked([WRITE, ["read", {}], ["verifier_status", {}]]);
    assert.equal(decide(two, { mode: "smart" }), "too_few_calls");
    assert.equal(decide(two, { mode: "strict" }), null);
    assert.equal(decide(worked([WRITE, ["read", {}], ["read", {}]]), { mode: "smart" }), null);
  });
});

describe("an answer that the model's token limit cut off", () => {
  const chunk = { type: "finish", reason: { kind: "max-tokens" } };

  test("isn't judged, in logs with the stream as events", () => {
    const session = worked([WRITE]);
    session.nextStep();
    session.append("assistant/chunk", { turn: 1, step: 2, chunk });
    session.agent("Then I");
    assert.equal(decide(session), "cut_off");
    session.nextStep();
    session.append("assistant/chunk", {
      turn: 1,
      step: 3,
      chunk: { type: "finish", reason: { kind: "stop" } },
    });
    session.agent("Done.");
    assert.equal(decide(session), null);
  });

  test("isn't judged, in logs with the stream in the message", () => {
    const session = worked([WRITE]);
    session.append("assistant/message", {
      turn: 1,
      step: 2,
      message: { role: "assistant", content: [{ type: "text", text: "Then I" }] },
      stream: [{ type: "chunk", time: 1, chunk }],
    });
    assert.equal(decide(session), "cut_off");
  });
});

describe("what runs in the background", () => {
  test("is waited for as the services say", () => {
    const session = worked([WRITE]);
    const began = session.log[0]?.time ?? 0;
    const jobs = (/** @type {number | null} */ startedAt) => ({
      services: { ...UNKNOWN_FACTS, jobs: [{ id: "bash-1", startedAt }] },
    });
    assert.equal(decide(session, jobs(began + 1000)), "background");
    assert.equal(decide(session, jobs(null)), "background");
    // A development server that ran before the task began.
    assert.equal(decide(session, jobs(began - 1)), null);
    assert.equal(decide(session, { services: { ...UNKNOWN_FACTS, subagents: ["child"] } }), "background");
  });

  test("is read from the log where there are no services", () => {
    const session = worked([[
      "bash",
      { command: "npm test", run_in_background: true },
      "started background job bash-1",
    ]]);
    assert.equal(decide(session), "background");
    assert.equal(decide(session, { services: { planMode: false, jobs: [], subagents: [] } }), null);
    session.user("background job bash-1 (bash: npm test) finished [status: completed].", {
      source: { kind: "plugin", plugin: "tool-jobs", form: "notice", summary: "x" },
    });
    assert.equal(decide(session), null);
  });

  test("a job is over when its output says so, or it was killed", () => {
    const start = /** @type {const} */ (["bash", { command: "x" }, "started background job bash-1"]);
    assert.equal(
      decide(worked([start, ["job_output", { job_id: "bash-1" }, "y\n[status: running]"]])),
      "background",
    );
    assert.equal(
      decide(worked([start, ["job_output", { job_id: "bash-1" }, "y\n[status: completed]"]])),
      null,
    );
    assert.equal(decide(worked([start, ["job_kill", { job_id: "bash-1" }]])), null);
  });

  test("a subagent is at work from its start or a message on until it settles", () => {
    const session = worked([["subagent", { prompt: "x" }, "started subagent child-1"]]);
    assert.equal(decide(session), "background");
    session.user("It finished.", {
      source: { kind: "subagent-settled", form: "notice", senderSessionId: "child-1" },
    });
    assert.equal(decide(session), null);
    session.tool("m", "send_message", { subagent_id: "child-1", message: "more" }, "queued");
    assert.equal(decide(session), "background");
  });

  test("is gone after the host was started again", () => {
    const session = worked([["bash", { command: "x" }, "started background job bash-1"]]).resume();
    assert.equal(decide(session), null);
  });
});

describe("the host's services", () => {
  const agent = { session: { id: "s1" } };
  /** @param {Record<string, unknown>} services */
  const ctx = (services) => ({ get: (/** @type {string} */ name) => /** @type {any} */ (services[name]) });

  test("say nothing where there are none, or they fail", async () => {
    assert.deepEqual(await hostFacts(ctx({}), agent), UNKNOWN_FACTS);
    const failing = () => {
      throw new Error("no projections");
    };
    const broken = ctx({
      planMode: { get: failing },
      jobs: { list: failing },
      subagents: { listChildren: failing },
    });
    assert.deepEqual(await hostFacts(broken, agent), UNKNOWN_FACTS);
  });

  test("tell own running jobs and working children from the rest", async () => {
    const facts = await hostFacts(
      ctx({
        planMode: { get: () => ({ active: false, pending: true }) },
        jobs: {
          list: () => [
            { id: "bash-1", status: "running", ownerSession: "s1", startedAt: 5 },
            { id: "bash-2", status: "completed", ownerSession: "s1", startedAt: 5 },
            { id: "bash-3", status: "running", ownerSession: "s2", startedAt: 5 },
          ],
        },
        subagents: {
          listChildren: () =>
            Promise.resolve([
              { kind: "child", id: "working", activity: "running" },
              { kind: "child", id: "answered", activity: "running" },
              { kind: "child", id: "old", activity: "inactive" },
              { kind: "diagnostic", id: "bad", reason: "corrupt" },
            ]),
        },
        agents: { get: (/** @type {string} */ id) => ({ status: id === "working" ? "running" : "idle" }) },
      }),
      agent,
    );
    assert.deepEqual(facts, {
      planMode: true,
      jobs: [{ id: "bash-1", startedAt: 5 }],
      subagents: ["working"],
    });
  });
});
