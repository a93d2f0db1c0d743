// @ts-check
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { findEnvelopes, readResult } from "../../lib/routing/envelopes.js";
import { asked, envelope, rendered, workflow } from "../fakes/routing.js";

/** @param {string} text @returns {any} */
const read = (text) => readResult(text, 7);

describe("a workflow's result", () => {
  test("holds a candidate group as bare JSON, as the host renders it, and as JSON text", () => {
    const value = envelope(["first", "second"]);
    const expected = {
      version: 1,
      groupId: "g1",
      stage: "artifact",
      scope: null,
      candidates: [{ id: "c1", label: null, content: "first" }, { id: "c2", label: null, content: "second" }],
      leftOut: [],
      seq: 7,
    };
    for (
      const text of [
        JSON.stringify(value),
        `\n ${JSON.stringify(value, null, 2)} \n`,
        rendered(value),
        rendered(value, { name: 'odd "name" completed (3 agents).', agents: 1 }),
        rendered(JSON.stringify(value)),
      ]
    ) assert.deepEqual(read(text), expected, text.slice(0, 60));
  });

  test("gives back every content as it was, whatever it looks like", () => {
    let state = 7;
    const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
    const parts = [
      '"',
      "\\",
      "\n",
      "Return value:\n",
      "{}",
      "\u2026 [truncated: 5 more characters]",
      "\u{1f600}",
      "\u2028",
      "a",
      " ",
    ];
    for (let round = 0; round < 200; round++) {
      const contents = Array.from(
        { length: 2 + Math.floor(random() * 4) },
        () =>
          "x" +
          Array.from({ length: Math.floor(random() * 12) }, () => parts[Math.floor(random() * parts.length)])
            .join(""),
      );
      const value = envelope(contents, { version: 2, reviewStage: "proposal", scope: "only the client" });
      for (const text of [rendered(value), JSON.stringify(value)]) {
        const found = read(text);
        assert.deepEqual(found.candidates?.map((/** @type {any} */ c) => c.content), contents, found.message);
        assert.equal(found.stage, "proposal");
        assert.equal(found.scope, "only the client");
      }
    }
  });

  test("that is something else is nothing", () => {
    for (
      const text of [
        "",
        "done",
        rendered({ answer: 42 }),
        rendered(["a", "b"]),
        rendered(null),
        '{"candidates": []}',
        "Error: workflow run failed: x",
      ]
    ) assert.equal(read(text), null, text);
  });

  test("that is malformed names what is wrong, with its place and value", () => {
    const good = envelope(["first", "second"]);
    const [first, second] = good.candidates;
    /** @type {[object, RegExp][]} */
    const cases = [
      [
        { protocol: "dsh-verifier-candidate" },
        /\/protocol must be "dsh-verifier-candidates" \(value: "dsh-verifier-candidate"\)/,
      ],
      [{ version: 3 }, /\/version must be 1 or 2 \(value: 3\)/],
      [{ version: "1" }, /\/version must be 1 or 2 \(value: "1"\)/],
      [{ version: 2 }, /\/reviewStage must be "proposal" or "artifact" in version 2 \(value: none\)/],
      [{ reviewStage: "draft" }, /\/reviewStage must be "proposal" or "artifact" \(value: "draft"\)/],
      [{ groupId: " " }, /\/groupId must be a text of 1 to 200 characters \(value: " "\)/],
      [
        { scope: "x".repeat(2001) },
        /\/scope must be a text of at most 2000 characters \(value: "2001 characters"\)/,
      ],
      [{ scope: 4 }, /\/scope must be .* \(value: 4\)/],
      [{ candidates: {} }, /\/candidates must be an array \(value: {}\)/],
      [{ candidates: [first] }, /\/candidates must have 2 to 1000 entries \(value: "1 entries"\)/],
      [{ candidates: [first, "second"] }, /\/candidates\/1 must be an object \(value: "second"\)/],
      [
        { candidates: [first, { ...second, id: "c1" }] },
        /\/candidates\/1\/id must not repeat an earlier candidate's id \(value: "c1"\)/,
      ],
      [{ candidates: [first, { ...second, id: 2 }] }, /\/candidates\/1\/id must be a text .* \(value: 2\)/],
      [{ candidates: [first, { ...second, label: "" }] }, /\/candidates\/1\/label must be a text/],
      [
        { candidates: [first, { id: "c2", content: "x" }] },
        /\/candidates\/1\/status must be "completed", .* \(value: none\)/,
      ],
      [
        { candidates: [first, { ...second, content: "\n" }] },
        /\/candidates\/1\/content must be a text that isn't blank \(value: "\\n"\)/,
      ],
      [
        { candidates: [first, { ...second, content: { text: "x" } }] },
        /\/candidates\/1\/content must be a text/,
      ],
    ];
    for (const [change, message] of cases) {
      for (const text of [JSON.stringify({ ...good, ...change }), rendered({ ...good, ...change })]) {
        assert.match(read(text).message, message);
      }
    }
  });

  test("with many faults names three and counts the rest", () => {
    const value = { ...envelope(["a", "b"]), version: 0, groupId: 1, candidates: [{}, {}] };
    const { message } = read(rendered(value));
    assert.match(
      message,
      /^the candidate envelope is void: \/version .*; \/groupId .*; \/candidates\/0\/id .*; and \d+ more$/,
    );
  });

  test("that the host cut or moved away says so", () => {
    const long = envelope(["a".repeat(400), "b".repeat(400)]);
    const cut = rendered(long, { max: 500 });
    assert.match(
      read(cut).message,
      /the host cut \d+ characters off it \(maxResultChars of its workflow tool\), so/,
    );
    const note = "\n\n(Omitted 700 bytes. Full formatted result stored at: /x. Use read.)";
    assert.match(
      read(rendered(long).slice(0, 300) + note).message,
      /the host moved 700 bytes of it into a file \(maxInlineBytes of its spill policy\), so/,
    );
    assert.match(read(cut + note).message, /cut \d+ characters off it .* and moved 700 bytes of it/);
    assert.equal(read(rendered({ other: "x".repeat(900) }, { max: 500 })), null);
  });

  test("leaves out candidates that aren't completed as long as two remain", () => {
    const value = envelope(["a", "b", "c"]);
    const failed = { id: "c2", label: "second", status: "failed" };
    const found = read(
      rendered({ ...value, candidates: [value.candidates[0], failed, value.candidates[2]] }),
    );
    assert.deepEqual(found.candidates.map((/** @type {any} */ c) => c.id), ["c1", "c3"]);
    assert.deepEqual(found.leftOut, [{ id: "c2", label: "second", status: "failed" }]);
    const few = read(rendered({ ...value, candidates: [value.candidates[0], failed] }));
    assert.match(
      few.message,
      /\/candidates must have at least 2 completed entries \(value: "1; \\?"c2\\?" is \\?"failed\\?""\)/,
    );
  });
});

