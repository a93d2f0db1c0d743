// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DESCRIBED, settingsTable } from "../../lib/config/described_fields.js";
import { TEXTS } from "../../lib/config/field_texts.js";
import { FIELDS, fieldsOf } from "../../lib/config/fields.js";
import { announceRow, rowConfig } from "../../lib/config/rows.js";
import { configSchema } from "../../lib/config/schemas.js";
import { misfit, parseServerUrl } from "../../lib/config/values.js";
import { nearestName } from "../../lib/server/errors.js";

/** @param {"tools" | "gate"} row @param {unknown} value */
const validate = (row, value) => configSchema(row)["~standard"].validate(value);

describe("the table of fields", () => {
  test("has no name, setting or variable twice in a row", () => {
    for (const key of /** @type {const} */ (["settings", "env"])) {
      const all = FIELDS.map((field) => field[key]);
      assert.equal(new Set(all).size, all.length, key);
    }
    for (const row of /** @type {const} */ (["tools", "gate"])) {
      const names = fieldsOf(row).map(({ name }) => name);
      assert.equal(new Set(names).size, names.length);
    }
  });

  test("names variables and settings as documented", () => {
    const of = Object.fromEntries(
      FIELDS.map(({ settings, env }) => [settings, env]),
    );
    assert.equal(of["url"], "ASSAY_URL");
    assert.equal(of["timeoutMs"], "ASSAY_TIMEOUT_MS");
    assert.equal(of["serverDirectory"], "ASSAY_HOME");
    assert.equal(of["gateMaxGatesPerTurn"], "ASSAY_GATE_MAX_GATES_PER_TURN");
  });

  test("has defaults that fit", () => {
    for (const field of FIELDS) {
      if (field.default !== null) {
        assert.equal(misfit(field, field.default), null, field.name);
      }
    }
  });

  test("has a text in both languages for every field and for nothing else", () => {
    assert.deepEqual(
      Object.keys(TEXTS).sort(),
      FIELDS.map(({ settings }) => settings).sort(),
    );
    for (const { title, help, name } of DESCRIBED) {
      for (const text of [title.en, title.zh, help.en, help.zh]) {
        assert.ok(text.trim() !== "", name);
      }
      assert.match(title.zh + help.zh, /\p{Script=Han}/u, name);
      assert.doesNotMatch(title.en + help.en, /\p{Script=Han}/u, name);
    }
  });

  test("can be written as a table", () => {
    const table = settingsTable("en");
    assert.equal(table.length, FIELDS.length);
    assert.deepEqual(
      table.find(({ settings }) => settings === "gateThreshold"),
      {
        group: "gate",
        row: "gate",
        name: "threshold",
        type: "number, 0 to 1",
        default: "`0.6`",
        settings: "gateThreshold",
        env: "ASSAY_GATE_THRESHOLD",
        argument: false,
        help: "Work with a score below it is sent back.",
      },
    );
  });
});

describe("a row's Config", () => {
  test("takes no configuration at all", () => {
    for (const value of [undefined, null, {}]) {
      assert.deepEqual(validate("tools", value), { value: {} });
      assert.deepEqual(validate("gate", value), { value: {} });
    }
  });

  test("fills nothing in, as the user's settings come after it", () => {
    assert.deepEqual(validate("gate", { enabled: true }), {
      value: { enabled: true },
    });
  });

  test("takes null for not set, as YAML writes it", () => {
    assert.ok("value" in validate("tools", { judge: null, token: undefined }));
  });

  test("names field, value and path of what doesn't fit", () => {
    assert.deepEqual(validate("gate", { threshold: "0.5" }), {
      issues: [{
        path: ["threshold"],
        message: 'threshold must be a number from 0 to 1; value: "0.5"',
      }],
    });
    assert.deepEqual(validate("tools", { redact: ["ok", 5] }), {
      issues: [{
        path: ["redact"],
        message: 'redact must be an array of strings, none of them empty; value: ["ok",5]',
      }],
    });
  });

  test("names the nearest known key for an unknown one, of that row", () => {
    const issue = (
      /** @type {"tools" | "gate"} */ row,
      /** @type {string} */ key,
    ) => {
      const outcome = validate(row, { [key]: 1 });
      return "issues" in outcome ? outcome.issues[0]?.message : undefined;
    };
    assert.equal(
      issue("gate", "max_gates_per_turn"),
      'max_gates_per_turn is not a setting of this row; did you mean "maxGatesPerTurn"?',
    );
    assert.equal(
      issue("tools", "URL"),
      'URL is not a setting of this row; did you mean "url"?',
    );
    assert.equal(
      issue("tools", "threshold"),
      "threshold is not a setting of this row, but of the row assay-verify-gate",
    );
    assert.equal(issue("gate", "repeats"), "repeats is not a setting of this row, but of the row assay");
    assert.equal(
      issue("tools", "__proto__x"),
      "__proto__x is not a setting of this row",
    );
  });

  test("never shows a token", () => {
    const outcome = validate("tools", { token: "white space" });
    assert.ok("issues" in outcome);
    assert.equal(
      outcome.issues[0]?.message,
      "token must be visible ASCII characters without spaces (its value is not shown)",
    );
  });

  test("refuses what is no object", () => {
    for (const value of [[], "x", 5]) {
      assert.deepEqual(validate("tools", value), {
        issues: [{ path: [], message: "config must be an object of settings" }],
      });
    }
  });
});

