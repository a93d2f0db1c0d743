/**
 * The requests that every runtime must answer alike, and what is left of an answer when that which may differ is
 * masked: ids, times, and who answers.
 *
 * @module
 */
import { createParser } from "eventsource-parser";
import { readTranscript } from "../../transcripts/transcript.ts";
import type { Settings } from "./server.ts";

/** One request, sent in the order of the list. */
export interface Case {
  readonly name: string;
  readonly method?: string;
  /** `{latest}` stands for the newest decision's id, `{latest:compare}` for the newest one of that verb. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  /** The status that every runtime must answer with. */
  readonly status: number;
}

/** An answer, masked. */
export interface Masked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: unknown;
}

const EXAMPLES = new URL("../../examples/", import.meta.url);
const BODY_LIMIT = 400_000;

/** What a suite's servers are configured with. `slowJudge` is the base URL of a judge that never answers. */
export function settings(slowJudge: string, options: { readonly tokens: boolean }): Settings {
  const tokens = options.tokens
    ? [
      { name: "ci", tokenEnv: "ASSAY_TOKEN_CI" },
      { name: "small", tokenEnv: "ASSAY_TOKEN_SMALL", dailyCalls: 10, dailyUsd: 1 },
    ]
    : [];
  const slow = {
    kind: "openai-compatible",
    family: "generic",
    baseUrl: slowJudge,
    model: "slow",
    retries: 0,
  };
  return {
    config: {
      defaultJudge: "evidence",
      judges: { evidence: { kind: "evidence" }, slow },
      server: { bodyLimitBytes: BODY_LIMIT, tokens },
    },
    variables: {
      ASSAY_TOKEN_CI: "token-of-ci",
      ASSAY_TOKEN_SMALL: "token-small",
      ASSAY_DELIMITER_SECRET: "the same in all runtimes",
    },
  };
}

function example(task: string, run: string) {
  const file = new URL(`${task}/${run}.json`, EXAMPLES);
  return readTranscript(Deno.readFileSync(file), file.pathname);
}

function post(name: string, path: string, body: unknown, rest: Partial<Case> = {}): Case {
  const headers = { "content-type": "application/json", ...rest.headers };
  return { status: 200, name, path, method: "POST", body: JSON.stringify(body), ...rest, headers };
}

/** A body without a length, as a client sends that doesn't know it. */
function streamed(bytes: number): BodyInit {
  let left = bytes;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(new Uint8Array(Math.min(left, 50_000)).fill(32));
      left -= 50_000;
    },
  });
}

