/**
 * What a judge can do wrong, through a real server: every fault ends in a result or a problem that says what happened,
 * with no secret in it, and the server goes on. `ASSAY_SHOW=1` prints what each fault ended in.
 */
import { assert, assertEquals } from "@std/assert";
import {
  degenerate,
  echoKey,
  failure,
  hang,
  htmlPage,
  hugeBody,
  letters,
  rateLimit,
  resetMidBody,
  say,
  smart,
  startStubJudge,
  type StubScript,
  tagged,
  truncatedJson,
  withoutAlternatives,
} from "../stub_judge.ts";
import { letterToken } from "../stub_answers.ts";
import { ask, type FaultServer, type Told, withServer } from "./server.ts";

const KEY = "sk-planted0secret0key0of0the0judge";
const TAGGED = "Compared.\n<score_A> B </score_A>\n<score_B> K </score_B>";
const COMPARE = { task: "the task", a: "quality=0.9", b: "quality=0.2", criteria: ["It works."], repeats: 1 };
const SELECT = {
  task: "the task",
  candidates: ["quality=0.9", "quality=0.2", "quality=0.5"],
  criteria: ["It works."],
};

interface Fault {
  readonly name: string;
  readonly script: StubScript;
  /** More fields of the request. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** Status and code of the problem, or the channel of the result. */
  readonly ends: { readonly code: string; readonly says: RegExp } | { readonly channel: string };
}

const inAMoment = () => new Date(Date.now() + 1000).toUTCString();

const FAULTS: readonly Fault[] = [
  ...[
    ["retry-after: 0", { "retry-after": "0" }],
    ["retry-after: 0.01", { "retry-after": "0.01" }],
    ["retry-after-ms: 5", { "retry-after-ms": "5" }],
    ["retry-after: a date in the past", { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }],
    ["retry-after: a date to come", { "retry-after": inAMoment() }],
    ["retry-after: negative", { "retry-after": "-5" }],
  ].map(([form, headers]): Fault => ({
    name: `429 once, ${form}`,
    script: [rateLimit(headers as Record<string, string>), smart()],
    ends: { channel: "logprobs" },
  })),
  {
    name: "429 without retry-after, always",
    script: rateLimit(),
    ends: { code: "judge_failed", says: /rate_limited/ },
  },
  {
    name: "429 with a retry-after beyond the deadline",
    script: rateLimit({ "retry-after": "3600" }),
    ends: { code: "judge_failed", says: /rate_limited/ },
  },
  {
    name: "429 with an unreadable retry-after",
    script: rateLimit({ "retry-after": "soon" }),
    ends: { code: "judge_failed", says: /rate_limited/ },
  },
  { name: "500 storm", script: failure(500), ends: { code: "judge_failed", says: /500/ } },
  { name: "one 503, then fine", script: [failure(503), smart()], ends: { channel: "logprobs" } },
  {
    name: "hang until the attempt's timeout",
    script: hang,
    ends: { code: "deadline_exceeded", says: /timeout/ },
  },
  {
    name: "hang until the request's deadline",
    script: hang,
    request: { deadlineMs: 300 },
    ends: { code: "deadline_exceeded", says: /timeout/ },
  },
  {
    name: "reset in the middle of the body",
    script: resetMidBody,
    ends: { code: "judge_failed", says: /backend_error/ },
  },
  { name: "truncated JSON", script: truncatedJson, ends: { code: "judge_failed", says: /cut off/ } },
  { name: "HTML page with status 200", script: htmlPage, ends: { code: "judge_failed", says: /JSON|html/i } },
  {
    name: "HTML page with status 502",
    script: failure(502, "<!doctype html><h1>Bad Gateway</h1>"),
    ends: { code: "judge_failed", says: /502/ },
  },
  { name: "logprobs: null", script: say(TAGGED, { tokens: null }), ends: { channel: "explicit_tag" } },
  {
    name: "logprobs: null where they are demanded",
    script: say(TAGGED, { tokens: null }),
    request: { channel: "logprobs" },
    ends: { code: "channel_unavailable", says: /no_logprobs/ },
  },
  {
    name: "empty alternatives",
    script: withoutAlternatives(
      tagged("Compared.", { score_A: letterToken(0.9), score_B: letterToken(0.2) }),
    ),
    ends: { channel: "explicit_tag" },
  },
  {
    name: "-9999 everywhere",
    script: degenerate({ score_A: "B", score_B: "K" }),
    ends: { channel: "explicit_tag" },
  },
  {
    name: "-9999 where log-probabilities are demanded",
    script: degenerate({ score_A: "B", score_B: "K" }),
    request: { channel: "logprobs" },
    ends: { code: "channel_unavailable", says: /no_logprobs/ },
  },
  {
    name: "no tags",
    script: say("I like both.", { tokens: null }),
    ends: { code: "nothing_scored", says: /no_tag|no_logprobs/ },
  },
  {
    name: "empty answer",
    script: say("", { tokens: null }),
    ends: { code: "nothing_scored", says: /no_tag|no_logprobs/ },
  },
  {
    name: "refused key, echoed in the error",
    script: echoKey,
    ends: { code: "judge_unauthorized", says: /401/ },
  },
  {
    name: "key echoed in a 500",
    script: (call) => failure(500, { error: { message: `crashed with ${call.headers.authorization}` } }),
    ends: { code: "judge_failed", says: /500/ },
  },
  {
    name: "key echoed in an HTML page",
    script: (call) => failure(400, `<pre>authorization: ${call.headers.authorization}</pre>`),
    ends: { code: "judge_failed", says: /400/ },
  },
  {
    name: "no such model",
    script: failure(404, { error: { message: "no such model" } }),
    ends: { code: "judge_failed", says: /404/ },
  },
  {
    name: "no money",
    script: failure(402, { error: { message: "pay" } }),
    ends: { code: "judge_unauthorized", says: /402/ },
  },
  {
    name: "an answer of 50 MB",
    script: hugeBody(50 * 1024 * 1024),
    request: { judge: "patient" },
    ends: { code: "judge_failed", says: /bytes|large|long/ },
  },
  {
    name: "an endless answer",
    script: {
      kind: "raw",
      status: 200,
      headers: { "content-type": "application/json" },
      chunks: ["{"],
      then: "hang",
    },
    ends: { code: "deadline_exceeded", says: /timeout/ },
  },
  {
    name: "a redirect",
    script: { kind: "raw", status: 302, headers: { location: "http://127.0.0.1:9/" }, chunks: [""] },
    ends: { code: "judge_failed", says: /redirect|302/ },
  },
];

