import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { answerWith, fakeEnvironment, fakeJudge } from "../../tests/verbs/fake_judge.ts";
import { AssayError } from "../errors.ts";
import { EMPTY_WORK_BASELINE } from "../gate/rule.ts";
import { JudgeError, type JudgeRequest } from "../judges/judge.ts";
import { parseRequest } from "../requests.ts";
import { session } from "./session.ts";
import { sessionRequestSchema, type SessionResult } from "./requests.ts";

/** A judge that gives the work `value` and the empty baseline nearly nothing, and progress by the number of steps. */
function judgeOf(value = 0.9) {
  return fakeJudge({
    answer: (request: JudgeRequest) => {
      if (!request.tags.includes("score_A")) {
        return answerWith(request.tags, request.tags.map((_, i) => (i + 1) / 10), "progress");
      }
      const baselineFirst =
        request.prefix.indexOf(EMPTY_WORK_BASELINE) < request.prefix.indexOf("## Trajectory B");
      return answerWith(request.tags, baselineFirst ? [0.05, value] : [value, 0.05]);
    },
  });
}

async function run(body: Record<string, unknown>, judge = judgeOf()): Promise<SessionResult> {
  const result = await session(
    fakeEnvironment(judge),
    parseRequest(sessionRequestSchema, { repeats: 1, criteria: ["It works."], ...body }),
  );
  assert(!("plan" in result));
  return result;
}

async function refuses(body: Record<string, unknown>, path: string, text = ""): Promise<void> {
  const error = await assertRejects(() => run(body), AssayError, text);
  assertEquals([error.code, error.errors[0]?.path], ["invalid_request", path]);
}

/** A small log: a task, work in two steps with a call each, a follow-up, and a closing message. */
const LOG = [
  { type: "session", version: 4, id: "ses-1", isSeeded: false },
  { type: "turn/start", seq: 0, data: { turn: 1 } },
  userMessage(1, "Fix the build of acme-42."),
  { type: "step/start", seq: 2, data: { turn: 1, step: 1 } },
  agentMessage(3, "Looking.", [["a", "bash", '{"command":"make"}'], ["v", "verifier_compare", "{}"]]),
  { type: "tool/call", seq: 4, data: { callId: "a", name: "bash", arguments: '{"command":"make"}' } },
  result(5, "a", "make: *** error\nAuthorization: Bearer abcdefgh12345678XYZ"),
  result(6, "v", "A wins"),
  agentMessage(7, "Fixed acme-42.", [["b", "bash", '{"command":"make test"}']]),
  result(8, "b", "2 passed"),
  userMessage(9, "Also write it down."),
  agentMessage(10, "Done.", []),
].map((line) => JSON.stringify(line)).join("\n");

function userMessage(seq: number, text: string) {
  return {
    type: "user/message",
    seq,
    data: { content: [{ type: "text", text }], source: { kind: "user" } },
    surfaceOp: "append",
  };
}
function agentMessage(seq: number, text: string, calls: readonly (readonly [string, string, string])[]) {
  const content = [
    { type: "text", text },
    ...calls.map(([id, name, args]) => ({ type: "tool-call", id, name, arguments: args })),
  ];
  return { type: "assistant/message", seq, data: { message: { content } }, surfaceOp: "append" };
}
function result(seq: number, callId: string, text: string) {
  return {
    type: "tool/result",
    seq,
    data: { message: { toolCallId: callId, content: [{ type: "text", text }] } },
    surfaceOp: "append",
  };
}

