/**
 * Every tool, called by a model in the real host and answered by the real server.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startJudged } from "./judged.ts";
import { toolOutcomes, turnEnds } from "./log.ts";
import { startModel } from "./model.ts";
import { createScene, hostTest } from "./scene.ts";

const task = "Sort the file by its second column.";
const good = "$ sort -k2 data.txt\n1 a\n2 b\n(quality=0.9)";
const bad = "I think it is sorted. (quality=0.2)";

const work = { name: "bash", arguments: { command: "echo quality=0.9", description: "work" } };

/** A tool with arguments that are right, and what its text then says; and wrong ones, and what the error says. */
interface Case {
  readonly tool: string;
  readonly right: Record<string, unknown>;
  readonly says: RegExp;
  readonly wrong: Record<string, unknown>;
  readonly complains: RegExp;
}

const CASES: readonly Case[] = [
  {
    tool: "verifier_compare",
    right: { task, a: good, b: bad, criteria: ["The output is sorted."] },
    says: /\bA\b/,
    wrong: { task, a: good },
    complains: /invalid_request[^]*\bb\b/,
  },
  {
    tool: "verifier_select",
    right: { task, candidates: [bad, good, "quality=0.5"], criteria: ["The output is sorted."] },
    says: /1/,
    wrong: { task, candidates: [good, "  "] },
    complains: /invalid_request[^]*candidates\/1/,
  },
  {
    tool: "verifier_track",
    right: {
      task,
      trajectory: { steps: ["look quality=0.1", "sort quality=0.9"] },
      criteria: ["It is sorted."],
    },
    says: /2/,
    wrong: { task, trajectory: { steps: ["one"] }, checkpoints: [7] },
    complains: /invalid_request[^]*checkpoints[^]*7/,
  },
  {
    tool: "verifier_session",
    right: {},
    says: /\d/,
    wrong: { mode: "sideways" },
    complains: /invalid_request[^]*mode[^]*sideways/,
  },
  {
    tool: "verifier_current_session",
    right: { mode: "acceptance" },
    says: /\d/,
    wrong: { range: "all of it" },
    complains: /invalid_request[^]*range/,
  },
  {
    tool: "verifier_best_of_n",
    right: { prompt: "Write a haiku.", n: 2, criteria: ["It has three lines."] },
    says: /Draft 2: quality=0\.6/,
    wrong: { prompt: "Write a haiku.", n: 99 },
    complains: /invalid_request[^]*\bn\b[^]*99/,
  },
  {
    tool: "verifier_tracker_start",
    right: { task, criteria: ["It is sorted."] },
    says: /\w/,
    wrong: { task: "  " },
    complains: /invalid_request[^]*task/,
  },
  {
    tool: "verifier_tracker_update",
    right: { step: "$ sort -k2 data.txt quality=0.8" },
    says: /0\.\d/,
    wrong: { stap: "typo" },
    complains: /invalid_request[^]*stap[^]*step/,
  },
  {
    tool: "verifier_tracker_result",
    right: {},
    says: /0\.\d/,
    wrong: { tracker: "no-such-tracker-1" },
    complains: /no-such-tracker-1/,
  },
  {
    tool: "verifier_status",
    right: {},
    says: /stub/,
    wrong: { prope: true },
    complains: /invalid_request[^]*prope[^]*it takes none/,
  },
];

