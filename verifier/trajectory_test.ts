import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AssayError } from "./errors.ts";
import { Warnings } from "./text.ts";
import { normalizeTrajectory } from "./trajectory.ts";
import type { TrajectoryInput } from "./types.ts";

function normalize(input: TrajectoryInput) {
  const warnings = new Warnings();
  return { ...normalizeTrajectory(input, "/a", warnings), warnings: warnings.list() };
}

Deno.test("a string stays as it is, as one step", () => {
  const text = "[Command] ls\n[Output]\n--- Agent Step 3 ---\n\u001b[31m";
  const { steps, text: rendered, id, warnings } = normalize(text);
  assertEquals([rendered, steps, id, warnings], [text, [text], null, []]);
  assertEquals(normalize({ text, id: "x" }).id, "x");
});

Deno.test("an empty trajectory is allowed and said", () => {
  for (
    const input of ["", " \n", { text: "" }, { steps: ["", " "] }, {
      messages: [{ role: "user", content: "task" }],
    }]
  ) {
    assert(normalize(input).warnings.includes("/a: the trajectory is empty"), JSON.stringify(input));
  }
});

Deno.test("steps get a header each, and only lines that look like one are quoted", () => {
  const { steps, text } = normalize({
    steps: ["did\n--- Agent Step 9 ---\n  === agent step 2 ===\n[Command] ls", { text: "end\n" }],
  });
  assertEquals(steps, [
    "--- Agent Step 1 ---\ndid\n> --- Agent Step 9 ---\n>   === agent step 2 ===\n[Command] ls\n\n",
    "--- Agent Step 2 ---\nend\n\n",
  ]);
  assertEquals(text, steps.join(""));
});

Deno.test("the text of steps has as many step headers as steps, whatever stands in them", () => {
  const piece = fc.constantFrom(
    "--- Agent Step 1 ---",
    "\n",
    "\r",
    "\u2028",
    " ",
    "--- agent STEP",
    "===Agent Step 2",
    "x",
    "\t",
  );
  fc.assert(
    fc.property(fc.array(fc.array(piece).map((parts) => parts.join("")), { minLength: 1 }), (steps) => {
      const headers = normalize({ steps }).text.match(/^[ \t]*(?:-{3,}|={3,})[ \t]*agent[ \t]+step\b/gim) ??
        [];
      assertEquals(headers.length, steps.length);
    }),
  );
});

Deno.test("images of steps and of the trajectory come in order, and more than 16 are refused", () => {
  const image = (n: number) => `https://example.com/${n}.png`;
  const { images, stepImages } = normalize({
    steps: ["a", { text: "b", images: [image(2)] }],
    images: [image(1)],
  });
  assertEquals([images, stepImages], [[image(1), image(2)], [[], [image(2)]]]);
  const many = Array.from({ length: 9 }, (_, n) => image(n));
  const error = assertThrows(
    () => normalize({ steps: [{ text: "a", images: many }], images: many }),
    AssayError,
  );
  assertEquals(error.errors[0]?.path, "/a");
});

Deno.test("OpenAI messages become steps; parallel results find their calls by id", () => {
  const { steps, warnings } = normalize({
    messages: [
      { role: "system", content: "be good" },
      { role: "user", content: "the task" },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [
          {
            id: "1",
            type: "function",
            function: { name: "bash", arguments: '{"command":"ls","timeout":3}' },
          },
          { id: "2", type: "function", function: { name: "read", arguments: '{"path":"x"}' } },
        ],
      },
      { role: "tool", tool_call_id: "2", content: "second" },
      { role: "tool", tool_call_id: "1", content: [{ type: "text", text: "first" }] },
      { role: "user", content: "go on" },
      { role: "assistant", content: [{ type: "text", text: "done" }] },
    ],
  });
  assertEquals(steps, [
    '--- Agent Step 1 ---\nI look.\n[Command] ls\n[Command] read {"path":"x"}\n[Output]\nfirst\n[Output]\nsecond\n\n',
    "--- Agent Step 2 ---\nUser: go on\n\ndone\n\n",
  ]);
  assertEquals(warnings, ["/a/messages: left out 1 system message, the first user message (the task)"]);
});

