import { assert, assertEquals } from "@std/assert";
import type { StatusInfo } from "./backend.ts";
import { statusLines } from "./status.ts";
import { makeStyle } from "./style.ts";

const STATUS: StatusInfo = {
  coreVersion: "1",
  promptVersion: "1",
  defaultJudge: "evidence",
  judges: [],
  store: { kind: "memory", healthy: true },
  budget: {
    day: "2026-12-01",
    resetsAt: "2026-12-02T00:00:00.000Z",
    limits: { calls: 100, tokens: null, usd: 0.5 },
    spent: { calls: 40, tokens: 9000, usd: 0.1, estimated: { tokens: 0, usd: 0 } },
    held: { calls: 6, tokens: 600, usd: 0 },
  },
};

Deno.test("statusLines() shows the caller's own budget, and nothing where there is none", () => {
  const print = { style: makeStyle(false), columns: 80, quiet: false };
  const budget = (status: StatusInfo) =>
    statusLines(status, "here", print).find((line) => line.startsWith("Budget"));
  assertEquals(budget(STATUS), "Budget  40 (and 6 held) of 100 calls, $0.1 of $0.5 today (UTC)");
  for (const without of [{ ...STATUS, budget: null }]) assert(budget(without) === undefined);
});