function check(fault: Fault, verb: string, told: Told): void {
  const where = `${fault.name}, ${verb}: ${told.status} ${told.text.slice(0, 600)}`;
  assert(!told.text.includes(KEY), `the key is in the answer: ${where}`);
  if ("channel" in fault.ends) {
    assertEquals(told.status, 200, where);
    assertEquals(Object.keys(told.body.channels), [fault.ends.channel], where);
    assertEquals(told.body.unscored, 0, where);
  } else {
    assertEquals([told.body.code, told.body.status], [fault.ends.code, told.status], where);
    assert(told.status >= 400, where);
    assert(fault.ends.says.test(told.body.detail), where);
  }
}

async function show(rows: readonly string[]): Promise<void> {
  if (Deno.env.get("ASSAY_SHOW") !== undefined) {
    await Deno.stderr.write(new TextEncoder().encode(rows.join("\n") + "\n"));
  }
}

async function healthy(server: FaultServer): Promise<void> {
  assertEquals((await ask(server, "/readyz")).status, 200);
}

Deno.test("every fault of a judge ends in a result or a problem that says what happened, without its key", async () => {
  await using stub = startStubJudge();
  const judges = {
    stub: stub.profile({ apiKeyEnv: "STUB_KEY", retries: 1, timeoutMs: 1500, deadlineMs: 5000 }),
    patient: stub.profile({ apiKeyEnv: "STUB_KEY", retries: 0 }),
  };
  await withServer({ judges, variables: { STUB_KEY: KEY } }, async (server) => {
    const rows: string[] = [];
    for (const fault of FAULTS) {
      for (const [verb, request] of [["compare", COMPARE], ["select", SELECT]] as const) {
        // What was learnt about the judge by one fault must not be taken for the next one.
        stub.play(smart());
        await ask(server, "/v1/status/probe", { judge: "stub" });
        stub.play(fault.script);
        const told = await ask(server, `/v1/${verb}`, { ...request, cache: "off", ...fault.request });
        check(fault, verb, told);
        if (verb === "compare") {
          rows.push(
            `${fault.name} | ${told.status} | ${
              told.status === 200
                ? `result, ${Object.keys(told.body.channels)}`
                : `${told.body.code}: ${told.body.detail}`
            }`,
          );
        }
      }
    }
    stub.play(smart());
    assertEquals((await ask(server, "/v1/compare", COMPARE)).body.winner, "A");
    await healthy(server);
    assert(!server.output().includes(KEY), "the key is in the server's log");
    await show(rows);
  });
});

Deno.test("a judge that fails now and then costs parts, never a number: they are listed with their reasons", async () => {
  await using stub = startStubJudge();
  const judges = { stub: stub.profile({ retries: 0, timeoutMs: 2000 }) };
  await withServer({ judges }, async (server) => {
    const good = letters({ score_A: "B", score_B: "K" });
    stub.play((call) => call.index % 2 === 0 ? good : failure(500));
    const { status, body } = await ask(server, "/v1/select", { ...SELECT, repeats: 4, cache: "off" });
    assertEquals(status, 200);
    assert(body.unscored > 0 && body.unscoredParts.length === body.unscored);
    for (const part of body.unscoredParts) assertEquals(part.reason, "backend_error");
    await healthy(server);
  });
});
