/**
 * Callers who hang up in the middle: the judge sees its calls aborted, no new one is sent, and nothing stays behind.
 */
import { assert, assertEquals } from "@std/assert";
import { smart, startStubJudge, type StubRaw } from "../stub_judge.ts";
import { ask, withServer } from "./server.ts";

/** A beginning without an end: Deno tells a server reliably of a client who leaves only through the answer's stream. */
const endless: StubRaw = {
  kind: "raw",
  status: 200,
  headers: { "content-type": "application/json" },
  chunks: ["{"],
  then: "hang",
};
const SELECT = {
  task: "the task",
  candidates: ["quality=0.9", "quality=0.2", "quality=0.5", "quality=0.4"],
  criteria: ["It works."],
  mode: "round_robin",
};
const TOKEN = "token-of-the-disconnect-test";
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

for (const accept of ["application/json", "text/event-stream"]) {
  Deno.test(`a caller of ${accept} who hangs up takes the open calls along, and nothing else`, async () => {
    await using stub = startStubJudge();
    const judges = { stub: stub.profile({ concurrency: 2, retries: 3 }) };
    const settings = {
      judges,
      tokens: [{ name: "ci", tokenEnv: "ASSAY_TOKEN_CI", dailyCalls: 1000, dailyTokens: 1e9 }],
      variables: { ASSAY_TOKEN_CI: TOKEN },
    };
    await withServer(settings, async (server) => {
      stub.play((call) => call.index === 0 ? smart() : endless);
      const caller = new AbortController();
      const key = { "idempotency-key": "left" };
      const left = fetch(`${server.origin}/v1/select`, {
        method: "POST",
        headers: { "content-type": "application/json", accept, ...key, ...AUTHORIZED },
        body: JSON.stringify(SELECT),
        signal: caller.signal,
      }).then((response) => response.text()).catch((error: unknown) => error);
      await stub.until(({ inFlight, calls }) => calls.length === 3 && inFlight === 2);
      caller.abort();
      assert(await left instanceof DOMException);
      await stub.until(({ aborted, inFlight }) => aborted === 2 && inFlight === 0);

      // The budget is settled when the request has really ended: one scored call, and two that nobody knows the cost of.
      let budget = (await ask(server, "/v1/status", undefined, AUTHORIZED)).body.budget;
      while (budget.held.calls > 0) {
        budget = (await ask(server, "/v1/status", undefined, AUTHORIZED)).body.budget;
      }
      assertEquals(budget.spent.calls, 3);
      assert(budget.spent.estimated.tokens > 0);
      assertEquals(stub.calls.length, 3, "no call was sent after the caller had left");

      stub.play(smart());
      const { status, body, headers } = await ask(server, "/v1/select", SELECT, { ...key, ...AUTHORIZED });
      assertEquals([status, body.best, body.unscored], [200, 0, 0]);
      assertEquals(headers.get("idempotent-replayed"), null, "the key was free again");
      assertEquals([body.usage.cacheHits, body.usage.calls], [1, 5]);
      assert(
        headers.get("ratelimit")?.startsWith('"daily-calls";r=992;t='),
        headers.get("ratelimit") ?? "none",
      );
    });
  });
}
