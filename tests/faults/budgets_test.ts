/**
 * Daily budgets through real servers: two processes on one store, fifty requests at once.
 */
import { assert, assertEquals } from "@std/assert";
import { failure, smart, startStubJudge } from "../stub_judge.ts";
import { ask, withServer } from "./server.ts";

const VARIABLES = { ASSAY_TOKEN_CI: "token-of-ci", ASSAY_TOKEN_DEV: "token-of-dev" };
const CI = { authorization: "Bearer token-of-ci" };
const DEV = { authorization: "Bearer token-of-dev" };
const price = { inputPerMillion: 1000, cachedInputPerMillion: 1000, outputPerMillion: 1000 };

function settings(judge: unknown, limits: Readonly<Record<string, number>>) {
  return {
    judges: { stub: judge },
    tokens: [
      { name: "ci", tokenEnv: "ASSAY_TOKEN_CI", ...limits },
      { name: "dev", tokenEnv: "ASSAY_TOKEN_DEV" },
    ],
    variables: VARIABLES,
  };
}

/** Six calls. */
function compare(name: string) {
  return {
    task: `the task of ${name}`,
    a: "quality=0.9",
    b: "quality=0.2",
    criteria: ["It works.", "It is clean.", "It is checked."],
  };
}

Deno.test("fifty requests at once over two processes buy no more than the token's budget, and each refusal has the numbers", async () => {
  await using stub = startStubJudge(smart());
  await withServer(settings(stub.profile({ retries: 0 }), { dailyCalls: 100 }), async (one, again) => {
    const two = await again();
    const answers = await Promise.all(
      Array.from(
        { length: 50 },
        (_, i) => ask(i % 2 === 0 ? one : two, "/v1/compare", compare(String(i)), CI),
      ),
    );
    const [fine, refused] = [
      answers.filter(({ status }) => status === 200),
      answers.filter(({ status }) => status === 429),
    ];
    assertEquals([fine.length, refused.length], [16, 34]);
    assertEquals(stub.calls.length, 96);
    for (const { body, headers } of refused) {
      assertEquals([body.code, body.plan.calls], ["budget_exhausted", 6]);
      assert(/of 100 calls/.test(body.detail), body.detail);
      const seconds = Number(headers.get("retry-after"));
      assert(seconds >= 1 && seconds <= 86_400, String(seconds));
      assertEquals(headers.get("ratelimit-policy"), '"daily-calls";q=100;qu="calls";w=86400');
      assert(
        /^"daily-calls";r=\d+;t=\d+$/.test(headers.get("ratelimit") ?? ""),
        headers.get("ratelimit") ?? "none",
      );
    }
    const { budget } = (await ask(two, "/v1/status", undefined, CI)).body;
    assertEquals([budget.spent.calls, budget.held.calls, budget.limits], [96, 0, {
      calls: 100,
      tokens: null,
      usd: null,
    }]);
    // Another token isn't touched, and has no headers.
    const other = await ask(one, "/v1/compare", compare("dev"), DEV);
    assertEquals([other.status, other.headers.get("ratelimit")], [200, null]);
    assertEquals((await ask(one, "/v1/status", undefined, DEV)).body.budget, null);
    // A live request is refused with the status, before its stream begins.
    const live = await ask(one, "/v1/compare", compare("live"), { ...CI, accept: "text/event-stream" });
    assertEquals([live.status, live.body.code], [429, "budget_exhausted"]);
  });
});

Deno.test("what came from the cache costs nothing, dry runs neither, and failed attempts count as estimated", async () => {
  await using stub = startStubJudge(smart());
  await withServer(settings(stub.profile({ retries: 0, price }), { dailyUsd: 100 }), async (server) => {
    const spent = async () => (await ask(server, "/v1/status", undefined, CI)).body.budget.spent;
    await ask(server, "/v1/compare", { ...compare("x"), dryRun: true }, CI);
    assertEquals((await spent()).usd, 0);
    const first = await ask(server, "/v1/compare", compare("x"), CI);
    const once = await spent();
    assertEquals([once.calls, once.usd, once.estimated.usd], [6, first.body.usage.usd, 0]);
    await ask(server, "/v1/compare", compare("x"), CI);
    assertEquals(await spent(), once);
    // A probe is bought too.
    assertEquals((await ask(server, "/v1/status/probe", { judge: "stub" }, CI)).body.judges[0].ok, true);
    assertEquals((await spent()).calls, 7);
    const probed = await spent();
    // A 500 may have cost something: nobody knows, so the plan's estimate counts.
    stub.play(failure(500));
    assertEquals((await ask(server, "/v1/compare", compare("y"), CI)).status, 502);
    const twice = await spent();
    assertEquals(twice.calls, 13);
    assert(
      twice.estimated.usd > 0 && Math.abs(twice.usd - probed.usd - twice.estimated.usd) < 1e-9,
      JSON.stringify(twice),
    );
  });
});

Deno.test("a budget in dollars and a judge without a price don't go together: nothing is bought", async () => {
  await using stub = startStubJudge(smart());
  await withServer(settings(stub.profile(), { dailyUsd: 1 }), async (server) => {
    const refused = await ask(server, "/v1/compare", compare("x"), CI);
    assertEquals([refused.status, refused.body.code, stub.calls.length], [422, "over_budget", 0]);
  });
});
