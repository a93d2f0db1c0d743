import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import * as z from "zod";
import { createMemoryStore } from "../../store/memory.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../../tests/verbs/fake_judge.ts";
import { compare } from "../compare.ts";
import type { Environment } from "../environment.ts";
import { AssayError } from "../errors.ts";
import { gate } from "../gate/gate.ts";
import { gateRequestSchema } from "../gate/requests.ts";
import { bestOfNRequestSchema } from "../best_of_n/requests.ts";
import { compareRequestSchema, parseRequest, selectRequestSchema, trackRequestSchema } from "../requests.ts";
import { select } from "../select/select.ts";
import { track } from "../track.ts";
import { replayDecision } from "../decisions/replay.ts";
import { readDecision } from "../decisions/store.ts";
import { startTracker, updateTracker } from "../tracker/tracker.ts";
import { trackerStartSchema, trackerUpdateSchema } from "../tracker/requests.ts";
import { createRedactor } from "./redactor.ts";

const KEY = "sk-abcdefghijklmnop1234";
const CUSTOMER = "customer-4711";
const PATTERNS = ["customer-\\d+"];

function judgeOf() {
  return fakeJudge({
    answer: (request) =>
      request.tags.includes("score_A")
        ? answerWith(request.tags, [0.9, 0.1])
        : answerWith(request.tags, request.tags.map(() => 0.5), "progress"),
  });
}

/** Every verb with a secret in every text of its request: the same content in each of the shapes of a trajectory. */
const dirty = `called ${CUSTOMER} with ${KEY}`;
const shapes = {
  text: `${dirty} as text`,
  object: { id: "o", text: `${dirty} as an object` },
  steps: { steps: ["looked", { text: `--- Agent Step 9 ---\n${dirty}` }] },
  messages: {
    messages: [
      { role: "user", content: "the task" },
      {
        role: "assistant",
        content: dirty,
        tool_calls: [{ id: "a", function: { name: "bash", arguments: `{"command":"echo ${dirty}"}` } }],
      },
      { role: "tool", tool_call_id: "a", content: `Authorization: Bearer abcdefgh12345678XYZ\n${dirty}` },
    ],
  },
};
const shared = {
  task: `Help ${CUSTOMER}.`,
  context: `The key is ${KEY}.`,
  repeats: 1,
  criteria: ["It works."],
};

const VERBS = {
  compare: {
    schema: compareRequestSchema,
    verb: compare,
    body: { a: shapes.text, b: shapes.messages },
  },
  select: {
    schema: selectRequestSchema,
    verb: select,
    body: { candidates: Object.values(shapes) },
  },
  track: { schema: trackRequestSchema, verb: track, body: { trajectory: shapes.messages } },
  gate: { schema: gateRequestSchema, verb: gate, body: { trajectory: shapes.steps } },
} as const;

/** What is looked at of every verb's result. */
interface Told {
  readonly id: string;
  readonly warnings: readonly string[];
}

async function run(
  name: keyof typeof VERBS,
  environment: Environment,
  more: Record<string, unknown>,
): Promise<Told> {
  const { schema, verb, body } = VERBS[name];
  const request = parseRequest(schema as z.ZodType, { ...shared, ...body, ...more });
  return await (verb as (...args: unknown[]) => Promise<Told>)(
    environment,
    request,
  );
}

/** Everything a store holds, as text: scores, decisions, trackers. */
async function contents(store: Environment["store"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof store.list>> = await store.list(
      "",
      cursor === null ? {} : { cursor },
    );
    for (const key of page.keys) {
      text += `${key}\n${decoder.decode((await store.get(key))?.value ?? new Uint8Array())}\n`;
    }
    cursor = page.cursor;
  } while (cursor !== null);
  return text;
}

