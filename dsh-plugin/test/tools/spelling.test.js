// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { VerifierError } from "../../lib/server/errors.js";
import { readNames, renameFields } from "../../lib/tools/spelling.js";

const NAMES = ["task", "a", "b", "criteria", "repeats", "groundTruthNote"];

describe("readNames", () => {
  test("takes both families' spellings and remembers what the caller wrote", () => {
    const { args, spelled } = readNames(
      {
        problem: "t",
        traceA: "x",
        candidate_b: "y",
        evaluations: 2,
        ground_truth_note: "n",
      },
      NAMES,
    );
    assert.deepEqual(args, {
      task: "t",
      a: "x",
      b: "y",
      repeats: 2,
      groundTruthNote: "n",
    });
    assert.deepEqual(spelled, {
      task: "problem",
      a: "traceA",
      b: "candidate_b",
      repeats: "evaluations",
      groundTruthNote: "ground_truth_note",
    });
  });

  test("counts null as absent", () => {
    assert.deepEqual(
      readNames({ task: "t", problem: null, criteria: null }, NAMES).args,
      { task: "t" },
    );
    assert.deepEqual(readNames(undefined, NAMES).args, {});
  });

  test("accepts two spellings of one value and refuses two values, naming both", () => {
    assert.deepEqual(readNames({ task: "t", problem: "t" }, NAMES).args, {
      task: "t",
    });
    assert.throws(() => readNames({ evaluations: 1, nEvaluations: 2 }, NAMES), {
      code: "invalid_request",
      message: /^invalid_request: .*\/nEvaluations.*evaluations.*value: 2/,
    });
  });

  test("refuses an unknown name with the nearest known spelling", () => {
    assert.throws(() => readNames({ task: "t", evalutions: 3 }, NAMES), {
      message: /\/evalutions.*did you mean "evaluations"/,
    });
    assert.throws(() => readNames({ zzzzzzzzzzz: 3 }, NAMES), {
      message: /it takes task, a, b/,
    });
  });

  test("refuses arguments that are no object", () => {
    for (const raw of ["text", 3, []]) {
      assert.throws(() => readNames(raw, NAMES), { code: "invalid_request" });
    }
  });

  test("isn't fooled by names of every object's prototype", () => {
    assert.throws(() => readNames({ constructor: 1 }, NAMES), {
      message: /\/constructor is not|constructor: is not/,
    });
    assert.throws(() => readNames(JSON.parse('{"__proto__": 1}'), NAMES), {
      code: "invalid_request",
    });
  });
});

describe("renameFields", () => {
  test("turns the wire's pointers into the caller's, in text and fields, with what lies below them", () => {
    const error = new VerifierError(
      "invalid_request",
      "/trajectory/steps/3: must not be blank; see /a/b and w/a",
      {
        status: 400,
        errors: [
          { path: "/trajectory/steps/3", message: "must not be blank" },
          { path: "/ab", message: "is odd" },
        ],
        retryAfterSeconds: 2,
      },
    );
    const renamed = renameFields(error, [["/trajectory/steps", "/steps"], [
      "/a",
      "/traceA",
    ]]);
    assert.equal(
      renamed.detail,
      "/steps/3: must not be blank; see /traceA/b and w/a",
    );
    assert.deepEqual(renamed.errors?.map(({ path }) => path), [
      "/steps/3",
      "/ab",
    ]);
    assert.equal(renamed.status, 400);
    assert.equal(renamed.retryAfterSeconds, 2);
  });
});
