import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { exampleVerbs, fakeApp, post } from "../tests/http_fakes.ts";
import { answerWith, fakeEnvironment, fakeJudge } from "../tests/verbs/fake_judge.ts";
import { DECISION_EXAMPLES } from "../routes/decision_examples.ts";
import { compare } from "../verifier/compare.ts";
import type { DecisionRecord } from "../verifier/decisions/decisions.ts";
import type { DecisionPage } from "../verifier/decisions/store.ts";
import type { Replay } from "../verifier/decisions/replay.ts";
import type { Statistics } from "../verifier/decisions/statistics.ts";
import { decisionLines, letterBars, listLines, replayLines } from "./decisions.ts";
import { statisticsLines } from "./statistics.ts";
import { makeStyle } from "./style.ts";
import { runCaptured, widest } from "./testing.ts";

const print = { columns: 80, style: makeStyle(false), quiet: false };
const record = DECISION_EXAMPLES.decision as unknown as DecisionRecord;
const page = DECISION_EXAMPLES.list as unknown as DecisionPage;
const statistics = DECISION_EXAMPLES.statistics as unknown as Statistics;
const replay = DECISION_EXAMPLES.replay as unknown as Replay;

Deno.test("decisions and statistics fit 80 columns, hostile names and many digits included", () => {
  const hostile = "\u001b[31m一个名字很长的判断者".repeat(8);
  const [summary] = page.decisions;
  const wide: DecisionPage = {
    ...page,
    decisions: [{
      ...summary!,
      verb: "best-of-n",
      problem: hostile,
      usage: { ...summary!.usage, calls: 1_234_567 },
    }],
    corrupt: 2,
  };
  const call = record.calls[0]!;
  const shown: DecisionRecord = {
    ...record,
    topic: hostile,
    problem: { code: "judge_failed", detail: hostile },
    result: null,
    calls: Array.from({ length: 60 }, () => ({
      ...call,
      judge: hostile,
      label: { criterion: hostile, repeat: 63, a: 998, b: 999, swapped: true, round: 2 },
      scores: [call.scores[0]!, { kind: "unscored", reason: "low_letter_mass", detail: hostile }],
    })),
  };
  const sums = { ...statistics.total, calls: 123_456_789, usd: null, usdUnknown: 12, invocations: 1_000_000 };
  const lines = [
    ...listLines(wide, print),
    ...decisionLines(shown, false, print),
    ...decisionLines(record, false, print),
    ...replayLines({ ...replay, differences: [{ path: `/${hostile}`, stored: hostile, now: 1 / 3 }] }, print),
    ...statisticsLines(
      { ...statistics, groups: [{ key: hostile, ...sums }], total: sums, corrupt: 3 },
      print,
    ),
  ];
  assert(widest(lines.join("\n")) <= 80, lines.find((line) => widest(line) > 80));
  assert(!lines.some((line) => line.includes("\u001b")));
  assert(lines.some((line) => line.includes("and 20 more calls")));
});

Deno.test("a letter distribution is drawn from A to T, the likeliest letter highest", () => {
  const letters = [0.6, 0.3, 0.096, 0.004, ...Array<number>(16).fill(0)];
  assertEquals(letterBars(letters), "█▅▂" + "·".repeat(17));
});

Deno.test("no decisions, no statistics and no rates are said in words and dashes, not as zeros", () => {
  assertEquals(listLines({ decisions: [], cursor: null, corrupt: 0 }, print), [
    "There are no decisions yet.",
  ]);
  const none = {
    ...statistics.total,
    invocations: 0,
    calls: 0,
    cacheHitRate: null,
    unscoredRate: null,
    usd: 0,
  };
  assertStringIncludes(
    statisticsLines({ ...statistics, groups: [], total: none }, print).join("\n"),
    "Nothing was judged",
  );
  const one = { ...none, invocations: 1, prefixCacheHitRate: null, usd: null, usdUnknown: 1 };
  const text = statisticsLines({ ...statistics, groups: [{ key: null, ...one }], total: one }, print).join(
    "\n",
  );
  assertStringIncludes(text, "(none)");
  assertStringIncludes(text, "unknown");
  assert(/1 +0 +0 +– +– +– +unknown/.test(text), text);
});

