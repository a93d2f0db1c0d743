/**
 * Automatic reviews at the end of a real turn: candidates of a workflow, and the todo list.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startJudged } from "./judged.ts";
import { gateMessages, toolOutcomes, turnEnds } from "./log.ts";
import { type ModelAnswer, startModel } from "./model.ts";
import { createScene, gateOn, hostTest } from "./scene.ts";
import { showTranscript } from "./transcript.ts";

/** A workflow whose script returns two candidates, as its subagents would have made them. */
const workflow: ModelAnswer = {
  calls: [{
    name: "workflow",
    arguments: {
      meta: { name: "two-ways", description: "Sorts in two ways." },
      script: `return ${
        JSON.stringify({
          protocol: "dsh-verifier-candidates",
          version: 2,
          groupId: "sorting",
          reviewStage: "artifact",
          candidates: [
            { id: "by-hand", status: "completed", content: "I think it is sorted. quality=0.3" },
            { id: "by-sort", status: "completed", content: "$ sort -k2 data\n1 a\n2 b\nquality=0.9" },
          ],
        })
      };`,
    },
  }],
};

const bash = (quality: number): ModelAnswer => ({
  calls: [{
    name: "bash",
    arguments: { command: `echo ${quality} > out.txt; echo quality=${quality}`, description: "work" },
  }],
});

const todos = (first: string, second: string): ModelAnswer => ({
  calls: [{
    name: "todo_write",
    arguments: {
      todos: [{ content: "Read the file", status: first }, { content: "Sort the file", status: second }],
    },
  }],
});

hostTest(
  "a workflow's candidates are compared once, and the agent is told which one holds up",
  async (host) => {
    await using server = await startJudged();
    await using model = startModel([workflow, { text: "Two ways." }, bash(0.9), { text: "Taken." }]);
    await using scene = await createScene(host, {
      model,
      server,
      patch: gateOn({ mode: "smart", minToolCalls: 1 }),
    });
    const run = await scene.headless("Sort the file in the better of two ways.");
    assertEquals([run.code, run.stdout], [0, "Taken.\n"], run.stderr);
    const session = await scene.session();
    showTranscript(session);
    const steers = gateMessages(session).filter(({ purpose }) => purpose !== "notice");
    assertEquals(steers.length, 1, JSON.stringify(gateMessages(session)));
    assertStringIncludes(steers[0]!.text, "by-sort");
    assertEquals(turnEnds(session), ["completed"]);
    const { spent, reviews } = await server.get(`/v1/reviews?session=${session.header.id}`);
    assertEquals(reviews.filter(({ purpose }: { purpose: string }) => purpose === "compare").length, 1);
    assert(spent.calls > 0, JSON.stringify(spent));
  },
);

