// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FIELDS, fieldsOf } from "../../lib/config/fields.js";
import { createSettings } from "../../lib/config/resolve.js";
import { VerifierError } from "../../lib/server/errors.js";

/** @typedef {import("../../lib/config/fields.js").Field} Field */
/** @typedef {import("../../lib/config/fields.js").RowName} RowName */

/**
 * Four different valid values of a field, none of them its default: one for each layer.
 *
 * @param {Field} field
 * @returns {unknown[]}
 */
function samples(field) {
  if (field.type === "boolean") {
    return [!field.default, !field.default, !field.default, !field.default];
  }
  if (field.enum !== undefined) {
    const others = field.enum.filter((each) => each !== field.default);
    return [0, 1, 2, 3].map((index) => others[index % others.length]);
  }
  if (field.format === "url") {
    return [1, 2, 3, 4].map((index) => `http://127.0.0.${index}:1234`);
  }
  if (field.accepts?.includes("strings")) return [["a"], ["b"], ["c"], ["d"]];
  if (field.type === "json") {
    return [
      "named",
      [{ description: "listed" }],
      { described: "so" },
      "another",
    ];
  }
  if (field.type === "number") return [0.1, 0.2, 0.3, 0.4];
  if (field.type === "integer") {
    return [1, 2, 3, 4].map((step) => (field.minimum ?? 0) + step);
  }
  return ["one", "two", "three", "four"];
}

/** @param {unknown} value @returns {string} */
const asText = (value) => typeof value === "string" ? value : JSON.stringify(value);

/**
 * Resolves one field with the layers given, each with its own value.
 *
 * @param {RowName} row
 * @param {Field} field
 * @param {{ arguments: boolean, row: boolean, settings: boolean, environment: boolean }} present
 */
function resolveOne(row, field, present) {
  const [forArguments, forRow, forSettings, forEnvironment] = samples(field);
  const settings = createSettings({
    row,
    config: present.row ? { [field.name]: forRow } : undefined,
    user: () => present.settings && field.settings !== null ? { [field.settings]: forSettings } : {},
    environment: present.environment && field.env !== null ? { [field.env]: asText(forEnvironment) } : {},
  });
  const given = present.arguments ? { [field.name]: forArguments } : {};
  const [source, expected] = present.arguments && field.argument
    ? ["arguments", forArguments]
    : present.row
    ? ["row", forRow]
    : present.settings
    ? ["settings", forSettings]
    : present.environment
    ? ["environment", forEnvironment]
    : ["default", field.default];
  return { settings, given, source, expected };
}

describe("precedence", () => {
  let combinations = 0;
  for (const row of /** @type {const} */ (["tools", "gate"])) {
    for (const field of fieldsOf(row)) {
      test(`${row} row, ${field.name}: every combination of its layers gives the highest one that says something`, () => {
        assert.notEqual(field.settings, null);
        assert.notEqual(field.env, null);
        for (let bits = 0; bits < 16; bits++) {
          const present = {
            arguments: (bits & 8) !== 0,
            row: (bits & 4) !== 0,
            settings: (bits & 2) !== 0,
            environment: (bits & 1) !== 0,
          };
          const { settings, given, source, expected } = resolveOne(
            row,
            field,
            present,
          );
          const label = JSON.stringify(present);
          assert.deepEqual(settings.get(given)[field.name], expected, label);
          assert.equal(settings.source(field.name, given), source, label);
          assert.deepEqual(
            settings.problems().filter((each) => !/autostart|unencrypted/.test(each)),
            [],
            label,
          );
          combinations++;
        }
      });
    }
  }
  test("nothing of that was skipped", () => {
    assert.equal(
      combinations,
      16 * (fieldsOf("tools").length + fieldsOf("gate").length),
    );
    assert.ok(FIELDS.filter(({ argument }) => argument).length >= 4);
  });

  test("what a layer leaves empty is asked of the next one", () => {
    for (const empty of [undefined, null, ""]) {
      const settings = createSettings({
        row: "tools",
        config: { judge: empty },
        user: () => ({ judge: empty }),
        environment: { ASSAY_JUDGE: "fromEnvironment" },
      });
      assert.equal(settings.get({ judge: empty })["judge"], "fromEnvironment");
      assert.equal(settings.source("judge", { judge: empty }), "environment");
    }
    assert.equal(
      createSettings({
        row: "tools",
        config: {},
        environment: { ASSAY_TIMEOUT_MS: "  " },
      }).get()["timeoutMs"],
      600_000,
    );
  });

  test("false and zero are values, not gaps", () => {
    const settings = createSettings({
      row: "gate",
      config: { sendImages: false, threshold: 0 },
      user: () => ({
        sendImages: true,
        gateThreshold: 0.9,
        gateReviewPlans: false,
      }),
      environment: { ASSAY_GATE_REVIEW_PLANS: "true" },
    });
    const { sendImages, threshold, reviewPlans } = settings.get();
    assert.deepEqual([sendImages, threshold, reviewPlans], [false, 0, false]);
  });

  test("an argument that a call may not set changes nothing", () => {
    const settings = createSettings({ row: "tools", config: undefined });
    const given = {
      url: "http://evil.example",
      token: "x",
      autostart: true,
      timeoutMs: 5,
    };
    assert.deepEqual(settings.get(given), settings.get());
    assert.equal(settings.source("url", given), "default");
  });

  test("an argument that doesn't fit is refused with its name and value", () => {
    const settings = createSettings({ row: "tools", config: undefined });
    assert.throws(() => settings.get({ repeats: 65 }), (error) => {
      assert.ok(error instanceof VerifierError);
      assert.equal(error.code, "invalid_request");
      assert.deepEqual(error.errors, [{
        path: "/repeats",
        message: "must be a whole number from 1 to 64",
        value: 65,
      }]);
      return true;
    });
  });
});

