import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { readSessionLog, type SessionLog } from "./dsh_session.ts";
import { TranscriptError } from "./error.ts";

type Fields = Record<string, unknown>;

/** A log from a header and events; events get their numbers by position. */
function log(header: Fields, events: readonly Fields[]): string {
  const lines = [
    { type: "session", version: 0, id: "s", createdAt: 0, ...header },
    ...events.map((event, seq) => ({
      seq,
      time: seq,
      surfaceOp: "append",
      ...event,
    })),
  ];
  return lines.map((line) => JSON.stringify(line)).join("\n") + "\n";
}

const user = (text: string, kind = "user", more: Fields = {}): Fields => ({
  type: "user/message",
  data: { role: "user", content: [{ type: "text", text }], source: { kind } },
  ...more,
});
const agent = (
  text: string,
  calls: readonly (readonly [string, string, string])[] = [],
  more: Fields = {},
): Fields => ({
  type: "assistant/message",
  data: {
    turn: 1,
    step: 1,
    message: {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hidden thoughts" },
        { type: "text", text },
        ...calls.map(([id, name, args]) => ({ type: "tool-call", id, name, arguments: args })),
      ],
    },
  },
  ...more,
});
const call = (id: string, name = "bash", args = '{"command":"ls"}'): Fields => ({
  type: "tool/call",
  data: { turn: 1, step: 1, callId: id, name, arguments: args },
});
/** Up to format 3. */
const oldResult = (id: string, text: string, more: Fields = {}): Fields => ({
  type: "tool/result",
  data: {
    turn: 1,
    step: 1,
    message: {
      role: "user",
      source: { kind: "tool", callId: id },
      content: [{ type: "tool-result", toolCallId: id, content: [{ type: "text", text }], isError: false }],
    },
  },
  ...more,
});
/** Format 4. */
const newResult = (id: string, text: string, more: Fields = {}): Fields => ({
  type: "tool/result",
  data: { turn: 1, step: 1, message: { role: "tool", toolCallId: id, content: [{ type: "text", text }] } },
  ...more,
});

/** What the agent said, did and observed as one line per message. */
function shown({ messages }: SessionLog): readonly string[] {
  return messages.map((message) => {
    const calls = (message.tool_calls as { function: { name: string; arguments: string } }[] | undefined) ??
      [];
    return [
      message.role,
      message.content,
      ...calls.map((each) => `${each.function.name} ${each.function.arguments}`),
    ]
      .filter((part) => part !== "").join(": ");
  });
}

const read = (text: string, range = {}) => readSessionLog(text, "log", range);

Deno.test("parallel calls get the results that name them, in every format's shape", () => {
  for (const [version, result] of [[0, oldResult], [3, oldResult], [4, newResult]] as const) {
    const session = read(log({ version }, [
      user("Fix it."),
      agent("Looking.", [["a", "bash", '{"command":"one"}'], ["b", "bash", '{"command":"two"}']]),
      call("a"),
      call("b"),
      result("b", "second"),
      result("a", "first"),
      agent("Done."),
    ]));
    assertEquals(session.task, "Fix it.");
    assertEquals(shown(session), [
      'assistant: Looking.: bash {"command":"one"}: bash {"command":"two"}',
      "tool: first",
      "tool: second",
      "assistant: Done.",
    ]);
    assertEquals([session.version, session.counts.toolCalls, session.leftOut.reasoning], [version, 2, 2]);
    assertEquals(session.range, { from: 1, to: 6 });
  }
});

Deno.test("an id that is used again belongs to the newer call, unless the result cites the older one", () => {
  const session = read(log({}, [
    user("t"),
    agent("1", [["x", "bash", "one"]]),
    call("x"),
    oldResult("x", "first"),
    agent("2", [["x", "bash", "two"]]),
    call("x"),
    oldResult("x", "second", { sourceEventSeqs: [5] }),
    oldResult("x", "first, late", { sourceEventSeqs: [2] }),
  ]));
  assertEquals(shown(session), [
    "assistant: 1: bash one",
    "tool: first, late",
    "assistant: 2: bash two",
    "tool: second",
  ]);
});

