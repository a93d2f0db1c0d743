import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createParser } from "eventsource-parser";
import { fakeApp } from "../tests/http_fakes.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../tests/verbs/fake_judge.ts";
import { JudgeError } from "../verifier/judges/judge.ts";
import { TRACKER_EXAMPLES } from "./tracker_examples.ts";
import { trackerResult, trackerStarted, trackerUpdated } from "./tracker_schemas.ts";

function app() {
  const state = { fails: false };
  const judge = fakeJudge({
    answer: ({ tags }) => {
      if (state.fails) throw new JudgeError("backend_error", "down");
      return answerWith(tags, [0.5], "progress");
    },
  });
  return { ...fakeApp({ environment: fakeEnvironment(judge) }), state, judge };
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

async function started(ask: ReturnType<typeof app>["ask"]): Promise<string> {
  const response = await ask("/v1/trackers", post({ task: "t", repeats: 1 }));
  assertEquals(response.status, 201);
  const body = trackerStarted.parse(await response.json());
  assertEquals(response.headers.get("location"), `/v1/trackers/${body.id}`);
  return `/v1/trackers/${body.id}`;
}

function events(text: string) {
  const list: { event: string; id: string; data: Record<string, unknown> }[] = [];
  const parser = createParser({
    onEvent: ({ event = "", id = "", data }) => list.push({ event, id, data: JSON.parse(data) }),
  });
  parser.feed(text);
  return list;
}

Deno.test("a tracker over HTTP: start, steps, result, deletion", async () => {
  const { ask } = app();
  const path = await started(ask);
  const step = trackerUpdated.parse(
    await (await ask(`${path}/steps`, post({ step: "a", expectedLength: 0 }))).json(),
  );
  assertEquals([step.length, step.step.state], [1, "scored"]);
  const conflict = await ask(`${path}/steps`, post({ step: "b", expectedLength: 0 }));
  const problem = await conflict.json();
  assertEquals([conflict.status, problem.code, problem.length], [409, "length_conflict", 1]);
  const result = trackerResult.parse(await (await ask(path)).json());
  assertEquals([result.length, result.curve.length], [1, 1]);
  const gone = await ask(path, { method: "DELETE" });
  assertEquals([gone.status, await gone.text()], [204, ""]);
  for (
    const again of [
      ask(path),
      ask(path, { method: "DELETE" }),
      ask(`${path}/steps`, post({ step: "c" })),
      ask(`${path}/events`),
    ]
  ) {
    const response = await again;
    assertEquals([response.status, (await response.json()).code], [404, "not_found"]);
  }
});

Deno.test("Idempotency-Key: the first answer again, a conflict for another step, and a fault for what is no key", async () => {
  const { ask, state } = app();
  const path = await started(ask);
  const send = async (body: unknown, key: string) => {
    const response = await ask(`${path}/steps`, post(body, { "idempotency-key": key }));
    return { status: response.status, body: await response.json() };
  };
  const first = await send({ step: "a" }, "k1");
  assertEquals(await send({ step: "a" }, "k1"), first);
  const conflict = await send({ step: "b" }, "k1");
  assertEquals([conflict.status, conflict.body.code], [409, "idempotency_conflict"]);
  assertEquals((await send({ step: "a" }, "no key")).status, 400);
  state.fails = true;
  const failed = await send({ step: "b" }, "k2");
  assertEquals([failed.status, failed.body.step.unscored.reason], [200, "backend_error"]);
  state.fails = false;
  const again = (await send({ step: "b" }, "k2")).body;
  assertEquals([again.length, again.step.index, again.step.score], [2, 2, 0.5]);
  assertEquals((await (await ask(path)).json()).steps.map(({ state }: { state: string }) => state), [
    "scored",
    "scored",
  ]);
});

Deno.test("an update as an event stream tells that the step is stored before anything is bought", async () => {
  const { ask } = app();
  const path = await started(ask);
  const response = await ask(`${path}/steps`, post({ step: "a" }, { accept: "text/event-stream" }));
  const list = events(await response.text());
  assertEquals(list.map(({ event }) => event), ["appended", "plan", "call", "checkpoint", "result"]);
  assertEquals(list[0]?.data, { index: 1, length: 1 });
  trackerUpdated.parse(list.at(-1)?.data);
});

Deno.test("the event stream replays the log, ends at the deletion, and goes on from Last-Event-ID", async () => {
  const { ask } = app();
  const path = await started(ask);
  await ask(`${path}/steps`, post({ step: "a" }));
  const response = await ask(`${path}/events`);
  assertStringIncludes(response.headers.get("content-type")!, "text/event-stream");
  const resumed = await ask(`${path}/events`, { headers: { "last-event-id": "1;1" } });
  const wrong = await ask(`${path}/events`, { headers: { "last-event-id": "nonsense" } });
  assertEquals(wrong.status, 400);
  // Reading both at once: the deletion ends them.
  const texts = Promise.all([response.text(), resumed.text()]);
  await ask(`${path}/steps`, post({ step: "b" }));
  await ask(path, { method: "DELETE" });
  const [all, rest] = (await texts).map(events);
  assertEquals(all!.slice(0, 3).map(({ event, id }) => `${event} ${id}`), ["start 0", "step 1;1", "score 1"]);
  assertEquals(all!.at(-1)?.event, "end");
  assertEquals(all!.at(-1)?.data, { reason: "deleted" });
  assertEquals(rest!.slice(0, 2).map(({ event, id }) => `${event} ${id}`), ["start 1;1", "score 1"]);
});

Deno.test("bad requests name their field, and no key of a caller is taken into the store", async () => {
  const { ask } = app();
  const path = await started(ask);
  for (
    const [where, body, field] of [
      ["/v1/trackers", { task: " " }, "/task"],
      ["/v1/trackers", { task: "t", judge: { apiKey: "k" } }, "/judge/apiKey"],
      ["/v1/trackers", { task: "t", causal: true }, "/causal"],
      [`${path}/steps`, { step: "" }, "/step"],
      [`${path}/steps`, { step: "a", expectedLength: 1.5 }, "/expectedLength"],
      [`${path}/steps`, { retry: 9 }, "/retry"],
    ] as const
  ) {
    const response = await ask(where, post(body));
    const { errors } = await response.json();
    assertEquals([response.status, errors?.[0]?.path], [400, field]);
  }
});

Deno.test("the trackers' examples fit their schemas", () => {
  trackerStarted.parse(TRACKER_EXAMPLES.started);
  trackerUpdated.parse(TRACKER_EXAMPLES.update);
  trackerResult.parse(TRACKER_EXAMPLES.result);
  assert(events(TRACKER_EXAMPLES.events + "\n").length > 0);
});

Deno.test("a tracker with the caller's own id: made once, found again, and a conflict for another request", async () => {
  const { ask } = app();
  const body = { id: "ses-42-main", task: "t", repeats: 1 };
  const first = await ask("/v1/trackers", post(body));
  const made = trackerStarted.parse(await first.json());
  assertEquals([first.status, made.created, first.headers.get("location")], [
    201,
    true,
    "/v1/trackers/ses-42-main",
  ]);
  assertEquals((await ask("/v1/trackers/ses-42-main/steps", post({ step: "a" }))).status, 200);
  const again = await ask("/v1/trackers", post(body));
  const found = trackerStarted.parse(await again.json());
  assertEquals([again.status, found.created, found.length], [200, false, 1]);
  const other = await ask("/v1/trackers", post({ ...body, task: "u" }));
  const problem = await other.json();
  assertEquals([other.status, problem.code, problem.errors[0].path], [409, "idempotency_conflict", "/id"]);
  const key = { "idempotency-key": "k" };
  const keyed = await (await ask("/v1/trackers", post({ task: "t" }, key))).json();
  const replayed = await ask("/v1/trackers", post({ task: "t" }, key));
  assertEquals([replayed.status, await replayed.json()], [201, keyed]);
  assertEquals((await ask("/v1/trackers", post({ ...body, id: "no" }))).status, 400);
});
