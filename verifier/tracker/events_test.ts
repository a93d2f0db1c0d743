import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { createMemoryStore } from "../../store/memory.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../../tests/verbs/fake_judge.ts";
import { AssayError } from "../errors.ts";
import { JudgeError } from "../judges/judge.ts";
import { parseRequest } from "../requests.ts";
import { deleteTracker, startTracker, updateTracker } from "./tracker.ts";
import { followTracker, formatEventId, parseEventId } from "./events.ts";
import { trackerStartSchema, trackerUpdateSchema } from "./requests.ts";

const parse = (body: unknown) => parseRequest(trackerUpdateSchema, body);

async function setting() {
  const state = { fails: false };
  const judge = fakeJudge({
    answer: (request) => {
      if (state.fails) throw new JudgeError("backend_error", "down");
      return answerWith(request.tags, [0.5], "progress");
    },
  });
  const store = createMemoryStore();
  const environment = fakeEnvironment(judge, store);
  const { id } = await startTracker(environment, parseRequest(trackerStartSchema, { task: "t", repeats: 1 }));
  return { state, judge, store, environment, id };
}

/** A reader that collects events as short texts, and resolves when it has so many. */
function reader() {
  const seen: string[] = [];
  const ids: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  return {
    seen,
    ids,
    emit: (event: Parameters<Parameters<typeof followTracker>[2]>[0], id: string) => {
      seen.push(event.type === "start" ? "start" : `${event.type} ${event.step.index} ${event.step.state}`);
      ids.push(id);
      for (const { count, resolve } of waiting) if (seen.length >= count) resolve();
    },
    until: (count: number) =>
      new Promise<void>((resolve) => {
        if (seen.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

Deno.test("a stream replays the log, then follows it, and ends when the tracker is deleted", async () => {
  const { environment, id } = await setting();
  await updateTracker(environment, id, parse({ step: "a" }));
  const { seen, ids, emit, until } = reader();
  const end = followTracker(environment, id, emit, { signal: new AbortController().signal, pollMs: 60_000 });
  await until(3);
  await updateTracker(environment, id, parse({ step: "b" }));
  await until(5);
  await deleteTracker(environment, id);
  assertEquals(await end, "deleted");
  assertEquals(seen, ["start", "step 1 pending", "score 1 scored", "step 2 pending", "score 2 scored"]);
  assertEquals(ids, ["0", "1;1", "1", "2;2", "2"]);
});

Deno.test("what another process writes is found by looking at the store", async () => {
  const { environment, store, judge, id } = await setting();
  const { seen, emit, until } = reader();
  const stop = new AbortController();
  const end = followTracker(environment, id, emit, { signal: stop.signal, pollMs: 5 });
  await updateTracker(fakeEnvironment(judge, { ...store }), id, parse({ step: "a" }));
  await until(3);
  stop.abort();
  assertEquals(await end, "aborted");
  assertEquals(seen, ["start", "step 1 pending", "score 1 scored"]);
});

Deno.test("a stream goes on from the id of any event: nothing is told twice but failures, nothing is missed", async () => {
  const { environment, state, id } = await setting();
  await updateTracker(environment, id, parse({ step: "a" }));
  state.fails = true;
  await updateTracker(environment, id, parse({ step: "b" }));
  state.fails = false;
  await updateTracker(environment, id, parse({ step: "c" }));
  const all = reader();
  assertEquals(
    await followTracker(environment, id, all.emit, { signal: AbortSignal.timeout(60_000), lifeMs: 0 }),
    "time",
  );
  assertEquals(all.seen.slice(1), [
    "step 1 pending",
    "step 2 pending",
    "step 3 pending",
    "score 1 scored",
    "score 2 unscored",
    "score 3 scored",
  ]);
  for (let at = 1; at < all.ids.length; at++) {
    const rest = reader();
    await followTracker(environment, id, rest.emit, {
      signal: AbortSignal.timeout(60_000),
      lifeMs: 0,
      from: parseEventId(all.ids[at]!),
    });
    const missed = all.seen.slice(at + 1).filter((event) => !rest.seen.includes(event));
    assertEquals(missed, []);
    const twice = rest.seen.slice(1).filter((event) => all.seen.slice(1, at + 1).includes(event));
    assert(twice.every((event) => event === "score 2 unscored"), twice.join());
  }
  // A score that came later is told to a reader who had been told of the failure.
  await updateTracker(environment, id, parse({ retry: 2 }));
  const later = reader();
  await followTracker(environment, id, later.emit, {
    signal: AbortSignal.timeout(60_000),
    lifeMs: 0,
    from: parseEventId(all.ids.at(-1)!),
  });
  assertEquals(later.seen, ["start", "score 2 scored"]);
});

Deno.test("a stream of a tracker that isn't there is an error before the first event", async () => {
  const { environment } = await setting();
  const { seen, emit } = reader();
  await assertRejects(
    () => followTracker(environment, "trk_nothing", emit, { signal: new AbortController().signal }),
    AssayError,
    "there is no tracker",
  );
  assertEquals(seen, []);
});

Deno.test("parseEventId() reads what formatEventId() writes and refuses everything else", () => {
  fc.assert(fc.property(fc.nat(10_000), fc.array(fc.integer({ min: 1, max: 10_000 })), (told, list) => {
    const open = [...new Set(list.filter((index) => index <= told))].sort((a, b) => a - b);
    assertEquals(parseEventId(formatEventId({ told, open })), { told, open });
  }));
  for (const id of ["", "x", "-1", "3;", "3;4", "3;0", "1,2", " 3", "3;1,", "9".repeat(200)]) {
    assertThrows(() => parseEventId(id), AssayError, "Last-Event-ID");
  }
});
