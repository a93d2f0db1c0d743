import { assertEquals } from "@std/assert";
import type { BudgetStatus } from "../verifier/budget/budget.ts";
import { rateLimitHeaders } from "./rate_limit.ts";

const STATUS: BudgetStatus = {
  day: "2026-12-01",
  resetsAt: "2026-12-02T00:00:00.000Z",
  limits: { calls: 100, tokens: null, usd: 0.5 },
  spent: { calls: 40, tokens: 9000, usd: 0.1, estimated: { tokens: 0, usd: 0 } },
  held: { calls: 6, tokens: 600, usd: 0.05 },
};

Deno.test("rateLimitHeaders() names each limit's quota, what is left and when it begins anew", () => {
  assertEquals(rateLimitHeaders(STATUS, Date.parse("2026-12-01T23:00:00Z")), {
    "ratelimit-policy": '"daily-calls";q=100;qu="calls";w=86400, "daily-usd";q=500000;qu="micro-usd";w=86400',
    "ratelimit": '"daily-calls";r=54;t=3600, "daily-usd";r=350000;t=3600',
  });
});

Deno.test("rateLimitHeaders() never goes below nothing, nor beyond what a structured field can hold", () => {
  const status = {
    ...STATUS,
    limits: { calls: 10, tokens: 1e15, usd: null },
    spent: { ...STATUS.spent, tokens: 0 },
    held: { ...STATUS.held, tokens: 0 },
  };
  assertEquals(
    rateLimitHeaders(status, Date.parse("2026-12-02T10:00:00Z")).ratelimit,
    '"daily-calls";r=0;t=1, "daily-tokens";r=999999999999999;t=1',
  );
});
