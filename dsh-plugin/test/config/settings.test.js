// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FIELDS } from "../../lib/config/fields.js";
import { createSettings } from "../../lib/config/resolve.js";
import { installNamespace } from "../../lib/config/settings_namespace.js";
import { settingsSchema } from "../../lib/config/schemas.js";
import { FakeHost } from "../fakes/settings_host.js";

describe("the settings schema", () => {
  test("is the user's layer and nothing more", () => {
    assert.deepEqual(settingsSchema()({ judge: "deepseek" }), {
      judge: "deepseek",
    });
    assert.deepEqual(settingsSchema()(undefined), {});
  });

  test("lets the stored section pass and holds every change to the rules", () => {
    const schema = settingsSchema();
    const stored = { gateThreshold: "high", judge: "deepseek" };
    assert.deepEqual(schema(stored), stored);
    assert.deepEqual(schema({ ...stored, repeats: 2 }), {
      ...stored,
      repeats: 2,
    });
    assert.throws(
      () => schema({ ...stored, gateThreshold: 2 }),
      /gateThreshold must be a number from 0 to 1; value: 2/,
    );
    assert.throws(
      () => schema({ ...stored, treshold: 1 }),
      /treshold is not a setting; did you mean "gateThreshold"\?/,
    );
    assert.deepEqual(schema({ judge: "deepseek" }), { judge: "deepseek" });
  });

  test("tells a refused token without its value", () => {
    const schema = settingsSchema();
    schema({});
    assert.throws(() => schema({ token: "s3 cret" }), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /^token must be visible ASCII/);
      assert.ok(!error.message.includes("s3 cret"));
      return true;
    });
  });

  test("marks the token, and only it, as a secret without a default", () => {
    const { type, dict = {} } = settingsSchema();
    assert.equal(type, "object");
    assert.deepEqual(
      Object.keys(dict).sort(),
      FIELDS.map(({ settings }) => settings).sort(),
    );
    const secrets = Object.entries(dict).filter(([, { meta }]) => meta["role"] === "secret").map(([key]) =>
      key
    );
    assert.deepEqual(secrets, ["token"]);
    assert.ok(Object.values(dict).every(({ meta }) => !("default" in meta)));
  });

  test("is sent as one table of numbered nodes whose references all exist", () => {
    const { uid, refs } = /** @type {{ uid: number, refs: Record<string, any> }} */ (JSON.parse(
      JSON.stringify(settingsSchema()),
    ));
    assert.equal(refs[uid].type, "object");
    for (const [key, reference] of Object.entries(refs[uid].dict)) {
      const node = refs[/** @type {string} */ (reference)];
      assert.ok(node !== undefined, key);
      for (const each of node.list ?? []) {
        assert.equal(refs[each].type, "const");
      }
    }
    const threshold = refs[refs[uid].dict.gateThreshold];
    assert.deepEqual([threshold.type, threshold.meta.min, threshold.meta.max], [
      "number",
      0,
      1,
    ]);
  });
});

describe("the settings namespace", () => {
  /** @param {FakeHost} host @param {object} [options] */
  const install = (host, options) => installNamespace(host.context(options), { log: host.log });

  test("is registered once although both rows ask", () => {
    const host = new FakeHost({ assay: { judge: "deepseek" } });
    const [tools, gate] = [install(host), install(host)];
    assert.equal(host.registered.size, 1);
    assert.deepEqual([tools.user(), gate.user()], [{ judge: "deepseek" }, {
      judge: "deepseek",
    }]);
    assert.deepEqual(host.said, []);
  });

  test("goes to the other row when the first is unloaded", () => {
    const host = new FakeHost({ assay: { judge: "deepseek" } });
    const first = host.context();
    installNamespace(first, { log: host.log });
    const second = install(host);
    first.dispose();
    assert.equal(host.registered.size, 1);
    assert.deepEqual(second.user(), { judge: "deepseek" });
    assert.deepEqual(host.said, []);
  });

  test("is only read by a row of a preset", () => {
    const host = new FakeHost({ assay: { judge: "deepseek" } });
    const preset = install(host, { scope: {} });
    assert.equal(host.registered.size, 0);
    assert.deepEqual(preset.user(), {});
    install(host);
    assert.deepEqual(preset.user(), { judge: "deepseek" });
  });

  test("is empty where no settings service comes, and works when one comes late or goes", () => {
    const host = new FakeHost({ assay: { judge: "deepseek" } }, {
      service: false,
    });
    const namespace = install(host);
    let changes = 0;
    namespace.onChange(() => changes++);
    assert.deepEqual(namespace.user(), {});
    host.provide();
    assert.deepEqual(namespace.user(), { judge: "deepseek" });
    assert.ok(changes > 0);
    host.withdraw();
    assert.deepEqual(namespace.user(), {});
  });

  test("is read live, as the same object while nothing changes", () => {
    const host = new FakeHost({ assay: { judge: "first" } });
    const { user, onChange } = install(host);
    const settings = createSettings({ row: "tools", config: undefined, user });
    let changes = 0;
    onChange(() => changes++);
    assert.equal(user(), user());
    assert.equal(settings.get(), settings.get());
    host.write("assay", { judge: "second" });
    assert.equal(settings.get()["judge"], "second");
    assert.equal(changes, 1);
  });

  test("with a bad value in the file still gives the good ones", () => {
    const host = new FakeHost({
      assay: { judge: "deepseek", gateThreshold: 7 },
    });
    const { user } = install(host);
    const gate = createSettings({ row: "gate", config: undefined, user });
    assert.deepEqual([gate.get()["judge"], gate.get()["threshold"]], [
      "deepseek",
      0.6,
    ]);
    assert.match(
      gate.problems()[0] ?? "",
      /gateThreshold is not used: it must be a number from 0 to 1; value: 7/,
    );
  });

  test("that another plugin has taken is said once and costs nothing else", () => {
    const host = new FakeHost({});
    host.registered.set("assay", () => ({}));
    install(host);
    install(host);
    assert.equal(host.said.length, 1);
    assert.match(
      host.said[0] ?? "",
      /can't be registered, so rows and environment alone decide: .*already registered/,
    );
  });

  test("is given up where the host would show the token", async () => {
    for (
      const fault of /** @type {const} */ (["shows", "unlisted", "throws"])
    ) {
      const host = new FakeHost({ assay: { token: "s3cret" } }, { fault });
      install(host);
      await Promise.resolve();
      assert.equal(host.registered.size, 0, fault);
      assert.match(
        host.said[0] ?? "",
        /settings are off, as the host would not keep the token to itself/,
      );
      assert.ok(!host.said.join().includes("s3cret"));
    }
  });

  test("is read through describe() where the host has no get()", () => {
    const host = new FakeHost({ assay: { judge: "deepseek" } }, {
      without: ["get"],
    });
    assert.deepEqual(install(host).user(), { judge: "deepseek" });
    const bare = new FakeHost({ assay: {} }, {
      without: ["get", "describe", "register"],
    });
    assert.deepEqual(install(bare).user(), {});
    assert.match(bare.said[0] ?? "", /no register\(\)/);
  });
});
