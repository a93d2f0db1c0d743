/**
 * The gate at the end of a real turn, with the real server behind it.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startAssay } from "./assay.ts";
import { startJudged } from "./judged.ts";
import { gateMessages, type SessionLog, toolOutcomes, turnEnds } from "./log.ts";
import { type ModelAnswer, type ModelRequest, startModel } from "./model.ts";
import { createScene, gateOn, hostTest } from "./scene.ts";
import { showTranscript } from "./transcript.ts";

const task = "Write the sum of the numbers 1 to 10 into sum.txt.";

/** An agent that does poor work until it is sent back, and good work then. */
function improves(request: ModelRequest): ModelAnswer {
  const quality = request.all.includes("quality=0.2") && request.messages.filter(isTool).length > 0
    ? 0.9
    : 0.2;
  return request.messages.at(-1)?.role === "tool"
    ? { text: `Written.` }
    : { calls: [{ name: "bash", arguments: command(quality) }] };
}

const isTool = ({ role }: { role: string }): boolean => role === "tool";
/** `number` makes each differ: the host reminds a model that repeats itself. */
const command = (quality: number, number = 0) => ({
  command: `echo 55 > sum.txt; cat sum.txt; echo quality=${quality}${number === 0 ? "" : ` # ${number}`}`,
  description: "Write the sum",
});

hostTest("the gate sends poor work back once, and the turn ends when the work is good", async (host) => {
  await using server = await startJudged();
  await using model = startModel(improves);
  await using scene = await createScene(host, { model, server, patch: gateOn({ maxGatesPerTurn: 2 }) });
  const run = await scene.headless(task);
  assertEquals([run.code, run.stdout], [0, "Written.\n"], run.stderr);
  const session = await scene.session();
  showTranscript(session);
  const messages = gateMessages(session);
  assertEquals(messages.map(({ purpose, turn }) => [purpose, turn]), [["steer", messages[0]!.turn]]);
  assertMatch(messages[0]!.text, /0\.\d/);
  assertMatch(messages[0]!.text, /0\.6/, "the threshold");
  assert(messages[0]!.summary.length <= 120);
  assertStringIncludes(model.requests[2]!.all, messages[0]!.text, "the model reads it");
  assertEquals(model.requests.length, 4);
  assertEquals(toolOutcomes(session).length, 2);
  assertEquals(turnEnds(session), ["completed"]);
});

hostTest("good work passes the gate without a word", async (host) => {
  await using server = await startJudged();
  await using model = startModel([
    { calls: [{ name: "bash", arguments: command(0.95) }] },
    { text: "Written." },
  ]);
  await using scene = await createScene(host, { model, server, patch: gateOn() });
  const run = await scene.headless(task);
  assertEquals([run.code, run.stdout, run.stderr], [0, "Written.\n", ""]);
  assertEquals(gateMessages(await scene.session()), []);
  assertEquals(model.requests.length, 2);
  assert(server.judge.calls.length > 0, "it was judged");
});

hostTest("the gate is off until it is switched on", async (host) => {
  await using server = await startJudged();
  await using model = startModel([
    { calls: [{ name: "bash", arguments: command(0.1) }] },
    { text: "Written." },
  ]);
  await using scene = await createScene(host, { model, server });
  const run = await scene.headless(task);
  assertEquals([run.code, run.stderr], [0, ""]);
  assertEquals(gateMessages(await scene.session()), []);
  assertEquals(server.judge.calls.length, 0);
});

hostTest("work that never gets good is sent back no more often than maxGatesPerTurn says", async (host) => {
  await using server = await startJudged();
  await using model = startModel((request) =>
    request.messages.at(-1)?.role === "tool"
      ? { text: "Written." }
      : { calls: [{ name: "bash", arguments: command(0.1, request.index) }] }
  );
  await using scene = await createScene(host, { model, server, patch: gateOn({ maxGatesPerTurn: 2 }) });
  const run = await scene.headless(task);
  assertEquals([run.code, run.stdout], [0, "Written.\n"], run.stderr);
  const session = await scene.session();
  assertEquals(gateMessages(session).filter(({ purpose }) => purpose !== "notice").length, 2);
  assertEquals([model.requests.length, turnEnds(session)], [6, ["completed"]]);
});

