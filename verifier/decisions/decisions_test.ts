import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { openDenoKvStore } from "../../store/deno_kv.ts";
import { createMemoryStore } from "../../store/memory.ts";
import { type Store, StoreError } from "../../store/store.ts";
import { answerWith, candidate, fakeEnvironment, fakeJudge } from "../../tests/verbs/fake_judge.ts";
import { compare } from "../compare.ts";
import { type DecisionRecord, recordDecision, Recording } from "./decisions.ts";
import { isDecisionId, listDecisions, readDecision, turned, writeDecision } from "./store.ts";
import type { Environment } from "../environment.ts";
import { AssayError } from "../errors.ts";
import { JudgeError } from "../judges/judge.ts";
import { redact } from "../redaction/redact.ts";
import { replayDecision } from "./replay.ts";
import { compareRequestSchema, parseRequest, selectRequestSchema, trackRequestSchema } from "../requests.ts";
import { select } from "../select/select.ts";
import { readStatistics, readTimes } from "./statistics.ts";
import { statisticOf } from "./statistics_record.ts";
import { track } from "../track.ts";
import type { CompareResult } from "../types.ts";

const even = fakeJudge({
  answer: (request) => answerWith(request.tags, request.tags.map((_, i) => 0.8 - i / 4)),
});

async function run(
  environment: Environment,
  more: Record<string, unknown> = {},
): Promise<CompareResult> {
  const result = await compare(
    environment,
    parseRequest(compareRequestSchema, {
      task: "the task",
      a: candidate(0),
      b: candidate(1),
      criteria: ["x"],
      repeats: 1,
      ...more,
    }),
  );
  assert(!("plan" in result));
  return result;
}

/** Every key and value of a store as text. */
async function everything(store: Store): Promise<string> {
  const texts: string[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page: { keys: readonly string[]; cursor: string | null } = await store.list(
      "",
      cursor === undefined ? {} : { cursor },
    );
    for (const key of page.keys) {
      const entry = await store.get(key);
      texts.push(`${key} ${entry === null ? "" : new TextDecoder().decode(entry.value)}`);
    }
    cursor = page.cursor;
  }
  return texts.join("\n");
}

const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  ["memory", () => Promise.resolve(createMemoryStore())],
  ["Deno KV", () => openDenoKvStore(":memory:")],
];

for (const [name, open] of STORES) {
  Deno.test(`on ${name} a result's decision can be read as soon as the result is there, big ones too`, async () => {
    const store = await open();
    try {
      const environment = fakeEnvironment(even, store);
      const result = await run(environment, { repeats: 64, criteria: ["x", "y"], cache: "off" });
      const record = await readDecision(store, result.id);
      assertEquals(record.id, result.id);
      assertEquals(record.calls.length, 128);
      assertEquals(record.calls.map(({ scores }) => scores.length), Array(128).fill(2));
      assertEquals(record.calls.filter(({ prompt }) => prompt !== undefined).length, 32);
      assert(record.calls[0]?.prompt !== undefined && record.calls.at(-1)?.prompt !== undefined);
      assertEquals(replayDecision(record).equal, true);
      const ids = [result.id];
      for (let i = 0; i < 4; i++) ids.unshift((await run(environment)).id);
      const listed: string[] = [];
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const page = await listDecisions(store, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        listed.push(...page.decisions.map(({ id }) => id));
        assertEquals(page.corrupt, 0);
        cursor = page.cursor;
      }
      assertEquals(listed.toSorted(), ids.toSorted());
      assertEquals(listed.at(-1), result.id);
    } finally {
      await store.close();
    }
  });

  Deno.test(`on ${name} the newest decisions of each topic stay, and statistics stay longer`, async () => {
    const store = await open();
    try {
      const environment = { ...fakeEnvironment(even, store), decisions: { keep: 3, statisticsDays: 400 } };
      const judged: string[] = [];
      for (let i = 0; i < 5; i++) judged.push((await run(environment)).id);
      const { id } = await recordDecision(
        environment,
        { verb: "tracker", topic: "trk_1/ä" },
        {},
        async ({ recording }) => {
          await compare(environment, parseRequest(compareRequestSchema, { task: "t", a: "x", b: "y" }), {
            recording,
          });
          return { id: recording.id };
        },
      );
      const { decisions } = await listDecisions(store, { limit: 100 });
      assertEquals(decisions.length, 4);
      assertEquals(decisions.filter(({ session }) => session === "trk_1/ä").map((entry) => entry.id), [id]);
      const compared = await listDecisions(store, { limit: 100, verb: "compare" });
      assertEquals(compared.decisions.length, 3);
      assert(judged.filter((old) => !decisions.some((entry) => entry.id === old)).length === 2);
      for (const old of judged) {
        if (decisions.some((entry) => entry.id === old)) continue;
        const gone = await assertRejects(() => readDecision(store, old), AssayError);
        assertEquals(gone.code, "not_found");
      }
      const { keys } = await store.list("decision/topic/");
      assertEquals(keys.length, 4);
      const sums = await readStatistics(store, { ...readTimes(undefined, undefined), group: "verb" });
      assertEquals([sums.total.invocations, sums.groups.map(({ key }) => key)], [6, ["tracker", "compare"]]);
    } finally {
      await store.close();
    }
  });
}