Deno.test("calls that a program made stand behind the program's own, errors are marked", () => {
  for (const kind of ["code", "ptc"]) {
    const dispatch = (n: number, more: Fields) => ({
      rootCallId: "r",
      parentCallId: "r",
      subCallId: `r:${kind}:${n}`,
      name: "bash",
      arguments: { command: `c${n}` },
      ...more,
    });
    const session = read(log({ version: kind === "code" ? 0 : 4 }, [
      user("t"),
      agent("", [["r", "run_code", '{"code":"x"}']]),
      call("r", "run_code"),
      { type: `tool/${kind}-dispatch-start`, data: dispatch(1, {}) },
      { type: `tool/${kind}-dispatch-start`, data: dispatch(2, {}) },
      {
        type: `tool/${kind}-dispatch`,
        data: dispatch(2, { isError: true, content: [{ type: "text", text: "no" }] }),
      },
      { type: `tool/${kind}-dispatch`, data: dispatch(1, { content: [{ type: "text", text: "yes" }] }) },
      oldResult("r", "done"),
    ]));
    assertEquals(shown(session), [
      'assistant: run_code {"code":"x"}: run_code/bash {"command":"c1"}: run_code/bash {"command":"c2"}',
      "tool: done",
      "tool: yes",
      "tool: [error] no",
    ]);
    assertEquals(session.counts.nestedCalls, 2);
  }
});

Deno.test("programs whose ids are used again keep their own calls", () => {
  const program = (command: string): readonly Fields[] => [
    call("r", "run_code", command),
    {
      type: "tool/code-dispatch",
      data: {
        rootCallId: "r",
        subCallId: "r:code:1",
        name: "bash",
        arguments: { command },
        content: [{ type: "text", text: `${command} done` }],
      },
    },
    oldResult("r", "done"),
  ];
  const session = read(log({}, [user("t"), ...program("one"), ...program("two")]));
  assertEquals(session.counts.nestedCalls, 2);
  assertEquals(shown(session).filter((line) => line.startsWith("tool: ") && line !== "tool: done"), [
    "tool: one done",
    "tool: two done",
  ]);
});

Deno.test("steering, plugin and system messages and the verifier's own calls are no evidence, and are counted", () => {
  const session = read(log({ version: 4 }, [
    { type: "system/message", data: { message: { content: [{ type: "text", text: "You are…" }] } } },
    user("context", "runtime-context"),
    user("Fix it."),
    agent("", [["v", "verifier_compare", "{}"], ["w", "verify_track", "{}"], ["b", "bash", "ls"]]),
    call("v", "verifier_compare"),
    newResult("v", "A wins, score 0.9"),
    call("w", "verify_track"),
    call("b"),
    newResult("b", "files"),
    user("Your work scored 0.3. Go on.", "plugin"),
    agent("", [["v2", "verifier_session", "{}"]]),
    newResult("v2", "0.99"),
    user("Also the tests."),
    agent("Done."),
  ]));
  assertEquals(session.task, "Fix it.");
  assertEquals(shown(session), [
    "assistant: bash ls",
    "tool: files",
    "user: Also the tests.",
    "assistant: Done.",
  ]);
  assertEquals(session.leftOut, {
    "system": 1,
    "runtime-context": 1,
    "reasoning": 3,
    "plugin": 1,
    "the verifier's own calls": 3,
  });
});

Deno.test("a replaced surface is gone and the new one stands there, in both spellings; a later one may replace it again", () => {
  for (
    const spell of [
      (a: number, b: number) => ({ op: "replace", start: a, end: b }),
      (a: number, b: number) => ({ op: "replace", startSeq: a, endSeq: b }),
    ]
  ) {
    const session = read(log({}, [
      user("First wording."),
      agent("Wrong way.", [["a", "bash", "rm"]]),
      call("a"),
      oldResult("a", "removed"),
      user("Second wording.", "user", { surfaceOp: spell(0, 3) }),
      agent("Right way.", [["b", "bash", "ls"]]),
      call("b"),
      oldResult("b", "long output"),
      oldResult("b", "shortened output", { surfaceOp: spell(7, 7) }),
      user("Third wording.", "user", { surfaceOp: spell(4, 4) }),
    ]));
    assertEquals(session.task, "Third wording.");
    assertEquals(shown(session), ["assistant: Right way.: bash ls", "tool: shortened output"]);
    assertEquals([session.counts.replacements, session.leftOut.replaced], [3, 3]);
  }
});

Deno.test("a compaction shortens what the model sees, not what happened: the work before it stays, its summary is left out", () => {
  const session = read(log({ version: 4 }, [
    user("Fix it."),
    agent("Step one.", [["a", "bash", "make"]]),
    call("a"),
    newResult("a", "ok"),
    { type: "compaction/summary", data: {} },
    user("<summary>", "compact-checkpoint", {
      surfaceOp: { op: "replace", startSeq: 0, endSeq: 3 },
      sourceEventSeqs: [4, 0, 1, 3],
    }),
    agent("Step two."),
  ]));
  assertEquals(session.task, "Fix it.");
  assertEquals(shown(session), ["assistant: Step one.: bash make", "tool: ok", "assistant: Step two."]);
  assertEquals([session.counts.replacements, session.counts.compactions], [1, 1]);
});

