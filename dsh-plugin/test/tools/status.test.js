// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSettings } from "../../lib/config/resolve.js";
import { VerifierError } from "../../lib/server/errors.js";
import { status as spec } from "../../lib/tools/status_spec.js";
import { fakeExecution } from "../fakes/deps.js";
import { problem, recorded } from "../fakes/server.js";
import { rig } from "./harness.js";

const PATH = "GET /v1/status";

describe("verifier_status", () => {
  test("tells the server, its judges, the settings and where they come from", async () => {
    const { call } = rig(spec, { [PATH]: recorded("status") }, {
      config: { judge: "stub" },
      environment: {
        ASSAY_URL: "http://127.0.0.1:9999",
        ASSAY_TOKEN: "very-secret",
      },
    });
    const { value, text } = await call({});
    assert.equal(value.reachable, true);
    assert.equal(value.url, "http://127.0.0.1:9999");
    assert.deepEqual(
      value.server.judges.map((/** @type {any} */ judge) => judge.name),
      ["evidence", "stub"],
    );
    const byName = Object.fromEntries(
      value.settings.map((/** @type {any} */ each) => [each.name, each]),
    );
    assert.deepEqual(byName["judge"], {
      name: "judge",
      value: "stub",
      source: "row",
    });
    assert.deepEqual(byName["url"], {
      name: "url",
      value: "http://127.0.0.1:9999",
      source: "environment",
    });
    assert.deepEqual(byName["timeoutMs"], {
      name: "timeoutMs",
      value: 600_000,
      source: "default",
    });
    assert.equal(byName["token"].value, "(set, not shown)");
    assert.equal(
      JSON.stringify(value).includes("very-secret") ||
        text.includes("very-secret"),
      false,
    );
    assert.match(text, /^The verifier answers at http:\/\/127\.0\.0\.1:9999\./);
    assert.match(text, /- evidence: rules, no model/);
    assert.match(text, /- judge: stub \(row\)/);
    assert.match(text, /working directory \/nowhere/);
    assert.equal(value.workingDirectory, "/nowhere");
  });

  test("works while the server is down: that is a result with the code and what to do", async () => {
    const down = new VerifierError(
      "server_unreachable",
      "Nothing listens at http://127.0.0.1:8787.",
    );
    const { value, text } = await rig(spec, { [PATH]: down }).call({});
    assert.equal(value.reachable, false);
    assert.equal(value.code, "server_unreachable");
    assert.equal(value.server, null);
    assert.match(
      text,
      /^The verifier can't be used: server_unreachable: Nothing listens/,
    );
    assert.match(value.detail, /deno task serve/);
  });

  test("doesn't send its reader to itself when a server couldn't be started", async () => {
    const { text } = await rig(spec, { [PATH]: new VerifierError("server_unreachable", "npx: not found.") }, {
      config: { autostart: true },
      autostart: { state: () => ({ state: "failed", detail: "npx: not found." }) },
    }).call({});
    assert.match(text, /^The verifier can't be used: server_unreachable: npx: not found\.\n/);
  });

  test("a refused token and an unreadable answer are told as such", async () => {
    const refused = await rig(spec, {
      [PATH]: problem("unauthorized", 401, "A token is needed."),
    }).call({});
    assert.equal(refused.value.code, "unauthorized");
    assert.match(refused.value.detail, /ASSAY_TOKEN/);
    assert.match(
      refused.text,
      /^The verifier can't be used, though something answers at http:\/\/127\.0\.0\.1:8787: unauthorized: A token is needed\. Ask the user/,
    );
    const strange = await rig(spec, { [PATH]: { name: "other" } }).call({});
    assert.equal(strange.value.code, "bad_answer");
    assert.equal(strange.value.server, null);
    assert.match(strange.text, /^The verifier can't be used, though something answers at .*: bad_answer: /);
  });

  test("shows what is left of the budget", async () => {
    const document = {
      ...recorded("status"),
      budget: {
        day: "2026-12-01",
        resetsAt: "2026-12-02T00:00:00.000Z",
        limits: { calls: 100, tokens: null, usd: 5 },
        spent: {
          calls: 40,
          tokens: 9,
          usd: 1.5,
          estimated: { tokens: 0, usd: 0 },
        },
        held: { calls: 10, tokens: 0, usd: 0 },
      },
    };
    const { text } = await rig(spec, { [PATH]: document }).call({});
    assert.match(
      text,
      /Budget left today: 50 calls, \$3\.50; resets 2026-12-02/,
    );
  });

  test("names what is wrong with the settings and how autostart went", async () => {
    const { call } = rig(spec, { [PATH]: recorded("status") }, {
      config: { autostart: true },
      environment: { ASSAY_TIMEOUT_MS: "soon" },
      autostart: {
        state: () => ({ state: "failed", detail: "npx: not found" }),
      },
    });
    const { value, text } = await call({});
    assert.deepEqual(value.autostart, {
      enabled: true,
      state: "failed",
      detail: "npx: not found",
    });
    assert.match(text, /autostart on \(failed\)/);
    assert.match(text, /Problem: .*ASSAY_TIMEOUT_MS/);
  });

  test("tells whether the gate is on, its settings, and what is wrong with them", async () => {
    const environment = { ASSAY_GATE_ENABLED: "true", ASSAY_GATE_THRESHOLD: "7", ASSAY_JUDGE: "stub" };
    const gate = createSettings({ row: "gate", config: { mode: "smart" }, environment });
    const { value, text } = await rig(spec, { [PATH]: recorded("status") }, { environment, gate: () => gate })
      .call({});
    assert.deepEqual(value.gate, { on: true, mode: "smart", threshold: 0.6 });
    assert.match(text, /Gate: on, threshold 0\.6; automatic reviews: smart\./);
    assert.match(text, /- gateEnabled: true \(environment\)/);
    assert.match(text, /- gateMode: smart \(row\)/);
    assert.doesNotMatch(text, /practically everything/);
    assert.match(
      text,
      /Problem: The variable ASSAY_GATE_THRESHOLD is not used: it must be a number from 0 to 1/,
    );
    assert.equal(value.settings.filter((/** @type {any} */ each) => each.name === "judge").length, 1);
  });

  test("warns of a gate whose judge is none to rely on", async () => {
    const environment = { ASSAY_GATE_ENABLED: "true", ASSAY_JUDGE: "evidence" };
    const gate = createSettings({ row: "gate", config: undefined, environment });
    const { text } = await rig(spec, { [PATH]: recorded("status") }, { environment, gate: () => gate }).call(
      {},
    );
    assert.match(text, /Gate: on, .* Its judge is evidence, whose rules let practically everything pass/);
  });

  test("says so where there is no gate", async () => {
    const { value, text } = await rig(spec, { [PATH]: recorded("status") }).call({});
    assert.equal(value.gate, null);
    assert.match(text, /Gate: this host has none\./);
  });

  test("a cancelled call is an error, not a server that is down", async () => {
    const controller = new AbortController();
    const { fails } = rig(spec, { [PATH]: () => new Promise(() => {}) }, {
      execution: fakeExecution({ signal: controller.signal }),
    });
    const done = fails({}, { code: "aborted" });
    controller.abort({ kind: "disposed" });
    await done;
  });
});
