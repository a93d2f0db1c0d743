import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { createMemoryStore } from "../../store/memory.ts";
import type { Store } from "../../store/store.ts";
import {
  answerWith,
  candidate,
  fakeEnvironment,
  fakeJudge,
  type FakeJudgeOptions,
  slotsOf,
} from "../../tests/verbs/fake_judge.ts";
import { compare } from "../compare.ts";
import { type DecisionRecord, recordDecision } from "./decisions.ts";
import { listDecisions, readDecision } from "./store.ts";
import { AssayError } from "../errors.ts";
import { JudgeError } from "../judges/judge.ts";
import { type Replay, replayDecision } from "./replay.ts";
import { compareRequestSchema, parseRequest, selectRequestSchema, trackRequestSchema } from "../requests.ts";
import { select } from "../select/select.ts";
import { session } from "../session/session.ts";
import { sessionRequestSchema } from "../session/requests.ts";
import { track } from "../track.ts";
import { startTracker, updateTracker } from "../tracker/tracker.ts";
import { trackerStartSchema, trackerUpdateSchema } from "../tracker/requests.ts";
import type { CallOptions } from "../types.ts";

/** Opinions that no letter holds exactly, and every seventh call without a readable answer. */
const uneven: NonNullable<FakeJudgeOptions["answer"]> = (request) => {
  const slots = slotsOf(request);
  const salt = request.suffix.length % 7 + request.repeat;
  if ((slots[0]! * 5 + (slots[1] ?? 0) * 3 + salt) % 7 === 0) return answerWith([], []);
  const values = request.tags.map((_, i) => (((slots[i] ?? i) * 37 + salt * 11 + i * 5) % 97) / 97);
  return answerWith(request.tags, values, request.tags[0] === "c1" ? "progress" : "pairwise");
};

interface Tried {
  readonly store: Store;
  readonly record: DecisionRecord;
  readonly result: Record<string, unknown> | null;
  readonly error: unknown;
}

async function decide(
  verb: "compare" | "select" | "track",
  body: Record<string, unknown>,
  options: FakeJudgeOptions & { readonly store?: Store; readonly call?: CallOptions } = {},
): Promise<Tried> {
  const { store = createMemoryStore(), call, ...judge } = options;
  const environment = fakeEnvironment(fakeJudge({ answer: uneven, ...judge }), store);
  const shared = { task: "the task", criteria: { First: "look here", Second: "and there" }, ...body };
  let result: Record<string, unknown> | null = null;
  let failure: unknown = null;
  try {
    const found = verb === "compare"
      ? await compare(environment, parseRequest(compareRequestSchema, shared), call)
      : verb === "select"
      ? await select(environment, parseRequest(selectRequestSchema, shared), call)
      : await track(environment, parseRequest(trackRequestSchema, shared), call);
    result = { ...found };
  } catch (error) {
    failure = error;
  }
  const [newest] = (await listDecisions(store, { limit: 1 })).decisions;
  assert(newest !== undefined, `no decision was stored: ${failure}`);
  return { store, record: await readDecision(store, newest.id), result, error: failure };
}

const candidates = (count: number): string[] => Array.from({ length: count }, (_, index) => candidate(index));

function assertEqualReplay(replay: Replay): void {
  assertEquals([replay.equal, replay.differences, replay.scope], [true, [], "verdict"]);
}

const unscored = (record: DecisionRecord): number =>
  record.calls.flatMap(({ scores }) => scores).filter(({ kind }) => kind === "unscored").length;

Deno.test("a compare with unscored parts is derived again to equality, and its id is the result's", async () => {
  const { record, result } = await decide("compare", { a: candidate(0), b: candidate(1), repeats: 8 });
  assertEquals(record.id, result?.id);
  assert(unscored(record) > 0 && unscored(record) < 32);
  assertEqualReplay(replayDecision(record));
});

for (const mode of ["pivot", "round_robin", "upstream"]) {
  for (const repeats of [1, 3]) {
    Deno.test(`a select by ${mode} with ${repeats} repeats is derived again to equality`, async () => {
      const list = [...candidates(7), candidate(2)];
      const { record, result } = await decide("select", { candidates: list, mode, repeats, seed: 5 });
      assertEquals((result?.ranking as unknown[]).length, 8);
      assert(unscored(record) > 0);
      assertEqualReplay(replayDecision(record));
    });
  }
}