Deno.test("a decision is written in one commit: record, statistic, list and topic, or nothing of it", async () => {
  const store = createMemoryStore();
  const commits: (readonly string[])[] = [];
  const watched: Store = {
    ...store,
    put: () => Promise.reject(new StoreError("a put of its own")),
    commit: (writes) => {
      commits.push(writes.map(({ key }) => key.replace(/[^/]{26}/, "ID")).toSorted());
      return store.commit(writes);
    },
  };
  const { id, warnings } = await run(fakeEnvironment(even, watched), { cache: "off" });
  const keys = [
    "decision/list/ID/compare",
    "decision/record/ID",
    "decision/topic/compare/ID",
    "statistic/ID",
  ];
  assertEquals([commits, warnings], [[keys], []]);
  const record = await readDecision(store, id);
  const again = await assertRejects(() => writeDecision(store, record, statisticOf(record)), StoreError);
  assertStringIncludes(again.message, id);
  assertEquals((await store.list("")).keys.length, 4);
});

Deno.test("a burst of decisions is pruned by one writer, to at most a tenth more than are kept", async () => {
  const store = createMemoryStore();
  let [listings, removals] = [0, 0];
  const counting: Store = {
    ...store,
    list: (prefix, options) => {
      if (prefix.startsWith("decision/topic/")) listings++;
      return store.list(prefix, options);
    },
    commit: (writes) => {
      removals += writes.filter(({ value }) => value === null).length;
      return store.commit(writes);
    },
  };
  const judge = fakeJudge({ concurrency: 100, answer: (request) => answerWith(request.tags, [0.6, 0.5]) });
  const environment = { ...fakeEnvironment(judge, counting), decisions: { keep: 30, statisticsDays: 1 } };
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, i) => run(environment, { task: `task ${i}` })),
  );
  assertEquals(results.flatMap(({ warnings }) => warnings), []);
  await run(environment);
  const left = (await store.list("decision/record/")).keys.length;
  assert(left >= 30 && left <= 33, `${left} are left`);
  assertEquals((await store.list("decision/topic/")).keys.length, left);
  assertEquals((await store.list("decision/list/")).keys.length, left);
  for (const { id } of (await listDecisions(store, { limit: 100 })).decisions) await readDecision(store, id);
  assertEquals((await store.list("statistic/")).keys.length, 201);
  assertEquals(removals, 3 * (201 - left));
  assert(listings <= 60, `${listings} listings`);
});

