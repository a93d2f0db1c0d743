import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fakeApp, post } from "../tests/http_fakes.ts";
import { answerWith, candidate, fakeEnvironment, fakeJudge } from "../tests/verbs/fake_judge.ts";
import { compare } from "../verifier/compare.ts";
import { turned } from "../verifier/decisions/store.ts";
import { JudgeError } from "../verifier/judges/judge.ts";
import { select } from "../verifier/select/select.ts";
import { track } from "../verifier/track.ts";
import { decision, decisionList, replay, statistics } from "./decision_schemas.ts";
import { problem } from "./schemas.ts";

function world() {
  const judge = fakeJudge({
    answer: (request) => {
      if (request.prefix.includes("DOWN")) {
        return Promise.reject(new JudgeError("backend_error", "it is down"));
      }
      return answerWith(request.tags, request.tags.map((_, i) => 0.7 - i / 10));
    },
  });
  const environment = fakeEnvironment(judge);
  const app = fakeApp({ environment, verbs: { compare, select, track } });
  const json = async (path: string, init?: RequestInit) => {
    const response = await app.ask(path, init);
    return { status: response.status, body: await response.json() };
  };
  return { ...app, environment, json };
}

const BODY = { task: "t", a: candidate(0), b: candidate(1), criteria: ["x"] };

Deno.test("a result's decision is listed, shown and replayed over HTTP, as the schemas say", async () => {
  const { json } = world();
  const { body: result } = await json("/v1/compare", post(BODY));
  const chosen = await json("/v1/select", post({ task: "t", candidates: [0, 1, 2].map(candidate) }));
  const list = await json("/v1/decisions?limit=1");
  assertEquals(list.status, 200);
  assertEquals(decisionList.parse(list.body).decisions.map(({ id }) => id), [chosen.body.id]);
  const next = await json(`/v1/decisions?cursor=${list.body.cursor}`);
  assertEquals(decisionList.parse(next.body).decisions.map(({ id }) => id), [result.id]);
  assertEquals(next.body.cursor, null);
  const compared = await json("/v1/decisions?verb=compare");
  assertEquals(compared.body.decisions.length, 1);
  const shown = await json(`/v1/decisions/${result.id}`);
  const record = decision.parse(shown.body);
  assertEquals(record.result?.rewardA, result.rewardA);
  assertEquals(
    record.calls.map(({ scores }) => scores[0]),
    result.calls.map(({ a, b, swapped }: typeof result.calls[0]) => swapped ? b : a),
  );
  for (const id of [result.id, chosen.body.id]) {
    const again = await json(`/v1/decisions/${id}/replay`, { method: "POST" });
    assertEquals(again.status, 200);
    assertEquals([replay.parse(again.body).equal, again.body.differences], [true, []]);
  }
  const sums = await json("/v1/statistics?group=verb");
  assertEquals(statistics.parse(sums.body).groups.map(({ key }) => key), ["select", "compare"]);
  assertEquals(sums.body.groups[1].invocations, 1);
});

Deno.test("a problem names its decision, which fails again with the same code", async () => {
  const { json } = world();
  const failed = await json("/v1/compare", post({ ...BODY, task: "DOWN" }));
  assertEquals([failed.status, problem.parse(failed.body).code], [502, "judge_failed"]);
  const shown = await json(`/v1/decisions/${failed.body.decision}`);
  assertEquals([shown.body.problem.code, shown.body.result], ["judge_failed", null]);
  const again = await json(`/v1/decisions/${failed.body.decision}/replay`, { method: "POST" });
  assertEquals([again.body.equal, again.body.scope], [true, "verdict"]);
});

Deno.test("decisions that aren't there, can't be read or can't be derived again have problems of their own", async () => {
  const { json, environment } = world();
  const { body: result } = await json("/v1/compare", post(BODY));
  const place = `decision/record/${turned(result.id.slice(4))}`;
  for (const id of ["x", "dec_01JD0000000000000000000000", "..%2f..%2fsecret"]) {
    for (
      const [path, init] of [[`/v1/decisions/${id}`], [`/v1/decisions/${id}/replay`, {
        method: "POST",
      }]] as const
    ) {
      const { status, body } = await json(path, init);
      assertEquals([status, body.code], [404, "not_found"], path);
    }
  }
  const stored = JSON.parse(new TextDecoder().decode((await environment.store.get(place))!.value));
  const put = (value: unknown) =>
    environment.store.put(place, new TextEncoder().encode(JSON.stringify(value)));
  // deno-lint-ignore no-explicit-any
  await put({ ...stored, calls: stored.calls.map((call: any) => ({ ...call, evidence: null })) });
  const bare = await json(`/v1/decisions/${result.id}/replay`, { method: "POST" });
  assertEquals([bare.status, bare.body.code], [422, "not_replayable"]);
  assertStringIncludes(bare.body.detail, "was not kept");
  await put({ ...stored, calls: "none" });
  const damaged = await json(`/v1/decisions/${result.id}`);
  assertEquals([damaged.status, damaged.body.code], [500, "internal"]);
  assertStringIncludes(damaged.body.detail, "can't be read");
});

Deno.test("parameters of the query that are unknown, repeated, blank or out of range are named", async () => {
  const { json } = world();
  const wrong: [string, string, string][] = [
    ["/v1/decisions?limt=5", "/limt", "did you mean limit?"],
    ["/v1/decisions?limit=0", "/limit", "from 1 to 500"],
    ["/v1/decisions?limit=501", "/limit", "from 1 to 500"],
    ["/v1/decisions?limit=1e2", "/limit", "whole number"],
    ["/v1/decisions?limit=5&limit=6", "/limit", "must not stand twice"],
    ["/v1/decisions?verb=", "/verb", "must not be blank"],
    ["/v1/decisions?verb=../x", "/verb", "name of a verb"],
    ["/v1/decisions?cursor=x", "/cursor", "cursor of an earlier page"],
    ["/v1/statistics?group=month", "/group", "must be one of day, verb"],
    ["/v1/statistics?from=yesterday", "/from", "must be a day"],
    ["/v1/statistics?from=2026-12-02&to=2026-12-01", "/from", "must be before to"],
    ["/v1/statistics?limit=10001", "/limit", "from 1 to 10000"],
  ];
  for (const [path, field, message] of wrong) {
    const { status, body } = await json(path);
    assertEquals([status, body.code, body.errors?.[0]?.path], [400, "invalid_request", field], path);
    assertStringIncludes(body.errors[0].message, message);
  }
  assert((await json("/v1/decisions?limit=500")).status === 200);
});