Deno.test("decisions list, show, replay and statistics work on a store that outlives the command", async () => {
  const directory = await Deno.makeTempDir();
  const store = `${directory}/store.sqlite3`;
  const command = (...args: string[]) => runCaptured([...args, "--store", store]);
  try {
    const empty = await command("decisions", "replay", "latest");
    assertEquals([empty.status, empty.err], [2, "assay: there are no decisions yet\n"]);
    const judged = await command(
      "compare",
      "examples/csv-summary/checked.json",
      "examples/csv-summary/unchecked.json",
      "--json",
    );
    const { id } = JSON.parse(judged.out);
    const list = await command("decisions", "--json");
    assertEquals(JSON.parse(list.out).decisions.map((entry: { id: string }) => entry.id), [id]);
    assertStringIncludes((await command("decisions", "list", "--verb", "compare")).out, id);
    assertEquals(
      (await command("decisions", "list", "--verb", "select")).out,
      "There are no decisions yet.\n",
    );
    const shown = await command("decisions", "show", id, "--texts");
    assertStringIncludes(shown.out, "winner");
    assertStringIncludes(shown.out, "  Prompt\n");
    const again = await command("decisions", "replay", id);
    assertEquals(again.status, 0);
    assert(again.out.startsWith("Equal.\n"));
    const sums = JSON.parse((await command("statistics", "--group", "rubric", "--json")).out);
    assertEquals([sums.groups[0].key, sums.total.invocations], ["general", 1]);
    const missing = await command("decisions", "show", "dec_01JD0000000000000000000000");
    assertEquals(missing.status, 2);
    assertStringIncludes(missing.err, "no decision with this id");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("wrong words of decisions and statistics are told with what there is", async () => {
  const wrong: [string[], string][] = [
    [["decisions", "shwo"], "did you mean show?"],
    [["decisions", "show"], "needs one id"],
    [["decisions", "list", "--limit", "0"], "--limit must be a whole number"],
    [["decisions", "list", "x"], "takes no more words"],
    [["statistics", "--group", "month"], "--group must be one of"],
    [["statistics", "--from", "yesterday"], "--from must be a day"],
    [["statistics", "--from", "2026-02-30"], "--from must be a day"],
    [["statistics", "--from", "2026-03-02", "--to", "2026-03-01"], "--from must be before"],
    [["statistics", "x"], "takes no words"],
  ];
  for (const [args, message] of wrong) {
    const { status, err } = await runCaptured(args);
    assertEquals(status, 2, args.join(" "));
    assertStringIncludes(err, message);
  }
});

Deno.test("decisions and statistics of a server are those of its API", async () => {
  const judge = fakeJudge({
    answer: (request) => answerWith(request.tags, request.tags.map((_, i) => 0.7 - i / 9)),
  });
  const { ask } = fakeApp({ environment: fakeEnvironment(judge), verbs: { ...exampleVerbs, compare } });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = request.method === "POST" ? await request.text() : undefined;
    return await ask(pathname + search, {
      method: request.method,
      headers: request.headers,
      ...(body === undefined ? {} : { body }),
    });
  });
  const remote = (...args: string[]) =>
    runCaptured([...args, "--server", `http://127.0.0.1:${server.addr.port}`]);
  try {
    const ids: string[] = [];
    for (const task of ["one", "two", "three"]) {
      const made = await ask("/v1/compare", post({ task, a: "x", b: "y", criteria: ["x"] }));
      ids.unshift((await made.json()).id);
    }
    const listed = JSON.parse((await remote("decisions", "list", "--limit", "2", "--json")).out);
    assertEquals(listed.decisions.length, 2);
    assert(typeof listed.cursor === "string");
    assertEquals((await remote("decisions", "replay", ids[1]!)).out.split("\n")[0], "Equal.");
    assertStringIncludes((await remote("decisions", "show", ids[0]!)).out, ids[0]!);
    const sums = JSON.parse((await remote("statistics", "--group", "verb", "--json")).out);
    assertEquals([sums.total.invocations, sums.total.calls, sums.cursor], [3, 6, null]);
    const missing = await remote("decisions", "replay", "dec_01JD0000000000000000000000");
    assertEquals(missing.status, 2);
  } finally {
    await server.shutdown();
  }
});