/** Requests for a server without tokens. Built anew for each runtime, as a streamed body can be sent once. */
export function openCases(): readonly Case[] {
  const runs = ["checked", "unchecked", "sorted-by-name", "injection"].map((run) => ({
    ...example("csv-summary", run).trajectory,
    id: run,
  }));
  const { task, trajectory } = example("progress", "roman");
  const csv = { task: example("csv-summary", "checked").task, criteria: "coding" };
  const pair = { ...csv, a: runs[0], b: runs[2] };
  const events = { headers: { accept: "text/event-stream" } };
  const json = { "content-type": "application/json" };
  return [
    { name: "health", path: "/healthz", status: 200 },
    { name: "readiness", path: "/readyz", status: 200 },
    { name: "documents", path: "/openapi.json", status: 200 },
    { name: "the docs page", path: "/docs", status: 200 },
    { name: "the root", path: "/", status: 302 },
    { name: "rubrics", path: "/v1/criteria", status: 200 },
    { name: "a rubric", path: "/v1/criteria/terminal_bench", status: 200 },
    { name: "no such rubric", path: "/v1/criteria/nothing", status: 404 },
    post("a rubric of one's own", "/v1/criteria/parse", {
      criteria: "\ufeff## Criteria\r\n\r\n### Läuft {#runs}\r\nIt runs.\r\n",
    }),
    post("a rubric without criteria", "/v1/criteria/parse", { criteria: "# Nothing\n" }, { status: 400 }),
    post("compare: dry run", "/v1/compare", { ...pair, dryRun: true }),
    post("compare", "/v1/compare", pair),
    post("compare: from the cache", "/v1/compare", pair),
    post("compare: live", "/v1/compare", { ...pair, seed: 1, cache: "off" }, events),
    post("compare: identical sides", "/v1/compare", { ...csv, a: "same", b: "same" }),
    post("compare: odd characters", "/v1/compare", {
      task: "t\0\ud800",
      a: "\u001b[31mred\u202e",
      b: "日本\ud83d\ude00",
    }),
    post("select", "/v1/select", { ...csv, candidates: runs }),
    post("select: every pair, with the agreement prior", "/v1/select", {
      ...csv,
      candidates: runs,
      mode: "round_robin",
      prior: "agreement",
      seed: 7,
    }),
    post("select: the published schedule", "/v1/select", {
      ...csv,
      candidates: runs,
      mode: "upstream",
      repeats: 2,
    }),
    post("select: live", "/v1/select", { ...csv, candidates: runs.slice(0, 3), cache: "off" }, events),
    post("select: one candidate", "/v1/select", { ...csv, candidates: ["alone"] }),
    post("track", "/v1/track", { task, trajectory }),
    post("track: causal", "/v1/track", { task, trajectory, causal: true, checkpoints: [1, 3] }),
    post("track: live", "/v1/track", { task, trajectory, cache: "off" }, events),
    ...trackerCases(),
    ...sessionCases(),
    ...reviewCases(),
    { name: "decisions", path: "/v1/decisions?limit=500", status: 200 },
    { name: "decisions: of one verb", path: "/v1/decisions?verb=select&limit=2", status: 200 },
    { name: "decisions: a faulty query", path: "/v1/decisions?limt=2", status: 400 },
    { name: "a decision", path: "/v1/decisions/{latest:compare}", status: 200 },
    { name: "a decision of a select", path: "/v1/decisions/{latest:select}", status: 200 },
    { name: "no such decision", path: "/v1/decisions/dec_01JD0000000000000000000000", status: 404 },
    ...["compare", "select", "track"].map((verb): Case => (
      { name: `replay: ${verb}`, method: "POST", path: `/v1/decisions/{latest:${verb}}/replay`, status: 200 }
    )),
    { name: "statistics", path: "/v1/statistics?group=verb", status: 200 },
    { name: "statistics: by judge, page by page", path: "/v1/statistics?group=judge&limit=3", status: 200 },
    { name: "statistics: no such group", path: "/v1/statistics?group=month", status: 400 },
    post("gate", "/v1/gate", { ...csv, trajectory: runs[0], floors: { specification: 0.5 } }),
    post("gate: dry run", "/v1/gate", { ...csv, trajectory: runs[0], repeats: 2, dryRun: true }),
    post("gate: steers", "/v1/gate", { ...csv, trajectory: runs[1], threshold: 1, repeats: 2 }),
    post("gate: live", "/v1/gate", { ...csv, trajectory: runs[1], threshold: 1, cache: "off" }, events),
    post("gate: open over the budget", "/v1/gate", { ...csv, trajectory: runs[0], budget: { calls: 1 } }),
    post("gate: open at the deadline", "/v1/gate", {
      ...csv,
      trajectory: runs[0],
      judge: "slow",
      deadlineMs: 100,
    }),
    post("gate: a rubric that can't be read", "/v1/gate", {
      ...csv,
      trajectory: runs[0],
      criteria: "# No criteria\n",
    }),
    post("gate: nothing to judge", "/v1/gate", { ...csv, trajectory: " " }, { status: 400 }),
    post("gate: an ensemble that loses a judge", "/v1/gate", {
      ...csv,
      trajectory: runs[0],
      judge: ["evidence", "slow"],
      deadlineMs: 1000,
    }),
    post("an ensemble with one judge twice", "/v1/compare", { ...pair, judge: ["evidence", "evidence"] }, {
      status: 400,
    }),
    post("best-of-n: a judge that can't write", "/v1/best-of-n", { prompt: "Write." }, { status: 400 }),
    post("best-of-n: dry run", "/v1/best-of-n", { prompt: "Write.", generator: "slow", dryRun: true }),
    post("best-of-n: no drafts by the deadline", "/v1/best-of-n", {
      prompt: "Write.",
      generator: "slow",
      deadlineMs: 100,
    }, { status: 504 }),
    { name: "status", path: "/v1/status", status: 200 },
    post("probe", "/v1/status/probe", { judge: "evidence" }),
    post("probe: no such judge", "/v1/status/probe", { judge: "nobody" }, { status: 400 }),
    post("over the budget", "/v1/compare", { ...pair, budget: { calls: 1 } }, { status: 422 }),
    post("over the budget, live", "/v1/compare", { ...pair, budget: { calls: 1 } }, {
      status: 422,
      ...events,
    }),
    post("unknown field", "/v1/compare", { ...pair, repaets: 2 }, { status: 400 }),
    post("unknown judge", "/v1/compare", { ...pair, judge: "nobody" }, { status: 400 }),
    post("unknown rubric", "/v1/compare", { ...pair, criteria: "codng" }, { status: 400 }),
    post("wrong numbers", "/v1/compare", { ...pair, repeats: -1, seed: 0.5 }, { status: 400 }),
    post("blank task", "/v1/compare", { ...pair, task: "  " }, { status: 400 }),
    post("too many candidates", "/v1/select", { task: "t", candidates: Array(30_000).fill("x") }, {
      status: 400,
    }),
    post("bad JSON", "/v1/compare", {}, { status: 400, body: '{"task": NaN}' }),
    post("no body", "/v1/compare", {}, { status: 400, body: "" }),
    post("not UTF-8", "/v1/compare", {}, { status: 400, body: Uint8Array.of(0x22, 0xe9, 0x22) }),
    post("a byte order mark", "/v1/criteria/parse", {}, { body: '\ufeff{"criteria": ["It works."]}' }),
    post("a dangerous name", "/v1/compare", {}, { status: 400, body: '{"__proto__": {}}' }),
    post("a name twice", "/v1/compare", {}, { status: 400, body: '{"task": "a", "task": "b"}' }),
    post("deep nesting", "/v1/compare", {}, { status: 400, body: "[".repeat(100_000) }),
    post("too large, announced", "/v1/compare", {}, { status: 413, body: " ".repeat(BODY_LIMIT + 1) }),
    {
      name: "too large, streamed",
      method: "POST",
      path: "/v1/compare",
      headers: json,
      body: streamed(BODY_LIMIT + 1),
      status: 413,
    },
    {
      name: "wrong media type",
      method: "POST",
      path: "/v1/compare",
      headers: { "content-type": "text/plain" },
      body: "{}",
      status: 415,
    },
    { name: "wrong method", path: "/v1/compare", status: 405 },
    { name: "no such path", path: "/v1/nothing", status: 404 },
    { name: "another origin", path: "/v1/status", headers: { origin: "http://evil.example" }, status: 403 },
    {
      name: "a forwarded caller",
      path: "/v1/status",
      headers: { "x-forwarded-for": "203.0.113.9" },
      status: 403,
    },
    { name: "still healthy", path: "/readyz", status: 200 },
  ];
}

