/**
 * Tools whose server doesn't answer: cancelled by the user, or by their own deadline.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { startFaulty } from "./assay.ts";
import { toolOutcomes, turnEnds } from "./log.ts";
import { startModel } from "./model.ts";
import { createScene, hostTest } from "./scene.ts";

const compare = { calls: [{ name: "verifier_compare", arguments: { task: "t", a: "one", b: "two" } }] };

hostTest("an interrupt while a tool waits ends the host at once and hangs up on the server", async (host) => {
  await using server = startFaulty("hang");
  await using model = startModel([compare, { text: "Done." }]);
  await using scene = await createScene(host, { model, server });
  const running = scene.start(["Compare."]);
  await Promise.race([server.called, running.ended]);
  const sent = performance.now();
  running.kill("SIGINT");
  const run = await running.ended;
  assertEquals(run.code, 130, run.stderr);
  const took = performance.now() - sent;
  assert(took < 5000, `it took ${took} ms`);
  await server.hungUp;
  assertEquals(model.requests.length, 1);
});

hostTest("a tool gives up at its deadline, and the turn goes on with its error", async (host) => {
  await using server = startFaulty("hang");
  await using model = startModel([compare, { text: "No verdict, then." }]);
  await using scene = await createScene(host, {
    model,
    server,
    patch: `- id: assay\n  config: { timeoutMs: 1000 }\n`,
  });
  const run = await scene.headless("Compare.");
  assertEquals([run.code, run.stdout, run.stderr], [0, "No verdict, then.\n", ""]);
  await server.hungUp;
  const session = await scene.session();
  const [outcome] = toolOutcomes(session);
  assertEquals(outcome?.isError, true);
  assertMatch(outcome!.text, /deadline_exceeded[^]*1000/);
  assertEquals(turnEnds(session), ["completed"]);
});