hostTest(
  "the work behind a todo list is tracked, and the agent is told where it fell",
  async (host) => {
    await using server = await startJudged();
    await using model = startModel([
      todos("in_progress", "pending"),
      bash(0.6),
      todos("completed", "in_progress"),
      bash(0.2),
      { text: "Half of it." },
      bash(0.95),
      { text: "All of it." },
    ]);
    await using scene = await createScene(host, { model, server, patch: gateOn({ mode: "smart" }) });
    const run = await scene.headless("Read and sort the file.");
    assertEquals([run.code, run.stdout], [0, "All of it.\n"], run.stderr);
    const session = await scene.session();
    showTranscript(session);
    const steers = gateMessages(session).filter(({ purpose }) => purpose !== "notice");
    assertEquals(steers.length, 1, JSON.stringify(gateMessages(session)));
    assertMatch(steers[0]!.text, /todo list[^]*fell at checkpoint 2 \(from 0\.6\d* to 0\.2/);
    const { reviews } = await server.get(`/v1/reviews?session=${session.header.id}`);
    assertEquals(reviews.some(({ purpose }: { purpose: string }) => purpose === "track"), true);
  },
);

hostTest("in mode manual neither is bought", async (host) => {
  await using server = await startJudged();
  await using model = startModel([workflow, { text: "Two ways." }]);
  await using scene = await createScene(host, { model, server, patch: gateOn({ threshold: 0 }) });
  const run = await scene.headless("Sort the file in the better of two ways.");
  assertEquals(run.code, 0, run.stderr);
  const session = await scene.session();
  const { reviews } = await server.get(`/v1/reviews?session=${session.header.id}`);
  assertEquals(reviews.filter(({ purpose }: { purpose: string }) => purpose !== "gate"), []);
});

hostTest("a spent budget of judged calls is said once and ends the turn", async (host) => {
  await using server = await startJudged();
  await using model = startModel([workflow, { text: "Two ways." }]);
  await using scene = await createScene(host, {
    model,
    server,
    patch: gateOn({ mode: "smart", minToolCalls: 1, callsPerTask: 1 }),
  });
  const run = await scene.headless("Sort the file in the better of two ways.");
  assertEquals([run.code, run.stdout], [0, "Two ways.\n"], run.stderr);
  const messages = gateMessages(await scene.session());
  assert(
    messages.length > 0 && messages.every(({ purpose }) => purpose === "notice"),
    JSON.stringify(messages),
  );
  assertMatch(messages.map(({ text }) => text).join("\n"), /callsPerTask|budget|spent/);
  assertEquals(server.judge.calls.length, 0);
  assertEquals(model.requests.length, 2);
});

for (
  const [name, script, switchOn] of [
    ["in plan mode", [bash(0.1), { text: "A plan." }], true],
    ["that has done nothing", [{ text: "Which file do you mean?" }], false],
  ] as const
) {
  hostTest(`a turn ${name} isn't judged`, async (host) => {
    await using server = await startJudged();
    await using model = startModel(script);
    await using scene = await createScene(host, { model, server, patch: gateOn({ mode: "strict" }) });
    await scene.drive([
      { do: "create", agent: "a" },
      ...(switchOn ? [{ do: "plan", agent: "a", active: true }] : []),
      { do: "say", agent: "a", text: "Sort the file." },
    ]);
    assertEquals(gateMessages(await scene.session()), []);
    assertEquals(server.judge.calls.length, 0);
  });
}

hostTest("a turn that ends with a question to the user isn't judged", async (host) => {
  await using server = await startJudged();
  const question = {
    id: "which",
    question: "Which file?",
    options: [{ label: "a.txt" }, { label: "b.txt" }],
  };
  await using model = startModel([
    bash(0.1),
    { calls: [{ name: "ask_user_question", arguments: { questions: [question] } }] },
    { text: "Which file do you mean?" },
  ]);
  const asking = `- insert:\n    - id: tool-ask-user\n      name: "@deepseek-ai/dsh-tool-ask-user"\n`;
  await using scene = await createScene(host, { model, server, patch: gateOn({ mode: "strict" }) + asking });
  const run = await scene.headless("Sort the file.");
  assertEquals([run.code, run.stdout], [0, "Which file do you mean?\n"], run.stderr);
  assert(model.requests[0]!.tools.includes("ask_user_question"));
  assertEquals(gateMessages(await scene.session()), []);
  assertEquals(server.judge.calls.length, 0);
});

hostTest("a plan that the judge doesn't accept is held back once, before the user is asked", async (host) => {
  await using server = await startJudged();
  const plan: ModelAnswer = {
    calls: [{
      name: "exit_plan_mode",
      arguments: { plan: "# Sort it\n\nI will sort it somehow. quality=0.2" },
    }],
  };
  await using model = startModel([plan, plan, { text: "Nobody answers." }]);
  await using scene = await createScene(host, { model, server, patch: gateOn({ mode: "smart" }) });
  await scene.drive([
    { do: "create", agent: "a" },
    { do: "plan", agent: "a", active: true },
    { do: "say", agent: "a", text: "Plan how to sort the file." },
  ]);
  const session = await scene.session();
  showTranscript(session);
  const [held, through] = toolOutcomes(session);
  assertEquals([held?.name, held?.isError], ["exit_plan_mode", true]);
  assertMatch(held!.text, /0\.2\d*/);
  assert(!/0\.2\d*/.test(through!.text), "the second time only the host itself says something");
  const { reviews } = await server.get(`/v1/reviews?session=${session.header.id}`);
  assertEquals(reviews.map(({ purpose }: { purpose: string }) => purpose), ["plan"]);
});