Deno.test("the progress of a session log is track's curve over what the agent did", async () => {
  const judge = judgeOf();
  const { progress, acceptance, source, task, mode } = await run({ log: LOG }, judge);
  assertEquals([mode, acceptance, task], ["progress", null, "Fix the build of acme-42."]);
  assertEquals(progress!.curve.map(({ step }) => step), [1, 2, 3]);
  assertEquals([source.kind, source.version, source.id, source.steps], ["dsh", 4, "ses-1", 3]);
  assertEquals([source.range, source.counts?.turns, source.counts?.modelRequests], [
    { from: 3, to: 10 },
    1,
    1,
  ]);
  assertEquals(source.leftOut["the verifier's own calls"], 1);
  const { prefix } = judge.requests[0]!;
  for (
    const part of [
      "[Command] make\n[Output]\nmake: *** error",
      "[Command] make test\n[Output]\n2 passed",
      "User: Also write it down.",
    ]
  ) {
    assertStringIncludes(prefix, part);
  }
  for (const part of ["verifier_compare", "A wins", "abcdefgh12345678XYZ"]) {
    assert(!prefix.includes(part), part);
  }
});

Deno.test("acceptance is the gate's rule against the empty work: accepted, refused, or open, which is never a fail", async () => {
  const accepted = await run({ log: LOG, mode: "acceptance" });
  assertEquals([accepted.progress, accepted.acceptance!.decision, accepted.acceptance!.threshold], [
    null,
    "accept",
    0.65,
  ]);
  assert(Math.abs(accepted.acceptance!.score! - 0.9) < 1e-9);
  const refused = await run({ log: LOG, mode: "acceptance" }, judgeOf(0.4));
  assertEquals([refused.acceptance!.decision, refused.acceptance!.failing.map(({ id }) => id)], ["steer", [
    "it_works",
  ]]);
  const floor = await run({ log: LOG, mode: "acceptance", threshold: 0.1, floors: { it_works: 0.95 } });
  assertEquals(floor.acceptance!.decision, "steer");
  const down = fakeJudge({
    answer: () => {
      throw new JudgeError("backend_error", "down");
    },
  });
  const open = await run({ log: LOG, mode: "acceptance" }, down);
  assertEquals([open.acceptance!.decision, open.acceptance!.score], ["open", null]);
  assertStringIncludes(open.acceptance!.reason!, "down");
});

Deno.test("patterns take out what the judge must not see, from the task too, and the places are counted", async () => {
  const judge = judgeOf();
  const { source, task } = await run({ log: LOG, redact: ["acme-\\d+", "make test"] }, judge);
  assertEquals([source.redacted, task], [3, "Fix the build of [redacted]."]);
  assert(!judge.requests[0]!.prefix.includes("acme"));
  const other = judgeOf();
  const context = "The user had said: acme-77 has the key sk-abcdefghijklmnopqrstuvwxyz123456.";
  const told = await run({ log: LOG, context, redact: ["acme-\\d+"] }, other);
  assertEquals(told.source.redacted, 3);
  const { prefix } = other.requests[0]!;
  assert(prefix.includes("The user had said: [redacted] has the key") && !prefix.includes("sk-abc"));
  await refuses({ log: LOG, redact: ["ok", "(a+)+"] }, "/redact/1", "must not repeat");
  await refuses({ log: LOG, redact: ["(?=x)y"] }, "/redact/0");
  await refuses({ log: LOG, redact: ["x".repeat(501)] }, "/redact/0");
  await refuses({ log: LOG, redact: Array(17).fill("x") }, "/redact");
});

Deno.test("a range reads part of a log", async () => {
  const early = await run({ log: LOG, range: { to: 8 } });
  assertEquals([early.source.steps, early.source.range], [2, { from: 3, to: 8 }]);
  const late = await run({ log: LOG, range: { from: 9 } });
  assertEquals([late.task, late.source.steps], ["Also write it down.", 1]);
  await refuses({ log: LOG, range: { from: 100 } }, "/range", "at least one step");
  await refuses({ log: LOG, range: { from: 5, to: 2 } }, "/range/from");
  await refuses({ messages: [{ role: "assistant", content: "x" }], task: "t", range: {} }, "/range");
});

