/**
 * Tools whose server doesn't answer: cancelled by the user, or by their own deadline.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import { startFaulty } from "./assay.ts";
import { interrupt } from "./interrupt.ts";
import { toolOutcomes, turnEnds } from "./log.ts";
import { startModel } from "./model.ts";
import { createScene, hostTest } from "./scene.ts";

const compare = { calls: [{ name: "verifier_compare", arguments: { task: "t", a: "one", b: "two" } }] };

hostTest("an interrupt while a tool waits ends the host at once and hangs up on the server", async (host) => {
  await using server = startFaulty("hang");
  await using model = startModel([compare, { text: "Done." }]);
  await using scene = await createScene(host, { model, server });
  const running = scene.start(["Compare."]);
  await interrupt(running, server);
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
