// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  parameters,
  readCriteria,
  readShared,
  readSteps,
  readTrajectory,
  requiredText,
} from "../../lib/tools/parameters.js";

const SETTINGS = {
  judge: null,
  channel: null,
  repeats: null,
  sendImages: true,
};

describe("readShared", () => {
  test("leaves absent fields to the server's defaults", () => {
    assert.deepEqual(readShared({}, SETTINGS), {});
  });

  test("sends what is to be taken out, also when that is nothing but known secrets", () => {
    assert.deepEqual(readShared({}, { ...SETTINGS, redact: [] }), { redact: [] });
    assert.deepEqual(readShared({}, { ...SETTINGS, redact: ["a-\\d"] }), { redact: ["a-\\d"] });
  });

  test("prefers arguments to settings", () => {
    const settings = {
      ...SETTINGS,
      judge: "local",
      channel: "logprobs",
      repeats: 4,
    };
    assert.deepEqual(readShared({}, settings), {
      judge: "local",
      channel: "logprobs",
      repeats: 4,
    });
    assert.deepEqual(
      readShared({ judge: "deepseek", channel: "any", repeats: 1 }, settings),
      {
        judge: "deepseek",
        channel: "any",
        repeats: 1,
      },
    );
  });

  test("puts a model into the judge, whichever form that has", () => {
    assert.deepEqual(readShared({ model: "m" }, SETTINGS), {
      judge: { model: "m" },
    });
    assert.deepEqual(readShared({ model: "m", judge: "local" }, SETTINGS), {
      judge: { profile: "local", model: "m" },
    });
    assert.deepEqual(
      readShared(
        { model: "m", judge: '{"profile":"local","effort":"low"}' },
        SETTINGS,
      ),
      {
        judge: { profile: "local", effort: "low", model: "m" },
      },
    );
    assert.throws(
      () => readShared({ model: "m", judge: ["a", "b"] }, SETTINGS),
      { message: /\/model: must be left out/ },
    );
  });

  test("reads a judge written as JSON text, and says where it isn't JSON", () => {
    assert.deepEqual(readShared({ judge: '["a","b"]' }, SETTINGS), {
      judge: ["a", "b"],
    });
    assert.throws(() => readShared({ judge: "{profile" }, SETTINGS), {
      message: /\/judge: must be valid JSON/,
    });
  });

  test("refuses a tie on errors with the reason, and takes raise", () => {
    assert.throws(() => readShared({ onError: "tie" }, SETTINGS), {
      code: "invalid_request",
      message: /\/onError: .*always an error/,
    });
    assert.throws(() => readShared({ onError: "maybe" }, SETTINGS), {
      message: /value: "maybe"/,
    });
    assert.deepEqual(readShared({ onError: "raise" }, SETTINGS), {});
  });

  test("explains where the backend is chosen, and takes auto", () => {
    assert.throws(() => readShared({ backend: "openai" }, SETTINGS), {
      message: /\/backend: .*judge.*value: "openai"/,
    });
    assert.deepEqual(readShared({ backend: "auto" }, SETTINGS), {});
  });

  test("doesn't send images that the user's settings keep back", () => {
    const settings = { ...SETTINGS, sendImages: false };
    assert.throws(
      () => readShared({ images: ["https://x.invalid/a.png"] }, settings),
      { message: /sendImages/ },
    );
    assert.deepEqual(
      readShared({ images: ["https://x.invalid/a.png"] }, SETTINGS),
      {
        images: ["https://x.invalid/a.png"],
      },
    );
  });
});

describe("trajectories", () => {
  test("a blank one is an error that names it", () => {
    for (const value of ["", " \n", null, { text: " " }]) {
      assert.throws(() => readTrajectory(value, "candidates/2"), {
        message: /\/candidates\/2: must not be blank/,
      });
    }
    assert.throws(() => readTrajectory({ steps: ["a", ""] }, "a"), {
      message: /\/a\/steps\/1: must not be blank/,
    });
    assert.throws(() => readSteps(["a", { text: "" }, "b"], "steps"), {
      message: /\/steps\/1: must not be blank/,
    });
    assert.throws(() => readSteps([], "steps"), {
      message: /\/steps: must have at least one step/,
    });
  });

  test("text, steps, chat messages and lists pass as the server takes them", () => {
    assert.equal(readTrajectory("did", "a"), "did");
    assert.deepEqual(
      readTrajectory({ messages: [{ role: "user", content: "x" }] }, "a"),
      {
        messages: [{ role: "user", content: "x" }],
      },
    );
    assert.deepEqual(readTrajectory(["one", "two"], "a"), {
      steps: ["one", "two"],
    });
    assert.equal(readTrajectory(7, "a"), 7);
  });
});

describe("required arguments", () => {
  test("a missing one names every spelling", () => {
    assert.throws(() => requiredText({}, "task"), {
      message: /\/task: must be given \(task or problem\)/,
    });
    assert.throws(() => requiredText({ task: " " }, "task"), {
      message: /\/task: must not be blank/,
    });
    assert.throws(() => requiredText({ task: 3 }, "task"), {
      message: /\/task: must be a string; value: 3/,
    });
  });
});

describe("readCriteria", () => {
  test("a proposal's stage means the proposal rubric, unless criteria are given", () => {
    assert.equal(readCriteria({ reviewStage: "proposal" }), "proposal");
    assert.equal(
      readCriteria({ reviewStage: "proposal", criteria: "coding" }),
      "coding",
    );
    assert.equal(readCriteria({ reviewStage: "artifact" }), undefined);
    assert.throws(() => readCriteria({ reviewStage: "idea" }), {
      message: /\/reviewStage: must be proposal or artifact/,
    });
  });
});

describe("parameters", () => {
  test("puts a tool's own before the shared ones", () => {
    const schema = /** @type {any} */ (parameters(["task", "repeats"], {
      a: { type: "string" },
    }));
    assert.deepEqual(Object.keys(schema.properties), ["a", "task", "repeats"]);
    assert.equal(schema.required, undefined);
    assert.throws(() => parameters(["nonsense"]), TypeError);
  });
});
