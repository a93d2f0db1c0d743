// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as output from "../../lib/tools/output.js";

const schema = output.object({
  id: output.string(),
  score: output.nullable(output.number()),
  rows: output.array(
    output.object({ name: output.string(), count: output.integer() }),
  ),
  judges: output.optional(output.array(output.string())),
  channel: output.withDefault(output.object({ logprobs: output.integer() }), {
    logprobs: 0,
  }),
});

describe("project", () => {
  test("keeps the declared fields and drops the ones of a newer server", () => {
    const value = {
      id: "dec_1",
      score: 0.5,
      rows: [{ name: "a", count: 1, shiny: true }],
      judges: ["x"],
      channel: { logprobs: 3, telepathy: 1 },
      extra: {},
    };
    assert.deepEqual(output.project(schema, value), {
      id: "dec_1",
      score: 0.5,
      rows: [{ name: "a", count: 1 }],
      judges: ["x"],
      channel: { logprobs: 3 },
    });
  });

  test("puts null or the default where the wire may leave a field out", () => {
    const value = output.project(schema, {
      id: "dec_1",
      score: null,
      rows: [],
    });
    assert.deepEqual(value, {
      id: "dec_1",
      score: null,
      rows: [],
      judges: null,
      channel: { logprobs: 0 },
    });
  });

  test("refuses a missing field by name", () => {
    assert.throws(
      () =>
        output.project(schema, {
          id: "dec_1",
          score: 1,
          rows: [{ name: "a" }],
        }),
      { code: "bad_answer", message: /^bad_answer: .*\/rows\/0\/count/ },
    );
  });

  test("refuses a number that JSON can't hold and a value of another type", () => {
    for (const score of ["0.5", NaN, Infinity, true, {}]) {
      assert.throws(
        () => output.project(schema, { id: "dec_1", score, rows: [] }),
        {
          code: "bad_answer",
          message: /\/score isn't a number/,
        },
      );
    }
    assert.throws(() => output.project(output.integer(), 1.5), {
      code: "bad_answer",
    });
  });

  test("turns a negative zero into zero, as the host refuses it", () => {
    assert.ok(Object.is(output.project(output.number(), -0), 0));
  });

  test("takes the first form that fits, and tells what the usual one lacks", () => {
    const plan = output.object({
      plan: output.object({ calls: output.integer() }),
    });
    const either = output.oneOf([output.object({ id: output.string() }), plan]);
    assert.deepEqual(
      output.project(either, { plan: { calls: 2, usd: null } }),
      { plan: { calls: 2 } },
    );
    assert.throws(() => output.project(either, {}), {
      message: /no field \/id/,
    });
  });

  test("lets any JSON pass where anything is declared", () => {
    assert.deepEqual(output.project(output.anything(), { a: [1] }), { a: [1] });
  });
});
