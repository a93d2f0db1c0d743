// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bestOfN, compare, select, track } from "../../lib/tools/judging_specs.js";
import { recorded } from "../fakes/server.js";
import { rig } from "./harness.js";

/** @type {readonly [string, any, string, string, Record<string, unknown>][]} */
const TOOLS = [
  ["compare", compare, "POST /v1/compare", "compare", { task: "t", a: "x", b: "y" }],
  ["select", select, "POST /v1/select", "select", { task: "t", candidates: ["a", "b"] }],
  ["track", track, "POST /v1/track", "track", { task: "t", steps: ["a"] }],
  ["best of N", bestOfN, "POST /v1/best-of-n", "best_of_n", { prompt: "p" }],
];
/** Fields that the wire may leave out, or that no tool passes on. */
const OPTIONAL = ["verb", "judges", "agreement", "advice"];
/** Best of N lists no pairs. */
const UNUSED = new Set(["best_of_n/pairs"]);

describe("answers of other versions of the server", () => {
  for (const [name, spec, path, document, args] of TOOLS) {
    test(`${name}: a field that is missing is named, whichever it is`, async () => {
      for (const field of Object.keys(recorded(document))) {
        if (OPTIONAL.includes(field) || UNUSED.has(`${document}/${field}`)) continue;
        const { [field]: _, ...answer } = recorded(document);
        await rig(spec, { [path]: answer }).fails(args, (/** @type {any} */ error) => {
          assert.equal(error.code, "bad_answer", `${field}: ${error.message}`);
          assert.ok(error.message.includes(`/${field}`), `${field}: ${error.message}`);
          return true;
        });
      }
    });

    test(`${name}: fields that are new change nothing`, async () => {
      const newer = JSON.parse(
        JSON.stringify(recorded(document)),
        (_key, value) =>
          typeof value === "object" && value !== null && !Array.isArray(value)
            ? { ...value, invented: [1] }
            : value,
      );
      const known = await rig(spec, { [path]: recorded(document) }).call(args);
      const read = await rig(spec, { [path]: newer }).call(args);
      delete newer.channels.invented;
      assert.deepEqual({ ...read.value, scored: 0 }, { ...known.value, scored: 0 });
    });
  }
});
