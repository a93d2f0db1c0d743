import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { createApp } from "./app.ts";
import { EXAMPLE_RESULT } from "./routes/examples.ts";
import type { ProblemDocument } from "./routes/problem.ts";
import { AssayError } from "./verifier/errors.ts";
import { JudgeError } from "./verifier/judges/judge.ts";
import { StoreError } from "./store/store.ts";
import type { Verbs } from "./routes/operation.ts";
import {
  COMPARE,
  exampleVerbs,
  fakeApp,
  fakeEnvironment,
  fakeJudges,
  fakeOptions,
  post,
} from "./tests/http_fakes.ts";

async function problemOf(response: Response): Promise<ProblemDocument> {
  assertEquals(response.headers.get("content-type"), "application/problem+json");
  assertEquals(response.headers.get("cache-control"), "no-store");
  const problem = await response.json() as ProblemDocument;
  assertEquals(problem.status, response.status);
  return problem;
}

const failing = (error: unknown): Verbs => ({ ...exampleVerbs, compare: () => Promise.reject(error) });

Deno.test("the verbs answer with what the verifier returns", async () => {
  const { ask } = fakeApp();
  const compare = await ask("/v1/compare", post(COMPARE));
  assertEquals(compare.status, 200);
  assertEquals(compare.headers.get("cache-control"), "no-store");
  assertEquals(await compare.json(), JSON.parse(JSON.stringify(EXAMPLE_RESULT.compare)));
  const select = await ask("/v1/select", post({ task: "t", candidates: ["x", "y"] }));
  assertEquals((await select.json()).verb, "select");
  const track = await ask("/v1/track", post({ task: "t", trajectory: "x" }));
  assertEquals((await track.json()).verb, "track");
});

Deno.test("a verb gets the request with its defaults filled in, and the caller's signal", async () => {
  let seen: unknown;
  const compare: Verbs["compare"] = (_environment, request, { signal, onEvent }) => {
    seen = { request, signal: signal instanceof AbortSignal, onEvent };
    return Promise.resolve(EXAMPLE_RESULT.compare);
  };
  await fakeApp({ verbs: { ...exampleVerbs, compare } }).ask("/v1/compare", post(COMPARE));
  assertEquals(seen, {
    request: {
      ...COMPARE,
      criteria: "general",
      repeats: 2,
      channel: "any",
      images: [],
      seed: 0,
      dryRun: false,
      cache: "use",
    },
    signal: true,
    onEvent: undefined,
  });
});

Deno.test("a request with an unknown field is refused and the field is named", async () => {
  const response = await fakeApp().ask("/v1/compare", post({ ...COMPARE, repaets: 3 }));
  assertEquals(response.status, 400);
  const problem = await problemOf(response);
  assertEquals(problem.code, "invalid_request");
  assertEquals(problem.errors?.[0]?.path, "/repaets");
  assertEquals(problem.type, "/docs#problem-invalid_request");
});

Deno.test("a request with several faults names them all", async () => {
  const response = await fakeApp().ask(
    "/v1/select",
    post({ task: " ", candidates: [], repeats: 1.5, seed: "x" }),
  );
  const problem = await problemOf(response);
  assertEquals(problem.errors?.map(({ path }) => path).sort(), ["/candidates", "/repeats", "/seed", "/task"]);
});

Deno.test("bodies that are not JSON are refused with the place of the fault", async () => {
  const { ask } = fakeApp();
  const nan = await problemOf(await ask("/v1/compare", post('{"task": "t",\n "seed": NaN}')));
  assertEquals(nan.code, "invalid_json");
  assertStringIncludes(nan.detail, "NaN is not a JSON value (line 2, column 10)");
  assertEquals(nan.errors?.[0]?.path, "/seed");
  assertEquals((await problemOf(await ask("/v1/compare", post("")))).status, 400);
});

Deno.test("a body of another media type is refused with 415", async () => {
  const { ask } = fakeApp();
  for (
    const type of ["text/plain", "application/json; charset=latin1", "application/x-www-form-urlencoded"]
  ) {
    const response = await ask("/v1/compare", {
      method: "POST",
      body: "{}",
      headers: { "content-type": type },
    });
    assertEquals(response.status, 415, type);
    assertStringIncludes((await problemOf(response)).detail, type);
  }
  const zipped = await ask("/v1/compare", post(COMPARE, { "content-encoding": "gzip" }));
  assertEquals(zipped.status, 415);
});

Deno.test("a body over the limit is refused while it arrives, whatever Content-Length says", async () => {
  const { ask } = fakeApp({ bodyLimitBytes: 1000 });
  assertEquals((await ask("/v1/compare", post(" ".repeat(1001)))).status, 413);
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 100;
      controller.enqueue(new Uint8Array(100).fill(32));
    },
  });
  const request = post("");
  const response = await ask("/v1/compare", { ...request, body: endless, duplex: "half" } as RequestInit);
  const problem = await problemOf(response);
  assertEquals(problem.status, 413);
  assertStringIncludes(problem.detail, "1000 bytes");
  assert(sent <= 2000, `read ${sent} bytes of an endless body`);
});