Deno.test("a select with calibration and the agreement prior is derived again to equality", async () => {
  const list = candidates(5).map((text, i) => `${text}[Command] step ${i % 2}\n[Output]\ndone ${i % 3}\n`);
  const { record, result } = await decide("select", { candidates: list, prior: "agreement" }, {
    calibration: { pairAccuracy: 0.8, passRate: 0.5, source: "a test" },
  });
  assert(typeof result?.probabilityRight === "number");
  assertEqualReplay(replayDecision(record));
});

for (const causal of [false, true]) {
  Deno.test(`a ${causal ? "causal " : ""}track is derived again to equality`, async () => {
    const steps = Array.from({ length: 5 }, (_, i) => ({ text: candidate(i) }));
    const { record } = await decide("track", { trajectory: { steps }, causal, repeats: 3 });
    assertEqualReplay(replayDecision(record));
  });
}

Deno.test("a decision made from the score cache is derived again to equality, and says so of each call", async () => {
  const store = createMemoryStore();
  const body = { candidates: candidates(5), mode: "round_robin" };
  await decide("select", body, { store });
  const { record } = await decide("select", body, { store });
  assert(record.usage.cacheHits > 0 && record.calls.some(({ cached }) => cached));
  assertEqualReplay(replayDecision(record));
});

Deno.test("sampled letters and constrained tokens are evidence too", async () => {
  const letters = await decide("compare", { a: candidate(0), b: candidate(1) }, {
    answer: (request) => ({ ...answerWith(request.tags, [1, 0]), tokens: null }),
  });
  assertEquals(letters.record.calls[0]?.channel, "explicit_tag");
  assertEqualReplay(replayDecision(letters.record));
  const continued = await decide("compare", { a: candidate(0), b: candidate(1), channel: "continuation" }, {
    answer: (request) => ({ ...answerWith(request.tags, [1, 0]), tokens: null }),
    continuation: () =>
      Promise.resolve(answerWith(["x"], [0.3], "pairwise", "")).then((answer) => ({
        ...answer,
        tokens: answer.tokens!.slice(2, 3),
      })),
  });
  assertEquals(continued.record.calls[0]?.channel, "continuation");
  assertEqualReplay(replayDecision(continued.record));
});

Deno.test("a failed decision is stored, named by its error, and fails again with the same code", async () => {
  const reasons = [
    ["backend_error", "judge_failed"],
    ["unauthorized", "judge_unauthorized"],
    ["timeout", "deadline_exceeded"],
  ] as const;
  for (const [reason, code] of reasons) {
    for (const verb of ["compare", "select", "track"] as const) {
      const body = verb === "select"
        ? { candidates: candidates(4) }
        : verb === "track"
        ? { trajectory: candidate(0) }
        : { a: candidate(0), b: candidate(1) };
      const { record, error } = await decide(verb, body, {
        answer: () => Promise.reject(new JudgeError(reason, "it is broken")),
      });
      assert(error instanceof AssayError);
      assertEquals([error.code, error.decision, record.problem?.code], [code, record.id, code]);
      assertEquals(record.result, null);
      assertEqualReplay(replayDecision(record));
    }
  }
});

Deno.test("a caller who leaves has a decision of what was judged, and its scores can be derived again", async () => {
  const controller = new AbortController();
  const { record } = await decide("compare", { a: candidate(0), b: candidate(1) }, {
    call: { signal: controller.signal, onEvent: ({ type }) => type === "call" && controller.abort() },
    concurrency: 1,
  });
  assertEquals([record.problem?.code, record.result], ["aborted", null]);
  const replay = replayDecision(record);
  assertEquals([replay.equal, replay.scope], [true, "scores"]);
});

type Loose = { -readonly [K in keyof DecisionRecord]: DecisionRecord[K] };
const copyOf = (record: DecisionRecord): Loose => structuredClone(record) as Loose;

