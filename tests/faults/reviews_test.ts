/**
 * `kill -9` of the server while reviews are granted and settled: what was acknowledged holds after a restart, and limits
 * hold over both lives.
 */
import { assert, assertEquals } from "@std/assert";
import { ask, type FaultServer, withServer } from "./server.ts";

const LIMITS = { session: { reviews: 30, calls: 60 } };

const reserve = (server: FaultServer, fingerprint: string) =>
  ask(server, "/v1/reviews", {
    session: "s",
    task: "t",
    purpose: "compare",
    fingerprint,
    calls: 2,
    limits: LIMITS,
  });

Deno.test("kill -9 among parallel reviews: nothing acknowledged is lost, nothing is granted beyond the limits", async () => {
  const settings = { judges: { evidence: { kind: "evidence" } }, defaultJudge: "evidence" };
  await withServer(settings, async (server, again) => {
    const granted = new Map<string, string>();
    const settled = new Set<string>();
    let isOver = false;
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const work = Array.from({ length: 25 }, async (_, i) => {
      const name = `f${i}`;
      try {
        const { status, body } = await reserve(server, name);
        assertEquals(status, 201);
        granted.set(name, body.id);
        if (i % 3 === 0) return;
        const { status: done } = await ask(server, `/v1/reviews/${body.id}/settle`, {
          state: "done",
          calls: 1,
        });
        assertEquals(done, 200);
        settled.add(name);
        if (settled.size === 4) resolve();
      } catch (error) {
        // The killed server's connections break; before that nothing may fail.
        assert(isOver, String(error));
      }
    });
    await enough;
    isOver = true;
    await server.kill();
    await Promise.all(work);

    const restarted = await again();
    const { spent, reviews } = (await ask(restarted, "/v1/reviews?session=s")).body;
    assert(spent.reviews >= granted.size && spent.reviews <= 25, JSON.stringify(spent));
    const counted = reviews.reduce((sum: number, { calls }: { calls: number }) => sum + calls, 0);
    assertEquals([spent.reviews, spent.calls], [reviews.length, counted]);
    for (const [name, id] of granted) {
      const { body } = await reserve(restarted, name);
      const reasons = settled.has(name) ? ["reviewed"] : ["in_flight", "reviewed"];
      assert(reasons.includes(body.reason), `${name}: ${JSON.stringify(body)}`);
      assertEquals(body.review.id, id);
      if (!settled.has(name)) {
        assertEquals(
          (await ask(restarted, `/v1/reviews/${id}/settle`, { state: "done", calls: 1 })).status,
          200,
        );
      }
    }
    const more = await Promise.all(Array.from({ length: 40 }, (_, i) => reserve(restarted, `g${i}`)));
    assertEquals(more.filter(({ status }) => status === 201).length, 30 - spent.reviews);
  });
});
