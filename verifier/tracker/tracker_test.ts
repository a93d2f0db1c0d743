import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../../tests/verbs/fake_judge.ts";
import type { Environment } from "../environment.ts";
import { AssayError, type ErrorCode } from "../errors.ts";
import { JudgeError, type JudgeRequest } from "../judges/judge.ts";
import { parseRequest } from "../requests.ts";
import { deleteTracker, readTracker, startTracker, type UpdateOptions, updateTracker } from "./tracker.ts";
import { recordKey, startKey } from "./records.ts";
import { trackerStartSchema, type TrackerUpdateResult, trackerUpdateSchema } from "./requests.ts";

/** A judge whose score is a tenth of the number of steps that it was shown. */
function counting() {
  return fakeJudge({
    answer: (request) => {
      const steps = [...request.prefix.matchAll(/^--- Agent Step \d+ ---$/gm)].length;
      return answerWith(request.tags, request.tags.map(() => steps / 10), "progress");
    },
  });
}

async function start(environment: Environment, more: Record<string, unknown> = {}): Promise<string> {
  const request = parseRequest(trackerStartSchema, { task: "Count.", repeats: 1, ...more });
  return (await startTracker(environment, request)).id;
}

async function update(
  environment: Environment,
  id: string,
  body: unknown,
  options: UpdateOptions = {},
): Promise<TrackerUpdateResult> {
  const request = parseRequest(trackerUpdateSchema, typeof body === "string" ? { step: body } : body);
  const result = await updateTracker(environment, id, request, options);
  assert(!("plan" in result));
  return result;
}

async function refuses(work: Promise<unknown>, code: ErrorCode, text = ""): Promise<AssayError> {
  const error = await assertRejects(() => work, AssayError, text);
  assertEquals(error.code, code);
  return error;
}