Deno.test("an altered distribution, reward, winner or schedule shows as a difference at its path", async () => {
  const { record } = await decide("select", { candidates: candidates(5), mode: "pivot", pivots: 1 }, {
    answer: (request) =>
      answerWith(request.tags, slotsOf(request).map((index) => [0.2, 0.9, 0.4, 0.6, 0.5][index]!)),
  });
  assertEqualReplay(replayDecision(record));
  const paths = (altered: DecisionRecord): string[] => {
    const replay = replayDecision(altered);
    assertEquals(replay.equal, false);
    assertEquals(replay.total, replay.differences.length);
    return replay.differences.map(({ path }) => path);
  };

  const evidence = copyOf(record);
  const token = evidence.calls[0]!.evidence!.tokens!.find((entry) => entry.length === 3)!;
  (token[2] as unknown as [string, number][])[0]![1] -= 0.5;
  assert(paths(evidence).some((path) => path.startsWith("/calls/0/scores/0/letters")));
  assert(paths(evidence).some((path) => /^\/ranking\/\d\/strength$/.test(path)));

  const score = copyOf(record);
  (score.calls[1]!.scores[1] as { value: number }).value += 1e-9;
  assertEquals(paths(score), ["/calls/1/scores/1/value"]);

  const best = copyOf(record);
  (best.result as { best: number }).best = 3;
  assertEquals(replayDecision(best).differences, [{ path: "/best", stored: 3, now: 1 }]);

  const seed = copyOf(record);
  (seed.outlines[""]!.settings as { seed: number }).seed = 4;
  assert(paths(seed).some((path) => path.startsWith("/schedule/1")));

  const near = copyOf(record);
  (near.calls[0]!.scores[0] as { value: number }).value += 1e-13;
  assertEquals(replayDecision(near).equal, true);
});

Deno.test("a decision without enough evidence is an error that names the call", async () => {
  const { record } = await decide("compare", { a: candidate(0), b: candidate(1), repeats: 1 }, {
    answer: (request) => answerWith(request.tags, [0.5, 0.6]),
  });
  const bare = { ...record, calls: record.calls.map((call) => ({ ...call, evidence: null })) };
  const error = assertThrows(() => replayDecision(bare), AssayError);
  assertEquals([error.code, error.status], ["not_replayable", 422]);
  assert(error.message.includes('"first, repeat 1"'), error.message);
  const { rubric: _, ...outline } = record.outlines[""]!;
  assertThrows(() => replayDecision({ ...record, outlines: { "": outline } }), AssayError);
});

Deno.test("verbs within a verb write one decision, and each is derived again with its own part", async () => {
  const store = createMemoryStore();
  const environment = fakeEnvironment(
    fakeJudge({ answer: (request) => answerWith(request.tags, [0.7, 0.2]) }),
    store,
  );
  const request = (a: number, b: number) =>
    parseRequest(compareRequestSchema, { task: "t", criteria: ["x"], a: candidate(a), b: candidate(b) });
  const result = await recordDecision(environment, { verb: "gate", topic: "ses_1" }, {}, async (options) => {
    const part = (name: string) => ({ ...options, recording: options.recording.part(name) });
    const one = await compare(environment, request(0, 1), part("work"));
    const two = await compare(environment, request(2, 3), part("baseline"));
    assert(!("plan" in one) && !("plan" in two));
    return { id: options.recording.id, decision: "accept", score: one.rewardA, warnings: [] };
  });
  const { decisions } = await listDecisions(store, { limit: 10 });
  assertEquals(decisions.map(({ id, verb, session }) => [id, verb, session]), [[result.id, "gate", "ses_1"]]);
  const record = await readDecision(store, result.id);
  assertEquals([...new Set(record.calls.map(({ label }) => label.part))], ["baseline", "work"]);
  assertEquals(record.usage.calls, 4);
  assertEqualReplay(replayDecision(record));
  const altered = copyOf(record);
  (altered.outlines.work!.result as { rewardA: number }).rewardA = 0.1;
  assertEquals(replayDecision(altered).differences.map(({ path }) => path), ["/parts/work/rewardA"]);
});

