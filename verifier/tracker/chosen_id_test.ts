import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../../tests/verbs/fake_judge.ts";
import { AssayError } from "../errors.ts";
import { parseRequest } from "../requests.ts";
import { startKey } from "./records.ts";
import { trackerStartSchema, trackerUpdateSchema } from "./requests.ts";
import { deleteTracker, readTracker, startTracker, updateTracker } from "./tracker.ts";

const ID = "ses-42_main";

function world(store: Store = createMemoryStore()) {
  const judge = fakeJudge({ answer: ({ tags }) => answerWith(tags, [0.5], "progress") });
  return { ...fakeEnvironment(judge), store };
}

const request = (more: Record<string, unknown> = {}) =>
  parseRequest(trackerStartSchema, { id: ID, task: "Count.", repeats: 1, ...more });

async function conflict(work: Promise<unknown>, text: string): Promise<void> {
  const error = await assertRejects(() => work, AssayError, text);
  assertEquals([error.code, error.errors[0]?.path], ["idempotency_conflict", "/id"]);
}

Deno.test("the same start again finds the tracker as it is, whatever the order of its fields", async () => {
  const environment = world();
  const first = await startTracker(environment, request(), "ci");
  assertEquals(first, { id: ID, created: true, length: 0, warnings: [] });
  await updateTracker(environment, ID, parseRequest(trackerUpdateSchema, { step: "one" }));
  const turned = parseRequest(trackerStartSchema, {
    repeats: 1,
    criteria: "general",
    task: "Count.",
    id: ID,
  });
  const again = await startTracker(environment, turned, "ci");
  assertEquals(again, { id: ID, created: false, length: 1, warnings: [] });
  assertEquals((await readTracker(environment, ID)).length, 1);
});

Deno.test("another request, another caller or a deleted tracker is a conflict that tells nothing of the tracker", async () => {
  const environment = world();
  await startTracker(environment, request({ task: "A hidden task." }), "ci");
  await conflict(startTracker(environment, request(), "ci"), "another request");
  for (const caller of [null, "other", ""]) {
    for (const task of ["A hidden task.", "Count."]) {
      await conflict(startTracker(environment, request({ task }), caller), `"${ID}" is taken`);
    }
  }
  assertEquals((await readTracker(environment, ID)).task, "A hidden task.");
  await deleteTracker(environment, ID);
  await conflict(startTracker(environment, request({ task: "A hidden task." }), "ci"), "was deleted");
});

Deno.test("of parallel starts with one id one makes it, and all get it", async () => {
  const store = createMemoryStore();
  // Two processes: what is remembered is shared by one environment's store object only.
  const other: Store = { ...store, kind: store.kind };
  const environments = [world(store), world(other)];
  const started = await Promise.all(
    Array.from({ length: 20 }, (_, i) => startTracker(environments[i % 2]!, request(), "ci")),
  );
  assertEquals(started.filter(({ created }) => created).length, 1);
  assertEquals(new Set(started.map(({ id }) => id)).size, 1);
});

Deno.test("an id must be one, and server-made ids stay as they are", async () => {
  for (const id of ["short", "Has-Capitals", "-starts-badly", "x".repeat(65), "with space", "../../etc"]) {
    const error = await assertRejects(() => Promise.resolve().then(() => request({ id })), AssayError);
    assertEquals(error.errors[0]?.path, "/id");
  }
  const { id, created } = await startTracker(
    world(),
    parseRequest(trackerStartSchema, { task: "Count." }),
    "ci",
  );
  assert(created && /^trk_[0-9A-Z]{26}$/.test(id));
});

Deno.test("a record of the time before ids could be chosen is read, and is nobody's to start again", async () => {
  const environment = world();
  await startTracker(environment, request(), "ci");
  const entry = await environment.store.get(startKey(ID));
  const { caller: _, bodyHash: __, ...old } = JSON.parse(new TextDecoder().decode(entry!.value));
  await environment.store.put(startKey(ID), new TextEncoder().encode(JSON.stringify(old)));
  assertEquals((await readTracker(environment, ID)).task, "Count.");
  await conflict(startTracker(environment, request(), "ci"), "is taken");
});
