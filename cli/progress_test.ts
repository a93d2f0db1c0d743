import { assertEquals } from "@std/assert";
import { makeProgress } from "./progress.ts";

const plan = (calls: number) => ({
  type: "plan" as const,
  plan: { pairs: 1, calls, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, usd: null },
});
const call = (done: number, total: number, unscored = false) => ({
  type: "call" as const,
  done,
  total,
  repeat: 0,
  cached: false,
  scores: unscored ? [{ kind: "unscored" as const, reason: "no_tag" as const }] : [],
});

Deno.test("makeProgress() draws calls, time and missing scores, and clears its line", () => {
  let time = 0;
  const lines: string[] = [];
  const progress = makeProgress((text) => lines.push(text), () => time);
  progress.onEvent(plan(4));
  progress.onEvent(call(1, 4));
  time = 61_000;
  progress.onEvent(call(2, 4, true));
  progress.end();
  progress.end();
  assertEquals(lines, [
    "\r\u001b[2K[------------------------] 0/4 calls  0:00",
    "\r\u001b[2K[############------------] 2/4 calls  1:01  1 unscored",
    "\r\u001b[2K",
  ]);
});

Deno.test("makeProgress() doesn't draw every call of a fast judge, but always the last one", () => {
  const lines: string[] = [];
  const progress = makeProgress((text) => lines.push(text), () => 0);
  for (let i = 1; i <= 1000; i++) progress.onEvent(call(i, 1000));
  assertEquals(lines.length, 2);
  assertEquals(lines[1]!.includes("1000/1000"), true);
});

Deno.test("makeProgress() draws nothing without a terminal", () => {
  const progress = makeProgress(null);
  progress.onEvent(plan(1));
  progress.end();
});
