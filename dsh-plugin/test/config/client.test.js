// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { editOf, faultOf } from "../../client/edits.js";
import { FIELDS } from "../../client/fields.js";
import { GROUPS, say, TEXTS } from "../../client/texts.js";
import { fieldOfSetting } from "../../lib/config/fields.js";
import { misfit } from "../../lib/config/values.js";
import { builtClient } from "../../scripts/build_client.js";

/** @param {string} key */
function fieldOf(key) {
  const field = FIELDS.find((each) => each.key === key);
  if (field === undefined) throw new Error(`no field ${key}`);
  return field;
}

describe("client.js", () => {
  const source = readFileSync(
    new URL("../../client.js", import.meta.url),
    "utf8",
  );

  test("is what its parts and the table of fields make: else run `node scripts/build_client.js`", () => {
    assert.equal(source, builtClient());
  });

  test("is a script that gives the loader a plugin and does nothing by itself", () => {
    /** @type {any[]} */
    const loaded = [];
    const run = new Function("window", `"use strict"; ${source}`);
    run({
      __ModuleLoader__: {
        load: (/** @type {any} */ module) => loaded.push(module),
      },
    });
    assert.equal(loaded[0].id, "dsh-assay");
    const plugin = loaded[0].factory(() => ({}));
    assert.deepEqual([plugin.name, plugin.inject], ["dsh-assay", [
      "slots",
      "settingsScope",
    ]]);
    assert.equal(typeof plugin.apply, "function");
  });

  test("carries no default of a secret", () => {
    for (const field of FIELDS) {
      if (field.secret) assert.equal(field.default, null);
    }
  });
});

describe("the card's fields", () => {
  test("each stand in a group that has a name", () => {
    for (const { group, key } of FIELDS) {
      assert.ok(GROUPS[group] !== undefined, key);
    }
  });

  test("judge values as the host does", () => {
    const values = [
      ...[
        true,
        false,
        0,
        1,
        0.5,
        -1,
        7,
        1e9,
        NaN,
        "any",
        "manual",
        "clever",
        "https://a.example/x",
        "ftp://a",
        "http://u:p@a",
      ],
      ...["two words", "nöt", "plain", [], ["a"], ["a", ""], ["a", 5], {}, {
        a: 1,
      }],
    ];
    for (const field of FIELDS) {
      const host = fieldOfSetting(field.key);
      assert.ok(host !== undefined);
      for (const value of values) {
        if (
          field.type === "string" && field.enum === undefined &&
          typeof value !== "string"
        ) continue;
        const label = `${field.key} = ${JSON.stringify(value)}`;
        assert.equal(
          faultOf(field, value) === null,
          misfit(host, value) === null,
          label,
        );
      }
    }
  });
});

describe("an edit", () => {
  test("of a number is a number, or says its range", () => {
    const field = fieldOf("gateThreshold");
    assert.deepEqual(editOf(field, { text: " 0.7 " }), { set: 0.7 });
    assert.deepEqual(editOf(field, { text: "1.2" }), {
      fault: { name: "mustBeNumber", values: { minimum: 0, maximum: 1 } },
    });
    assert.deepEqual(editOf(field, { text: "x" }), {
      fault: { name: "mustBeNumber", values: { minimum: 0, maximum: 1 } },
    });
    assert.ok("fault" in editOf(fieldOf("repeats"), { text: "1.5" }));
  });

  test("that leaves nothing resets", () => {
    for (const field of FIELDS) {
      assert.deepEqual(editOf(field, { text: "  " }), { unset: true });
    }
    assert.deepEqual(editOf(fieldOf("autostart"), { unset: true }), {
      unset: true,
    });
  });

  test("of a name or a document is read as JSON only where it looks like JSON", () => {
    const judge = fieldOf("judge");
    assert.deepEqual(editOf(judge, { text: "deepseek" }), { set: "deepseek" });
    assert.deepEqual(editOf(judge, { text: '["a", {"profile": "b"}]' }), {
      set: ["a", { profile: "b" }],
    });
    assert.deepEqual(editOf(judge, { text: "{broken" }), {
      fault: { name: "mustBeJson" },
    });
    assert.deepEqual(
      editOf(fieldOf("criteria"), { text: "[a](b)\n# Rubric" }),
      { set: "[a](b)\n# Rubric" },
    );
    assert.deepEqual(editOf(fieldOf("redact"), { text: "plain" }), {
      fault: { name: "mustBeStrings" },
    });
    assert.deepEqual(editOf(fieldOf("redact"), { text: '["a\\\\d"]' }), {
      set: ["a\\d"],
    });
  });

  test("of a switch is true or false", () => {
    assert.deepEqual(editOf(fieldOf("sendImages"), { flag: false }), {
      set: false,
    });
  });
});

test("every text of the card is there in English and in Chinese, with the same places to fill", () => {
  const places = (/** @type {string} */ text) => (text.match(/\{\w+\}/g) ?? []).sort();
  for (
    const [name, { en, zh }] of [
      ...Object.entries(TEXTS),
      ...Object.entries(GROUPS),
    ]
  ) {
    assert.ok(
      en !== undefined && zh !== undefined && en !== "" &&
        /\p{Script=Han}/u.test(zh),
      name,
    );
    assert.deepEqual(places(en), places(zh), name);
  }
  assert.equal(say("range", "en", { minimum: 0, maximum: 1 }), "0 to 1");
});