Deno.test("an unknown path is 404 and a wrong method 405 with Allow", async () => {
  const { ask } = fakeApp();
  for (const path of ["/v1/nothing", "/nothing", "/V1/compare", "/v1/compare/", "/v1//compare"]) {
    const missing = await ask(path, post({}));
    assertEquals(missing.status, 404, path);
    assertEquals((await problemOf(missing)).code, "not_found");
  }
  const wrong = await ask("/v1/compare");
  assertEquals(wrong.status, 405);
  assertEquals(wrong.headers.get("allow"), "POST");
  assertEquals((await problemOf(wrong)).code, "method_not_allowed");
  const remove = await ask("/v1/criteria/general", { method: "DELETE" });
  assertEquals(remove.headers.get("allow"), "GET, HEAD");
  assertEquals((await ask("/v1/criteria", { method: "HEAD" })).status, 200);
});

Deno.test("no answer allows another origin to read it", async () => {
  const { ask } = fakeApp({ tokens: [{ name: "ci", value: "abc" }] });
  const headers = { authorization: "Bearer abc", origin: "http://evil.example" };
  const response = await ask("/v1/status", { headers });
  assertEquals(response.status, 200);
  assertEquals([...response.headers.keys()].filter((name) => name.startsWith("access-control")), []);
});