describe("the gate's row", () => {
  const shared = {
    url: "http://127.0.0.2:1",
    token: "of-the-tools-row",
    criteria: "coding",
  };

  test("takes what it lacks from the tools row, as a row's value", () => {
    const settings = createSettings({
      row: "gate",
      config: { url: "http://127.0.0.3:1" },
      shared: () => shared,
      user: () => ({ token: "of-the-user" }),
    });
    assert.equal(settings.get()["url"], "http://127.0.0.3:1");
    assert.equal(settings.get()["token"], "of-the-tools-row");
    assert.equal(settings.source("token"), "row");
  });

  test("has a rubric of its own before the shared one, layer by layer", () => {
    const layers = {
      config: { criteria: "own-row" },
      user: { gateCriteria: "own-settings", criteria: "shared-settings" },
      environment: {
        ASSAY_GATE_CRITERIA: "own-environment",
        ASSAY_CRITERIA: "shared-environment",
      },
    };
    /** @param {Partial<{ config: unknown, user: unknown, shared: unknown, environment: Record<string, string> }>} given */
    const criteria = ({ config, user, shared, environment = {} }) => {
      const settings = createSettings({
        row: "gate",
        config,
        user: () => user,
        shared: () => shared,
        environment,
      });
      return [settings.get()["criteria"], settings.source("criteria")];
    };
    assert.deepEqual(criteria({ ...layers, shared }), ["own-row", "row"]);
    assert.deepEqual(criteria({ ...layers, shared, config: undefined }), [
      "own-settings",
      "settings",
    ]);
    const withoutOwn = {
      user: { criteria: "shared-settings" },
      environment: layers.environment,
      shared,
    };
    assert.deepEqual(criteria(withoutOwn), ["own-environment", "environment"]);
    const common = {
      ...withoutOwn,
      environment: { ASSAY_CRITERIA: "shared-environment" },
    };
    assert.deepEqual(criteria(common), ["coding", "row"]);
    assert.deepEqual(criteria({ ...common, shared: undefined }), [
      "shared-settings",
      "settings",
    ]);
    assert.deepEqual(criteria({ environment: common.environment }), [
      "shared-environment",
      "environment",
    ]);
    assert.deepEqual(criteria({}), ["general", "default"]);
  });
});

