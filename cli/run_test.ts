import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { AssayError } from "../verifier/errors.ts";
import { COMMANDS, overview } from "./run.ts";
import { COMPARE, fakeBackend, runCaptured, selectResult, TRACK, widest } from "./testing.ts";

const root = fromFileUrl(new URL("../", import.meta.url));
const example = (path: string) => join(root, "examples", path);
const CSV = example("csv-summary");
/** Line breaks depend on the width; what is said doesn't. */
const unwrapped = (text: string) => text.replace(/\n +/g, " ");

async function inTemporary(
  files: Readonly<Record<string, string | Uint8Array>>,
  test: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "assay-test-" });
  try {
    for (const [name, content] of Object.entries(files)) {
      await (typeof content === "string"
        ? Deno.writeTextFile(join(folder, name), content)
        : Deno.writeFile(join(folder, name), content));
    }
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("every help text fits 80 columns, has examples, and comes from --help, -h and help NAME alike", async () => {
  assert(widest(overview()) <= 80);
  for (const { name, help } of COMMANDS) {
    assert(widest(help) <= 80, `${name}: ${help.split("\n").find((line) => line.length > 80)}`);
    assertStringIncludes(help, `deno task assay ${name}`);
    for (const args of [[name, "--help"], [name, "-h"], ["help", name], [name, "--nonsense", "--help"]]) {
      assertEquals(await runCaptured(args), { status: 0, out: help, err: "" });
    }
  }
  assertEquals(await runCaptured(["help"]), { status: 0, out: overview(), err: "" });
  assertEquals((await runCaptured([])).status, 2);
});

Deno.test("select prints a ranking of 80 columns with rewards, pick, cost and explanations", async () => {
  const backend = fakeBackend({ select: selectResult(5) });
  const { status, out, err } = await runCaptured(["select", CSV], { open: backend.open });
  assertEquals([status, err, backend.closed], [0, "", 1]);
  assert(widest(out) <= 80, out);
  for (
    const text of [
      "unchecked",
      "Pick  unchecked",
      "70 %",
      "+0.100",
      "Reward of the pick: 1",
      "0.40 on average",
      "stub (stub-1)",
      "6 calls (7 attempts), 1 from the cache",
      "12,345 tokens in (1,000 cached), 678 out (9 reasoning)",
      "$0.01",
    ]
  ) {
    assertStringIncludes(unwrapped(out), text);
  }
  const [request] = backend.requests;
  assertStringIncludes(request!.task as string, "sales.csv");
  const candidates = request!.candidates as Record<string, unknown>[];
  assertEquals(candidates.map(({ id }) => id), [
    "checked",
    "injection",
    "sorted-by-name",
    "split-on-commas",
    "unchecked",
  ]);
  // The judge must never see the ground truth.
  assert(!JSON.stringify(request).includes("reward"));
});

Deno.test("select --quiet leaves explanations out, --json prints exactly the result", async () => {
  const { open } = fakeBackend({ select: selectResult(5) });
  assert(!(await runCaptured(["select", CSV, "--quiet"], { open })).out.includes("the judge never saw it"));
  const { out } = await runCaptured(["select", CSV, "--json"], { open });
  assertEquals(JSON.parse(out), JSON.parse(JSON.stringify(selectResult(5))));
});

Deno.test("select marks identical candidates, missing values and unscored parts", async () => {
  const result = selectResult(5);
  const { open } = fakeBackend({
    select: {
      ...result,
      stopped: "tie",
      probabilityRight: 0.71,
      unscored: 1,
      ranking: result.ranking.map((entry, i) =>
        i === 4
          ? {
            ...entry,
            strength: null,
            standardError: null,
            probabilityBest: null,
            winRate: null,
            identicalTo: 2,
          }
          : entry
      ),
      unscoredParts: [{
        a: 0,
        b: 1,
        criterion: "one",
        repeat: 0,
        side: "A",
        reason: "no_tag",
        detail: "no \u001b[2J tag",
      }],
    },
  });
  const { out } = await runCaptured(["select", CSV], { open });
  for (
    const text of [
      "checked (= 3)",
      "–",
      "can't be told apart",
      "71 %",
      "1 score missing and left out",
      "no_tag (1, for example: no \\u{1b}[2J tag)",
    ]
  ) {
    assertStringIncludes(unwrapped(out), text);
  }
  assert(widest(out) <= 80, out);
});

Deno.test("select --svg draws the ranking with the pick marked", async () => {
  await inTemporary({}, async (folder) => {
    const file = join(folder, "best.svg");
    const { open } = fakeBackend({ select: selectResult(5) });
    assertEquals((await runCaptured(["select", CSV, "--svg", file, "--json"], { open })).status, 0);
    const svg = await Deno.readTextFile(file);
    assertEquals(svg.match(/class="best"/g)?.length, 1);
    for (const text of ["split-on-commas", "reward 0", "reward 1", "0.70"]) assertStringIncludes(svg, text);
  });
});

Deno.test("select says so when nothing was scored, and shows soft wins in upstream mode", async () => {
  const none = fakeBackend({ select: { ...selectResult(5), best: null, stopped: "unusable" } });
  assertStringIncludes((await runCaptured(["select", CSV], none)).out, "No pick: nothing was scored.");
  const upstream = fakeBackend({ select: { ...selectResult(5), mode: "upstream" } });
  const { out } = await runCaptured(["select", CSV, "--mode", "upstream"], upstream);
  assert(!out.includes("Strength") && out.includes("Wins"));
  assertEquals(upstream.requests[0]!.mode, "upstream");
});

Deno.test("compare prints criteria, verdict and missing parts within 80 columns, hostile names made harmless", async () => {
  const backend = fakeBackend({ compare: COMPARE });
  await inTemporary({ "evil\u001b[31m.txt": "did it", "b.txt": "did not" }, async (folder) => {
    const paths = [join(folder, "evil\u001b[31m.txt"), join(folder, "b.txt")];
    const { status, out } = await runCaptured(["compare", ...paths, "--task", "Do\nit \u202enow"], backend);
    assertEquals(status, 0);
    // deno-lint-ignore no-control-regex
    assert(!/[\u0000-\u0009\u000b-\u001f\u202e]/.test(out), JSON.stringify(out));
    assert(widest(out) <= 80, out);
    for (
      const text of [
        "A wins",
        "by 0.390",
        "± 0.031",
        "slot bias -0.012",
        "+0.40",
        "0/1",
        "no_tag",
        "evil\\u{1b}[31m: replaced 1 NUL",
      ]
    ) {
      assertStringIncludes(unwrapped(out), text);
    }
    assertEquals(backend.requests[0]!.task, "Do\nit \u202enow");
  });
});

Deno.test("compare reports identical sides as a tie without cost", async () => {
  const { open } = fakeBackend({
    compare: {
      ...COMPARE,
      winner: "tie",
      identical: true,
      rewardA: null,
      rewardB: null,
      margin: null,
      calls: [],
      usage: { ...COMPARE.usage, calls: 0, attempts: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
    },
  });
  const file = join(CSV, "checked.json");
  const { out } = await runCaptured(["compare", file, file], { open });
  assertStringIncludes(out, "identical: a tie, and nothing was bought");
  assertStringIncludes(out, "no cost");
});

Deno.test("track prints the curve with bars, holes and advice, and writes a picture", async () => {
  await inTemporary({}, async (folder) => {
    const svg = join(folder, "curve.svg");
    const backend = fakeBackend({ track: TRACK });
    const { status, out } = await runCaptured(
      ["track", example("progress/roman.json"), "--svg", svg, "--causal", "--checkpoints", "1,5,10"],
      backend,
    );
    assertEquals(status, 0);
    assert(widest(out) <= 80, out);
    for (
      const text of [
        "roman",
        "(reward 1)",
        "0.05",
        "–",
        "█",
        "Final 1.00, rising",
        "1 of 4 scores missing and left out of all means: low_letter_mass (1, for example: 0.01)",
      ]
    ) {
      assertStringIncludes(unwrapped(out), text);
    }
    assertEquals([backend.requests[0]!.causal, backend.requests[0]!.checkpoints], [true, [1, 5, 10]]);
    assertStringIncludes(await Deno.readTextFile(svg), "<svg");
  });
});

Deno.test("options become the wire's fields, and only those that were given", async () => {
  const backend = fakeBackend({ select: selectResult(5) });
  await inTemporary({
    "rubric.md": "## Criteria\n\n### One\n\nIs it?\n",
    "note.txt": "note",
    "a.png": new Uint8Array([1, 2]),
  }, async (folder) => {
    await runCaptured([
      "select",
      CSV,
      "--criteria",
      join(folder, "rubric.md"),
      "--note",
      `@${join(folder, "note.txt")}`,
      "--repeats",
      "3",
      "--judge",
      "deepseek",
      "--model",
      "m",
      "--effort",
      "high",
      "--max-tokens",
      "100",
      "--temperature",
      "0.5",
      "--channel",
      "logprobs",
      "--seed",
      "-7",
      "--budget-calls",
      "10",
      "--budget-tokens",
      "11",
      "--budget-usd",
      "1.5",
      "--deadline",
      "2m",
      "--cache",
      "off",
      "--images",
      join(folder, "a.png"),
      "--images",
      "https://example.test/b.png",
      "--mode",
      "round_robin",
      "--pivots",
      "1",
      "--prior",
      "agreement",
      "--context",
      "more",
      "--dry-run",
      "--task",
      "T",
    ], backend);
    await runCaptured(["select", CSV], backend);
    await runCaptured(["select", CSV, "--judge", "a", "--judge", "b"], backend);
  });
  const { candidates: _, ...fields } = backend.requests[0]!;
  assertEquals(fields, {
    task: "T",
    images: ["data:image/png;base64,AQI=", "https://example.test/b.png"],
    mode: "round_robin",
    pivots: 1,
    prior: "agreement",
    context: "more",
    criteria: "## Criteria\n\n### One\n\nIs it?\n",
    groundTruthNote: "note",
    repeats: 3,
    judge: { profile: "deepseek", model: "m", effort: "high", maxTokens: 100, temperature: 0.5 },
    channel: "logprobs",
    seed: -7,
    budget: { calls: 10, tokens: 11, usd: 1.5 },
    deadlineMs: 120_000,
    cache: "off",
    dryRun: true,
  });
  assertEquals(Object.keys(backend.requests[1]!).sort(), ["candidates", "task"]);
  assertEquals(backend.requests[2]!.judge, ["a", "b"]);
});

Deno.test("--dry-run prints the plan", async () => {
  const plan = {
    pairs: 3,
    calls: 9,
    inputTokens: 12345,
    cachedInputTokens: 1000,
    outputTokens: 50,
    usd: null,
  };
  const { open } = fakeBackend({ select: { plan } });
  const { out, status } = await runCaptured(["select", CSV, "--dry-run"], { open });
  assertEquals(status, 0);
  for (const text of ["Nothing was bought", "calls          9", "12,345", "cost unknown"]) {
    assertStringIncludes(unwrapped(out), text);
  }
  assertEquals(JSON.parse((await runCaptured(["select", CSV, "--dry-run", "--json"], { open })).out), {
    plan,
  });
});

Deno.test("colours and the progress bar appear only on a terminal, and not against NO_COLOR, --no-color or TERM=dumb", async () => {
  const { open } = fakeBackend({ select: selectResult(5) });
  const coloured = async (args: string[], env: Record<string, string> = {}) =>
    (await runCaptured(["select", CSV, ...args], { open, env, outIsTerminal: true })).out.includes("\u001b[");
  assertEquals([
    await coloured([]),
    await coloured(["--no-color"]),
    await coloured([], { NO_COLOR: "1" }),
    await coloured([], { TERM: "dumb" }),
  ], [true, false, false, false]);
  assert(!(await runCaptured(["select", CSV], { open })).out.includes("\u001b["));
});

Deno.test("bad input is one clear line on standard error and exit status 2", async (t) => {
  const { open } = fakeBackend({ select: selectResult(5), compare: COMPARE, track: TRACK });
  await inTemporary({
    "latin1.txt": new Uint8Array([0x67, 0xfc, 0x6e]),
    "empty.json": "",
    "text.txt": "no task here",
    "session.jsonl": '{"type":"session","version":4,"id":"s"}\n{"seq":0}\n',
    "blank.md": " \n",
    "rubric.bin": new Uint8Array([0xff, 0xfe]),
  }, async (folder) => {
    await Deno.mkdir(join(folder, "nothing"));
    const at = (name: string) => join(folder, name);
    const checked = join(CSV, "checked.json");
    const cases: [string, string[], string][] = [
      ["an unknown command", ["selct"], "there is no command selct: did you mean select?"],
      ["a command of later", ["bench"], "the command bench comes with a later version"],
      ["options first", ["--json", "select"], "the command comes first"],
      [
        "an unknown option",
        ["select", CSV, "--pivot", "2"],
        "select has no option --pivot: did you mean --pivots?",
      ],
      [
        "an option of another command",
        ["compare", checked, checked, "--pivots", "2"],
        "compare has no option --pivots",
      ],
      ["no words", ["select"], "select needs a folder or files"],
      ["a missing file", ["compare", at("nope.json"), checked], "nope.json: there is no such file"],
      ["an empty folder", ["select", at("nothing")], "holds no trajectory files"],
      ["a folder of tasks", ["select", example("")], "subfolders, which are not searched"],
      ["an empty file", ["track", at("empty.json")], "empty.json: the file is empty"],
      ["bytes that are no UTF-8", ["track", at("latin1.txt")], "latin1.txt:1:2: the file isn't UTF-8"],
      ["an empty session log", ["track", at("session.jsonl")], "no message of the agent"],
      ["no task", ["track", at("text.txt")], "no task text in"],
      ["mixed tasks", ["select", checked, join(example("log-errors"), "by-field.json")], "different tasks"],
      ["one side", ["compare", checked], "exactly two trajectories, and got 1"],
      ["three sides", ["compare", CSV], "exactly two trajectories, and got 5; select picks"],
      ["two runs to track", ["track", CSV], "track takes one trajectory, and got 5"],
      [
        "checkpoints that are words",
        ["track", checked, "--checkpoints", "1,x"],
        "--checkpoints must be step numbers",
      ],
      ["a number that is none", ["select", CSV, "--repeats", "many"], "--repeats must be a number: many"],
      ["a time that is none", ["select", CSV, "--deadline", "soon"], "--deadline must be a time"],
      ["a missing rubric file", ["select", CSV, "--criteria", at("no.md")], "no.md: there is no such file"],
      ["an empty rubric file", ["select", CSV, "--criteria", at("blank.md")], "blank.md is empty"],
      [
        "a rubric that is no text",
        ["select", CSV, "--criteria", at("rubric.bin") + ".md"],
        "rubric.bin.md: there is no such file",
      ],
      ["a binary rubric", ["select", CSV, "--criteria", at("rubric.bin")], "rubric.bin is not UTF-8 text"],
      ["a missing @file", ["select", CSV, "--task", "@nowhere"], "cannot read nowhere"],
      [
        "an image of another kind",
        ["select", CSV, "--images", "a.pdf"],
        "--images must be an https: URL or a png",
      ],
      [
        "overrides for several judges",
        ["select", CSV, "--judge", "a", "--judge", "b", "--model", "m"],
        "--judge names several",
      ],
      ["a picture that can't be written", ["select", CSV, "--svg", at("no/such/a.svg")], "cannot write"],
      ["criteria without an action it has", ["criteria", "lst"], "did you mean list?"],
      ["an unknown built-in rubric", ["criteria", "show", "codnig"], "did you mean coding?"],
      ["criteria check without a file", ["criteria", "check"], "criteria check needs one file"],
      ["words for status", ["status", "now"], "status takes no words: now"],
      [
        "a port out of range",
        ["serve", "--port", "70000"],
        "--port must be an integer from 0 to 65535: 70000",
      ],
    ];
    for (const [name, args, message] of cases) {
      await t.step(name, async () => {
        const { status, out, err } = await runCaptured(args, { open });
        assertEquals([status, out], [2, ""], err);
        assert(err.startsWith("assay: "), err);
        assertStringIncludes(err, message);
        assert(!/\n\s+at /.test(err), err);
      });
    }
  });
});

Deno.test("--server and a local configuration exclude each other", async () => {
  const { status, err } = await runCaptured(["status", "--server", "http://127.0.0.1:1", "--config", "x"]);
  assertEquals([status, err], [2, "assay: --config and --server exclude each other\n"]);
});

Deno.test("a judge's failure is exit status 3, and ASSAY_DEBUG shows where it came from", async () => {
  const { open } = fakeBackend({ select: new AssayError("judge_unauthorized", "the key was refused") });
  assertEquals(await runCaptured(["select", CSV], { open }), {
    status: 3,
    out: "",
    err: "assay: the key was refused\n",
  });
  assertStringIncludes(
    (await runCaptured(["select", CSV], { open, env: { ASSAY_DEBUG: "1" } })).err,
    "run_test.ts",
  );
});

Deno.test("an interrupt ends with 130 and closes the backend", async () => {
  const controller = new AbortController();
  const backend = fakeBackend({});
  const pending = runCaptured(["select", CSV], {
    signal: controller.signal,
    open: async (args, io) => ({
      ...await backend.open(args, io),
      select: (_request, { signal }) => {
        const { promise, reject } = Promise.withResolvers<never>();
        signal!.addEventListener("abort", () => reject(signal!.reason));
        queueMicrotask(() => controller.abort(new DOMException("interrupted", "AbortError")));
        return promise;
      },
    }),
  });
  assertEquals(await pending, { status: 130, out: "", err: "interrupted\n" });
  assertEquals(backend.closed, 1);
});
