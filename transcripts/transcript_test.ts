import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { readTranscript, type Transcript, TranscriptError } from "./transcript.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const read = (value: unknown, file = "run.json"): Transcript =>
  readTranscript(encode(typeof value === "string" ? value : JSON.stringify(value)), file);
const refuses = (value: unknown, includes: string, file = "run.json"): TranscriptError =>
  assertThrows(() => read(value, file), TranscriptError, includes);

const atif = {
  trial_name: "demo__1",
  reward: 1,
  trajectory: {
    schema_version: "ATIF-v1.2",
    steps: [
      { step_id: 1, source: "system", message: "$31" },
      { step_id: 2, source: "user", message: "List the files." },
      {
        step_id: 3,
        source: "agent",
        message: "Listing.",
        tool_calls: [{ tool_call_id: "x", function_name: "bash", arguments: { keystrokes: "ls\n" } }],
        observation: { results: [{ source_call_id: "x", content: "a.txt" }] },
      },
    ],
  },
};

Deno.test("readTranscript() turns an ATIF run into messages, task, reward and id", () => {
  const transcript = read(atif);
  assertEquals(transcript, {
    id: "demo__1",
    task: "List the files.",
    images: [],
    reward: 1,
    format: "atif",
    warnings: [],
    trajectory: {
      messages: [
        {
          role: "assistant",
          content: "Listing.",
          tool_calls: [{
            id: "call_2_1",
            type: "function",
            function: { name: "bash", arguments: '{"keystrokes":"ls\\n"}' },
          }],
        },
        { role: "tool", tool_call_id: "call_2_1", content: "a.txt" },
      ],
    },
  });
});

Deno.test("readTranscript() reads an ATIF document without the benchmark's wrapper", () => {
  const transcript = read(atif.trajectory, "-");
  assertEquals([transcript.task, transcript.reward, transcript.id], ["List the files.", null, null]);
});

Deno.test("readTranscript() matches results to calls by id and the rest in order", () => {
  const step = {
    source: "agent",
    message: "",
    tool_calls: ["first", "second", "third"].map((id) => ({
      tool_call_id: id,
      tool_name: "t",
      arguments: {},
    })),
    observation: {
      results: [
        { source_call_id: "second", content: "two" },
        { content: "one" },
        { source_call_id: "third", content: "three" },
        { content: "more" },
      ],
    },
  };
  const messages = read({ steps: [step] }).trajectory.messages!;
  assertEquals(
    messages.slice(1).map((message) => [message.tool_call_id, message.content]),
    [["call_0_1", "one"], ["call_0_2", "two"], ["call_0_3", "three\nmore"]],
  );
});

Deno.test("readTranscript() keeps an observation that answers no call", () => {
  const messages = read({
    steps: [{ source: "agent", message: "wait", observation: { results: [{ content: "tick" }] } }],
  })
    .trajectory.messages!;
  assertEquals(messages[1], { role: "user", content: "tick" });
});

Deno.test("readTranscript() reads a single message on a single line", () => {
  assertEquals(read('{"role":"assistant","content":"hi"}\n', "a.jsonl").trajectory.messages!.length, 1);
  refuses('{"role":"user","content":"hi"}', "nothing to judge", "a.jsonl");
});

Deno.test("readTranscript() leaves the task in for the verifier to drop where it would drop another user message", () => {
  const early = [{ role: "user", content: "Task." }, { role: "user", content: "And quickly." }, {
    role: "assistant",
    content: "done",
  }];
  assertEquals(read(early).trajectory.messages as unknown, early);
  assertEquals(read(early).task, "Task.");
});

Deno.test("readTranscript() warns about what an ATIF step has and the judge can't be shown", () => {
  const { warnings } = read({
    steps: [{
      source: "agent",
      message: [{ type: "text", text: "see" }, {
        type: "image",
        source: { media_type: "image/png", path: "a.png" },
      }],
      tool_calls: [{ function_name: "spawn", arguments: {} }],
      observation: { results: [{ content: null, subagent_trajectory_ref: [{ session_id: "s" }] }] },
    }],
  });
  assertEquals(warnings, [
    "/steps/0: left out what can't be read (image)",
    "/steps/0/observation/results/0: the sub-agent's own run is not shown",
  ]);
});