/** A tracker's life; `{tracker}` stands for the id of the last one that was started. */
function trackerCases(): readonly Case[] {
  const steps = "/v1/trackers/{tracker}/steps";
  const key = { headers: { "idempotency-key": "step-1" } };
  return [
    post("tracker: start", "/v1/trackers", { task: "Fix the build.", criteria: "coding" }, { status: 201 }),
    post(
      "tracker: a step",
      steps,
      { step: "[Command] make\n[Output]\nerror: no rule", expectedLength: 0 },
      key,
    ),
    post("tracker: the same step again", steps, {
      step: "[Command] make\n[Output]\nerror: no rule",
      expectedLength: 0,
    }, key),
    post("tracker: another step under its key", steps, { step: "other" }, { ...key, status: 409 }),
    post("tracker: another length", steps, { step: "x", expectedLength: 7 }, { status: 409 }),
    post("tracker: a step, live", steps, { step: "[Command] make\n[Output]\nok\nexit code 0" }, {
      headers: { accept: "text/event-stream" },
    }),
    post("tracker: dry run", steps, { step: "x", dryRun: true }),
    post("tracker: retry of what is not there", steps, { retry: 9 }, { status: 400 }),
    post("tracker: blank", steps, { step: " " }, { status: 400 }),
    { name: "tracker: result", path: "/v1/trackers/{tracker}", status: 200 },
    {
      name: "tracker: events from nowhere",
      path: "/v1/trackers/{tracker}/events",
      headers: { "last-event-id": "nonsense" },
      status: 400,
    },
    { name: "tracker: deletion", method: "DELETE", path: "/v1/trackers/{tracker}", status: 204 },
    { name: "tracker: deleted", path: "/v1/trackers/{tracker}", status: 404 },
    { name: "tracker: events of a deleted one", path: "/v1/trackers/{tracker}/events", status: 404 },
    { name: "tracker: no such", path: "/v1/trackers/trk_01JD0000000000000000000000", status: 404 },
    { name: "tracker: wrong method", path: "/v1/trackers", status: 405 },
    post("tracker: an id of one's own", "/v1/trackers", { id: "ses-1_main", task: "t" }, { status: 201 }),
    post("tracker: the same again", "/v1/trackers", { id: "ses-1_main", task: "t" }),
    post("tracker: its id for another", "/v1/trackers", { id: "ses-1_main", task: "u" }, { status: 409 }),
  ];
}