hostTest("each of two turns may be sent back once, and a resumed session counts its own", async (host) => {
  await using server = await startJudged();
  await using model = startModel((request) =>
    request.messages.at(-1)?.role === "tool"
      ? { text: "Written." }
      : { calls: [{ name: "bash", arguments: command(0.1, request.index) }] }
  );
  await using scene = await createScene(host, { model, server, patch: gateOn() });
  const [created] = await scene.drive([
    { do: "create", agent: "a" },
    { do: "say", agent: "a", text: task },
    { do: "say", agent: "a", text: "Now the product of 1 to 5, into product.txt." },
  ]);
  const steers = (session: SessionLog): number[] =>
    gateMessages(session).filter(({ purpose }) => purpose !== "notice").map(({ turn }) => turn);
  const turns = steers(await scene.session());
  assertEquals([turns.length, new Set(turns).size], [2, 2], `one in each turn: ${turns}`);
  await scene.drive([
    { do: "resume", agent: "a", session: created.session },
    { do: "say", agent: "a", text: "And the difference of 9 and 4, into difference.txt." },
  ]);
  assertEquals(new Set(steers(await scene.session())).size, 3);
  assertEquals(turnEnds(await scene.session()), ["completed", "completed", "completed"]);
});

for (const includeSubagents of [false, true]) {
  hostTest(
    `a subagent's turn is ${includeSubagents ? "gated when includeSubagents says so" : "left alone"}`,
    async (host) => {
      await using server = await startJudged();
      await using model = startModel((request) => {
        const ended = request.messages.at(-1)?.role === "tool";
        if (request.all.includes("You are the child")) {
          return ended ? { text: "Child is done." } : { calls: [{ name: "bash", arguments: command(0.1) }] };
        }
        if (ended) return { text: "All done, quality=0.95." };
        const prompt = "You are the child: write the sum of 1 to 10 into sum.txt.";
        const arguments_ = { description: "write the sum", prompt, run_in_background: false };
        return { calls: [{ name: "subagent", arguments: arguments_ }] };
      });
      await using scene = await createScene(host, {
        model,
        server,
        patch: gateOn({ includeSubagents, threshold: 0.3 }),
      });
      const run = await scene.headless("Let a subagent do it.");
      assertEquals([run.code, run.stdout], [0, "All done, quality=0.95.\n"], run.stderr);
      const sessions = await scene.sessions();
      const child = sessions.find(({ header }) => (header.delegationDepth ?? 0) > 0);
      assertEquals(gateMessages(child!).map(({ purpose }) => purpose), includeSubagents ? ["steer"] : []);
    },
  );
}

hostTest(
  "the embedded judge, which a server has without any configuration, gives the gate a verdict",
  async (host) => {
    await using server = await startAssay();
    const check = (request: ModelRequest): ModelAnswer => {
      const work = { command: "echo 55 > sum.txt; cat sum.txt", description: "Write the sum" };
      const test = {
        command: 'grep -qx 55 sum.txt; echo "exit code $?"',
        description: "Check it",
      };
      const calls = request.messages.filter(isTool).length;
      return calls < 2
        ? { calls: [{ name: "bash", arguments: [work, test][calls] }] }
        : { text: "Written and checked." };
    };
    await using model = startModel(check);
    await using scene = await createScene(host, { model, server, patch: gateOn() });
    const run = await scene.headless(task);
    assertEquals([run.code, run.stdout, run.stderr], [0, "Written and checked.\n", ""]);
    const session = await scene.session();
    showTranscript(session);
    assertEquals(gateMessages(session).filter(({ purpose }) => purpose === "notice"), []);
    const { reviews } = await server.get(`/v1/reviews?session=${session.header.id}`);
    assertMatch(reviews[0].outcome.decision, /^(accept|steer)$/);
  },
);