Deno.test("a request id is given back when it is harmless and made otherwise", async () => {
  const { ask } = fakeApp();
  const given = await ask("/healthz", { headers: { "x-request-id": "run-7/a" } });
  assertEquals(given.headers.get("x-request-id"), "run-7/a");
  for (const bad of ["", "a b", "x".repeat(129)]) {
    const made = await ask("/healthz", { headers: { "x-request-id": bad } });
    assertMatch(made.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
  }
  const refused = await ask("/nowhere", { headers: { "x-request-id": "run-8" } });
  assertEquals(refused.headers.get("x-request-id"), "run-8");
});

Deno.test("a verb's own error becomes its problem document, plan and Retry-After included", async () => {
  const plan = { pairs: 1, calls: 6, inputTokens: 9, cachedInputTokens: 0, outputTokens: 9, usd: null };
  const over = await fakeApp({
    verbs: failing(new AssayError("over_budget", "6 calls are more than 2", { plan })),
  })
    .ask("/v1/compare", post(COMPARE));
  assertEquals(over.status, 422);
  assertEquals((await problemOf(over)).plan, plan);
  const limited = await fakeApp({
    verbs: failing(new AssayError("rate_limited", "slow down", { retryAfterSeconds: 7 })),
  }).ask("/v1/compare", post(COMPARE));
  assertEquals(limited.status, 429);
  assertEquals(limited.headers.get("retry-after"), "7");
  assertEquals((await problemOf(limited)).retryAfterSeconds, 7);
});

Deno.test("errors of the judge and the store that reach the edge keep their meaning", async () => {
  const cases: [unknown, number, string][] = [
    [new JudgeError("unauthorized", "the host answered 401", { status: 401 }), 502, "judge_unauthorized"],
    [new JudgeError("rate_limited", "429", { retryAfterMs: 1500 }), 429, "rate_limited"],
    [new JudgeError("timeout", "too slow"), 504, "deadline_exceeded"],
    [new JudgeError("backend_error", "500"), 502, "judge_failed"],
    [new StoreError("/home/someone/kv is locked"), 503, "store_unavailable"],
    [new DOMException("late", "TimeoutError"), 504, "deadline_exceeded"],
  ];
  for (const [error, status, code] of cases) {
    const response = await fakeApp({ verbs: failing(error) }).ask("/v1/compare", post(COMPARE));
    assertEquals(response.status, status);
    const text = JSON.stringify(await problemOf(response));
    assertStringIncludes(text, `"code":"${code}"`);
    assert(!text.includes("/home/someone"));
  }
});

Deno.test("an unforeseen failure shows nothing of the inside and is logged with the request's id", async () => {
  const { ask, logged } = fakeApp({ verbs: failing(new Error("the key sk-12345 broke")) });
  const response = await ask("/v1/compare", post(COMPARE, { "x-request-id": "run-9" }));
  assertEquals(response.status, 500);
  const problem = await problemOf(response);
  assertEquals(problem.code, "internal");
  assert(!JSON.stringify(problem).includes("sk-12345") && !JSON.stringify(problem).includes("app_test"));
  assertEquals(logged.length, 1);
  assertStringIncludes(logged[0] ?? "", "run-9 POST /v1/compare");
});

Deno.test("a result with a number that JSON can't hold is a failure, not a null", async () => {
  const compare: Verbs["compare"] = () => Promise.resolve({ ...EXAMPLE_RESULT.compare, margin: NaN });
  const { ask, logged } = fakeApp({ verbs: { ...exampleVerbs, compare } });
  const response = await ask("/v1/compare", post(COMPARE));
  assertEquals(response.status, 500);
  assertStringIncludes(logged[0] ?? "", '"margin"');
});

Deno.test("the server goes on after every kind of bad request", async () => {
  const { ask } = fakeApp();
  for (const body of ["", "[]", "null", "{", '{"__proto__": 1}', '{"task": 1}', "[".repeat(100_000), "\0"]) {
    const response = await ask("/v1/compare", post(body));
    assertEquals(response.status, 400, body.slice(0, 40));
    await problemOf(response);
  }
  assertEquals((await ask("/v1/compare", post(COMPARE))).status, 200);
});

Deno.test("GET /v1/criteria lists the rubrics and GET /v1/criteria/{name} shows one", async () => {
  const { ask } = fakeApp();
  const { rubrics } = await (await ask("/v1/criteria")).json();
  const general = rubrics.find(({ name }: { name: string }) => name === "general");
  const shown = await (await ask("/v1/criteria/general")).json();
  assertEquals(shown.criteria.map(({ id }: { id: string }) => id), general.criteria);
  assert(general.criteria.length > 0);
  const missing = await ask("/v1/criteria/%E2%80%AE..%2Fetc");
  assertEquals(missing.status, 404);
  const { detail } = await problemOf(missing);
  assertStringIncludes(detail, "there are: coding,");
  assert(!detail.includes("\u202e"));
});

Deno.test("POST /v1/criteria/parse answers with what it understood, or names the fault", async () => {
  const { ask } = fakeApp();
  const parsed = await ask("/v1/criteria/parse", post({ criteria: { "It works": "Shown by a run." } }));
  assertEquals(await parsed.json(), {
    groundTruthNote: "",
    criteria: [{ id: "it_works", name: "It works", description: "Shown by a run.", weight: 1 }],
    warnings: [],
  });
  const refused = await ask("/v1/criteria/parse", post({ criteria: "nothing" }));
  assertEquals((await problemOf(refused)).errors?.[0]?.path, "/criteria");
});

Deno.test("GET /v1/status adds up the usage since start", async () => {
  const { ask } = fakeApp();
  await ask("/v1/compare", post(COMPARE));
  await ask("/v1/select", post({ task: "t", candidates: ["x", "y"] }));
  const status = await (await ask("/v1/status")).json();
  assertEquals(status.requests, { finished: 2, failed: 0 });
  assertEquals(status.usage.calls, 3);
  assertEquals(status.usage.usd, null);
  assertEquals(status.store, { kind: "memory", healthy: true });
  assertEquals(status.defaultJudge, "fake");
});

Deno.test("a verb that fails counts as failed in the status", async () => {
  const { ask } = fakeApp({ verbs: failing(new AssayError("judge_failed", "no")) });
  await ask("/v1/compare", post(COMPARE));
  assertEquals((await (await ask("/v1/status")).json()).requests, { finished: 0, failed: 1 });
});

Deno.test("POST /v1/status/probe forgets what was learnt and reports a judge's failure as its entry", async () => {
  const judges = fakeJudges();
  const { ask } = fakeApp({
    environment: fakeEnvironment({ judges }),
    verbs: failing(new AssayError("judge_unauthorized", "api.example answered 401")),
  });
  const response = await ask("/v1/status/probe", post({}));
  assertEquals(response.status, 200);
  const { judges: [entry] } = await response.json();
  assertEquals(judges.forgotten, ["fake"]);
  assertEquals([entry.ok, entry.code, entry.detail], [
    false,
    "judge_unauthorized",
    "api.example answered 401",
  ]);
  const unknown = await ask("/v1/status/probe", post({ judge: "other" }));
  assertEquals((await problemOf(unknown)).errors?.[0]?.path, "/judge");
});

Deno.test("/readyz fails with 503 when the store or the core does, and /healthz doesn't care", async () => {
  const broken = { ...fakeEnvironment().store, get: () => Promise.reject(new StoreError("gone")) };
  const store = fakeApp({ environment: fakeEnvironment({ store: broken }) });
  const unready = await store.ask("/readyz");
  assertEquals(unready.status, 503);
  assertEquals((await problemOf(unready) as unknown as { checks: unknown }).checks, {
    core: "ok",
    store: "the store could not be reached",
  });
  const core = fakeApp({
    versions: () => {
      throw new Error("trap");
    },
  });
  assertEquals((await core.ask("/readyz")).status, 503);
  assertEquals((await core.ask("/healthz")).status, 200);
  assertEquals((await fakeApp().ask("/readyz")).status, 200);
});

Deno.test("/ goes to /docs, whose page runs no script and loads nothing", async () => {
  const { ask } = fakeApp();
  const root = await ask("/");
  assertEquals([root.status, root.headers.get("location")], [302, "/docs"]);
  const docs = await ask("/docs");
  assertEquals(docs.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = docs.headers.get("content-security-policy") ?? "";
  assertMatch(policy, /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+';/);
  const html = await docs.text();
  assert(!/<script|javascript:|\son\w+=|<link[^>]+stylesheet|@import|url\(/i.test(html));
  const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "";
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style)));
  assertStringIncludes(policy, btoa(String.fromCharCode(...digest)));
});

Deno.test("createApp() refuses a body limit that can't work", () => {
  for (const bodyLimitBytes of [0, -1, 1.5, NaN]) {
    assertThrows(() => createApp(fakeOptions({ bodyLimitBytes })), RangeError, String(bodyLimitBytes));
  }
});