Deno.test("a replacement of what a compaction stands for replaces what it stands for", () => {
  const session = read(log({ version: 4 }, [
    user("Old task."),
    agent("Old work."),
    user("<summary>", "compact-checkpoint", { surfaceOp: { op: "replace", startSeq: 0, endSeq: 1 } }),
    user("New task.", "user", { surfaceOp: { op: "replace", startSeq: 2, endSeq: 2 } }),
    agent("New work."),
  ]));
  assertEquals([session.task, shown(session)], ["New task.", ["assistant: New work."]]);
});

Deno.test("what a fork inherited is not its work", () => {
  const inherited = [user("Parent's task."), agent("Parent's work.")];
  const own = [user("Fork's task."), agent("Fork's work.")];
  for (
    const session of [
      read(log({ version: 0, parentSession: "p", seedLength: 2 }, [...inherited, ...own])),
      read(log({ version: 4, isSeeded: true }, [
        ...inherited,
        { type: "session/end-seed", data: { inherited: true } },
        ...own,
      ])),
    ]
  ) {
    assertEquals([session.task, shown(session)], ["Fork's task.", ["assistant: Fork's work."]]);
    assertEquals(session.leftOut["inherited by the fork"], 2);
  }
  for (const version of [0, 4]) {
    const session = read(log({ version, ...(version === 0 ? { seedLength: 2 } : { isSeeded: true }) }, [
      ...inherited,
      ...(version === 0 ? [] : [{ type: "session/end-seed", data: { inherited: true } }]),
      ...own,
      { type: "session/end-seed", data: {} },
      agent("After a restart."),
    ]));
    assertEquals(session.task, "Fork's task.", `format ${version}`);
    assertEquals(shown(session), ["assistant: Fork's work.", "assistant: After a restart."]);
  }
  const resumed = read(log({ version: 4 }, [...own, { type: "session/end-seed", data: {} }, agent("More.")]));
  assertEquals([resumed.task, shown(resumed).length], ["Fork's task.", 2]);
  const silent = read(log({ seedLength: 2 }, [...inherited, agent("Fork's work.")]));
  assertEquals([silent.task, shown(silent)], ["Parent's task.", ["assistant: Fork's work."]]);
  assertStringIncludes(silent.warnings.join(), "forked from");
});

Deno.test("a range reads the log as if it ended at `to`, and shows what came from `from` on", () => {
  const text = log({}, [
    user("Task one."),
    agent("Work one."),
    user("Task two."),
    agent("Work two."),
    user("Rewritten.", "user", { surfaceOp: { op: "replace", start: 2, end: 3 } }),
  ]);
  const until = read(text, { to: 3 });
  assertEquals([until.task, shown(until)], ["Task one.", [
    "assistant: Work one.",
    "user: Task two.",
    "assistant: Work two.",
  ]]);
  const from = read(text, { from: 2, to: 3 });
  assertEquals([from.task, shown(from)], ["Task two.", ["assistant: Work two."]]);
  const late = read(text, { from: 3, to: 3 });
  assertEquals([late.task, shown(late)], ["Task two.", ["assistant: Work two."]]);
  assertEquals(read(text, { from: 100 }).range, null);
});

Deno.test("packed rows count all of their members; events without numbers are numbered by position", () => {
  const lines = [
    { type: "session", version: 0, id: "s" },
    user("t"),
    {
      type: "text-chunks",
      seq0: 1,
      time0: 0,
      data: { turn: 1, step: 1, index: 0, dt: [1, 1], texts: ["a", "b", "c"] },
    },
    agent("abc"),
  ].map((line) => JSON.stringify(line)).join("\n");
  const session = read(lines);
  assertEquals([session.counts.events, session.counts.lines, session.range], [5, 4, { from: 4, to: 4 }]);
  assertEquals(session.warnings, []);
});

Deno.test("lines that can't be read and types that nobody knows are left out, counted and named", () => {
  const good = log({}, [user("t"), agent("work")]).trimEnd();
  const text =
    `${good}\n{"type":"tool/result","seq":2,"da\n[1]\n{"seq":9}\n{"type":"text-chunks","seq0":3,"data":{}}\n` +
    `{"type":"newer/thing","seq":3,"data":{}}\n{"type":"newer/hint","seq":4,"ignorable":true,"data":{}}\n` +
    `{"type":"plan/mode","seq":5,"data":{}}\n{"type":"team/task","seq":6,"data":{}}\n`;
  const session = read(text);
  assertEquals(shown(session), ["assistant: work"]);
  assertEquals([session.counts.badLines, session.counts.unknownEvents], [4, 1]);
  const warnings = session.warnings.join("\n");
  for (
    const part of ["4 lines", "line 4: no complete JSON", "an array instead of an event", '"newer/thing" (1)']
  ) {
    assertStringIncludes(warnings, part);
  }
});

