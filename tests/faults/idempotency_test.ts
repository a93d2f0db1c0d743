/**
 * One idempotency key, two processes on one store, many requests at once.
 */
import { assertEquals } from "@std/assert";
import { smart, startStubJudge } from "../stub_judge.ts";
import { ask, withServer } from "./server.ts";

const COMPARE = {
  task: "the task",
  a: "quality=0.9",
  b: "quality=0.2",
  criteria: ["One.", "Two.", "Three."],
  cache: "off",
};

Deno.test("twenty requests under one key at two processes buy once and get one answer", async () => {
  await using stub = startStubJudge(smart());
  await withServer({ judges: { stub: stub.profile({ retries: 0 }) } }, async (one, again) => {
    const two = await again();
    const key = { "idempotency-key": "the-key" };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(i % 2 === 0 ? one : two, "/v1/compare", COMPARE, key)),
    );
    assertEquals(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assertEquals(answers[0]?.body.winner, "A");
    assertEquals(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true").length, 19);
    assertEquals(stub.calls.length, 6);

    const trackers = await Promise.all(
      [one, two, one, two].map((server) => ask(server, "/v1/trackers", { task: "t" }, key)),
    );
    assertEquals(new Set(trackers.map(({ body }) => body.id)).size, 1, "one tracker was made");
    assertEquals(new Set(trackers.map(({ headers }) => headers.get("location"))).size, 1);
    assertEquals(
      (await ask(two, "/v1/compare", { ...COMPARE, seed: 1 }, key)).body.code,
      "idempotency_conflict",
    );
    await one.kill();
    assertEquals(
      (await ask(two, "/v1/compare", COMPARE, key)).text,
      answers[0]?.text,
      "it outlives whoever made it",
    );
  });
});
