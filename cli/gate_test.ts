import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { BEST_OF_N_EXAMPLE } from "../routes/best_of_n.ts";
import { GATE_EXAMPLES } from "../routes/gate.ts";
import { AssayError } from "../verifier/errors.ts";
import { fakeBackend, type Outcome, runCaptured, widest } from "./testing.ts";

const RUN = "[Command] npm test\n[Output]\n1 passing\n";
const gate = async (
  result: unknown,
  ...args: readonly string[]
): Promise<Outcome & { readonly requests: readonly Record<string, unknown>[] }> => {
  const backend = fakeBackend({ gate: result });
  const outcome = await runCaptured(["gate", "-", "--task", "Make it pass", ...args], {
    stdin: RUN,
    open: backend.open,
  });
  return { ...outcome, requests: backend.requests };
};
const accepted = { ...GATE_EXAMPLES.steer, decision: "accept", score: 0.9, failing: [], steer: undefined };

Deno.test("gate exits with 0 when the work is accepted, 1 when it isn't, and 0 with a note when that is open", async () => {
  const good = await gate(accepted);
  assertEquals([good.status, good.err], [0, ""]);
  assertStringIncludes(good.out, "Accepted: 0.90 of 0.65 needed.");
  const bad = await gate(GATE_EXAMPLES.steer);
  assertEquals(bad.status, 1);
  for (
    const part of [
      "Not accepted: 1 of the criteria below",
      "The last test run shows two failures",
      "What an agent would be told:",
      "below",
    ]
  ) {
    assertStringIncludes(bad.out, part);
  }
  const open = await gate(GATE_EXAMPLES.open);
  assertEquals(open.status, 0);
  assertStringIncludes(open.out, "Open: not decided");
  assertStringIncludes(open.out.replaceAll(/\s+/g, " "), "judge deepseek gave no usable score");
  for (const { out } of [good, bad, open]) assert(widest(out) <= 80, out);
});

Deno.test("gate prints JSON with the same exit status, and a plan with --dry-run", async () => {
  const json = await gate(GATE_EXAMPLES.steer, "--json");
  assertEquals([json.status, JSON.parse(json.out).decision], [1, "steer"]);
  const plan = { pairs: 1, calls: 3, inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, usd: null };
  const dry = await gate({ plan }, "--dry-run");
  assertEquals(dry.status, 0);
  assertStringIncludes(dry.out, "calls          3");
});

Deno.test("gate sends threshold and floors, and refuses what is none", async () => {
  const { requests } = await gate(
    accepted,
    "--threshold",
    "0.5",
    "--floor",
    "correctness=0.8",
    "--floor",
    "__proto__=1",
  );
  assertEquals([requests[0]?.threshold, JSON.stringify(requests[0]?.floors)], [
    0.5,
    '{"correctness":0.8,"__proto__":1}',
  ]);
  for (
    const [floor, part] of [["x", "--floor must be"], ["=1", "--floor must be"], [
      "x=y",
      "--floor must be",
    ]] as const
  ) {
    const refused = await gate(accepted, "--floor", floor);
    assertEquals(refused.status, 2);
    assertStringIncludes(refused.err, part);
  }
  assertStringIncludes((await gate(accepted, "--floor", "a=1", "--floor", "a=0")).err, "names a twice");
  const unknown = await gate(
    AssayError.field("/floors/nope", "must name a criterion", 1),
    "--floor",
    "nope=1",
  );
  assertEquals(unknown.status, 2);
  assertStringIncludes(unknown.err, "--floor nope must name a criterion");
});

Deno.test("gate with the embedded judge runs in this process, and says how weak it is", async () => {
  const outcome = await runCaptured(["gate", "-", "--task", "Make it pass", "--criteria", "coding"], {
    stdin: RUN,
  });
  assertEquals(outcome.status, 0);
  assertStringIncludes(outcome.out.replaceAll(/\s+/g, " "), "the evidence judge is a weak gate");
  const budget = await runCaptured(["gate", "-", "--task", "t", "--budget-calls", "1"], { stdin: RUN });
  assertEquals(budget.status, 0);
  assertStringIncludes(budget.out, "Open: not decided");
});

Deno.test("Ctrl-C during a gate is not an open gate", async () => {
  const backend = fakeBackend({ gate: GATE_EXAMPLES.open });
  const signal = AbortSignal.abort(new DOMException("interrupted", "AbortError"));
  const outcome = await runCaptured(["gate", "-", "--task", "t"], { stdin: RUN, open: backend.open, signal });
  assertEquals(outcome.status, 130);
});

Deno.test("the judges of an ensemble are shown with what each would decide alone", async () => {
  const judges = [
    { profile: "one", model: "m1", scored: 2, unscored: 0, ok: true, winner: "steer" },
    { profile: "two", model: "m2", scored: 0, unscored: 2, ok: false, problem: "timeout (2)" },
  ];
  const { out } = await gate({ ...GATE_EXAMPLES.steer, judges, agreement: 1 });
  assert(/one \(m1\)\s+2\/2\s+steer/.test(out), out);
  assert(/two \(m2\)\s+0\/2\s+–/.test(out), out);
  assertStringIncludes(out, "Agreement 100 %");
});

Deno.test("best-of-n prints drafts, ranking, acceptance and the best draft", async () => {
  const backend = fakeBackend({ bestOfN: BEST_OF_N_EXAMPLE });
  const args = [
    "best-of-n",
    "One command",
    "--n",
    "3",
    "--generator",
    "deepseek",
    "--draft-tokens",
    "500",
    "--judge",
    "stub",
    "--floor",
    "feasibility=0.5",
  ];
  const { status, out, err } = await runCaptured(args, { open: backend.open });
  assertEquals([status, err], [0, ""]);
  for (
    const part of [
      "cut at the token limit",
      "empty: the model answered nothing",
      "Pick  draft 1",
      "Accepted: 0.84 of 0.65 needed.",
      "Run `sort -u names.txt`.",
    ]
  ) {
    assertStringIncludes(out, part);
  }
  assert(widest(out) <= 80, out);
  assertEquals(backend.requests, [{
    prompt: "One command",
    generator: { profile: "deepseek", maxTokens: 500 },
    n: 3,
    floors: { feasibility: 0.5 },
    judge: "stub",
  }]);
});

Deno.test("best-of-n reads its prompt from a file or standard input, and takes one", async () => {
  const backend = fakeBackend({ bestOfN: BEST_OF_N_EXAMPLE });
  await runCaptured(["best-of-n", "-", "--quiet"], { stdin: "from stdin", open: backend.open });
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, "from a file");
    await runCaptured(["best-of-n", `@${file}`], { open: backend.open });
  } finally {
    await Deno.remove(file);
  }
  assertEquals(backend.requests.map(({ prompt }) => prompt), ["from stdin", "from a file"]);
  for (const args of [["best-of-n"], ["best-of-n", "two", "words"]]) {
    assertEquals((await runCaptured(args, { open: backend.open })).status, 2);
  }
  const mute = await runCaptured(["best-of-n", "x"]);
  assertEquals(mute.status, 2);
  assertStringIncludes(mute.err, "--generator must be a model that can write");
});
