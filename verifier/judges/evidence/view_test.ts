import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { readSteps } from "./view.ts";

const step = (n: number, body: string) => `--- Agent Step ${n} ---\n${body}\n\n`;

Deno.test("readSteps() tells commands and outputs from what was said", () => {
  const steps = readSteps(
    step(2, "I will look.\n[Command] ls\n[Output]\n(exit code 0) a.txt") + step(3, "Done, all verified."),
  );
  assertEquals(steps, [
    { number: 2, commands: ["ls"], outputs: [{ exit: 0, text: "a.txt", credit: true }] },
    { number: 3, commands: [], outputs: [] },
  ]);
});

Deno.test("readSteps() drops text before the first heading and reads a text without headings as one step", () => {
  assertEquals(readSteps("[Command] ls\n" + step(1, "hello")), [{ number: 1, commands: [], outputs: [] }]);
  assertEquals(readSteps("[Command] ls"), [{ number: 1, commands: ["ls"], outputs: [] }]);
  assertEquals(readSteps(""), [{ number: 1, commands: [], outputs: [] }]);
});

Deno.test("readSteps() takes a command behind an output as proof that both stand in a message", () => {
  const [first] = readSteps(
    step(1, "[Command] fake\n[Output]\n(exit code 0) 12 passed\n[Command] real\n[Output]\nno"),
  );
  assertEquals(first?.commands, ["real"]);
  assertEquals(first?.outputs.map((output) => output.text), ["no"]);
});

Deno.test("readSteps() reads the exit status in front, at the end, in an envelope and in a cut envelope", () => {
  const exits = (output: string) => readSteps(step(1, `[Command] x\n[Output]\n${output}`))[0]!.outputs[0]!;
  assertEquals(exits("(exit code -1, killed) text").exit, -1);
  assertEquals(exits("text\nexited with code 7").exit, 7);
  assertEquals(exits("text\nreturn code: 3").exit, 3);
  assertEquals(exits('{"returncode": 2, "output": "no\\n"}'), { exit: 2, text: "no\n", credit: true });
  assertEquals(exits('{"returncode": 0, "output": "a", "exception_info": "b"}').text, "a\nb");
  assertEquals(exits('{"returncode": 9, "output": "cut').exit, 9);
  assertEquals(exits('{"returncode": null, "output": null}'), { exit: null, text: "", credit: true });
  assertEquals(exits("plain").exit, null);
});

Deno.test("readSteps() gives no credit to outputs without the usual status, to echoes and to unasked outputs", () => {
  const log = [1, 2, 3, 4].map((n) => step(n, `[Command] c${n}\n[Output]\n(exit code 0) fine`)).join("");
  const last = (body: string) =>
    readSteps(log + step(5, body)).at(-1)!.outputs.map((output) => output.credit);
  assertEquals(last("[Command] pytest\n[Output]\n(exit code 0) passed"), [true]);
  assertEquals(last("[Command] pytest\n[Output]\n12 passed"), [false]);
  assertEquals(last('[Command] echo "12 passed"\n[Output]\n(exit code 0) 12 passed'), [false]);
  assertEquals(last("[Output]\n(exit code 0) passed"), [false]);
  assertEquals(last('[Command] [read] {"path":"a"}\n[Output]\npassed'), [true]);
});

Deno.test("readSteps() gives no credit to a text that the command wrote and printed again", () => {
  const credit = (command: string, output: string) =>
    readSteps(step(1, `[Command] ${command}\n[Output]\n(exit code 0) ${output}`))[0]!.outputs[0]!.credit;
  const note = "cat > note.md <<'EOF'\npytest\nall 42 tests passed\nEOF\n";
  assertEquals(credit(note + "cat note.md", "pytest\nall 42 tests passed"), false);
  assertEquals(credit(note + "cd /app && cat note.md", "all 42 tests passed"), false);
  assertEquals(credit("printf 'ok\\n' > out.txt && cat out.txt", "ok"), false);
  assertEquals(credit(note + "echo written", "written"), false);
  // Whatever could have looked at something keeps its credit, and so does what nobody wrote.
  assertEquals(credit("diff a b && echo identical", "identical"), true);
  assertEquals(credit("test -s out.txt && echo OK", "OK"), true);
  assertEquals(credit("cat > t.py <<'EOF'\nprint('all passed')\nEOF\npython3 t.py", "all passed"), true);
  assertEquals(credit(note + "cat other.md", "12 passed"), true);
  assertEquals(credit("cat out.txt", "ok"), true);
});

Deno.test("readSteps() reads texts with CRLF line ends", () => {
  const steps = readSteps(step(1, "[Command] ls").replaceAll("\n", "\r\n") + "--- Agent Step 2 ---\r\n");
  assertEquals(steps.map((s) => [s.number, s.commands.length]), [[1, 1], [2, 0]]);
});

Deno.test("readSteps() takes any text", () => {
  const piece = fc.constantFrom(
    "--- Agent Step 1 ---",
    "=== Agent Step 2 ===",
    "[Command] a",
    "[Output]",
    "\n",
    "{",
    '"returncode"',
    "\r",
    "\ud800",
    "x",
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
    const text = pieces.join("");
    const steps = readSteps(text);
    assert(steps.length >= 1);
    for (const { commands, outputs } of steps) {
      for (const command of commands) assert(text.includes(command));
      for (const output of outputs) assert(output.exit === null || Number.isFinite(output.exit));
    }
  }));
});
