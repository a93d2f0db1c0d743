import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { zstdCompressSync } from "node:zlib";
import { runCaptured, widest } from "./testing.ts";

const LINES = [
  { type: "session", version: 4, id: "ses-1" },
  { type: "turn/start", data: { turn: 1 } },
  {
    type: "user/message",
    data: { content: [{ type: "text", text: "Fix acme-42." }], source: { kind: "user" } },
  },
  {
    type: "assistant/message",
    data: {
      message: {
        content: [{ type: "tool-call", id: "a", name: "bash", arguments: '{"command":"make test"}' }],
      },
    },
  },
  { type: "tool/call", data: { callId: "a", name: "bash", arguments: '{"command":"make test"}' } },
  {
    type: "tool/result",
    data: { message: { toolCallId: "a", content: [{ type: "text", text: "2 passed" }] } },
  },
  { type: "assistant/message", data: { message: { content: [{ type: "text", text: "It works." }] } } },
].map((line, i) => JSON.stringify(i === 0 ? line : { seq: i - 1, ...line }) + "\n");

async function withFiles(work: (at: (name: string) => string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const at = (name: string) => `${folder}/${name}`;
  try {
    await Deno.writeTextFile(at("log.jsonl"), LINES.join(""));
    // As the host writes it: one frame for each write.
    const frames = LINES.map((line) => new Uint8Array(zstdCompressSync(new TextEncoder().encode(line))));
    const packed = Uint8Array.from(frames.flatMap((frame) => [...frame]));
    await Deno.writeFile(at("log.jsonl.zstd"), packed);
    await Deno.writeFile(at("torn.zstd"), packed.subarray(0, packed.length - 4));
    await Deno.writeTextFile(
      at("chat.json"),
      JSON.stringify([
        { role: "user", content: "Fix it." },
        { role: "assistant", content: "Done." },
      ]),
    );
    await Deno.writeTextFile(at("bad.jsonl"), '{"type":"session","version":7}\n');
    await work(at);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("session prints the progress of a log, plain or in frames of Zstandard, alike", async () => {
  await withFiles(async (at) => {
    const plain = await runCaptured(["session", at("log.jsonl")]);
    assertEquals([plain.status, plain.err], [0, ""]);
    assert(widest(plain.out) <= 80, plain.out);
    for (
      const part of ["Fix acme-42.", "session log, format 4, 2 steps, 1 tool call, events 2 to 5", "Final "]
    ) {
      assertStringIncludes(plain.out, part);
    }
    assertEquals((await runCaptured(["session", at("log.jsonl.zstd")])).out, plain.out);
    const torn = await runCaptured(["session", at("torn.zstd")]);
    assertStringIncludes(torn.out.replaceAll(/\s+/g, " "), "the last frame (at byte");
    assertStringIncludes(torn.out, "1 step,");
    const chat = await runCaptured(["session", at("chat.json"), "--json"]);
    const { source, task, mode } = JSON.parse(chat.out);
    assertEquals([source.kind, task, mode], ["messages", "Fix it.", "progress"]);
  });
});

Deno.test("session --acceptance exits by the verdict, 1 only for what isn't accepted", async () => {
  await withFiles(async (at) => {
    const strict = await runCaptured(["session", at("log.jsonl"), "--acceptance", "--threshold", "1"]);
    assertEquals(strict.status, 1, strict.out + strict.err);
    assertStringIncludes(strict.out, "Not accepted");
    assert(widest(strict.out) <= 80, strict.out);
    const easy = await runCaptured(["session", at("log.jsonl"), "--acceptance", "--threshold", "0.01"]);
    assertEquals(easy.status, 0, easy.out);
    assertStringIncludes(easy.out, "Accepted");
  });
});

Deno.test("session passes range and patterns on, and refuses what can't be one", async () => {
  await withFiles(async (at) => {
    const { out } = await runCaptured([
      "session",
      at("log.jsonl"),
      "--redact",
      "acme-\\d+",
      "--range",
      "-3",
      "--json",
    ]);
    const { task, source } = JSON.parse(out);
    assertEquals([task, source.steps, source.redacted], ["Fix [redacted].", 1, 1]);
    for (
      const [args, part] of [
        [[at("log.jsonl"), "--range", "5"], "such as 12-80"],
        [[at("log.jsonl"), "--redact", "(a+)+"], "--redact (/0) must not repeat"],
        [[at("bad.jsonl")], "format 7"],
        [[], "needs a session"],
        [[at("log.jsonl"), at("log.jsonl")], "takes one file"],
        [[at("none.jsonl")], "no such file"],
      ] as const
    ) {
      const { status, err } = await runCaptured(["session", ...args]);
      assertEquals(status, 2, err);
      assertStringIncludes(err, part);
    }
  });
});

Deno.test("the other commands read session logs too", async () => {
  await withFiles(async (at) => {
    const { status, out } = await runCaptured(["track", at("log.jsonl.zstd"), "--json"]);
    assertEquals(status, 0);
    assertEquals(JSON.parse(out).curve.length, 2);
  });
});