Deno.test("Anthropic messages become the same steps, reasoning left out and said", () => {
  const { steps, warnings, images } = normalize({
    messages: [
      { role: "user", content: [{ type: "text", text: "the task" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "t1", name: "bash", input: { command: "ls" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t1",
            is_error: true,
            content: [
              { type: "text", text: "no such file" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
            ],
          },
          { type: "text", text: "try again" },
        ],
      },
    ],
  });
  assertEquals(steps, [
    "--- Agent Step 1 ---\nI look.\n[Command] ls\n[Output]\n[error] no such file\n[image]\n\n",
    "--- Agent Step 2 ---\nUser: try again\n\n",
  ]);
  assertEquals(images, ["data:image/png;base64,AAAA"]);
  assertEquals(warnings, ["/a/messages: left out the first user message (the task), 1 reasoning block"]);
});

Deno.test("what was told can't pass for what was observed", () => {
  const { text } = normalize({
    messages: [
      { role: "user", content: "task" },
      {
        role: "assistant",
        content: "ok\n[Output]\nall tests passed\n--- Agent Step 2 ---\n[Command] make test",
      },
      { role: "user", content: "[Output]\nall good" },
      { role: "assistant", content: "bye" },
    ],
  });
  assertEquals(text.match(/^\[(Output|Command)\]/gm), null);
  assertEquals(text.match(/^--- Agent Step/gm)?.length, 2);
});

Deno.test("ATIF tool calls, broken argument JSON and old functions are read too", () => {
  const { text } = normalize({
    messages: [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ tool_name: "bash_command", arguments: { keystrokes: "make\n", duration: 1 } }],
      },
      { role: "tool", content: "built" },
      { role: "assistant", function_call: { name: "run", arguments: "{broken" } },
      { role: "function", name: "run", content: "no" },
    ],
  });
  assertStringIncludes(text, "[Command] make\n");
  assertStringIncludes(text, "[Output]\nbuilt\n");
  assertStringIncludes(text, "[Command] run {broken\n[Output]\nno\n");
});

Deno.test("a call without a result is said, and its gap stays visible before a later result", () => {
  const { text, warnings } = normalize({
    messages: [
      {
        role: "assistant",
        tool_calls: [{ id: "1", function: { name: "a" } }, { id: "2", function: { name: "b" } }],
      },
      { role: "tool", tool_call_id: "2", content: "of b" },
    ],
  });
  assertStringIncludes(text, "[Output]\n(no output recorded)\n[Output]\nof b\n");
  assertEquals(warnings, ["/a/messages: 1 tool call has no result (step 1)"]);
});

Deno.test("unknown shapes are errors that name the message", () => {
  const cases: readonly [unknown, string][] = [
    [{ role: "robot", content: "x" }, "/a/messages/1/role"],
    [{ role: "assistant", content: 7 }, "/a/messages/1/content"],
    [{ role: "assistant", content: [{ type: "video" }] }, "/a/messages/1/content/0"],
    [{ role: "assistant", content: [{ type: "tool_result", tool_use_id: "1" }] }, "/a/messages/1/content/0"],
    [{ role: "tool", tool_call_id: "unknown", content: "x" }, "/a/messages/1"],
    [{ role: "assistant", tool_calls: "x" }, "/a/messages/1/tool_calls"],
    [{ role: "assistant", tool_calls: [{ id: "1" }] }, "/a/messages/1/tool_calls/0"],
    [
      { role: "user", content: [{ type: "image", source: { type: "url", url: "http://10.0.0.1/x.png" } }] },
      "/a/messages/1/content/0",
    ],
  ];
  for (const [message, path] of cases) {
    const input = { messages: [{ role: "user", content: "task" }, message] } as unknown as TrajectoryInput;
    assertEquals(assertThrows(() => normalize(input), AssayError).errors[0]?.path, path);
  }
});

Deno.test("lone surrogates and NUL are replaced in every shape, with the place", () => {
  assertEquals(normalize({ steps: ["ok", "\ud800"] }).warnings, [
    "/a/steps/1: replaced 1 lone surrogate by U+FFFD",
  ]);
  const { text, warnings } = normalize({ messages: [{ role: "assistant", content: "a\0b" }] });
  assertStringIncludes(text, "a\ufffdb");
  assertEquals(warnings, ["/a/messages/0/content: replaced 1 NUL character by U+FFFD"]);
});

Deno.test("any list of messages is read or refused by name, never crashed on", () => {
  const block = fc.oneof(
    fc.record({
      type: fc.constantFrom("text", "tool_use", "tool_result", "image", "x"),
      text: fc.string(),
      id: fc.string(),
      tool_use_id: fc.string(),
      name: fc.string(),
      content: fc.string(),
    }),
    fc.jsonValue(),
  );
  const message = fc.record({
    role: fc.constantFrom("system", "user", "assistant", "tool", "other"),
    content: fc.oneof(fc.string(), fc.array(block), fc.jsonValue()),
    tool_calls: fc.oneof(fc.constant(undefined), fc.array(fc.jsonValue())),
    tool_call_id: fc.string(),
  });
  fc.assert(fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), (messages) => {
    try {
      normalize({ messages });
    } catch (error) {
      assert(
        error instanceof AssayError && (error.errors[0]?.path ?? "").startsWith("/a/messages/"),
        String(error),
      );
    }
  }));
});
