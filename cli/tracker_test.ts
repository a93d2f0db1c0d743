import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fakeBackend, runCaptured, widest } from "./testing.ts";

async function inTemporary(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a tracker lives on from command to command in the store's file", async () => {
  await inTemporary(async (folder) => {
    const store = ["--store", `${folder}/store.sqlite3`];
    await Deno.writeTextFile(`${folder}/step.txt`, "[Command] make\n[Output]\nmake: *** error 1\n");
    const started = await runCaptured(["tracker", "start", "--task", "Fix the build", "--quiet", ...store]);
    const id = started.out.trim();
    assertEquals([started.status, started.err], [0, ""]);
    assert(/^trk_[0-9A-Z]{26}$/.test(id), started.out);
    const first = await runCaptured([
      "tracker",
      "update",
      id,
      `${folder}/step.txt`,
      "--key",
      "k1",
      "--json",
      ...store,
    ]);
    assertEquals(first.status, 0);
    const answer = JSON.parse(first.out);
    assertEquals([answer.length, answer.step.state], [1, "scored"]);
    const again = await runCaptured([
      "tracker",
      "update",
      id,
      `${folder}/step.txt`,
      "--key",
      "k1",
      "--json",
      ...store,
    ]);
    assertEquals(JSON.parse(again.out), answer);
    const piped = await runCaptured(["tracker", "update", id, "-", "--expected-length", "1", ...store], {
      stdin: "[Command] make\n[Output]\nok\n",
    });
    assertStringIncludes(piped.out, "Step 2");
    const conflict = await runCaptured([
      "tracker",
      "update",
      id,
      "--step",
      "x",
      "--expected-length",
      "1",
      ...store,
    ]);
    assertEquals(conflict.status, 2);
    assertStringIncludes(conflict.err, "--expected-length must be 2");
    const result = await runCaptured(["tracker", "result", id, ...store]);
    assertEquals(result.status, 0);
    assert(widest(result.out) <= 80);
    for (const part of ["Fix the build", "2 steps", "Last "]) assertStringIncludes(result.out, part);
    assertEquals((await runCaptured(["tracker", "delete", id, ...store])).out.trim(), `Deleted ${id}`);
    const gone = await runCaptured(["tracker", "result", id, ...store]);
    assertEquals(gone.status, 2);
    assertStringIncludes(gone.err, "there is no tracker");
  });
});

Deno.test("a step without a score says why, how to score it, and that it is stored", async () => {
  const { open } = fakeBackend({
    trackers: {
      update: {
        id: "trk_1",
        length: 3,
        step: {
          index: 3,
          state: "unscored",
          score: null,
          standardError: null,
          unscored: { reason: "timeout", detail: "no \u001b[2J answer" },
          characters: 9,
          images: 0,
          keyHash: null,
          createdAt: "2026-01-01T00:00:00Z",
        },
        advice: null,
        shortened: { steps: 4, leftOut: 2, characters: 12345 },
        decision: null,
        judge: null,
        channels: {},
        usage: {},
        warnings: [],
      },
    },
  });
  const { status, out } = await runCaptured(["tracker", "update", "trk_1", "--step", "x"], { open });
  assertEquals(status, 0);
  const text = out.replaceAll(/\s+/g, " ");
  for (
    const part of [
      "Step 3 –",
      "unscored: timeout, no \\u{1b}[2J answer",
      "tracker update trk_1 --retry 3",
      "4 old steps shortened and leaves out 2 (12,345 characters",
    ]
  ) assertStringIncludes(text, part);
  assert(widest(out) <= 80);
});

Deno.test("wrong words are usage errors", async () => {
  const { open } = fakeBackend({});
  for (
    const [args, part] of [
      [[], "needs an action"],
      [["strat"], "did you mean start?"],
      [["start"], "needs the task"],
      [["start", "x", "--task", "t"], "takes no more words"],
      [["update"], "needs the tracker's ID"],
      [["update", "trk"], "exactly one of"],
      [["update", "trk", "f", "--step", "x"], "exactly one of"],
      [["result"], "needs the tracker's ID"],
      [["result", "trk", "x"], "takes no more words"],
    ] as const
  ) {
    const { status, err } = await runCaptured(["tracker", ...args], { open });
    assertEquals(status, 2, err);
    assertStringIncludes(err, part);
  }
});