describe("the server's address", () => {
  test("may be http or https with a path, and nothing more", () => {
    const parsed = parseServerUrl("https://judge.example/assay/");
    assert.ok(typeof parsed !== "string");
    assert.deepEqual([parsed.base, parsed.port, parsed.loopback], [
      "https://judge.example/assay",
      443,
      false,
    ]);
    const cases = /** @type {const} */ ([
      [5, /string/],
      ["judge.example", /absolute/],
      ["file:///etc/passwd", /http/],
      ["http://a:b@c", /user name/],
      ["http://a/?q=1", /query/],
      ["http://a/#x", /fragment/],
    ]);
    for (const [value, rule] of cases) {
      const refused = parseServerUrl(value);
      assert.ok(typeof refused === "string");
      assert.match(refused, rule);
    }
  });

  test("is on this machine only when no resolver is needed to know it", () => {
    const loopback = (/** @type {string} */ url) => {
      const parsed = parseServerUrl(url);
      return typeof parsed === "string" ? null : parsed.loopback;
    };
    for (
      const url of [
        "http://127.0.0.1:1",
        "http://localhost",
        "http://[::1]:8",
        "http://2130706433",
        "http://127.1",
      ]
    ) {
      assert.equal(loopback(url), true, url);
    }
    for (
      const url of [
        "http://127.0.0.1.example",
        "http://localhost.example",
        "http://10.0.0.1",
        "http://0.0.0.0",
      ]
    ) {
      assert.equal(loopback(url), false, url);
    }
  });
});

describe("rows that see each other", () => {
  /** A context as far as rows look at it. @param {object} root @param {object} [scope] */
  function context(root, scope) {
    /** @type {(() => void)[]} */
    const undo = [];
    const ctx = {
      root,
      effect: (/** @type {() => () => void} */ run) => undo.push(run()),
      ...(scope === undefined ? {} : { [Symbol("dsh.scope")]: scope }),
    };
    return { ctx, dispose: () => undo.forEach((run) => run()) };
  }

  test("the gate sees the tools row whichever comes first, until that is disposed", () => {
    const root = {};
    const [tools, gate] = [context(root), context(root)];
    assert.equal(rowConfig(gate.ctx, "tools"), undefined);
    announceRow(tools.ctx, "tools", { url: "http://127.0.0.1:1" });
    assert.deepEqual(rowConfig(gate.ctx, "tools"), {
      url: "http://127.0.0.1:1",
    });
    assert.equal(rowConfig(context({}).ctx, "tools"), undefined);
    tools.dispose();
    assert.equal(rowConfig(gate.ctx, "tools"), undefined);
  });

  test("a preset's gate sees its own preset's tools row, else the profile's", () => {
    const root = {};
    const [one, two] = [{}, {}];
    announceRow(context(root).ctx, "tools", { judge: "profile" });
    announceRow(context(root, one).ctx, "tools", { judge: "preset" });
    const inherited = Object.create(context(root, one).ctx);
    assert.deepEqual(rowConfig(inherited, "tools"), { judge: "preset" });
    assert.deepEqual(rowConfig(context(root, two).ctx, "tools"), {
      judge: "profile",
    });
    assert.deepEqual(rowConfig(context(root).ctx, "tools"), {
      judge: "profile",
    });
  });

  test("a row that was mounted again isn't forgotten with its older self", () => {
    const root = {};
    const older = context(root);
    announceRow(older.ctx, "tools", { judge: "older" });
    announceRow(context(root).ctx, "tools", { judge: "newer" });
    older.dispose();
    assert.deepEqual(rowConfig(context(root).ctx, "tools"), { judge: "newer" });
  });
});

test("the nearest name is one that could have been meant", () => {
  const known = ["threshold", "maxGatesPerTurn", "criteria", "url"];
  assert.equal(nearestName("treshold", known), "threshold");
  assert.equal(nearestName("criterias", known), "criteria");
  assert.equal(nearestName("temperature", known), null);
});
