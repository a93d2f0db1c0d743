// @ts-check
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { changedSnapshots, PROGRESS_THRESHOLD, todoTrack, trackFeedback } from "../../lib/routing/todos.js";
import { isVerification } from "../../lib/routing/work.js";
import { asked, bash, todos } from "../fakes/routing.js";

const OPTIONS = { from: 0, maxCharacters: 200_000 };

/** @param {import("../fakes/host.js").FakeSession} session @param {Partial<typeof OPTIONS>} [options] @returns {any} */
const track = (session, options) => todoTrack(session.log, { ...OPTIONS, ...options });

/** A session with two entries that are done one after the other. @param {number} [version] */
function twoSteps(version = 0) {
  const session = asked({ version });
  todos(session, { write: "in_progress", prove: "pending" });
  bash(session, "sed -i s/a/b/ x.js", "changed");
  session.agent("The edit is in.");
  todos(session, { write: "completed", prove: "in_progress" });
  bash(session, "cat x.js", "b");
  todos(session, { write: "completed", prove: "completed" });
  return session;
}

describe("a todo list that changed", () => {
  test("becomes steps of real outputs, each ending where the list changed, in every format of the log", () => {
    for (const version of [0, 1, 2, 3, 4]) {
      const found = track(twoSteps(version));
      assert.equal(found.kind, "track");
      assert.deepEqual(found.checkpoints, [1, 2]);
      assert.deepEqual(found.steps.map((/** @type {any} */ step) => step.newlyDone), [["write"], ["prove"]]);
      const [first, firstResult, second, secondResult] = found.messages;
      assert.equal(found.messages.length, 4);
      assert.equal(first.role, "assistant");
      assert.match(
        first.content[0].text,
        /^The edit is in\.\nMy todo list after this \(my own claim\): 1 of 2 completed; newly completed: "write"\.$/,
      );
      assert.equal(first.content[1].name, "bash");
      assert.equal(firstResult.content[0].content, "changed");
      assert.equal(firstResult.content[0].tool_use_id, first.content[1].id);
      assert.equal(second.content[1].input.command, "cat x.js");
      assert.equal(secondResult.content[0].content, "b");
    }
  });

  test("is none with a single state, a repeated one, or lists of one entry", () => {
    const once = asked();
    todos(once, { a: "pending", b: "pending" });
    bash(once, "make it", "ok");
    assert.equal(track(once), null);
    todos(once, { a: "pending", b: "pending" });
    assert.equal(track(once), null);
    const short = asked();
    todos(short, { a: "pending" });
    bash(short, "make it", "ok");
    todos(short, { a: "completed" });
    assert.equal(track(short), null);
  });

  test("without any work along with it is none", () => {
    const session = asked();
    todos(session, { a: "pending", b: "pending" });
    session.tool("v", "verifier_compare", {}, "A wins");
    session.tool("j", "subagent", {}, "started background subagent job 7");
    todos(session, { a: "completed", b: "completed" });
    assert.equal(track(session), null);
  });

  test("of an earlier task doesn't count", () => {
    const session = twoSteps();
    session.endTurn();
    session.startTurn();
    const { seq } = session.user("Something else.");
    assert.equal(track(session, { from: seq }), null);
  });

  test("that is ticked off and then checked is left to the final gate, whether the check passed or not", () => {
    const session = twoSteps();
    bash(session, "npm test", "1 failing");
    assert.deepEqual(track(session), { kind: "delivered" });
    const open = asked();
    todos(open, { a: "in_progress", b: "pending" });
    bash(open, "vim x", "ok");
    todos(open, { a: "completed", b: "in_progress" });
    bash(open, "npm test", "ok");
    assert.equal(track(open).kind, "track");
    const before = asked();
    todos(before, { a: "in_progress", b: "pending" });
    bash(before, "npm test", "ok");
    todos(before, { a: "completed", b: "completed" });
    assert.equal(track(before).kind, "track");
  });

  test("keeps the six newest changes, and the work before them in the first step", () => {
    const session = asked();
    for (let i = 0; i < 12; i++) {
      todos(session, { a: `state ${i}`, b: "pending" });
      bash(session, `echo ${i}`, `out ${i}`);
    }
    const found = track(session);
    assert.equal(changedSnapshots(session.log).length, 12);
    assert.equal(found.steps.length, 7);
    assert.equal(found.steps[0].calls.length, 6);
    assert.deepEqual(found.checkpoints, [1, 2, 3, 4, 5, 6, 7]);
  });

  test("shows long outputs by both ends, and stays near the setting with any number of calls", () => {
    for (const count of [1, 30, 400]) {
      const session = asked();
      todos(session, { a: "in_progress", b: "pending" });
      for (let i = 0; i < count; i++) {
        bash(session, `x ${"y".repeat(50_000)}`, `START${"z".repeat(300_000)}END`);
      }
      todos(session, { a: "completed", b: "pending" });
      const found = track(session, { maxCharacters: 20_000 });
      const length = JSON.stringify(found.messages).length;
      assert.ok(length < 40_000, `${count} calls: ${length}`);
      const shownCalls = found.messages[1].content;
      assert.match(shownCalls.at(-1).content, /^START[\s\S]*\[\d+ characters left out here\][\s\S]*END$/);
      if (count > 40) {
        assert.match(found.messages[0].content[0].text, /\(360 earlier calls of this part are not shown\.\)/);
      }
    }
  });

  test("with entries of a strange shape is ignored, not fatal", () => {
    const session = asked();
    for (
      const data of [null, {}, { todos: "x" }, { todos: [1, 2] }, {
        todos: [{ content: 1, status: "x" }, null],
      }]
    ) {
      session.append("todo/write", data);
    }
    assert.deepEqual(changedSnapshots(session.log), []);
    assert.equal(track(session), null);
  });

  const folder = new URL("../../../../shared/data/session-logs/", import.meta.url);
  const there = existsSync(folder);
  test(
    "is none in the sample logs of real hosts",
    { skip: there ? false : "the sample logs aren't here" },
    () => {
      for (const file of readdirSync(folder).filter((name) => name.endsWith(".jsonl"))) {
        const events = readFileSync(new URL(file, folder), "utf8").trim().split("\n").slice(1)
          .map((line) => JSON.parse(line)).filter((event) => event.seq !== undefined);
        assert.equal(todoTrack(events, OPTIONS), null, file);
      }
    },
  );
});

