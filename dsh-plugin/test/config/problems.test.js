// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { reportProblems, strayVariables } from "../../lib/config/problems.js";
import { createSettings } from "../../lib/config/resolve.js";
import { rowIssues } from "../../lib/config/schemas.js";

/** @param {...string} names */
const strays = (...names) => strayVariables(Object.fromEntries(names.map((name) => [name, "x"])));

describe("what is wrong with the settings", () => {
  test("is said once for a host, in its log and on standard error", () => {
    const root = {};
    /** @type {string[]} */
    const logged = [];
    /** @type {string[]} */
    const printed = [];
    const options = {
      log: { warn: (/** @type {string} */ text) => void logged.push(text) },
      print: (/** @type {string} */ line) => void printed.push(line),
    };
    reportProblems({ root }, ["one is\n wrong"], options);
    reportProblems({ root }, ["one is\n wrong", "two is wrong"], options);
    reportProblems({ root: {} }, ["two is wrong", "what?"], options);
    assert.deepEqual(printed, [
      "dsh-assay: one is wrong.\n",
      "dsh-assay: two is wrong.\n",
      "dsh-assay: two is wrong.\n",
      "dsh-assay: what?\n",
    ]);
    assert.equal(logged.length, 4);
  });

  test("a variable that was meant for this plugin and reaches nothing is named", () => {
    assert.deepEqual(strays("ASSAY_GATE_ENABLD"), [
      'The variable ASSAY_GATE_ENABLD is not a setting; did you mean "ASSAY_GATE_ENABLED"?',
    ]);
    assert.deepEqual(strays("ASSAY_AUTO_START", "ASSAY_THRESHOLD"), [
      'The variable ASSAY_AUTO_START is not a setting; did you mean "ASSAY_AUTOSTART"?',
      'The variable ASSAY_THRESHOLD is not a setting; did you mean "ASSAY_GATE_THRESHOLD"?',
    ]);
    assert.deepEqual(
      createSettings({ row: "tools", config: undefined, environment: { ASSAY_GATE_MOD: "smart" } })
        .problems(),
      ['The variable ASSAY_GATE_MOD is not a setting; did you mean "ASSAY_GATE_MODE"?'],
    );
  });

  test("the server's variables and a user's own are left in peace", () => {
    assert.deepEqual(
      strays(
        "ASSAY_PORT",
        "ASSAY_STORE",
        "ASSAY_JUDGE_BASE_URL",
        "ASSAY_JUDGE_MODEL",
        "ASSAY_CONFIG",
        "ASSAY_TOKEN",
        "ASSAY_TOKEN_CI",
        "ASSAY_GATE_ENABLED",
        "PATH",
      ),
      [],
    );
  });

  test("a misspelt setting of the other row is told with that row's id", () => {
    assert.equal(
      rowIssues("tools", { treshold: 0.7 })[0]?.message,
      'treshold is not a setting of this row; did you mean "threshold" of the row assay-verify-gate?',
    );
  });
});
