/**
 * The gate when it can't judge: the turn ends as if there were no gate, and whoever looks sees why.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Fault, startFaulty } from "./assay.ts";
import { interrupt } from "./interrupt.ts";
import { gateMessages, turnEnds } from "./log.ts";
import { startModel } from "./model.ts";
import { createScene, gateOn, hostTest } from "./scene.ts";
import { freePort } from "../free_port.ts";

/** Poor work, so that a gate which judged it would send it back. */
const work = [
  { calls: [{ name: "bash", arguments: { command: "echo quality=0.1 > out.txt", description: "work" } }] },
  { text: "Done." },
];

/** The turn's end is as it would be without a gate, but for one notice. */
async function checkOpen(
  { url }: { readonly url: string },
  host: Parameters<Parameters<typeof hostTest>[1]>[0],
  expected: RegExp,
): Promise<void> {
  await using model = startModel(work);
  await using scene = await createScene(host, {
    model,
    server: { url },
    patch: gateOn({ totalMs: 2000 }),
  });
  const run = await scene.headless("Work.");
  assertEquals([run.code, run.stdout], [0, "Done.\n"], run.stderr);
  assertEquals(model.requests.length, 2, "the model is asked nothing more");
  const session = await scene.session();
  assertEquals(turnEnds(session), ["completed"]);
  const messages = gateMessages(session);
  assertEquals(messages.map(({ purpose }) => purpose), ["notice"]);
  assertMatch(`${messages[0]!.summary} ${messages[0]!.text}`, expected);
  assert(run.stderr.trim().split("\n").length <= 3, run.stderr);
}

const FAULTS: readonly { readonly fault: Fault; readonly expected: RegExp }[] = [
  { fault: "hang", expected: /deadline|time/i },
  { fault: "unauthorized", expected: /unauthorized|401|token/i },
  { fault: "internal", expected: /internal|500/i },
  { fault: "garbage", expected: /bad_answer|answer/i },
];

for (const { fault, expected } of FAULTS) {
  hostTest(
    `a server that answers with ${fault} leaves the turn open-ended: a notice, no steering, exit 0`,
    async (host) => {
      await using server = startFaulty(fault);
      await checkOpen(server, host, expected);
      assert(server.asked.length > 0, "it was asked");
    },
  );
}

hostTest(
  "a server that isn't there leaves the turn open-ended: a notice, no steering, exit 0",
  async (host) => {
    await checkOpen({ url: `http://127.0.0.1:${freePort()}` }, host, /unreachable|reach|refused/i);
  },
);

hostTest("the same failure is noticed once in a session, not once a turn", async (host) => {
  await using server = startFaulty("unauthorized");
  await using model = startModel((request) => request.messages.at(-1)?.role === "tool" ? work[1]! : work[0]!);
  await using scene = await createScene(host, { model, server, patch: gateOn() });
  await scene.drive([
    { do: "create", agent: "a" },
    { do: "say", agent: "a", text: "Work." },
    { do: "say", agent: "a", text: "Work again." },
  ]);
  const session = await scene.session();
  assertEquals(turnEnds(session), ["completed", "completed"]);
  assertEquals(gateMessages(session).map(({ purpose }) => purpose), ["notice"]);
});

hostTest(
  "an interrupt while the gate waits ends the host at once and hangs up on the server",
  async (host) => {
    await using server = startFaulty("hang");
    await using model = startModel(work);
    await using scene = await createScene(host, { model, server, patch: gateOn({ totalMs: 60_000 }) });
    const running = scene.start(["Work."]);
    await interrupt(running, server);
    assertEquals(gateMessages(await scene.session()), []);
  },
);