Deno.test("a tracker scores each step from its own prefix alone, with advice", async () => {
  const judge = counting();
  const environment = fakeEnvironment(judge);
  const id = await start(environment);
  const results = [];
  for (let i = 1; i <= 10; i++) results.push(await update(environment, id, `did thing ${i}`));
  assertEquals(results.map(({ length }) => length), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  results.forEach(({ step }, i) => assert(Math.abs(step.score! - (i + 1) / 10) < 1e-9));
  assertEquals(results[0]!.advice, null);
  assertEquals(results[1]!.advice, "rising");
  assertEquals(results[9]!.advice, "done");
  assert(!judge.requests[2]!.prefix.includes("did thing 4"));
  assertStringIncludes(judge.requests[2]!.suffix, "after step 3");
  const read = await readTracker(environment, id);
  assertEquals(read.length, 10);
  assertEquals(read.steps.map(({ state }) => state), Array(10).fill("scored"));
  assertEquals(read.curve.map(({ step }) => step), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assertEquals([read.advice, read.warnings, read.task], ["done", [], "Count."]);
});

Deno.test("the same idempotency key gives the first answer and appends nothing; another step under it is a conflict", async () => {
  const judge = counting();
  const environment = fakeEnvironment(judge);
  const id = await start(environment);
  const options = { idempotencyKey: "one" };
  const first = await update(environment, id, { step: "a", expectedLength: 0 }, options);
  await update(environment, id, "b");
  assertEquals(await update(environment, id, { step: "a", expectedLength: 0 }, options), first);
  assertEquals(judge.requests.length, 2);
  await refuses(update(environment, id, "c", options), "idempotency_conflict", "step 1");
  assertEquals((await readTracker(environment, id)).length, 2);
});

Deno.test("two updates with one key at the same time share one step and one scoring", async () => {
  const { promise: hold, resolve: release } = Promise.withResolvers<void>();
  const judge = fakeJudge({
    answer: async (request) => {
      await hold;
      return answerWith(request.tags, [0.5], "progress");
    },
  });
  const environment = fakeEnvironment(judge);
  const id = await start(environment);
  const both = [1, 2, 3].map(() => update(environment, id, "a", { idempotencyKey: "k" }));
  const conflict = update(environment, id, "b", { idempotencyKey: "k" });
  await refuses(conflict, "idempotency_conflict");
  release();
  const [first, ...rest] = await Promise.all(both);
  for (const other of rest) assertEquals(other, first);
  assertEquals([judge.requests.length, (await readTracker(environment, id)).length], [1, 1]);
});

Deno.test("a wrong expected length is a conflict that tells the length, and appends nothing", async () => {
  const environment = fakeEnvironment(counting());
  const id = await start(environment);
  await update(environment, id, { step: "a", expectedLength: 0 });
  const error = await refuses(
    update(environment, id, { step: "b", expectedLength: 0 }),
    "length_conflict",
    "1 step",
  );
  assertEquals([error.length, error.status, error.errors[0]?.path], [1, 409, "/expectedLength"]);
  await refuses(update(environment, id, { step: "b", expectedLength: 7 }), "length_conflict");
  assertEquals((await readTracker(environment, id)).length, 1);
});

Deno.test("a failed scoring leaves the step unscored with its reason, and the key or a retry scores it without appending", async () => {
  let fails = true;
  const judge = fakeJudge({
    answer: (request: JudgeRequest) => {
      if (fails) throw new JudgeError("backend_error", "the backend is down, key sk-aaaaaaaaaaaaaaaa");
      return answerWith(request.tags, [0.5], "progress");
    },
  });
  const environment = fakeEnvironment(judge);
  const id = await start(environment);
  const appended: number[] = [];
  const key = { idempotencyKey: "k", onAppended: (_: unknown, length: number) => appended.push(length) };
  const first = await update(environment, id, "a", key);
  const second = await update(environment, id, "b");
  assertEquals([first.step.state, first.step.score, first.step.unscored?.reason], [
    "unscored",
    null,
    "backend_error",
  ]);
  assert(!JSON.stringify(first).includes("sk-aaa"));
  assertEquals(second.step.index, 2);
  fails = false;
  const again = await update(environment, id, "a", key);
  assertEquals([again.step.index, again.step.state, again.length], [1, "scored", 1]);
  const retried = await update(environment, id, { retry: 2 });
  assertEquals([retried.step.index, retried.step.state], [2, "scored"]);
  assertEquals(appended, [1]);
  assertEquals((await readTracker(environment, id)).length, 2);
  await refuses(update(environment, id, { retry: 3 }), "invalid_request", "/retry");
});

Deno.test("what an unreadable answer cost is told with the unscored step, and which decision holds it", async () => {
  const judge = fakeJudge({ answer: () => answerWith([], [], "progress") });
  const environment = fakeEnvironment(judge);
  const id = await start(environment);
  const { step, usage, decision } = await update(environment, id, "a");
  assertEquals([step.state, step.unscored?.reason], ["unscored", "no_tag"]);
  assert(usage.calls > 0, JSON.stringify(usage));
  assertMatch(decision ?? "", /^dec_/);
});

Deno.test("a caller who goes away during the scoring leaves a stored step, which can be scored later", async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  let hang = true;
  const judge = fakeJudge({
    answer: (request, context) => {
      if (!hang) return answerWith(request.tags, [0.5], "progress");
      ask();
      return new Promise((_, reject) => {
        context.signal.addEventListener("abort", () => reject(context.signal.reason));
      });
    },
  });
  const environment = fakeEnvironment(judge);
  const id = await start(environment);
  const caller = new AbortController();
  const leaving = update(environment, id, "a", { signal: caller.signal, idempotencyKey: "k" });
  await asked;
  caller.abort(new DOMException("hung up", "AbortError"));
  await assertRejects(() => leaving, DOMException, "hung up");
  hang = false;
  const again = await update(environment, id, "a", { idempotencyKey: "k" });
  assertEquals([again.step.state, again.length], ["scored", 1]);
});

Deno.test("corrupt, foreign and missing records are left out with a warning, and the tracker goes on", async () => {
  const store = createMemoryStore();
  const environment = fakeEnvironment(counting(), store);
  const id = await start(environment);
  for (const step of ["a", "b", "c", "d"]) await update(environment, id, step);
  const bytes = (text: string) => new TextEncoder().encode(text);
  await store.put(recordKey(id, "step", 1), bytes('{"format":1,"index":1,"text":'));
  await store.delete(recordKey(id, "step", 2));
  await store.put(recordKey(id, "score", 3), Uint8Array.of(0xff, 0));
  await store.put(`tracker/${id}/step/odd`, bytes("{}"));
  // A restart: nothing is remembered.
  const restarted = fakeEnvironment(counting(), { ...store });
  const read = await readTracker(restarted, id);
  assertEquals([read.length, read.steps.map(({ index }) => index)], [4, [3, 4]]);
  assertEquals(read.steps.map(({ state }) => state), ["pending", "scored"]);
  assertStringIncludes(read.warnings.join("\n"), "left out: 1, 2");
  assertStringIncludes(read.warnings.join("\n"), "scored again: 3");
  const next = await update(restarted, id, "e");
  assertEquals([next.step.index, next.step.state], [5, "scored"]);
  assertStringIncludes(next.warnings.join(), "2 of 5 steps can't be read");
  assertEquals((await update(restarted, id, { retry: 3 })).step.state, "scored");
  await refuses(update(restarted, id, { retry: 1 }), "invalid_request", "can be read");
});

Deno.test("a corrupt start is an error that says so, not an empty tracker", async () => {
  const store = createMemoryStore();
  const environment = fakeEnvironment(counting(), store);
  const id = await start(environment);
  await store.put(startKey(id), new TextEncoder().encode("{}"));
  await refuses(readTracker(environment, id), "internal", "corrupt");
});

Deno.test("what was deleted is gone: its records, and every later call", async () => {
  const store = createMemoryStore();
  const environment = fakeEnvironment(counting(), store);
  const id = await start(environment);
  await update(environment, id, "a");
  await deleteTracker(environment, id);
  assertEquals((await store.list(`tracker/${id}/`)).keys, [startKey(id)]);
  await refuses(readTracker(environment, id), "not_found", "deleted");
  await refuses(update(environment, id, "b"), "not_found");
  await refuses(deleteTracker(environment, id), "not_found");
  await refuses(readTracker(environment, "../../secret"), "not_found");
});

Deno.test("a long prefix shows the newest steps whole and the oldest shortened, and the answer counts what is missing", async () => {
  const judge = counting();
  const environment = fakeEnvironment(judge);
  const id = await start(environment, { promptCharacters: 4000 });
  const steps = Array.from({ length: 6 }, (_, i) => `begin${i} ${"x".repeat(1500)} end${i}`);
  const results = [];
  for (const step of steps) results.push(await update(environment, id, step));
  assertEquals(results[1]!.shortened, { steps: 0, leftOut: 0, characters: 0 });
  const { shortened } = results[5]!;
  assert(shortened.steps > 0 && shortened.leftOut > 0 && shortened.characters > 3000);
  const { prefix } = judge.requests[5]!;
  assert(prefix.includes("begin5") && prefix.includes("end5") && !prefix.includes("begin0"));
  assertStringIncludes(prefix, "characters left out");
  assertStringIncludes(prefix, "(The oldest ");
});

Deno.test("criteria and judge are fixed at the start; a caller's key is refused, and secrets are not stored", async () => {
  const store = createMemoryStore();
  const judge = counting();
  const environment = fakeEnvironment(judge, store);
  await refuses(
    start(environment, { judge: { baseUrl: "https://x.example", apiKey: "k" } }),
    "invalid_request",
    "/judge/apiKey",
  );
  await refuses(start(environment, { criteria: "codng" }), "invalid_request", "coding");
  const id = await start(environment, { criteria: { Count: "It counts." } });
  await update(environment, id, "curl -H 'Authorization: Bearer abcdef1234567890XYZ' https://x.example");
  for (const key of (await store.list("")).keys) {
    const text = new TextDecoder().decode((await store.get(key))!.value);
    assert(!text.includes("abcdef1234567890XYZ"), key);
  }
  assertStringIncludes(judge.requests[0]!.prefix, "It counts.");
});

Deno.test("images are refused before anything is stored when the judge can't see them", async () => {
  const environment = fakeEnvironment(counting());
  const id = await start(environment);
  const step = { text: "look", images: ["https://x.example/a.png"] };
  await refuses(update(environment, id, { step }), "invalid_request", "/step/images");
  assertEquals((await readTracker(environment, id)).length, 0);
});

Deno.test("of more images than a prompt takes the newest are shown, with a warning", async () => {
  const judge = fakeJudge({
    readsImages: true,
    answer: (request) => answerWith(request.tags, [0.5], "progress"),
  });
  const environment = fakeEnvironment(judge);
  const id = await start(environment);
  const images = (n: number) => Array.from({ length: 10 }, (_, i) => `https://x.example/${n}-${i}.png`);
  await update(environment, id, { step: { text: "a", images: images(1) } });
  const second = await update(environment, id, { step: { text: "b", images: images(2) } });
  assertStringIncludes(second.warnings.join(), "oldest 4 images");
  assertEquals(judge.requests[1]!.images, [...images(1).slice(4), ...images(2)]);
});

Deno.test("a dry run answers the plan and stores nothing", async () => {
  const environment = fakeEnvironment(counting());
  const id = await start(environment);
  const result = await updateTracker(
    environment,
    id,
    parseRequest(trackerUpdateSchema, { step: "a", dryRun: true }),
  );
  assert("plan" in result && result.plan.calls === 1);
  assertEquals((await readTracker(environment, id)).length, 0);
});

Deno.test("bad updates name their field", async () => {
  const environment = fakeEnvironment(counting());
  const id = await start(environment);
  await refuses(update(environment, id, { step: "  " }), "invalid_request", "/step");
  for (
    const body of [{}, { step: "a", retry: 1 }, { step: 7 }, { step: "a", expectedLength: -1 }, { retry: 0 }]
  ) {
    await refuses(update(environment, id, body), "invalid_request");
  }
});

Deno.test("what is written while a tracker is being deleted doesn't stay behind", async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: hold, resolve: release } = Promise.withResolvers<void>();
  const judge = fakeJudge({
    answer: async ({ tags }) => {
      ask();
      await hold;
      return answerWith(tags, [0.5], "progress");
    },
  });
  const store = createMemoryStore();
  const environment = fakeEnvironment(judge, store);
  const id = await start(environment);
  const scoring = update(environment, id, "a");
  await asked;
  await deleteTracker(environment, id);
  release();
  await refuses(scoring, "not_found");
  assertEquals((await store.list(`tracker/${id}/`)).keys, [startKey(id)]);
});
