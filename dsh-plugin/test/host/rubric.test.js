// @ts-check
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isRubricError, resolveRubric } from "../../lib/host/rubric.js";
import { VerifierError } from "../../lib/server/errors.js";
import { FakeSession } from "../fakes/host.js";

/** @param {(folder: string) => Promise<void>} work */
async function inFolder(work) {
  const folder = await mkdtemp(join(tmpdir(), "rubric-"));
  try {
    await mkdir(join(folder, "work"));
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const MARKDOWN = "## Criteria\n### Works\nIt works.\n";

test("names, Markdown, JSON text, objects and arrays pass as they are", async () => {
  for (
    const argument of [
      "coding",
      MARKDOWN,
      '{"Works":"It works."}',
      { Works: "It works." },
      ["It works."],
      "input/output is right",
      "# see notes.md",
    ]
  ) {
    assert.equal((await resolveRubric({ argument })).criteria, argument);
    assert.deepEqual(await resolveRubric({ argument, cwd: "/nowhere" }), {
      criteria: argument,
      origin: "argument",
    });
  }
});

test("the call's rubric wins over the session's, the workspace's and the configured one", async () => {
  await inFolder(async (folder) => {
    const cwd = join(folder, "work");
    const session = new FakeSession({ cwd });
    const ask = (/** @type {unknown} */ argument) => resolveRubric({ argument, session, setting: "ops" });
    assert.deepEqual(await ask(undefined), { criteria: "ops", origin: "setting" });
    assert.deepEqual(await resolveRubric({ session }), { criteria: "general", origin: "setting" });
    await mkdir(join(cwd, ".assay"));
    await writeFile(join(cwd, ".assay", "criteria.json"), '["from JSON"]');
    assert.deepEqual(await ask(undefined), { criteria: ["from JSON"], origin: "workspace" });
    await writeFile(join(cwd, ".assay", "criteria.md"), MARKDOWN);
    assert.deepEqual(await ask(undefined), { criteria: MARKDOWN, origin: "workspace" });
    session.tool("a", "verifier_session", { criteria: "debug", remember_criteria: true }, "fine");
    assert.deepEqual(await ask(undefined), { criteria: "debug", origin: "session" });
    assert.deepEqual(await ask("research"), { criteria: "research", origin: "argument" });
  });
});

test("a session remembers the newest rubric that a successful call was told to, over restarts and in forks", async () => {
  const session = new FakeSession({ cwd: "/nowhere" });
  const ask = (/** @type {FakeSession} */ of) =>
    resolveRubric({ session: of }).then(({ criteria }) => criteria);
  session.tool("a", "verifier_session", { criteria: "debug" }, "fine");
  assert.equal(await ask(session), "general");
  session.tool("b", "verifier_session", { criteria: "debug", remember_criteria: true }, "fine");
  session.tool("c", "verifier_session", { criteria: "nosuch", remember_criteria: true }, "refused", {
    isError: true,
  });
  session.tool("d", "bash", { criteria: "ops", remember_criteria: true }, "not ours");
  assert.equal(await ask(session), "debug");
  assert.equal(await ask(session.resume()), "debug");
  assert.equal(await ask(session.fork("child")), "debug");
  session.call("r", "run_code", {});
  const sub = session.dispatch("r", "verifier_tracker_start", { criteria: ["x"], remember_criteria: true });
  assert.equal(await ask(session), "debug");
  session.dispatched(sub, "started");
  assert.deepEqual(await ask(session), ["x"]);
});

test("a path of the session's folder becomes the file's content", async () => {
  await inFolder(async (folder) => {
    const cwd = join(folder, "work");
    await writeFile(join(cwd, "mine.md"), `\ufeff${MARKDOWN}`);
    await writeFile(join(cwd, "mine.json"), '{"Works":"It works."}');
    await mkdir(join(cwd, "rubrics"));
    await writeFile(join(cwd, "rubrics", "plain"), MARKDOWN);
    const ask = (/** @type {string} */ argument) =>
      resolveRubric({ argument, cwd }).then(({ criteria }) => criteria);
    assert.equal(await ask("mine.md"), MARKDOWN);
    assert.equal(await ask(join(cwd, "mine.md")), MARKDOWN);
    assert.deepEqual(await ask("./mine.json"), { Works: "It works." });
    assert.equal(await ask("rubrics/plain"), MARKDOWN);
  });
});

test("a file that can't be used is an error that names the path and says why", async () => {
  await inFolder(async (folder) => {
    const cwd = join(folder, "work");
    await writeFile(join(folder, "outside.md"), MARKDOWN);
    await symlink(join(folder, "outside.md"), join(cwd, "link.md"));
    await writeFile(join(cwd, "large.md"), "x".repeat(256 * 1024 + 1));
    await writeFile(join(cwd, "latin.md"), new Uint8Array([0xe9, 0x20]));
    await writeFile(join(cwd, "blank.md"), " \n");
    await writeFile(join(cwd, "broken.json"), "{");
    await mkdir(join(cwd, "folder.md"));
    for (
      const [argument, rule] of /** @type {const} */ ([
        ["missing.md", /exists/],
        ["../outside.md", /must lie in the session's folder/],
        ["link.md", /must lie in the session's folder/],
        [join(folder, "outside.md"), /must lie in the session's folder/],
        ["large.md", /at most 262144 bytes/],
        ["latin.md", /UTF-8/],
        ["blank.md", /blank/],
        ["broken.json", /valid JSON/],
        ["folder.md", /must be a file/],
      ])
    ) {
      await assert.rejects(resolveRubric({ argument, cwd }), (error) => {
        assert.ok(error instanceof VerifierError);
        assert.equal(error.code, "invalid_request");
        assert.match(error.message, rule);
        assert.equal(error.errors?.[0]?.value, argument);
        return true;
      });
    }
    await assert.rejects(resolveRubric({ argument: "mine.md" }), /no folder of its own/);
    assert.equal((await resolveRubric({ setting: join(folder, "outside.md"), cwd })).criteria, MARKDOWN);
  });
});

test(
  "a pipe is refused at once, as waiting for it would never end",
  { skip: process.platform === "win32" },
  async () => {
    await inFolder(async (folder) => {
      const cwd = join(folder, "work");
      execFileSync("mkfifo", [join(cwd, "pipe.md")]);
      await assert.rejects(resolveRubric({ argument: "pipe.md", cwd }), /must be a file/);
    });
  },
);

test("a file that says it is empty is read no further than any other", {
  skip: process.platform !== "linux",
}, async () => {
  // The kernel's files have no size; this one holds more than a rubric may.
  const setting = "/proc/kallsyms";
  await assert.rejects(resolveRubric({ setting, cwd: "/" }), /must have at most 262144 bytes and has more/);
});

test("a gate is never without a rubric: what can't be read is replaced and the answer says so", async () => {
  await inFolder(async (folder) => {
    const cwd = join(folder, "work");
    const { criteria, origin, warning } = await resolveRubric({ setting: "missing.md", cwd, forGate: true });
    assert.deepEqual([criteria, origin], ["coding", "fallback"]);
    assert.match(warning ?? "", /the rubric of the setting can't be used, coding is: .*missing\.md/);
    const controller = new AbortController();
    controller.abort({ kind: "user" });
    await assert.rejects(resolveRubric({ setting: "a.md", cwd, forGate: true, signal: controller.signal }), {
      code: "aborted",
    });
  });
});

test("the server's refusal of a rubric is told apart from other refusals", () => {
  const error = (/** @type {string} */ path) =>
    new VerifierError("invalid_request", "x", { errors: [{ path, message: "m" }] });
  assert.equal(isRubricError(error("/criteria")), true);
  assert.equal(isRubricError(error("/criteria/0/id")), true);
  assert.equal(isRubricError(error("/task")), false);
  assert.equal(isRubricError(new Error("x")), false);
});