Deno.test("a replay compares letter distributions, masses and reasons, not words", async () => {
  const { record } = await decide("compare", { a: candidate(0), b: candidate(1), repeats: 8 });
  const reworded = copyOf(record);
  for (const call of reworded.calls) {
    for (const score of call.scores) {
      if (score.kind === "unscored") Object.assign(score, { detail: "other words" });
    }
  }
  assertEquals(replayDecision(reworded).equal, true);
});

Deno.test("a tracker's steps and a session are decisions of their own topics, and are derived again to equality", async () => {
  const store = createMemoryStore();
  const answer: NonNullable<FakeJudgeOptions["answer"]> = (request) =>
    answerWith(
      request.tags,
      request.tags.map((_, i) => 0.61 - i / 9 + request.repeat / 50),
      request.tags[0] === "c1" ? "progress" : "pairwise",
    );
  const environment = fakeEnvironment(fakeJudge({ answer }), store);
  for (const mode of ["progress", "acceptance"]) {
    await session(
      environment,
      parseRequest(sessionRequestSchema, { task: "t", steps: ["did one", "did another"], mode }),
    );
  }
  const { id } = await startTracker(environment, parseRequest(trackerStartSchema, { task: "t" }));
  for (const step of ["one", "two"]) {
    await updateTracker(environment, id, parseRequest(trackerUpdateSchema, { step }));
  }
  const { decisions } = await listDecisions(store, { limit: 10 });
  assertEquals(
    decisions.map(({ verb, session }) => `${verb} ${session}`).toSorted(),
    ["session null", "session null", `tracker ${id}`, `tracker ${id}`],
  );
  for (const decision of decisions) assertEqualReplay(replayDecision(await readDecision(store, decision.id)));
});

Deno.test("a select that its deadline cut short is derived again to equality", async () => {
  for (const rounds of [1, 2]) {
    let asked = 0;
    const { record, result } = await decide("select", {
      candidates: candidates(7),
      criteria: ["x"],
      pivots: 1,
      deadlineMs: 1000,
    }, {
      answer: (request, context) => {
        // The ring of seven is answered, or all but one of it; what comes then never is.
        if (++asked <= (rounds === 1 ? 6 : 7)) {
          return answerWith(
            request.tags,
            slotsOf(request).map((i) => i / 9),
          );
        }
        return new Promise((_, reject) =>
          context.signal.addEventListener("abort", () => reject(context.signal.reason), { once: true })
        );
      },
    });
    assertEquals(result?.stopped, "budget");
    assert(unscored(record) > 0);
    assertEqualReplay(replayDecision(record));
  }
});

Deno.test("whatever is asked and answered, what was stored is derived again to equality", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        count: fc.integer({ min: 2, max: 8 }),
        twins: fc.integer({ min: 0, max: 2 }),
        mode: fc.constantFrom("pivot", "round_robin", "upstream"),
        pivots: fc.integer({ min: 1, max: 4 }),
        repeats: fc.integer({ min: 1, max: 3 }),
        seed: fc.integer({ min: -5, max: 1000 }),
        weights: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
        gaps: fc.integer({ min: 2, max: 9 }),
        ties: fc.boolean(),
      }),
      async ({ count, twins, weights, gaps, ties, ...settings }) => {
        const list = [...candidates(count), ...candidates(Math.min(count, twins))];
        const criteria = weights.map((weight, i) => ({ description: `look ${"x".repeat(i)}`, weight }));
        let asked = 0;
        const { record, error } = await decide("select", { candidates: list, criteria, ...settings }, {
          answer: (request) => {
            const slots = slotsOf(request);
            const salt = request.suffix.length + request.repeat;
            if (++asked % gaps === 0) {
              if (asked % 2 === 0) throw new JudgeError("backend_error", "down");
              return answerWith(request.tags.slice(0, 1), [0.5]);
            }
            return answerWith(request.tags, slots.map((i) => ties ? 0.5 : ((i * 31 + salt * 17) % 23) / 23));
          },
        });
        if (error !== null) assert(error instanceof AssayError);
        assertEqualReplay(replayDecision(record));
      },
    ),
    { numRuns: 60 },
  );
});