describe("what a curve means", () => {
  /** @param {readonly (number | null)[]} scores @param {string | null} advice @param {"smart" | "strict"} [mode] @param {boolean} [done] */
  const feedback = (scores, advice, mode = "smart", done = true) => {
    const session = asked();
    todos(session, { a: "in_progress", b: "pending", c: "pending", d: "pending" });
    scores.forEach((_, i) => {
      bash(session, `step ${i}`, "out");
      const isDone = (/** @type {number} */ at) =>
        done ? (i >= at ? "completed" : "pending") : i > at ? "completed" : "pending";
      const last = done && i === scores.length - 1;
      todos(session, {
        a: isDone(0),
        b: last ? "completed" : isDone(1),
        c: last ? "completed" : isDone(2),
        d: last ? "completed" : isDone(3),
        [`e${i}`]: done ? "completed" : "pending",
      });
    });
    const curve = scores.map((score, i) => ({ step: i + 1, score }));
    return trackFeedback(
      track(session),
      /** @type {any} */ ({ curve, final: scores.at(-1) ?? null, advice }),
      mode,
    );
  };

  test("is nothing from 13/19 on, in both modes", () => {
    for (const mode of /** @type {const} */ (["smart", "strict"])) {
      assert.equal(feedback([0.2, PROGRESS_THRESHOLD], "rising", mode), null);
      assert.equal(feedback([0.99, PROGRESS_THRESHOLD], "falling", mode), null);
      assert.equal(feedback([0.5, null], null, mode), null);
    }
  });

  test("steers in smart mode when the list says done and the curve doesn't rise", () => {
    const steer = feedback([0.4, 0.41, 0.4], "plateau");
    assert.match(
      steer?.text ?? "",
      /says that all 5 entries are completed, but the curve does not rise over "/,
    );
    assert.match(steer?.text ?? "", /progress is 0\.400 now, at least 0\.684 is needed/);
    assert.match(steer?.summary ?? "", /does not rise, 0\.400 now/);
    assert.equal(feedback([0.4, 0.41, 0.4], "plateau", "smart", false), null);
  });

  test("steers in smart mode where the curve fell, and names the place", () => {
    const steer = feedback([0.6, 0.2, 0.25], "falling", "smart", false);
    assert.match(
      steer?.text ?? "",
      /Progress fell at checkpoint 2 \(from 0\.600 to 0\.200\), after calls of bash/,
    );
    assert.match(steer?.text ?? "", /Look at what was done at checkpoint 2 first/);
    assert.equal(feedback([0.6, 0.2, 0.62], "rising", "smart", false), null, "the fall was made good");
  });

  test("leaves a low curve without a place to the final gate in smart mode, and steers in strict mode", () => {
    assert.equal(feedback([0.1, 0.3, 0.5], "rising"), null);
    assert.equal(feedback([0.3], null), null);
    const strict = feedback([0.1, 0.3, 0.5], "rising", "strict");
    assert.match(strict?.text ?? "", /the work shown does not get there yet/);
    assert.match(feedback([0.3], null, "strict", false)?.text ?? "", /progress is 0\.300 now/);
  });

  test("is said within 4,000 characters whatever the entries are", () => {
    let state = 3;
    const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
    for (let round = 0; round < 100; round++) {
      const scores = Array.from(
        { length: 1 + Math.floor(random() * 6) },
        () => random() < 0.2 ? null : random(),
      );
      const session = asked();
      todos(session, { ["x".repeat(3000)]: "pending", b: "pending" });
      scores.forEach((_, i) => {
        bash(session, "x", "y");
        todos(
          session,
          Object.fromEntries(
            Array.from({ length: 40 }, (_, k) => [`${k} ${i} ${"é".repeat(400)}`, "completed"]),
          ),
        );
      });
      const curve = scores.map((score, i) => ({ step: i + 1, score }));
      const advice =
        /** @type {const} */ (["rising", "plateau", "falling", null])[Math.floor(random() * 4)] ?? null;
      const final = scores.at(-1) ?? null;
      const strict = trackFeedback(track(session), { curve, final, advice }, "strict");
      const smart = trackFeedback(track(session), { curve, final, advice }, "smart");
      if (strict !== null) assert.ok(strict.text.length <= 4000 && strict.text.isWellFormed());
      assert.equal(strict === null, final === null || final >= PROGRESS_THRESHOLD);
      if (smart !== null) assert.notEqual(strict, null, "what smart says strict says as well");
    }
  });
});

describe("a command that checks work", () => {
  /** @param {string} command @param {string} [name] @returns {boolean} */
  const checks = (command, name = "bash") =>
    isVerification(/** @type {any} */ ({ name, arguments: { command }, result: { text: "" } }));

  test("is known by its program", () => {
    for (
      const command of [
        "npm test",
        "npm run test:unit",
        "cd x && cargo test -q",
        "FOO=1 npx vitest run",
        "uv run pytest -q tests",
        "python -m pytest",
        "node --test",
        "deno task check",
        "make test",
        "./run_tests.sh",
        "python3 test_foo.py",
        "go vet ./...",
        "tsc --noEmit",
        "timeout 60 npm test 2>&1 | tail -5",
        "(cd a; ./gradlew test)",
      ]
    ) assert.ok(checks(command), command);
  });

  test("is not one that only names a test", () => {
    for (
      const command of [
        "ls tests",
        "cat test.py",
        "echo npm test",
        "git add tests",
        "npm install",
        "mkdir test",
        "rm -rf build",
        "cat > test.sh <<EOF\npytest\nEOF",
        "vim check.js",
      ]
    ) assert.ok(!checks(command), command);
    assert.ok(!checks("npm test", "web_fetch"));
  });
});
