// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { select as spec } from "../../lib/tools/judging_specs.js";
import { problem, recorded } from "../fakes/server.js";
import { rig } from "./harness.js";

const PATH = "POST /v1/select";
const ARGS = { task: "Print the sum.", candidates: ["a", "b", "c", "d"] };

describe("verifier_select", () => {
  test("gives the best index with the ranking and the probabilities", async () => {
    const { value, text } = await rig(spec, { [PATH]: recorded("select") })
      .call(ARGS);
    assert.equal(value.best, 1);
    assert.deepEqual(
      value.ranking.map((/** @type {any} */ row) => row.index).toSorted(),
      [0, 1, 2, 3],
    );
    assert.equal(value.comparisons, recorded("select").pairs.length);
    assert.match(text, /^Candidate 1 is the best of 4\./);
    assert.match(text, /- candidate 1 \(second\): strength /);
    assert.match(text, /the same as candidate 0/);
    assert.ok(text.includes(`Decision ${value.id}`));
  });

  test("says how uncertain the pick is", async () => {
    const document = recorded("select");
    document.ranking[0].probabilityBest = 0.55;
    document.ranking[1].probabilityBest = 0.4;
    const { text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.match(
      text,
      /Not certain: it is this judge's best with 55 %, candidate 2 with 40 %/,
    );
  });

  test("makes no number of a probability that nobody knows", async () => {
    const document = recorded("select");
    document.ranking[0].probabilityBest = 0.55;
    document.ranking[1].probabilityBest = null;
    const { text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.match(text, /Not certain: it is this judge's best with 55 %\./);
  });

  test("a tie is reported as a tie, whole or shared", async () => {
    const document = recorded("select");
    for (const row of document.ranking) row.strength = 0;
    document.stopped = "tie";
    assert.match(
      (await rig(spec, { [PATH]: document }).call(ARGS)).text,
      /^Tie: no candidate is better than the others; candidate 1 comes first by order alone\./,
    );
    document.ranking[2].strength = -1;
    document.ranking[3].strength = -1;
    assert.match(
      (await rig(spec, { [PATH]: document }).call(ARGS)).text,
      /^Tie: candidates 1, 2 share the first place/,
    );
  });

  test("copies share a place without it being a tie", async () => {
    const document = recorded("select");
    const first = document.ranking[0];
    document.ranking.splice(1, 0, { ...first, index: 3, identicalTo: first.index });
    assert.match((await rig(spec, { [PATH]: document }).call(ARGS)).text, /^Candidate 1 is the best of 5\./);
    document.ranking = [0, 1, 2].map((index) => ({
      ...first,
      index,
      strength: null,
      ...(index === 0 ? {} : { identicalTo: 0 }),
    }));
    document.best = 0;
    const { text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.match(text, /^All 3 candidates are the same; nothing was judged\./);
  });

  test("tells one candidate, and nothing scored, from a pick", async () => {
    const one = await rig(spec, { [PATH]: recorded("select_one") }).call({
      task: "t",
      candidates: ["a"],
    });
    assert.match(
      one.text,
      /^Only candidate 0 was given: nothing was compared\./,
    );
    const document = { ...recorded("select"), best: null, stopped: "unusable" };
    const none = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.equal(none.value.best, null);
    assert.match(none.text, /^No pick:/);
  });

  test("sends the tournament's options, and candidates as they are", async () => {
    const { call } = rig(spec, { [PATH]: recorded("select") });
    const candidates = ["text", { id: "two", steps: ["s1", "s2"] }, {
      messages: [{ role: "user", content: "x" }],
    }];
    const { sent } = await call({
      problem: "t",
      candidates,
      nEvaluations: 4,
      pivots: 3,
      seed: -7,
      mode: "upstream",
    });
    assert.deepEqual({ ...sent, deadlineMs: 0 }, {
      task: "t",
      candidates,
      criteria: "general",
      repeats: 4,
      pivots: 3,
      seed: -7,
      mode: "upstream",
      redact: [],
      deadlineMs: 0,
    });
  });

  test("a blank candidate is an error that names its index, and indices never shift", async () => {
    const { fails, connection } = rig(spec, {});
    await fails({ task: "t", candidates: ["a", " ", "c"] }, {
      message: /\/candidates\/1: must not be blank/,
    });
    await fails({ task: "t", candidates: ["a", null] }, {
      message: /\/candidates\/1: must not be blank/,
    });
    await fails({ task: "t", candidates: "a" }, {
      message: /\/candidates: must be an array/,
    });
    await fails({ task: "t" }, { message: /\/candidates: must be given/ });
    assert.equal(connection.seen.length, 0);
  });

  test("an empty list is the server's to refuse, with its own words", async () => {
    const refusal = problem(
      "invalid_request",
      400,
      "/candidates: must have at least 1 entry",
      {
        errors: [{
          path: "/candidates",
          message: "must have at least 1 entry",
        }],
      },
    );
    await rig(spec, { [PATH]: refusal }).fails({ task: "t", candidates: [] }, {
      message: /\/candidates: must have at least/,
    });
  });

  test("a ranking of hundreds stays readable", async () => {
    const document = recorded("select");
    const [row] = document.ranking;
    document.ranking = Array.from(
      { length: 500 },
      (_, index) => ({ ...row, index, strength: 500 - index }),
    );
    const { value, text } = await rig(spec, { [PATH]: document }).call(ARGS);
    assert.equal(value.ranking.length, 500);
    assert.match(text, /… and 480 more/);
  });
});