Deno.test("a task of the request's own leaves the user's messages in the evidence, but the one that says the same", async () => {
  const judge = judgeOf();
  const ask = async (body: Record<string, unknown>) => {
    const result = await run({ log: LOG, mode: "acceptance", ...body }, judge);
    return { ...result, shown: judge.requests.at(-1)!.prefix };
  };
  // The newest message of the user came before the range: the task is the request's, and the evidence begins there.
  const before = await ask({ task: "Repair it all.", range: { from: 7, to: 8 } });
  assertEquals([before.task, before.source.steps, before.source.range], ["Repair it all.", 1, {
    from: 7,
    to: 8,
  }]);
  assert(!before.shown.includes("Fix the build") && !before.shown.includes("make: ***"));
  const during = await ask({ task: "Fix the build of acme-42.", range: { from: 2 } });
  assertStringIncludes(during.shown, "User: Also write it down.");
  const same = await ask({ task: " Fix the build of acme-42.\n", range: { from: 1 } });
  assertEquals(same.shown.split("Fix the build of acme-42.").length, 2);
  const other = await ask({ task: "Is the work honest?" });
  assertStringIncludes(other.shown, "User: Fix the build of acme-42.");
  assertEquals(other.source.steps, 3);
});

Deno.test("what a plugin needs of an acceptance is there: why, by how much, and how many calls", async () => {
  const steered = await run({ log: LOG, mode: "acceptance", threshold: 0.6, repeats: 2 }, judgeOf(0.4));
  const { decision, score, threshold, failing, steer } = steered.acceptance!;
  assertEquals([decision, threshold, failing.length, steered.usage.calls], ["steer", 0.6, 1, 2]);
  assert(Math.abs(score! - 0.4) < 1e-9 && "analysis" in failing[0]!);
  assertStringIncludes(steer!, "0.400");
  const down = fakeJudge({
    answer: () => {
      throw new JudgeError("unauthorized", "no such key");
    },
  });
  const open = await run({ log: LOG, mode: "acceptance" }, down);
  assertEquals([open.acceptance!.decision, open.acceptance!.code], ["open", "judge_unauthorized"]);
});

Deno.test("a caller who leaves stops the buying: the verdict is open, and no more calls are made", async () => {
  const controller = new AbortController();
  const judge = fakeJudge({
    answer: (request) => {
      controller.abort(new DOMException("left", "AbortError"));
      return answerWith(request.tags, [0.9, 0.1]);
    },
  });
  const body = { log: LOG, mode: "acceptance", criteria: "coding", repeats: 8 };
  const result = await session(fakeEnvironment(judge), parseRequest(sessionRequestSchema, body), {
    signal: controller.signal,
  });
  assert(!("plan" in result));
  assertEquals([result.acceptance!.decision, result.acceptance!.code], ["open", "aborted"]);
  assert(judge.requests.length < 8, `${judge.requests.length} calls`);
});