hostTest(
  "each of the nine tools and the alias answers the model, and refuses a wrong argument by its name",
  async (host) => {
    await using server = await startJudged();
    await using model = startModel(({ index }) => {
      // Work for the session tools to judge: they leave out what only asks the verifier.
      if (index === 0) return { calls: [work] };
      const next = CASES[Math.floor((index - 1) / 2)];
      if (next === undefined) return { text: "Enough." };
      return { calls: [{ name: next.tool, arguments: index % 2 === 1 ? next.right : next.wrong }] };
    });
    await using scene = await createScene(host, { model, server });
    const run = await scene.headless("Try all of your verifier's tools.");
    assertEquals([run.code, run.stdout, run.stderr], [0, "Enough.\n", ""]);
    const offered = model.requests[0]!.tools.filter((name) => name.startsWith("verifier_"));
    assertEquals(offered.sort(), CASES.map(({ tool }) => tool).sort());
    const session = await scene.session();
    const outcomes = toolOutcomes(session).slice(1);
    assertEquals(outcomes.length, 2 * CASES.length);
    CASES.forEach(({ tool, says, complains }, i) => {
      const [right, wrong] = outcomes.slice(2 * i);
      assertEquals([right!.name, right!.isError], [tool, false], `${tool}: ${right!.text}`);
      assertMatch(right!.text, says, `${tool}: ${right!.text}`);
      assertEquals([wrong!.name, wrong!.isError], [tool, true], `${tool}: ${wrong!.text}`);
      assertMatch(wrong!.text, complains, `${tool}: ${wrong!.text}`);
      // The model reads the same words that the log holds.
      assertStringIncludes(model.requests[2 * i + 2]!.last, right!.text.slice(0, 200));
    });
    assertEquals(turnEnds(session), ["completed"]);
    const judged = server.judge.calls.map(({ prompt }) => prompt);
    assert(
      judged.some((prompt) => prompt.includes("echo quality=0.9")),
      "the session tool sent the session's own work",
    );
  },
);

hostTest(
  "several tools of one answer run at once, and a failed one doesn't take the others with it",
  async (host) => {
    await using server = await startJudged();
    const compare = { task, a: good, b: bad, criteria: ["It is sorted."] };
    await using model = startModel([
      {
        calls: [
          { name: "verifier_compare", arguments: compare },
          { name: "verifier_compare", arguments: { ...compare, criteria: "no_such_rubric" } },
          { name: "verifier_compare", arguments: { ...compare, a: bad, b: good } },
          { name: "verifier_compare", arguments: "{not json" },
        ],
      },
      { text: "Done." },
    ]);
    await using scene = await createScene(host, { model, server });
    const run = await scene.headless("Compare.");
    assertEquals([run.code, run.stderr], [0, ""]);
    const outcomes = toolOutcomes(await scene.session());
    const byCall = new Map(outcomes.map((outcome) => [outcome.callId.at(-1), outcome]));
    assertEquals(["0", "1", "2", "3"].map((id) => byCall.get(id)?.isError), [false, true, false, true]);
    assertMatch(byCall.get("1")!.text, /no_such_rubric/);
  },
);

hostTest("a program of the model's in code mode gets the structured results", async (host) => {
  await using server = await startJudged();
  const code = `
    const verdict = await tools.verifier_compare(${
    JSON.stringify({ task, a: bad, b: good, criteria: ["It is sorted."] })
  });
    const status = await tools.verifier_status({});
    return { winner: verdict.winner, margin: verdict.margin, keys: Object.keys(status) };`;
  await using model = startModel([
    { calls: [{ name: "run_code", arguments: { code, description: "Ask the verifier" } }] },
    { text: "Done." },
  ]);
  await using scene = await createScene(host, { model, server, env: { DSH_TOOLS_MODE: "code" } });
  const run = await scene.headless("Compare by program.");
  assertEquals(run.code, 0, run.stderr); // Node itself warns there of what the host uses
  const [outcome] = toolOutcomes(await scene.session());
  assertEquals([outcome?.name, outcome?.isError], ["run_code", false], outcome?.text);
  assertMatch(outcome!.text, /"winner":\s*"B"/);
  assertMatch(outcome!.text, /"margin":\s*-?0\.\d/);
});

hostTest("a token reaches the server, and without it the tool's error says what is wanted", async (host) => {
  const compare = { calls: [{ name: "verifier_compare", arguments: { task, a: good, b: bad } }] };
  const token = "a-secret-token-of-the-tests";
  await using server = await startJudged(undefined, { token });
  await using model = startModel([compare, { text: "Done." }]);
  await using with_ = await createScene(host, { model, server, env: { ASSAY_TOKEN: token } });
  assertEquals((await with_.headless("Compare.")).code, 0);
  assertEquals(toolOutcomes(await with_.session()).map(({ isError }) => isError), [false]);

  await using model2 = startModel([compare, { text: "Done." }]);
  await using without = await createScene(host, { model: model2, server });
  assertEquals((await without.headless("Compare.")).code, 0);
  const [refused] = toolOutcomes(await without.session());
  assertEquals(refused?.isError, true);
  assertMatch(refused!.text, /unauthorized/);
  assert(!JSON.stringify(await with_.session()).includes(token), "no secret in the log");
});
