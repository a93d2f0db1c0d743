import { assertEquals } from "@std/assert";
import { gather, planLines, unscoredText, usageLine } from "./report.ts";

const USAGE = {
  calls: 0,
  attempts: 0,
  cacheHits: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  usd: null,
};

Deno.test("gather() names the runs and tells what differs only in its numbers once", () => {
  const names = { "/candidates/0": "a.json", "/candidates/10": "k.json" };
  assertEquals(
    gather([
      "/candidates/0/messages: step 1 has 1 tool calls without a result",
      "/candidates/0/messages: step 4 has 2 tool calls without a result",
      "/candidates/10/messages: step 1 has 1 tool calls without a result",
      "/candidates/0: replaced 3 NUL characters by U+FFFD",
      "something else",
      "/candidates/7: the trajectory is empty",
    ], names),
    [
      "a.json: step 1 has 1 tool calls without a result (and 2 more like it, in 2 runs)",
      "a.json: replaced 3 NUL characters by U+FFFD",
      "something else",
      "/candidates/7: the trajectory is empty",
    ],
  );
});

Deno.test("usageLine() says unknown where the cost is unknown, and no cost where nothing was bought", () => {
  assertEquals(usageLine(USAGE, "gemini"), "0 calls; no cost");
  assertEquals(
    usageLine({ ...USAGE, calls: 2, attempts: 3 }, "gemini"),
    "2 calls (3 attempts); cost unknown",
  );
  assertEquals(usageLine({ ...USAGE, attempts: 1 }, "gemini"), "0 calls (1 attempts); cost unknown");
  assertEquals(usageLine({ ...USAGE, calls: 6, attempts: 6 }, "evidence"), "6 calls; no cost");
  assertEquals(
    usageLine(
      { ...USAGE, calls: 1, attempts: 1, cacheHits: 2, inputTokens: 1000, outputTokens: 5, usd: 0.5 },
      "x",
    ),
    "1 call, 2 from the cache; 1,000 tokens in, 5 out; $0.50",
  );
});

Deno.test("unscoredText() counts reasons with one example each", () => {
  assertEquals(unscoredText([], 4), null);
  assertEquals(
    unscoredText([{ reason: "no_tag", detail: "x" }, { reason: "timeout" }, {
      reason: "no_tag",
      detail: "y",
    }], 6),
    "3 of 6 scores missing and left out of all means: no_tag (2, for example: x); timeout (1)",
  );
});

Deno.test("planLines() shows unknown money as unknown", () => {
  const plan = { pairs: 0, calls: 4, inputTokens: 1000, cachedInputTokens: 10, outputTokens: 5, usd: null };
  assertEquals(planLines(plan).at(-1), "  cost           cost unknown");
  assertEquals(planLines({ ...plan, calls: 0 }).at(-1), "  cost           no cost");
});