describe("the candidate groups of a session", () => {
  test("are found in every format of the log, newest first, and of one group only the newest", () => {
    for (const version of [0, 1, 2, 3, 4]) {
      const session = asked({ version });
      workflow(session, rendered(envelope(["a", "b"], { groupId: "one" })));
      workflow(session, rendered(envelope(["a", "b"], { groupId: "two" })));
      workflow(session, rendered(envelope(["c", "d"], { groupId: "one" })));
      const { envelopes, faults } = findEnvelopes(session.log);
      assert.deepEqual(faults, []);
      assert.deepEqual(
        envelopes.map(({ groupId, candidates }) => [groupId, candidates[0]?.content]),
        [["one", "c"], ["two", "a"]],
        `format ${version}`,
      );
    }
  });

  test("don't come from failed calls, other tools, or before the task", () => {
    const session = asked();
    const text = rendered(envelope(["a", "b"]));
    workflow(session, text, { isError: true });
    workflow(session, text, { name: "bash" });
    workflow(session, text, { name: "subagent" });
    assert.deepEqual(findEnvelopes(session.log).envelopes, []);
    workflow(session, text);
    assert.equal(findEnvelopes(session.log).envelopes.length, 1);
    assert.deepEqual(findEnvelopes(session.log, session.log.length), { envelopes: [], faults: [] });
  });

  test("come from a program's own call of the workflow tool", () => {
    for (const version of [0, 4]) {
      const session = asked({ version });
      session.agent("", [{ id: "r", name: "run_code", args: { code: "x" } }]);
      session.call("r", "run_code", { code: "x" });
      session.dispatched(session.dispatch("r", "workflow", {}), rendered(envelope(["a", "b"])));
      session.result("r", "ok");
      assert.equal(findEnvelopes(session.log).envelopes.length, 1);
    }
  });

  test("come from a renamed tool when the host recorded the run", () => {
    const session = asked();
    const text = rendered(envelope(["a", "b"]), { name: "draft" });
    session.agent("", [{ id: "w", name: "orchestrate", args: {} }]);
    session.call("w", "orchestrate", {});
    session.append("tool-workflow/run-start", { runId: "r1", name: "draft" });
    session.append("tool-workflow/run-end", { runId: "r1", stopReason: "completed" });
    session.result("w", text);
    assert.equal(findEnvelopes(session.log).envelopes.length, 1);

    const faked = asked();
    faked.tool("w", "mcp__x__y", {}, text);
    assert.equal(findEnvelopes(faked.log).envelopes.length, 0);
  });

  test("that are malformed are reported beside the good ones", () => {
    const session = asked();
    workflow(session, rendered(envelope(["a", "b"], { version: 9 })));
    workflow(session, rendered(envelope(["a", "b"])));
    const { envelopes, faults } = findEnvelopes(session.log);
    assert.equal(envelopes.length, 1);
    assert.match(faults[0]?.message ?? "", /the group "g1" is void: \/version/);
  });

  const folder = new URL("../../../../shared/data/session-logs/", import.meta.url);
  const there = existsSync(folder);
  test(
    "are none in the sample logs of real hosts",
    { skip: there ? false : "the sample logs aren't here" },
    () => {
      const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
      assert.equal(files.length, 6);
      for (const file of files) {
        const events = readFileSync(new URL(file, folder), "utf8").trim().split("\n").slice(1)
          .map((line) => JSON.parse(line)).filter((event) => event.seq !== undefined);
        assert.deepEqual(findEnvelopes(events), { envelopes: [], faults: [] }, file);
      }
    },
  );
});