/** What reviews of a session may buy; `{review}` stands for the id of the last one that was granted. */
function reviewCases(): readonly Case[] {
  const review = {
    session: "ses-1",
    task: "ses-1/3",
    purpose: "compare",
    fingerprint: "f",
    calls: 6,
    limits: { task: { reviews: 1, calls: 9 }, session: { calls: 20 } },
  };
  const settle = "/v1/reviews/{review}/settle";
  return [
    post("review: granted", "/v1/reviews", review, { status: 201 }),
    post("review: the same evidence meanwhile", "/v1/reviews", review),
    post("review: done", settle, { state: "done", calls: 4, outcome: { winner: "A", apiKey: "secret" } }),
    post("review: done again", settle, { state: "done", calls: 4 }),
    post("review: done and failed", settle, { state: "failed", calls: 4 }, { status: 409 }),
    post("review: the same evidence later", "/v1/reviews", { ...review, task: "other" }),
    post("review: one too many", "/v1/reviews", { ...review, fingerprint: "g" }),
    post("review: of the gate", "/v1/reviews", { ...review, fingerprint: "g", purpose: "gate", calls: 5 }, {
      status: 201,
    }),
    post("review: more calls than are left", "/v1/reviews", {
      ...review,
      task: "x",
      fingerprint: "h",
      calls: 12,
    }),
    post("review: a fault", "/v1/reviews", { ...review, calls: -1 }, { status: 400 }),
    post("review: no such", "/v1/reviews/rev_x/settle", { state: "done", calls: 0 }, { status: 404 }),
    { name: "reviews", path: "/v1/reviews?session=ses-1", status: 200 },
    { name: "reviews: of nothing", path: "/v1/reviews?session=ses-2", status: 200 },
  ];
}

/** A session log of one call, with a line that can't be read. */
const LOG = [
  '{"type":"session","version":4,"id":"ses-1"}',
  '{"type":"turn/start","seq":0,"data":{"turn":1}}',
  '{"type":"user/message","seq":1,"data":{"content":[{"type":"text","text":"Fix acme-42."}],"source":{"kind":"user"}}}',
  '{"type":"assistant/message","seq":2,"data":{"message":{"content":[{"type":"tool-call","id":"a","name":"bash","arguments":"{\\"command\\":\\"make\\"}"}]}}}',
  '{"type":"tool/call","seq":3,"data":{"callId":"a","name":"bash","arguments":"{}"}}',
  '{"type":"tool/result","seq":4,"data":{"message":{"toolCallId":"a","content":[{"type":"text","text":"2 passed"}]}}}',
  '{"type":"tool/res',
].join("\n");