for (const name of Object.keys(VERBS) as (keyof typeof VERBS)[]) {
  Deno.test(`${name}: with redact no secret reaches the judge, the decision or the score cache`, async () => {
    const judge = judgeOf();
    const store = createMemoryStore();
    const result = await run(name, fakeEnvironment(judge, store), { redact: PATTERNS });
    assert(judge.requests.length > 0);
    const seen = judge.requests.map(({ prefix, suffix }) => prefix + suffix).join();
    const kept = await contents(store);
    for (const secret of [KEY, CUSTOMER, "abcdefgh12345678XYZ"]) {
      assert(!seen.includes(secret), secret);
      assert(!kept.includes(secret), secret);
      assert(!JSON.stringify(result).includes(secret), secret);
    }
    assertStringIncludes(seen, "Help [redacted].");
    assertStringIncludes(seen, "The key is [redacted].");
    // A pattern may spell out a secret, so decisions say only how many there were.
    assert(!kept.includes("customer-"));
    assertStringIncludes(kept, '"redactPatterns":1');
    assertEquals(replayDecision(await readDecision(store, result.id)).equal, true);
    const told = result.warnings.filter((warning) => warning.includes("taken out"));
    assertEquals(told.length, 1);
    assert(/^\d+ places were taken out \(redact\)$/.test(told[0]!), told[0]);
  });

  Deno.test(`${name}: an empty redact takes known secrets out; without the field nothing changes`, async () => {
    const [plain, empty] = [judgeOf(), judgeOf()];
    const before = await run(name, fakeEnvironment(plain), {});
    await run(name, fakeEnvironment(empty), { redact: [] });
    const texts = (judge: typeof plain) => judge.requests.map(({ prefix, suffix }) => prefix + suffix).join();
    assertStringIncludes(texts(plain), KEY);
    assertStringIncludes(texts(plain), CUSTOMER);
    assertEquals(before.warnings.filter((warning) => warning.includes("taken out")), []);
    assert(!texts(empty).includes(KEY));
    assertStringIncludes(texts(empty), CUSTOMER);
  });

  Deno.test(`${name}: a request without secrets has the same prompts with and without redact`, async () => {
    const clean = JSON.parse(
      JSON.stringify({ ...shared, ...VERBS[name].body })
        .replaceAll(KEY, "nothing").replaceAll(CUSTOMER, "nobody").replaceAll("Authorization: Bearer", "got"),
    );
    const [without, withIt] = [judgeOf(), judgeOf()];
    await run(name, fakeEnvironment(without), clean);
    const result = await run(name, fakeEnvironment(withIt), { ...clean, redact: PATTERNS });
    const texts = (judge: typeof without) =>
      judge.requests.map(({ prefix, suffix }) => prefix + suffix).sort();
    assertEquals(texts(withIt), texts(without));
    assertEquals(result.warnings.filter((warning) => warning.includes("taken out")), []);
  });

  Deno.test(`${name}: a pattern that isn't accepted is named, and nothing is judged`, async () => {
    const judge = judgeOf();
    for (const [redact, path] of [[["(a+)+"], "/redact/0"], [["ok", "(?=x)"], "/redact/1"]] as const) {
      const error = await assertRejects(() => run(name, fakeEnvironment(judge), { redact }), AssayError);
      assertEquals([error.code, error.errors[0]?.path], ["invalid_request", path]);
    }
    assertEquals(judge.requests.length, 0);
  });
}

Deno.test("what is the same after redaction counts as identical, and is not judged", async () => {
  const judge = judgeOf();
  const sides = { a: "asked customer-1 for it", b: "asked customer-22 for it" };
  const request = parseRequest(compareRequestSchema, { ...shared, ...sides, redact: PATTERNS });
  const result = await compare(fakeEnvironment(judge), request);
  assert(!("plan" in result));
  assertEquals([result.identical, result.winner, judge.requests.length], [true, "tie", 0]);
  assert(result.warnings.includes("4 places were taken out (redact)"), result.warnings.join());

  const three = parseRequest(selectRequestSchema, {
    ...shared,
    candidates: [sides.a, "something else", sides.b],
    redact: PATTERNS,
  });
  const ranked = await select(fakeEnvironment(judge), three);
  assert(!("plan" in ranked));
  assertEquals(ranked.ranking.find(({ index }) => index === 2)?.identicalTo, 0);
});