const chat = [
  { role: "system", content: "You are an agent." },
  { role: "user", content: "Count to two." },
  { role: "assistant", content: "1", tool_calls: [] },
  { role: "user", content: "go on" },
  { role: "assistant", content: "2" },
];

Deno.test("readTranscript() reads a bare array, an object with messages and JSON Lines alike", () => {
  const expected = chat.filter((message) => message.content !== "Count to two.");
  const forms: [unknown, string][] = [
    [chat, "a.json"],
    [{ messages: chat }, "a.json"],
    [{ trajectory: { messages: chat } }, "a.json"],
    [{ trajectory: chat }, "-"],
    [chat.map((message) => JSON.stringify(message)).join("\n"), "a.jsonl"],
    [chat.map((message) => JSON.stringify(message)).join("\r\n\r\n") + "\r\n", "-"],
    [JSON.stringify(chat, null, 2), "a.txt"],
  ];
  for (const [form, file] of forms) {
    const transcript = read(form, file);
    assertEquals(transcript.trajectory.messages as unknown, expected);
    assertEquals([transcript.task, transcript.format], ["Count to two.", "chat"]);
  }
});

Deno.test("readTranscript() takes Anthropic's text blocks and images as the task, and leaves tool results alone", () => {
  const messages = [
    {
      role: "user",
      content: [
        { type: "text", text: "What is" },
        { type: "text", text: "this?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "image", source: { type: "url", url: "https://example.test/a.png" } },
      ],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a cat" }] },
  ];
  const transcript = read(messages);
  assertEquals(transcript.task, "What is\nthis?");
  assertEquals(transcript.images, ["data:image/png;base64,AAAA", "https://example.test/a.png"]);
  assertEquals(transcript.trajectory.messages as unknown, messages.slice(1));
  assertEquals(read([messages[2], messages[1]]).task, null);
});

Deno.test("readTranscript() lets a stated task win over the first user message", () => {
  assertEquals(read({ task: "Stated.", messages: chat, id: "run 7", reward: 0.5 }).task, "Stated.");
  assertEquals(read({ task: "Stated.", messages: chat, id: "run 7", reward: 0.5 }).id, "run 7");
});

Deno.test("readTranscript() reads trajectories as the HTTP API takes them", () => {
  assertEquals(read({ text: "did it" }).trajectory, { text: "did it" });
  assertEquals(read('"did it"').trajectory, { text: "did it" });
  assertEquals(read({ task: "t", trajectory: "did it" }).trajectory, { text: "did it" });
  const steps = read({ steps: ["one", { text: "two", images: ["https://example.test/b.png"] }] });
  assertEquals(steps.trajectory, { steps: ["one", { text: "two", images: ["https://example.test/b.png"] }] });
  assertEquals(steps.format, "assay");
});

Deno.test("readTranscript() takes anything else as plain text, brackets and all", () => {
  for (
    const text of [
      "[INFO] started\n[INFO] done",
      "{not json}",
      "--- Agent Step 1 ---\nhi",
      '{"level":"info"}\n{"level":"warn"}',
      "你好",
    ]
  ) {
    assertEquals(read(text, "run.log").trajectory, { text });
    assertEquals(read(text, "-").format, "text");
  }
  assertEquals(read("one\0two " + "x".repeat(100), "-").trajectory, { text: "one\0two " + "x".repeat(100) });
});

Deno.test("readTranscript() drops a byte-order mark", () => {
  assertEquals(readTranscript(encode("\uFEFF" + JSON.stringify(atif)), "a.json").reward, 1);
  assertEquals(readTranscript(encode("\uFEFFtext"), "a.txt").trajectory, { text: "text" });
});

Deno.test("readTranscript() replaces lone surrogates and says so once", () => {
  const transcript = read(
    '{"messages":[{"role":"assistant","content":"\\ud83d and \\ude00"},{"role":"assistant","content":"\\ud83d\\ude00"}]}',
  );
  assertEquals(transcript.trajectory.messages!.map((message) => message.content), [
    "\uFFFD and \uFFFD",
    "😀",
  ]);
  assertEquals(transcript.warnings, ["text with lone surrogates: each was replaced by U+FFFD"]);
});

Deno.test("readTranscript() leaves out a reward that is no number, with a warning", () => {
  const transcript = read({ ...atif, reward: "yes" });
  assertEquals(transcript.reward, null);
  assertEquals(transcript.warnings, ['"reward" is a string, not a number; it is not shown']);
  assertEquals(read({ ...atif, reward: true }).reward, 1);
});

Deno.test("readTranscript() refuses with the file's name, the place and what it found", async (t) => {
  const cases: [string, unknown, string, string?][] = [
    ["empty", "", "run.json: the file is empty"],
    ["blank", " \n\t", "run.json: the file holds nothing but blank space"],
    ["cut off", '{"messages": [\n {"role": "assistant", "con', "run.json:2:28: the JSON is cut off here"],
    ["cut off on standard input", '{"messages": [', "-:1:15: the JSON is cut off here", "-"],
    ["NaN", '{"reward": NaN}', "run.json:1:12: NaN is not JSON"],
    ["Infinity", '{"a":\n-Infinity}', "run.json:2:1: -Infinity is not JSON"],
    ["trailing comma", '{"a": 1,}', 'run.json:1:9: this is not JSON: unexpected "}"'],
    [
      "raw line break in a string",
      '{"a": "x\ny"}',
      "run.json:1:9: this is not JSON: unexpected control character U+000A",
    ],
    ["prose in a .json file", "hello", 'run.json:1:1: this is not JSON: unexpected "h"'],
    ["a number", "42", "expected an object or an array of messages, found a number"],
    ["an empty array", "[]", "found an empty array"],
    ["an array of numbers", "[1]", "found an array"],
    ["an empty object", "{}", "found an object with no keys"],
    ["another object", { answer: 42 }, "found an object with the keys answer"],
    [
      "a trajectory that is null",
      { trajectory: null },
      'expected "trajectory", "messages", "steps" or "text" at /trajectory, found null',
    ],
    [
      "messages that are no array",
      { messages: "x" },
      "/messages must be an array of messages, found a string",
    ],
    ["no messages", { messages: [] }, "no message with the role assistant"],
    [
      "a message without role",
      { messages: [{ role: "user", content: "x" }, {}] },
      '/messages/1 must have a "role" that is a text, found nothing',
    ],
    [
      "a message that is a text",
      [{ role: "user" }, "x"],
      '/1 must be an object with a "role", found a string',
    ],
    ["only the user", [{ role: "user", content: "x" }], "nothing to judge"],
    ["no agent step", { steps: [{ source: "user", message: "x" }] }, "no step of the agent"],
    [
      "an unknown source",
      { steps: [{ source: "robot" }] },
      '/steps/0/source must be "user", "agent" or "system", found "robot"',
    ],
    [
      "tool calls that are no array",
      { steps: [{ source: "agent", tool_calls: {} }] },
      "/steps/0/tool_calls must be an array, found an object",
    ],
    [
      "an observation that is a text",
      { steps: [{ source: "agent", observation: "x" }] },
      "/steps/0/observation must be an object, found a string",
    ],
    [
      "a result that is a text",
      { steps: [{ source: "agent", observation: { results: ["x"] } }] },
      "/steps/0/observation/results/0 must be an object",
    ],
    ["no steps", { steps: [] }, "/steps is empty"],
    ["a step that is a number", { steps: [7] }, "/steps/0 must be a text"],
    ["a broken line", '{"role":"user"}\n{"role":', "run.jsonl:2:9: the JSON is cut off here", "run.jsonl"],
    ["a line without role", '{"role":"user"}\n{"a":1}', 'message 2 must have a "role"', "run.jsonl"],
    ["several runs", '{"messages":[]}\n{"messages":[]}', "holds 2 trajectories", "run.jsonl"],
    [
      "a session log without work",
      '{"type":"session","version":4,"id":"s"}\n{"type":"turn/start","seq":0}',
      "no message of the agent",
      "s.jsonl",
    ],
    [
      "a session log of a newer format, by content alone",
      '{"type":"session","version":9,"id":"s"}\n{"x":1}',
      "session logs of format 9 are not known here",
      "-",
    ],
    [
      "deep nesting",
      `{"steps":[{"source":"agent","message":{"a":${"[".repeat(2e5)}"\\ud800"${"]".repeat(2e5)}}}]}`,
      "run.json: the JSON nests too deep to be read",
    ],
  ];
  for (const [name, value, includes, file] of cases) {
    await t.step(name, () => void refuses(value, includes, file));
  }
});

Deno.test("readTranscript() refuses bytes that aren't UTF-8, with offset and line", () => {
  const error = (bytes: number[]) =>
    assertThrows(() => readTranscript(new Uint8Array(bytes), "b.txt"), TranscriptError);
  assertEquals(
    error([0x61, 0x0a, 0x62, 0xff, 0x63]).message,
    "b.txt:2:2: the file isn't UTF-8: byte 0xff at offset 3 starts no valid character",
  );
  // A character cut off at the end, and one broken in its middle, are named by their first byte.
  assertStringIncludes(error([0x61, 0xe4, 0xbd]).message, "byte 0xe4 at offset 1");
  assertStringIncludes(error([0x61, 0xe4, 0xbd, 0x62]).message, "byte 0xe4 at offset 1");
  assertStringIncludes(error([0xc3, 0xa9, 0x80]).message, "byte 0x80 at offset 2");
  assertStringIncludes(error([0xff, 0xfe, 0x61, 0x00]).message, "UTF-16");
  assertStringIncludes(error([0xfe, 0xff, 0x00, 0x61]).message, "UTF-16");
  assertStringIncludes(error([0x61, 0, 0, 0, 0x62]).message, "binary");
});

Deno.test("readTranscript() reads a 20 MB run", () => {
  const big = structuredClone(atif);
  big.trajectory.steps[2]!.observation!.results[0]!.content = "line of output\n".repeat(1_400_000);
  const content = read(big).trajectory.messages![1]!.content as string;
  assertEquals(content.length, 21_000_000);
});

Deno.test("readTranscript() throws nothing but its documented error, for any bytes and any JSON", () => {
  const only = (bytes: Uint8Array, file: string) => {
    try {
      const transcript = readTranscript(bytes, file);
      assert(["atif", "chat", "assay", "text"].includes(transcript.format));
      assert(transcript.reward === null || Number.isFinite(transcript.reward));
    } catch (error) {
      assert(error instanceof TranscriptError, String(error));
      assert(error.message.startsWith(file), error.message);
    }
  };
  const file = fc.constantFrom("a.json", "a.jsonl", "a.txt", "-");
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), file, only));
  // Near misses: real documents with one part replaced by any JSON, cut anywhere.
  const part = fc.jsonValue({ maxDepth: 3 });
  const document = fc.oneof(
    fc.tuple(part, part, part, part).map(([message, tool_calls, observation, content]) => ({
      reward: content,
      trajectory: {
        steps: [
          { source: "user", message },
          { source: "agent", message, tool_calls, observation },
          {
            source: "agent",
            message,
            tool_calls: [tool_calls],
            observation: { results: [{ content }, observation] },
          },
        ],
      },
    })),
    fc.tuple(part, part, part).map(([content, message, id]) => ({
      id,
      task: content,
      messages: [{ role: "user", content }, message, { role: "assistant", content }],
    })),
    part.map((steps) => ({ steps })),
    part.map((trajectory) => ({ trajectory })),
  );
  fc.assert(fc.property(document, file, (value, name) => only(encode(JSON.stringify(value)), name)));
  fc.assert(
    fc.property(
      document,
      fc.double({ min: 0, max: 1, noNaN: true }),
      file,
      (value, share, name) => {
        const bytes = encode(JSON.stringify(value));
        only(bytes.subarray(0, Math.floor(bytes.length * share)), name);
      },
    ),
  );
});

Deno.test("readTranscript() reads a session log as the trajectory of its agent, with its task and its id", () => {
  const log = [
    { type: "session", version: 4, id: "ses-7" },
    {
      type: "user/message",
      data: { content: [{ type: "text", text: "Fix it." }], source: { kind: "user" } },
    },
    {
      type: "user/message",
      data: { content: [{ type: "text", text: "Quickly." }], source: { kind: "user" } },
    },
    { type: "assistant/message", data: { message: { content: [{ type: "text", text: "Done \ud800." }] } } },
    { type: "newer/thing" },
  ].map((line) => JSON.stringify(line)).join("\n");
  const { id, task, format, trajectory, warnings } = readTranscript(encode(log), "s.jsonl");
  assertEquals([id, task, format], ["ses-7", "Fix it.", "dsh"]);
  assertEquals(trajectory.messages, [
    { role: "user", content: "Fix it." },
    { role: "user", content: "Quickly." },
    { role: "assistant", content: "Done \ufffd." },
  ]);
  assertStringIncludes(warnings.join(), "newer/thing");
});