function sessionCases(): readonly Case[] {
  const messages = [
    { role: "user", content: "Fix it." },
    { role: "assistant", content: [{ type: "tool_use", id: "1", name: "bash", input: { command: "make" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: "ok" }] },
  ];
  return [
    post("session: a log", "/v1/session", { log: LOG, redact: ["acme-\\d+"] }),
    post("session: acceptance", "/v1/session", { log: LOG, mode: "acceptance", criteria: "coding" }),
    post("session: a range", "/v1/session", { log: LOG, range: { to: 3 } }),
    post("session: messages, live", "/v1/session", { messages, cache: "off" }, {
      headers: { accept: "text/event-stream" },
    }),
    post("session: steps, dry run", "/v1/session", { steps: ["a", "b"], task: "t", dryRun: true }),
    post("session: no log", "/v1/session", { log: "hello" }, { status: 400 }),
    post("session: a pattern that could run away", "/v1/session", { log: LOG, redact: ["(a+)+"] }, {
      status: 400,
    }),
    post("session: two forms", "/v1/session", { log: LOG, steps: ["x"] }, { status: 400 }),
  ];
}

/** Requests for a server with one token. */
export function guardedCases(): readonly Case[] {
  const authorization = "Bearer token-of-ci";
  return [
    { name: "health needs no token", path: "/healthz", status: 200 },
    { name: "the documents need no token", path: "/docs", status: 200 },
    { name: "no token", path: "/v1/status", status: 401 },
    { name: "a wrong token", path: "/v1/status", headers: { authorization: "Bearer wrong" }, status: 401 },
    { name: "a malformed token", path: "/v1/status", headers: { authorization: "Bearer a b" }, status: 400 },
    { name: "another scheme", path: "/v1/status", headers: { authorization: "Basic eDp5" }, status: 401 },
    { name: "the token", path: "/v1/status", headers: { authorization }, status: 200 },
    { name: "an unknown path without a token", path: "/nowhere", status: 401 },
    { name: "an unknown path with the token", path: "/nowhere", headers: { authorization }, status: 404 },
    ...keyCases({ authorization }),
    ...budgetCases({ authorization: "Bearer token-small" }),
    post("a verb with the token", "/v1/compare", { task: "t", a: "x", b: "y" }, {
      headers: { authorization },
    }),
  ];
}

/** The same key again and again. */
function keyCases(authorized: Readonly<Record<string, string>>): readonly Case[] {
  const headers = { ...authorized, "idempotency-key": "the-key" };
  const live = { headers: { ...headers, accept: "text/event-stream" } };
  const body = { task: "t", a: "[Command] make\n[Output]\nok", b: "nothing", criteria: ["It works."] };
  return [
    post("key: first", "/v1/compare", body, { headers }),
    post("key: again", "/v1/compare", body, { headers }),
    post("key: again, live", "/v1/compare", body, live),
    post("key: another body", "/v1/compare", { ...body, seed: 1 }, { headers, status: 409 }),
    post("key: another path", "/v1/select", { task: "t", candidates: ["x"] }, { headers }),
    post("key: malformed", "/v1/compare", body, {
      headers: { ...headers, "idempotency-key": "a b" },
      status: 400,
    }),
    post("key: a final failure", "/v1/compare", { ...body, judge: "nobody" }, {
      headers: { ...headers, "idempotency-key": "failed" },
      status: 400,
    }),
    post("key: a final failure again", "/v1/compare", { ...body, judge: "nobody" }, {
      headers: { ...headers, "idempotency-key": "failed" },
      status: 400,
    }),
    post("key: a tracker", "/v1/trackers", { task: "t" }, { headers, status: 201 }),
    post("key: the same tracker", "/v1/trackers", { task: "t" }, { headers, status: 201 }),
  ];
}

/** A budget of ten calls: one compare of eight, and then nothing more that is bought. */
function budgetCases(headers: Readonly<Record<string, string>>): readonly Case[] {
  const body = {
    task: "budget",
    a: "[Command] make\n[Output]\nok",
    b: "nothing",
    criteria: ["One.", "Two."],
    repeats: 4,
  };
  return [
    post("budget: enough", "/v1/compare", body, { headers }),
    post("budget: from the cache it costs nothing", "/v1/compare", { ...body, repeats: 1 }, { headers }),
    post("budget: not enough", "/v1/compare", { ...body, task: "other" }, { headers, status: 429 }),
    post("budget: not enough, live", "/v1/compare", { ...body, task: "other" }, {
      headers: { ...headers, accept: "text/event-stream" },
      status: 429,
    }),
    post("budget: a dry run", "/v1/compare", { ...body, task: "other", dryRun: true }, { headers }),
    { name: "budget: shown to its holder", path: "/v1/status", headers, status: 200 },
  ];
}

/** How a request is sent: to a port or to the app itself. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

/** Sends one request and masks its answer. */
export async function answer(
  send: Send,
  { method = "GET", path: given, headers, body, name }: Case,
): Promise<Masked> {
  const path = await fillIn(
    given.replace("{tracker}", trackers.get(send) ?? "none").replace("{review}", reviews.get(send) ?? "none"),
    send,
  );
  const init = {
    method,
    headers: { ...headers, "x-request-id": `case/${name.replaceAll(/[^a-z]/gi, "-")}` },
    redirect: "manual",
    ...(body === undefined ? {} : { body, duplex: "half" }),
  } as RequestInit;
  const response = await send(path, init);
  const text = await response.text();
  const tracker = /^\/v1\/trackers\/(\w+)$/.exec(response.headers.get("location") ?? "")?.[1];
  if (tracker !== undefined) trackers.set(send, tracker);
  const review = /^\{"granted":true,"id":"(rev_\w+)"/.exec(text)?.[1];
  if (review !== undefined) reviews.set(send, review);
  const shown = [
    "content-type",
    "cache-control",
    "location",
    "allow",
    "www-authenticate",
    "retry-after",
    "idempotent-replayed",
    "ratelimit",
    "ratelimit-policy",
    "x-request-id",
  ];
  return {
    status: response.status,
    headers: Object.fromEntries(shown.map((header) => [header, maskText(response.headers.get(header))])),
    body: maskBody(response.headers.get("content-type") ?? "", text),
  };
}

/** Id of the tracker that was started last, by who was asked. */
const trackers = new WeakMap<Send, string>();

/** Id of the review that was granted last, by who was asked. */
const reviews = new WeakMap<Send, string>();

/** The path with ids of decisions for their places. */
async function fillIn(path: string, send: Send): Promise<string> {
  const [place, verb] = /\{latest(?::([a-z]+))?\}/.exec(path) ?? [];
  if (place === undefined) return path;
  const list = await send(`/v1/decisions?limit=1${verb === undefined ? "" : `&verb=${verb}`}`, {});
  const { decisions } = await list.json() as { readonly decisions: readonly { readonly id: string }[] };
  return path.replace(place, decisions[0]?.id ?? "none");
}

function maskBody(type: string, text: string): unknown {
  if (type.startsWith("text/event-stream")) return maskEvents(text);
  if (type.includes("json")) return mask(JSON.parse(text));
  return text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://SERVER");
}

/** The events with their data. Calls finish in any order, so they are sorted and lose their running number. */
function maskEvents(text: string): unknown {
  const events: { readonly event: string; readonly data: unknown }[] = [];
  const ids: string[] = [];
  const parser = createParser({
    onEvent: ({ event = "", data, id = "" }) => {
      events.push({ event, data: mask(JSON.parse(data)) });
      ids.push(id);
    },
  });
  parser.feed(text);
  const order = (event: { readonly event: string }) => ["plan", "result", "problem"].includes(event.event);
  const middle = events.filter((event) => !order(event)).map((event) => JSON.stringify(event)).sort();
  return {
    uniqueIds: new Set(ids).size === ids.length && !ids.includes(""),
    first: events[0]?.event,
    last: events.at(-1)?.event,
    ends: events.filter(order),
    middle,
  };
}

/** What two runtimes may answer differently. */
const MASKED = new Set([
  "id",
  "startedAt",
  "createdAt",
  "retryAfterSeconds",
  "resetsAt",
  "day",
  "uptimeSeconds",
  "latencyMs",
  "done",
  "runtime",
  "store",
  "cursor",
  "durationMs",
  "longestMs",
  "meanMs",
  "from",
  "to",
]);

/** Ids and times differ from run to run. */
function maskText<T extends string | null>(text: T): T | string {
  return text?.replaceAll(/\b(trk|dec)_[0-9A-Z]{26}\b/g, "$1_MASKED")
    .replaceAll(/\brev_[0-9A-Z]{26}_[0-9a-f]{32}\b/g, "rev_MASKED")
    .replaceAll(/;t=\d+\b/g, ";t=SECONDS").replace(/^\d{2,5}$/, "SECONDS")
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z\b/g, "TIME") ?? text;
}

function mask(value: unknown): unknown {
  if (typeof value === "string") return maskText(value);
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      const generated = key !== "id" || (typeof field === "string" && field.startsWith("dec_"));
      return [
        key,
        MASKED.has(key) && generated && typeof field !== "object"
          ? "MASKED"
          : key === "runtime" || key === "store"
          ? "MASKED"
          : mask(field),
      ];
    }),
  );
}
