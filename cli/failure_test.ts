import { assertEquals, assertStringIncludes } from "@std/assert";
import { StoreError } from "../store/store.ts";
import { TranscriptError } from "../transcripts/transcript.ts";
import { AssayError, ERROR_STATUS, type ErrorCode } from "../verifier/errors.ts";
import { describeFailure } from "./failure.ts";
import { ServerError, UsageError } from "./io.ts";

Deno.test("describeFailure() tells request fields in the words of the command line", () => {
  const cases: [string, string][] = [
    ["/repeats", "--repeats"],
    ["/budget/calls", "--budget-calls"],
    ["/deadlineMs", "--deadline"],
    ["/judge/maxTokens", "--max-tokens"],
    ["/judge/model", "--model"],
    ["/judge/0", "--judge"],
    ["/criteria/3/name", "--criteria"],
    ["/groundTruthNote", "--note"],
    ["/checkpoints/1", "--checkpoints"],
    ["/candidates/1", "b.json"],
    ["/candidates/1/messages/0", "b.json (/messages/0)"],
    ["/candidates/10", "/candidates/10"],
    ["", "the request"],
  ];
  for (const [path, name] of cases) {
    const { lines, status } = describeFailure(AssayError.field(path, "must be good", "x"), {
      "/candidates/1": "b.json",
    });
    assertEquals([lines, status], [[`${name} must be good: "x"`], 2]);
  }
});

Deno.test("describeFailure() lists several faults, one a line, and the plan of what was refused", () => {
  const plan = { pairs: 3, calls: 9, inputTokens: 1000, cachedInputTokens: 10, outputTokens: 5, usd: 0.5 };
  const error = new AssayError("over_budget", "9 calls are more than 2", { plan });
  const { lines, status } = describeFailure(error);
  assertEquals([lines[0], status], ["9 calls are more than 2", 2]);
  assertStringIncludes(lines.join("\n"), "calls          9");
  const faults = new AssayError("invalid_request", "two", {
    errors: [{ path: "/seed", message: "must be whole" }, {
      path: "/cache",
      message: "must be use",
      value: '"x"',
    }],
  });
  assertEquals(describeFailure(faults).lines, [
    "2 faults in the request:",
    "  --seed must be whole",
    '  --cache must be use: "x"',
  ]);
});

Deno.test("describeFailure() exits with 2 for what the user can mend and with 3 for judge and server", () => {
  const usage: ErrorCode[] = [
    "invalid_json",
    "invalid_request",
    "not_found",
    "length_conflict",
    "idempotency_conflict",
    "not_replayable",
    "forbidden",
    "body_too_large",
    "over_budget",
  ];
  for (const code of Object.keys(ERROR_STATUS) as ErrorCode[]) {
    assertEquals(describeFailure(new AssayError(code, "x")).status, usage.includes(code) ? 2 : 3, code);
  }
  assertEquals(describeFailure(new UsageError("x")).status, 2);
  assertEquals(describeFailure(new TranscriptError("f", "x")).status, 2);
  assertEquals(describeFailure(new StoreError("x")).status, 3);
  assertEquals(describeFailure(new ServerError("x")).status, 3);
});

Deno.test("describeFailure() shows no stack and no escape sequence of an unexpected failure", () => {
  const { lines, status } = describeFailure(new TypeError("boom\u001b[2J"));
  assertEquals([lines, status], [["unexpected failure: boom\\u{1b}[2J (ASSAY_DEBUG=1 shows where)"], 3]);
  assertEquals(describeFailure("text").status, 3);
});
