// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { quoteValue, toVerifierError, VerifierError } from "../../lib/server/errors.js";

describe("an error's message", () => {
  test("says what was wrong where, with which value, and when to try again", () => {
    const error = new VerifierError(
      "over_budget",
      "The request would exceed its budget.",
      {
        status: 422,
        errors: [{
          path: "/budget/calls",
          message: "must cover the plan's 6 calls",
          value: 3,
        }, { path: "", message: "odd" }],
        retryAfterSeconds: 5,
      },
    );
    assert.equal(
      error.message,
      "over_budget: The request would exceed its budget. (/budget/calls: must cover the plan's 6 calls; value: 3; " +
        "the whole request: odd) Try again in 5 s.",
    );
    assert.deepEqual([
      error.code,
      error.status,
      error.name,
      error.retryAfterSeconds,
    ], [
      "over_budget",
      422,
      "VerifierError",
      5,
    ]);
    assert.ok(error instanceof Error);
  });

  test("stays short whatever the server sent", () => {
    const errors = Array.from(
      { length: 500 },
      (_, index) => ({
        path: `/a/${index}`,
        message: "must be",
        value: "x".repeat(999),
      }),
    );
    assert.ok(
      new VerifierError("invalid_request", "Bad.", { errors }).message.length <
        4100,
    );
  });

  test("has no status when no answer came", () => {
    assert.equal(new VerifierError("aborted", "x").status, null);
  });
});

describe("anything thrown", () => {
  test("becomes a VerifierError, and one stays what it is", () => {
    const own = new VerifierError("not_found", "x");
    assert.equal(toVerifierError(own), own);
    assert.equal(
      toVerifierError(new TypeError("no such thing")).code,
      "internal",
    );
    assert.match(
      toVerifierError(new TypeError("no such thing")).message,
      /no such thing/,
    );
    assert.equal(
      toVerifierError(new DOMException("x", "AbortError")).code,
      "aborted",
    );
    assert.equal(
      toVerifierError(new DOMException("x", "TimeoutError")).code,
      "deadline_exceeded",
    );
    for (
      const odd of [
        { kind: "disposed" },
        null,
        undefined,
        5n,
        Object.create(null),
      ]
    ) {
      assert.equal(toVerifierError(odd).code, "internal");
    }
    assert.match(
      toVerifierError({ kind: "disposed" }).message,
      /\{"kind":"disposed"\}/,
    );
  });

  test("says nothing twice that the server's sentence has said", () => {
    const errors = [
      { path: "/repeats", message: "must be at most 64", value: 65 },
      { path: "/seed", message: "must be an integer", value: 0.5 },
    ];
    const { message } = new VerifierError("invalid_request", "/repeats: must be at most 64 (value: 65)", {
      errors,
    });
    assert.equal(
      message,
      "invalid_request: /repeats: must be at most 64 (value: 65) (/seed: must be an integer; value: 0.5)",
    );
  });

  test("can be quoted, even what isn't JSON", () => {
    /** @type {Record<string, unknown>} */
    const cyclic = {};
    cyclic["self"] = cyclic;
    for (
      const odd of [
        cyclic,
        5n,
        Symbol("x"),
        () => 0,
        undefined,
        Object.create(null),
      ]
    ) {
      assert.equal(typeof quoteValue(odd), "string");
    }
    assert.equal(quoteValue("x".repeat(500)).length, 121);
  });
});