Deno.test("a filter by verb finds what stands behind many others, page by page", async () => {
  const store = createMemoryStore();
  const environment = { ...fakeEnvironment(even, store), decisions: { keep: 10_000, statisticsDays: 1 } };
  const wanted = (await run(environment)).id;
  for (let i = 0; i < 1100; i++) {
    const place = turned(`7${String(i).padStart(25, "0")}`);
    await store.put(`decision/list/${place}/track`, new Uint8Array([1]));
  }
  let pages = 0;
  let cursor: string | null | undefined;
  const found: string[] = [];
  while (cursor !== null) {
    const page = await listDecisions(store, {
      verb: "compare",
      limit: 5,
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...page.decisions.map(({ id }) => id));
    cursor = page.cursor;
    pages++;
  }
  assertEquals([found, pages], [[wanted], 2]);
});

Deno.test("corrupt, truncated and foreign records are left out, counted, and never fatal", async () => {
  const store = createMemoryStore();
  const environment = fakeEnvironment(even, store);
  const ids = [(await run(environment)).id, (await run(environment)).id, (await run(environment)).id];
  const [good = "", cut = "", foreign = ""] = ids;
  const place = (id: string) => turned(id.slice(4));
  const bytes = (await store.get(`decision/list/${place(cut)}/compare`))!.value;
  await store.put(`decision/list/${place(cut)}/compare`, bytes.slice(0, bytes.length / 2));
  await store.put(`decision/record/${place(cut)}`, bytes.slice(0, 40));
  await store.put(`decision/record/${place(foreign)}`, new TextEncoder().encode('{"format":1,"id":"dec_x"}'));
  await store.put("decision/list/rubbish", new Uint8Array([0xff, 0xfe]));
  await store.put("statistic/rubbish", new TextEncoder().encode("null"));
  await store.put(`statistic/${cut.slice(4)}`, new TextEncoder().encode('{"format":1}'));
  const page = await listDecisions(store, { limit: 10 });
  assertEquals(page.decisions.map(({ id }) => id).toSorted(), [good, foreign].toSorted());
  assertEquals(page.corrupt, 2);
  for (const id of [cut, foreign]) {
    const error = await assertRejects(() => readDecision(store, id), AssayError);
    assertEquals(error.code, "internal");
    assertStringIncludes(error.message, "can't be read");
  }
  assertEquals((await readDecision(store, good)).id, good);
  const swapped = (await store.get(`decision/record/${place(good)}`))!.value;
  await store.put(`decision/record/${place(cut)}`, swapped);
  await assertRejects(() => readDecision(store, cut), AssayError, "can't be read");
  const sums = await readStatistics(store, { ...readTimes(undefined, undefined), group: "day" });
  assertEquals([sums.total.invocations, sums.corrupt], [2, 1]);
  await run(environment);
  assertEquals((await listDecisions(store, { limit: 10 })).decisions.length, 3);
});

Deno.test("ids that are no decision's, and cursors that no page gave, are told apart from failures", async () => {
  const store = createMemoryStore();
  for (
    const id of [
      "",
      "dec_",
      "x",
      "dec_01JD000000000000000000000I",
      "dec_01JD0000000000000000000000",
      "dec_../../x",
    ]
  ) {
    const error = await assertRejects(() => readDecision(store, id), AssayError);
    assertEquals(error.code, "not_found");
  }
  for (const cursor of ["", "x", "dec_01JD0000000000000000000000", "01jd0000000000000000000000"]) {
    const error = await assertRejects(() => listDecisions(store, { limit: 1, cursor }), AssayError);
    assertEquals([error.code, error.errors[0]?.path], ["invalid_request", "/cursor"]);
  }
  assertEquals(turned(turned("01M8QSX7RBSG4Z0FZFWAFVQXFJ")), "01M8QSX7RBSG4Z0FZFWAFVQXFJ");
  assert(turned("01M8QSX7RBSG4Z0FZFWAFVQXFJ") > turned("01M8QSX7RBSG4Z0FZFWAFVQXFK"));
  assert(isDecisionId(new Recording(Date.now()).id));
});

/** A store that refuses to keep decisions. */
function failing(at: string): Store {
  const store = createMemoryStore();
  return {
    ...store,
    commit: (writes) =>
      writes.some(({ key }) => key.startsWith(at))
        ? Promise.reject(new StoreError("disk full, Bearer abcdef1234567890"))
        : store.commit(writes),
  };
}

Deno.test("a store that fails costs the decision, never the verdict, and the result says so", async () => {
  for (const at of ["decision/", "statistic/", "decision/list/", "decision/record/"]) {
    const store = failing(at);
    const result = await run(fakeEnvironment(even, store));
    assertEquals(result.winner, "A");
    assertEquals(result.warnings, ["decision not stored: disk full, Bearer [redacted]"]);
    for (const { id } of (await listDecisions(store, { limit: 9 })).decisions) await readDecision(store, id);
  }
  const stuck = createMemoryStore();
  const unlisted: Store = {
    ...stuck,
    list: (prefix, options) =>
      prefix.startsWith("decision/topic/")
        ? Promise.reject(new StoreError("busy"))
        : stuck.list(prefix, options),
  };
  const kept = await run(fakeEnvironment(even, unlisted));
  assertEquals(kept.warnings, ["older decisions not removed: busy"]);
  assertEquals((await readDecision(stuck, kept.id)).id, kept.id);

  const broken = fakeJudge({ answer: () => Promise.reject(new JudgeError("backend_error", "down")) });
  const error = await assertRejects(() => run(fakeEnvironment(broken, failing("decision/"))), AssayError);
  assertEquals([error.code, error.decision], ["judge_failed", undefined]);
});

Deno.test("what judges nothing has no decision: dry runs, identical sides, refused requests", async () => {
  const store = createMemoryStore();
  const environment = fakeEnvironment(even, store);
  const request = (more: object) =>
    parseRequest(compareRequestSchema, { task: "t", a: "x", b: "x", ...more });
  await compare(environment, request({}));
  await compare(environment, request({ b: "y", dryRun: true }));
  await assertRejects(() => compare(environment, request({ b: "y", budget: { calls: 0 } })), AssayError);
  assertEquals((await store.list("")).keys, []);
});

Deno.test("a decision of very many calls keeps all scores, the texts of 32, and no evidence that it can't hold", () => {
  const recording = new Recording(Date.now());
  const scored = {
    kind: "scored",
    value: 1,
    letterMass: 1,
    entropy: 0,
    channel: "logprobs",
    letters: null,
  } as const;
  const recordOf = (calls: number): DecisionRecord => {
    for (let repeat = recording.size; repeat < calls; repeat++) {
      recording.add({
        label: { criterion: "x", repeat },
        judge: "fake",
        tags: ["c1"],
        direction: "progress",
        cached: false,
        scores: [scored],
        evidence: { tokens: [["<c1>", 0]] },
        prompt: [`prompt ${repeat}`],
        output: `answer ${repeat}`,
      });
    }
    const about = { verb: "x", topic: "x", startedAt: "", durationMs: 0, result: null, problem: null };
    return recording.record(about, (text) => text);
  };
  for (const [calls, hasEvidence] of [[200, true], [10_000, true], [10_001, false]] as const) {
    const record = recordOf(calls);
    assertEquals(record.calls.map(({ label }) => label.repeat), Array.from({ length: calls }, (_, i) => i));
    assertEquals(record.calls.every(({ evidence }) => (evidence !== null) === hasEvidence), true);
    const texts = record.calls.filter(({ prompt }) => prompt !== undefined);
    assertEquals(texts.length, 32);
    assertEquals([texts[0]?.prompt, texts.at(-1)?.output], ["prompt 0", `answer ${calls - 1}`]);
    const gaps = texts.slice(1).map(({ label }, i) => label.repeat - texts[i]!.label.repeat);
    assert(Math.max(...gaps) <= calls / 8, `${gaps}`);
  }
  assertThrows(() => replayDecision(recordOf(10_001)), AssayError, "was not kept");
});

Deno.test("keep 0 stores statistics only", async () => {
  const store = createMemoryStore();
  const environment = { ...fakeEnvironment(even, store), decisions: { keep: 0, statisticsDays: 1 } };
  const { id } = await run(environment, { cache: "off" });
  assertEquals((await store.list("")).keys, [`statistic/${id.slice(4)}`]);
  const kept = createMemoryStore();
  const same = await run({ ...fakeEnvironment(even, kept) }, { cache: "off" });
  const numbers = async (from: Store, of: string) =>
    JSON.parse(new TextDecoder().decode((await from.get(`statistic/${of.slice(4)}`))!.value));
  // Without a record the statistic counts the same.
  const { id: _, startedAt: __, durationMs: ___, ...without } = await numbers(store, id);
  const { id: _1, startedAt: _2, durationMs: _3, ...withRecord } = await numbers(kept, same.id);
  assertEquals(without, withRecord);
});

Deno.test("with keep 0 no text and no evidence is collected", () => {
  const recording = new Recording(Date.now(), undefined, false);
  const part = recording.part("x");
  part.outline({ rubric: { name: "general" }, settings: { a: 1 } });
  part.add({
    label: { repeat: 0 },
    judge: "fake",
    tags: ["c1"],
    direction: "progress",
    cached: false,
    scores: [{ kind: "unscored", reason: "backend_error", detail: "Bearer abcdef1234567890" }],
    evidence: null,
    prompt: ["a prompt"],
    output: "an answer",
  });
  const about = { verb: "x", topic: "x", startedAt: "", durationMs: 0, result: { a: "b" }, problem: null };
  const record = recording.record(about, redact);
  assertEquals([part.isKept, record.result, record.outlines], [false, null, {
    x: { rubric: { name: "general" } },
  }]);
  assertEquals([record.calls[0]!.prompt, record.calls[0]!.output], [undefined, undefined]);
  assertEquals(record.calls[0]!.scores, [
    { kind: "unscored", reason: "backend_error", detail: "Bearer [redacted]" },
  ]);
});

Deno.test("a decision holds rubric, settings, digests and lengths, and none of the texts beyond the budget", async () => {
  const store = createMemoryStore();
  const filler = "all work and no play\n".repeat(20_000);
  const result = await run(fakeEnvironment(even, store), {
    a: candidate(0) + filler,
    b: filler + candidate(1),
    criteria: { One: "look", Two: "at it" },
    repeats: 4,
    seed: 7,
    judge: { profile: "fake", apiKey: "never-to-be-stored" },
    deadlineMs: 60_000,
  });
  const record = await readDecision(store, result.id);
  const outline = record.outlines[""] as Record<string, Record<string, unknown>>;
  const { seed, repeats, channel, deadlineMs } = outline.settings!;
  assertEquals([seed, repeats, channel, deadlineMs], [7, 4, "any", 60_000]);
  assertEquals(
    (outline.rubric!.criteria as { description: string }[]).map(({ description }) => description),
    [
      "look",
      "at it",
    ],
  );
  assertEquals(outline.task!.characters, "the task".length);
  assert(/^[0-9a-f]{64}$/.test(outline.a!.sha256 as string));
  assertEquals(outline.a!.characters, candidate(0).length + filler.length);
  const texts = record.calls.reduce(
    (sum, { prompt = "", output = "" }) => sum + prompt.length + output.length,
    0,
  );
  assert(texts > 20_000 && texts <= 30_000, `${texts}`);
  assert(record.calls.every(({ promptCharacters }) => promptCharacters > 2 * filler.length));
  assertStringIncludes(record.calls[0]!.prompt!, "characters omitted]");
  assert(!(await everything(store)).includes("never-to-be-stored"));
});

const SECRETS = [
  "sk-live-4f9a8b7c6d5e4f3a2b1c",
  "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5",
  "AKIAIOSFODNN7EXAMPLE",
  "AIzaSyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v",
  "hunter2-is-my-secret",
  "QmFzZTY0OnNlY3JldA==",
  "session=abc123def456",
  "user:pa55w0rd",
  "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
  "the-key-of-this-very-server",
];

const LEAKY = [
  `Authorization: Bearer ${SECRETS[0]}`,
  `git clone https://${SECRETS[7]}@example.org/x with ${SECRETS[1]}`,
  `aws ${SECRETS[2]} google ${SECRETS[3]}`,
  `{"password": "${SECRETS[4]}"}`,
  `Authorization: Basic ${SECRETS[5]}`,
  `Cookie: ${SECRETS[6]}`,
  `-----BEGIN PRIVATE KEY-----\n${SECRETS[8]}\n-----END PRIVATE KEY-----`,
  `by value: ${SECRETS[9]}`,
].join("\n");

Deno.test("no planted secret is anywhere in the store, whatever carried it and whatever became of the call", async () => {
  const store = createMemoryStore();
  const outcomes = ["scored", "letters", "refused", "truncated", "failed"] as const;
  for (const outcome of outcomes) {
    const judge = fakeJudge({
      profile: outcome,
      identity: JSON.stringify(outcome),
      maxTokens: null,
      answer: (request) => {
        if (outcome === "failed") {
          // A judge redacts its own failures by value and by pattern.
          return Promise.reject(new JudgeError("backend_error", redact(LEAKY, [SECRETS[9]!])));
        }
        const direction = request.tags[0] === "c1" ? "progress" : "pairwise";
        const answer = answerWith(request.tags, request.tags.map(() => 0.3), direction, `I saw:\n${LEAKY}`);
        return {
          ...answer,
          text: answer.text + LEAKY,
          tokens: outcome === "letters" ? null : answer.tokens,
          refused: outcome === "refused",
          finishReason: outcome === "truncated" ? "length" : "stop",
        };
      },
    });
    const environment: Environment = {
      ...fakeEnvironment(judge, store),
      redact: (text) => redact(text, [SECRETS[9]!]),
    };
    const shared = {
      task: `Do it with\n${LEAKY}`,
      context: LEAKY,
      criteria: { [`Name ${SECRETS[0]}`]: `Describe\n${LEAKY}` },
      groundTruthNote: LEAKY,
      judge: { profile: "x", apiKey: SECRETS[4], baseUrl: "https://example.org" },
    };
    const trajectory = { id: SECRETS[1], text: candidate(0) + LEAKY };
    const other = { text: candidate(1) + LEAKY };
    const third = { text: candidate(2) + LEAKY };
    const attempts = [
      () => compare(environment, parseRequest(compareRequestSchema, { ...shared, a: trajectory, b: other })),
      () =>
        select(
          environment,
          parseRequest(selectRequestSchema, {
            ...shared,
            candidates: [trajectory, other, third],
            mode: "upstream",
          }),
        ),
      () => track(environment, parseRequest(trackRequestSchema, { ...shared, trajectory })),
    ];
    for (const attempt of attempts) {
      const shown = await attempt().then(JSON.stringify, (error) => `${error.message} ${error.decision}`);
      for (const secret of SECRETS) {
        // The caller's own name of a candidate and criterion is given back as it came.
        if (secret !== SECRETS[0] && secret !== SECRETS[1]) {
          assert(!shown.includes(secret), `${outcome}: ${secret}`);
        }
      }
    }
  }
  const stored = await everything(store);
  assertEquals((await listDecisions(store, { limit: 100 })).decisions.length, 3 * outcomes.length);
  for (const secret of SECRETS) assert(!stored.includes(secret), `stored: ${secret}`);
  assertStringIncludes(stored, "[redacted]");
});

Deno.test("decisions of leaky answers can still be derived again", async () => {
  const store = createMemoryStore();
  const judge = fakeJudge({
    answer: (request) => answerWith(request.tags, [0.9, 0.3], "pairwise", `token=abcdef123456\n${LEAKY}`),
  });
  const { id } = await run(fakeEnvironment(judge, store), { repeats: 2 });
  const record: DecisionRecord = await readDecision(store, id);
  assertEquals(replayDecision(record).equal, true);
});