describe("what can't be used", () => {
  test("in a row is an error that names every field and value", () => {
    assert.throws(
      () =>
        createSettings({
          row: "gate",
          config: { threshold: 2, treshold: 1, mode: "clever" },
        }),
      (error) => {
        assert.ok(error instanceof VerifierError);
        assert.match(
          error.message,
          /\/threshold: threshold must be a number from 0 to 1; value: 2/,
        );
        assert.match(
          error.message,
          /treshold is not a setting of this row; did you mean "threshold"\?/,
        );
        assert.match(
          error.message,
          /mode must be one of "manual", "smart", "strict"; value: "clever"/,
        );
        return true;
      },
    );
  });

  test("in settings or environment is reported and the next layer is used", () => {
    const settings = createSettings({
      row: "gate",
      config: undefined,
      user: () => ({ gateThreshold: "high", timeoutMs: 5, gateTreshold: 1 }),
      environment: {
        ASSAY_GATE_THRESHOLD: "0.7",
        ASSAY_TIMEOUT_MS: "soon",
        ASSAY_REDACT: "[1]",
      },
    });
    const { threshold, timeoutMs, redact } = settings.get();
    assert.deepEqual([threshold, timeoutMs, redact], [0.7, 600_000, []]);
    assert.deepEqual(settings.problems().sort(), [
      'Of the user\'s settings gateTreshold is not a setting; did you mean "gateThreshold"?',
      'The user\'s setting gateThreshold is not used: it must be a number from 0 to 1; value: "high"',
      "The user's setting timeoutMs is not used: it must be a whole number from 1000 to 3600000; value: 5",
      'The variable ASSAY_REDACT is not used: it must be an array of strings, none of them empty; value: "[1]"',
      'The variable ASSAY_TIMEOUT_MS is not used: it must be a whole number from 1000 to 3600000; value: "soon"',
    ]);
  });

  test("is told without a token or a password", () => {
    const settings = createSettings({
      row: "tools",
      config: undefined,
      user: () => ({ token: "two words", url: "http://me:hunter2@127.0.0.1" }),
      environment: { ASSAY_TOKEN: "nöt-ascii" },
    });
    assert.equal(settings.get()["token"], null);
    const told = settings.problems().join("\n");
    assert.match(
      told,
      /The variable ASSAY_TOKEN is not used: it must be visible ASCII/,
    );
    for (const secret of ["two words", "nöt-ascii", "hunter2", "me:"]) {
      assert.ok(!told.includes(secret), told);
    }
  });

  test("a token in the clear to another machine, and autostart there, are warned of", () => {
    /** @param {Record<string, unknown>} config */
    const problems = (config) => createSettings({ row: "tools", config }).problems();
    assert.match(
      problems({ url: "http://judge.example", token: "t" })[0] ?? "",
      /unencrypted to http:\/\/judge\.example/,
    );
    assert.match(
      problems({ url: "https://judge.example", autostart: true })[0] ?? "",
      /autostart has no effect/,
    );
    for (
      const url of [
        "https://judge.example",
        "http://localhost:1",
        "http://[::1]:1",
        "http://127.9.9.9",
      ]
    ) {
      assert.deepEqual(problems({ url, token: "t" }), [], url);
    }
  });
});

describe("settings while they change", () => {
  test("a call costs nothing as long as the layers are the same objects", () => {
    let asked = 0;
    const user = new Proxy({ judge: "first" }, {
      get: (target, key) => {
        asked++;
        return Reflect.get(target, key);
      },
    });
    const settings = createSettings({
      row: "tools",
      config: undefined,
      user: () => user,
    });
    const first = settings.get();
    const before = asked;
    assert.equal(settings.get(), first);
    assert.equal(settings.get({ problem: "not a setting" }), first);
    assert.equal(asked, before);
  });

  test("a new section is seen by the next call", () => {
    /** @type {Record<string, unknown>} */
    let section = { judge: "first" };
    const settings = createSettings({
      row: "tools",
      config: undefined,
      user: () => section,
    });
    assert.equal(settings.get()["judge"], "first");
    section = { judge: "second" };
    assert.equal(settings.get()["judge"], "second");
  });

  test("what is resolved can't be changed by who got it, nor through what it came from", () => {
    const config = { judge: { profile: "deepseek", nested: { maxTokens: 5 } } };
    const { judge } = createSettings({ row: "tools", config }).get();
    config.judge.nested.maxTokens = 6;
    assert.equal(judge.nested.maxTokens, 5);
    assert.ok(Object.isFrozen(judge.nested));
  });
});

describe("the environment's text", () => {
  /** @param {Record<string, string>} environment @param {RowName} [row] */
  const from = (environment, row = "tools") => createSettings({ row, config: undefined, environment });

  test("is read as booleans, numbers and JSON", () => {
    for (
      const [text, value] of /** @type {const} */ ([["1", true], ["YES", true], ["off", false], [
        "0",
        false,
      ]])
    ) {
      assert.equal(
        from({ ASSAY_SEND_IMAGES: text }).get()["sendImages"],
        value,
        text,
      );
    }
    assert.equal(
      from({ ASSAY_GATE_THRESHOLD: " .75 " }, "gate").get()["threshold"],
      0.75,
    );
    assert.deepEqual(
      from({ ASSAY_JUDGE: '[{"profile":"a"},"b"]' }).get()["judge"],
      [{ profile: "a" }, "b"],
    );
    assert.equal(
      from({ ASSAY_CRITERIA: "coding" }).get()["criteria"],
      "coding",
    );
  });

  test("is refused where it isn't one", () => {
    for (const text of ["maybe", "2", "truee"]) {
      assert.match(
        from({ ASSAY_SEND_IMAGES: text }).problems()[0] ?? "",
        /ASSAY_SEND_IMAGES .* must be true or false/,
      );
    }
    for (const text of ["Infinity", "NaN", "0x10", "1e999", "1,5", "1.5"]) {
      assert.equal(from({ ASSAY_REPEATS: text }).get()["repeats"], null, text);
      assert.equal(from({ ASSAY_REPEATS: text }).problems().length, 1, text);
    }
    assert.match(
      from({ ASSAY_JUDGE: "{broken" }).problems()[0] ?? "",
      /must be valid JSON/,
    );
    assert.match(
      from({ ASSAY_REDACT: "plain" }).problems()[0] ?? "",
      /must be valid JSON/,
    );
  });
});
