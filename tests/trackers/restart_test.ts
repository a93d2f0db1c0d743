/**
 * Trackers beyond one process: many updates before a crash, a restart in the middle of a session, and two servers that
 * share one store.
 */
import { assert, assertEquals } from "@std/assert";
import { ask, type FaultServer, startServer, withServer } from "../faults/server.ts";
import { hang, smart, startStubJudge } from "../stub_judge.ts";

interface Step {
  readonly index: number;
  readonly state: string;
  readonly score: number | null;
}

const step = (i: number) => ({ step: `[Command] work ${i}\n[Output]\nquality=0.${i % 10}` });
const key = (i: number) => ({ "idempotency-key": `step-${i}` });

async function start(server: FaultServer): Promise<string> {
  const { status, body } = await ask(server, "/v1/trackers", {
    task: "the task",
    criteria: ["It works."],
    repeats: 1,
  });
  assertEquals(status, 201);
  return `/v1/trackers/${body.id}`;
}

Deno.test("kill -9 during twenty updates at once: what was acknowledged is there, and sending all again loses and doubles nothing", async () => {
  await using stub = startStubJudge(smart());
  await withServer(
    { judges: { stub: stub.profile({ retries: 0, concurrency: 4 }) } },
    async (server, again) => {
      const path = await start(server);
      // Half of the judged calls are answered; the rest hang until the server dies.
      stub.play((call) => call.index < 10 ? smart() : hang);
      const acknowledged = new Map<number, Step>();
      const all = Promise.allSettled(Array.from({ length: 20 }, async (_, i) => {
        const { status, body } = await ask(server, `${path}/steps`, step(i), key(i));
        if (status === 200) acknowledged.set(i, body.step);
      }));
      await stub.until(({ calls, inFlight }) => calls.length >= 14 && inFlight >= 4);
      await server.kill();
      await all;
      assert(acknowledged.size > 0 && acknowledged.size <= 10, `${acknowledged.size} acknowledged`);

      const restarted = await again();
      const kept = (await ask(restarted, path)).body;
      assertEquals(kept.warnings, []);
      for (const seen of acknowledged.values()) {
        const now = kept.steps.find(({ index }: Step) => index === seen.index);
        assertEquals([now?.state, now?.score], ["scored", seen.score]);
      }
      const before = stub.calls.length;
      const scored = kept.steps.filter(({ state }: Step) => state === "scored").length;
      stub.play(smart());
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => ask(restarted, `${path}/steps`, step(i), key(i))),
      );
      for (const [i, seen] of acknowledged) assertEquals(answers[i]!.body.step, seen);
      const after = (await ask(restarted, path)).body;
      assertEquals(after.length, 20);
      assertEquals(
        after.steps.map(({ index, state }: Step) => [index, state]),
        Array.from({ length: 20 }, (_, i) => [i + 1, "scored"]),
      );
      assertEquals(new Set(answers.map(({ body }) => body.step.index)).size, 20);
      // A score that was stored, or at least cached, is not bought again.
      assert(
        stub.calls.length - before <= 20 - scored,
        `${stub.calls.length - before} calls for ${20 - scored} scores`,
      );
    },
  );
});

Deno.test("a session over two restarts: each server goes on where the one before ended", async () => {
  await using stub = startStubJudge(smart());
  await withServer({ judges: { stub: stub.profile({ retries: 0 }) } }, async (first, again) => {
    const path = await start(first);
    const send = async (server: FaultServer, i: number) =>
      (await ask(server, `${path}/steps`, { ...step(i), expectedLength: i - 1 }, key(i))).body;
    await send(first, 1);
    const two = await send(first, 2);
    await first.kill();
    const second = await again();
    assertEquals(await send(second, 2), two);
    await send(second, 3);
    await second.kill();
    const third = await again();
    const conflict = await ask(third, `${path}/steps`, { ...step(9), expectedLength: 2 });
    assertEquals([conflict.status, conflict.body.code, conflict.body.length], [409, "length_conflict", 3]);
    await send(third, 4);
    const { steps, length, curve } = (await ask(third, path)).body;
    assertEquals([length, steps.length, curve.length], [4, 4, 4]);
    // Every prompt showed the steps up to its own, from whichever server they came.
    const prompts = stub.calls.map(({ prompt }) =>
      [1, 2, 3, 4].filter((i) => prompt.includes(`work ${i}\n`))
    );
    assertEquals(prompts, [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]);
  });
});

Deno.test("two servers on one store put the updates of a tracker in one order", async () => {
  await using stub = startStubJudge(smart());
  const judges = { stub: stub.profile({ retries: 0 }) };
  await withServer({ judges }, async (one, _, store) => {
    const other = await startServer({ judges, store });
    try {
      const path = await start(one);
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) => ask(i % 2 ? one : other, `${path}/steps`, step(i), key(i))),
      );
      assertEquals(answers.map(({ status }) => status), Array(30).fill(200));
      const indices = answers.map(({ body }) => body.step.index).sort((a, b) => a - b);
      assertEquals(indices, Array.from({ length: 30 }, (_, i) => i + 1));
      for (const server of [one, other]) {
        const read = (await ask(server, path)).body;
        assertEquals([read.length, read.curve.length, read.warnings], [30, 30, []]);
      }
    } finally {
      await other.kill();
    }
  });
});