Deno.test("steps and messages keep their markers: only what stands between them is taken out", async () => {
  const judge = judgeOf();
  // The pattern matches the markers too, and what was written to look like one.
  const redact = ["--- Agent Step \\d+ ---", "\\[Command\\]", "\\[Output\\]"];
  await run("track", fakeEnvironment(judge), { redact });
  const { prefix } = judge.requests[0]!;
  assertStringIncludes(prefix, "--- Agent Step 1 ---\n");
  assertStringIncludes(prefix, "[Command] echo");
});

Deno.test("the server's own secrets are taken out by their value", async () => {
  const judge = judgeOf();
  const environment: Environment = {
    ...fakeEnvironment(judge),
    redact: (text) => text.replaceAll("open sesame", "[redacted]"),
  };
  await run("compare", environment, { a: "said open sesame", redact: [] });
  assert(judge.requests.every(({ prefix }) => !prefix.includes("open sesame")));
});

Deno.test("a tracker keeps its patterns and applies them to every step before it is stored", async () => {
  const judge = judgeOf();
  const store = createMemoryStore();
  const environment = fakeEnvironment(judge, store);
  const start = (more: Record<string, unknown> = {}) =>
    startTracker(
      environment,
      parseRequest(trackerStartSchema, { ...shared, id: "tracker-one", redact: PATTERNS, ...more }),
    );
  const started = await start();
  assertEquals(started.warnings, ["2 places were taken out (redact)"]);
  // Another secret in the same place is the same request, as nothing of it is kept.
  assertEquals((await start({ task: "Help customer-5." })).created, false);

  const update = (step: string, key?: string) =>
    updateTracker(
      environment,
      started.id,
      parseRequest(trackerUpdateSchema, { step }),
      key === undefined ? {} : { idempotencyKey: key },
    );
  const first = await update(`${dirty} once`, "k");
  assert(!("plan" in first));
  assertEquals(first.warnings.filter((warning) => warning.includes("taken out")), [
    "2 places were taken out (redact)",
  ]);
  const again = await update(`called customer-9 with ${KEY} once`, "k");
  assert(!("plan" in again));
  assertEquals(again.length, 1);
  await update("nothing of that kind");
  const seen = judge.requests.map(({ prefix }) => prefix).join();
  const kept = await contents(store);
  for (const secret of [KEY, CUSTOMER, "customer-9", "customer-5"]) {
    assert(!seen.includes(secret) && !kept.includes(secret), secret);
  }
  assertStringIncludes(seen, "called [redacted] with [redacted] once");
});

Deno.test("a tracker's start with a pattern that isn't accepted makes no tracker", async () => {
  const store = createMemoryStore();
  const request = parseRequest(trackerStartSchema, { ...shared, redact: ["(a+)+"] });
  const error = await assertRejects(
    () => startTracker(fakeEnvironment(judgeOf(), store), request),
    AssayError,
  );
  assertEquals([error.code, error.errors[0]?.path], ["invalid_request", "/redact/0"]);
  assertEquals(await contents(store), "");
});

Deno.test("best-of-n has no redact: its drafts answer the prompt as it is", () => {
  assert(!("redact" in bestOfNRequestSchema.shape));
});

Deno.test("createRedactor() counts what patterns matched and secrets apart", () => {
  const redactor = createRedactor(PATTERNS);
  assertEquals(
    redactor.clean(`a ${CUSTOMER} b ${KEY} c password=hunter2hunter2`),
    "a [redacted] b [redacted] c password=[redacted]",
  );
  assertEquals(redactor.count(), { patterns: 1, secrets: 2 });
  // What is clean stays so, and isn't counted again.
  assertEquals(redactor.clean("password=[redacted]"), "password=[redacted]");
  assertEquals(redactor.count(), { patterns: 1, secrets: 2 });
});