Deno.test("chat messages in both shapes give task and steps, without the verifier's own calls", async () => {
  const openai = [
    { role: "system", content: "s" },
    { role: "user", content: "Do it." },
    {
      role: "assistant",
      content: "ok",
      tool_calls: [
        { id: "1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } },
        { id: "2", type: "function", function: { name: "verify_compare", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "2", content: "score 1" },
    { role: "tool", tool_call_id: "1", content: "files" },
    { role: "assistant", content: "done" },
  ];
  const anthropic = [
    { role: "user", content: [{ type: "text", text: "Do it." }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "ok" },
        { type: "tool_use", id: "1", name: "bash", input: { command: "ls" } },
        { type: "tool_use", id: "2", name: "verifier_track", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "2", content: "score 1" },
        { type: "tool_result", tool_use_id: "1", content: "files" },
      ],
    },
    { role: "assistant", content: "done" },
  ];
  for (const messages of [openai, anthropic]) {
    const judge = judgeOf();
    const { task, source } = await run({ messages }, judge);
    assertEquals([task, source.kind, source.steps, source.leftOut], ["Do it.", "messages", 2, {
      "the verifier's own calls": 1,
    }]);
    assertStringIncludes(judge.requests[0]!.prefix, "[Command] ls\n[Output]\nfiles");
    assert(!judge.requests[0]!.prefix.includes("score 1"));
  }
  await refuses({ messages: [{ role: "assistant", content: "x" }] }, "/task", "must be given");
});

Deno.test("steps are judged as they are, and need a task", async () => {
  const { source } = await run({ steps: ["did", { text: "more" }], task: "t" });
  assertEquals([source.kind, source.steps], ["steps", 2]);
  await refuses({ steps: ["did"] }, "/task");
  await refuses({ steps: [" "], task: "t" }, "/steps");
});

Deno.test("long sessions show the newest steps whole and say what is missing; checkpoints keep the session's numbers", async () => {
  const steps = Array.from({ length: 20 }, (_, i) => `step ${i + 1} ` + "y".repeat(900));
  const judge = judgeOf();
  const { shortened, progress } = await run({ steps, task: "t", maxCharacters: 5000 }, judge);
  assert(shortened.leftOut > 0 && shortened.steps > 0);
  const numbers = progress!.curve.map(({ step }) => step);
  assertEquals(numbers.at(-1), 20);
  assertEquals(numbers[0], shortened.leftOut + 1);
  assert(judge.requests[0]!.prefix.length < 12_000);
  const chosen = await run({ steps, task: "t", maxCharacters: 5000, checkpoints: [19, 20] });
  assertEquals(chosen.progress!.curve.map(({ step }) => step), [19, 20]);
  const half = fakeJudge({ answer: ({ tags }) => answerWith(tags.slice(0, 1), [0.5], "progress") });
  const holed = await run({
    steps,
    task: "t",
    maxCharacters: 5000,
    checkpoints: [19, 20],
    channel: "logprobs",
  }, half);
  assertEquals(holed.progress!.unscoredParts.map(({ step, reason }) => [step, reason]), [[20, "no_tag"]]);
  const error = await assertRejects(
    () => run({ steps, task: "t", maxCharacters: 5000, checkpoints: [1] }),
    AssayError,
    "left out by maxCharacters",
  );
  assertEquals(error.errors[0]?.path, "/checkpoints/0");
  await refuses({ steps, task: "t", checkpoints: [21] }, "/checkpoints/0", "at most 20");
});

Deno.test("a long task is shortened with a warning", async () => {
  const { task, warnings } = await run({ steps: ["x"], task: "t".repeat(9000), maxCharacters: 4000 });
  assert(task.length <= 2000);
  assertStringIncludes(warnings.join(), "the task is shortened");
});

Deno.test("faulty requests name their field", async () => {
  await refuses({ log: "hello" }, "/log", "line");
  await refuses({ log: "hello" }, "/log", "log:1:1: this is no DeepSeek Harness session log");
  await refuses({ log: LOG, steps: ["x"] }, "", "exactly one of log, messages and steps");
  await refuses({ task: "t" }, "", "exactly one");
  await refuses({ log: LOG, mode: "acceptance", causal: true }, "/causal");
  await refuses({ log: LOG, mode: "accept" }, "/mode");
});

Deno.test("a dry run of both modes answers the plan", async () => {
  for (const mode of ["progress", "acceptance"]) {
    const judge = judgeOf();
    const result = await session(
      fakeEnvironment(judge),
      parseRequest(sessionRequestSchema, { log: LOG, mode, dryRun: true }),
    );
    assert("plan" in result && result.plan.calls > 0);
    assertEquals(judge.requests.length, 0);
  }
});

Deno.test("whatever a log holds, a session is judged or refused with a named field", async () => {
  const lines = LOG.split("\n");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.constantFrom(...lines), fc.json(), fc.string()), { maxLength: 15 }),
      async (parts) => {
        const log = [lines[0], ...parts].join("\n");
        try {
          await run({ log, task: "t" });
        } catch (error) {
          assert(error instanceof AssayError && error.code === "invalid_request", String(error));
        }
      },
    ),
    { numRuns: 100 },
  );
});
