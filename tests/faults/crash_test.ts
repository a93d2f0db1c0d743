/**
 * `kill -9` of the server in the middle of its work: what a caller has seen is there after a restart, and no call whose
 * score was seen is bought twice.
 */
import { assert, assertEquals } from "@std/assert";
import { createParser } from "eventsource-parser";
import { hang, say, smart, startStubJudge, type StubCall, type StubJudge } from "../stub_judge.ts";
import { ask, type FaultServer, withServer } from "./server.ts";

const SELECT = {
  task: "the task",
  candidates: ["quality=0.9", "quality=0.2", "quality=0.5", "quality=0.4"],
  criteria: ["It works.", "It is clean."],
  mode: "round_robin",
};
const TOKEN = "token-of-the-crash-test";
const SETTINGS = {
  tokens: [{ name: "ci", tokenEnv: "ASSAY_TOKEN_CI", dailyCalls: 1000 }],
  variables: { ASSAY_TOKEN_CI: TOKEN },
};
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

/** Reads live progress until `enough`, and leaves the connection open. */
async function follow(
  server: FaultServer,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
  enough: (events: readonly string[]) => boolean,
): Promise<void> {
  const response = await fetch(server.origin + path, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", ...AUTHORIZED, ...headers },
    body: JSON.stringify(body),
  });
  assertEquals(response.status, 200);
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ event = "" }) => events.push(event) });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (!enough(events)) {
    const { done, value } = await reader.read();
    assert(!done, `the stream ended after ${events}`);
    parser.feed(value);
  }
  // The server's death ends the stream.
  reader.closed.catch(() => {});
}

const callEvents = (events: readonly string[]) => events.filter((event) => event === "call").length;

/** How often each prompt was sent. */
function timesSent(stub: StubJudge, upTo = Infinity): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { prompt } of stub.calls.slice(0, upTo)) times.set(prompt, (times.get(prompt) ?? 0) + 1);
  return times;
}

for (const key of [undefined, "the-key"]) {
  Deno.test(`kill -9 during a select${key === undefined ? "" : " with an idempotency key"}: no scored call is bought twice`, async () => {
    await using stub = startStubJudge();
    const judges = { stub: stub.profile({ concurrency: 3, retries: 0 }) };
    await withServer({ judges, ...SETTINGS }, async (server, again) => {
      const answered = 5;
      stub.play((call) => call.index < answered ? smart() : hang);
      const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
      await follow(server, "/v1/select", SELECT, headers, (events) => callEvents(events) === answered);
      await server.kill();
      const scored = [...timesSent(stub, answered).keys()];
      assertEquals(scored.length, answered);

      const restarted = await again();
      stub.play(smart());
      const before = (await ask(restarted, "/v1/status", undefined, AUTHORIZED)).body.budget;
      assert(before.spent.calls + before.held.calls > 0, "the dead request's budget is still counted");
      const { status, body } = await ask(restarted, "/v1/select", SELECT, { ...headers, ...AUTHORIZED });
      assertEquals([status, body.best, body.unscored], [200, 0, 0]);
      assertEquals(body.usage.cacheHits, answered);
      assertEquals(body.usage.calls, 12 - answered);
      const sent = timesSent(stub);
      assertEquals(scored.map((prompt) => sent.get(prompt)), Array(answered).fill(1));
    });
  });
}

Deno.test("kill -9 during a tracker's update: the stored step is there, unscored, and can be scored once", async () => {
  await using stub = startStubJudge(hang);
  const judges = { stub: stub.profile({ retries: 0 }) };
  await withServer({ judges, ...SETTINGS }, async (server, again) => {
    const started = await ask(
      server,
      "/v1/trackers",
      { task: "the task", criteria: ["It works."] },
      AUTHORIZED,
    );
    assertEquals(started.status, 201, started.text);
    const path = `/v1/trackers/${started.body.id}`;
    const step = { step: "quality=0.7", expectedLength: 0 };
    const key = { "idempotency-key": "step-1" };
    await follow(server, `${path}/steps`, step, key, (events) => events.includes("appended"));
    await server.kill();

    const restarted = await again();
    const kept = (await ask(restarted, path, undefined, AUTHORIZED)).body;
    assertEquals([kept.length, kept.steps.length, kept.steps[0].score], [1, 1, null]);
    stub.play(smart());
    const update = await ask(restarted, `${path}/steps`, step, { ...key, ...AUTHORIZED });
    assertEquals(update.status, 200, update.text);
    assertEquals([update.body.length, update.body.step.index, update.body.step.state], [1, 1, "scored"]);
    const bought = stub.calls.length;
    const repeated = await ask(restarted, `${path}/steps`, step, { ...key, ...AUTHORIZED });
    assertEquals([repeated.body.length, repeated.body.step.score], [1, update.body.step.score]);
    assertEquals(stub.calls.length, bought);
  });
});

/** The draft that a prompt asks for, or `null` when it asks for a verdict. */
const draftOf = ({ prompt }: StubCall): string | null => /Draft (\d+) of \d+\s*$/.exec(prompt)?.[1] ?? null;

Deno.test("kill -9 during a best-of-N: drafts and scores that were seen are not bought again", async () => {
  await using stub = startStubJudge();
  const judges = { stub: stub.profile({ retries: 0, concurrency: 3 }) };
  const request = { prompt: "Write it.", n: 3, criteria: ["It works.", "It is clean."] };
  await withServer({ judges, ...SETTINGS }, async (server, again) => {
    let verdicts = 0;
    const draft = (call: StubCall) => say(`quality=0.${draftOf(call)}`);
    stub.play((call) => draftOf(call) !== null ? draft(call) : verdicts++ < 2 ? smart() : hang);
    const enough = (events: readonly string[]) =>
      events.filter((event) => event === "draft").length === 3 && callEvents(events) === 2;
    await follow(server, "/v1/best-of-n", request, {}, enough);
    await server.kill();
    const seen = stub.calls.filter((call) => draftOf(call) !== null).length;
    const scored = stub.calls.filter((call) => draftOf(call) === null).slice(0, 2).map(({ prompt }) =>
      prompt
    );
    assertEquals(seen, 3);

    stub.play((call) => draftOf(call) !== null ? draft(call) : smart());
    const { status, body, text } = await ask(await again(), "/v1/best-of-n", request, AUTHORIZED);
    assertEquals([status, body?.best], [200, 2], text);
    assertEquals(stub.calls.filter((call) => draftOf(call) !== null).length, 3, "no draft was bought twice");
    const sent = timesSent(stub);
    assertEquals(scored.map((prompt) => sent.get(prompt)), [1, 1]);
  });
});