Deno.test("what is no session log is an error that names the line", () => {
  for (
    const [text, part] of [
      ["", "empty"],
      ["\n\nhello\n", "log:3:1: this is no DeepSeek Harness session log"],
      ['{"role":"user"}', '"type": nothing'],
      ['{"type":"session"}', "first line must be"],
      ['{"type":"session","version":5}', "format 5"],
      ['{"type":"session","version":-1}', "0 to 4"],
      ["[]", "an empty array"],
    ] as const
  ) {
    assertStringIncludes(assertThrows(() => read(text), TranscriptError).message, part);
  }
});

Deno.test("arguments that nest too deep are shown as such, broken ones as they are", () => {
  const session = read(log({}, [
    user("t"),
    agent("", [["a", "tool", "[".repeat(200_000) + "]".repeat(200_000)], ["b", "tool", '{"x":']]),
  ]));
  const [first, second] = (session.messages[0]!.tool_calls as { function: { arguments: string } }[])
    .map((each) => each.function.arguments);
  assert(first === '"(arguments that nest too deep to be shown)"' || first!.length === 400_000);
  assertEquals(second, '{"x":');
});

Deno.test("the reader throws nothing but its own error, whatever the text is", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => orRefuses(() => read(text))));
  const words = fc.constantFrom(
    '{"type":"',
    "session",
    "user/message",
    '","version":',
    "4",
    "}",
    "\n",
    '"data":',
    "null",
    ",",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), (parts) => orRefuses(() => read(parts.join("")))),
  );
});

Deno.test("a real log in which lines are lost, doubled, moved or filled with other values is still read", () => {
  const lines = log({ version: 4 }, [
    user("t"),
    agent("w", [["a", "bash", "ls"], ["b", "run_code", "x"]]),
    call("a"),
    call("b"),
    { type: "tool/ptc-dispatch", data: { rootCallId: "b", subCallId: "b:1", name: "x", content: [] } },
    newResult("b", "1"),
    newResult("a", "2"),
    user("s", "compact-checkpoint", {
      surfaceOp: { op: "replace", startSeq: 0, endSeq: 6 },
      sourceEventSeqs: [0],
    }),
    { type: "session/end-seed", data: {} },
  ]).trimEnd().split("\n").map((line) => JSON.parse(line) as Fields);
  const [header, ...events] = lines;
  const event = fc.record({
    base: fc.constantFrom(...events),
    field: fc.constantFrom("type", "seq", "data", "surfaceOp", "sourceEventSeqs", "none"),
    value: fc.oneof(fc.jsonValue(), fc.constant({ op: "replace", startSeq: 2, endSeq: 1 })),
    inner: fc.constantFrom("message", "content", "source", "callId", "rootCallId", "none"),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (changes) => {
      const text = [
        header,
        ...changes.map(({ base, field, value, inner }) => ({
          ...base,
          data: { ...(base.data as Fields), [inner]: value },
          [field]: value,
        })),
      ].map((line) => JSON.stringify(line)).join("\n");
      const session = read(text);
      assert(session.messages.every(({ role }) => ["user", "assistant", "tool"].includes(role)));
    }),
    { numRuns: 500 },
  );
});

function orRefuses(work: () => void): void {
  try {
    work();
  } catch (error) {
    assert(error instanceof TranscriptError, String(error));
  }
}

const SAMPLES = new URL("../../shared/data/session-logs/", import.meta.url);
const exists = await Deno.stat(SAMPLES).then(() => true, () => false);

/** modelRequests, toolCalls, nestedCalls, replacements, events, messages, turns: from the samples' own README. */
const EXPECTED = {
  "v0-tool-turn": [2, 1, 0, 0, 102, 3, 1],
  "v0-code-turn": [2, 1, 2, 0, 255, 5, 1],
  "v0-retry": [1, 0, 0, 0, 21, 1, 1],
  "v4-attempt-retry": [1, 0, 0, 0, 19, 1, 1],
  "v4-compaction-series": [2, 1, 0, 1, 26, 3, 1],
  "v4-route-change": [2, 1, 0, 1, 26, 3, 1],
} as const;

for (const [name, expected] of Object.entries(EXPECTED)) {
  Deno.test({
    name: `the sample log ${name} has the requests, calls and replacements that were counted independently` +
      (exists ? "" : " (skipped: ../shared is absent)"),
    ignore: !exists,
    fn: () => {
      const session = readSessionLog(Deno.readTextFileSync(new URL(`${name}.jsonl`, SAMPLES)), name);
      const { modelRequests, toolCalls, nestedCalls, replacements, events, turns } = session.counts;
      assertEquals(
        [modelRequests, toolCalls, nestedCalls, replacements, events, session.messages.length, turns],
        [...expected],
      );
      assert(session.task !== null);
      assertEquals(session.warnings, []);
    },
  });
}
