import { assertEquals, assertStringIncludes } from "@std/assert";
import { runCaptured } from "./testing.ts";

async function withRuns(work: (a: string, b: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const [a, b] = [`${folder}/a.txt`, `${folder}/b.txt`];
    await Deno.writeTextFile(a, "[Command] ask customer-1\n[Output]\nyes\n");
    await Deno.writeTextFile(b, "[Command] ask customer-22\n[Output]\nyes\n");
    await work(a, b);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const TASK = ["--task", "Ask customer-333."] as const;

Deno.test("--redact takes what matches out of task and runs, and the result counts the places", async () => {
  await withRuns(async (a, b) => {
    const pattern = ["--redact", "customer-\\d+"] as const;
    const { out, err } = await runCaptured(["compare", a, b, ...TASK, ...pattern]);
    assertStringIncludes(out, "identical: a tie", err);
    assertStringIncludes(out, "3 places were taken out (redact)");
    for (const verb of [["select", a, b], ["track", a], ["gate", a, "--threshold", "0.01"]] as const) {
      const { status, out } = await runCaptured([...verb, ...TASK, ...pattern, "--json"]);
      assertEquals(status, 0);
      const told = (JSON.parse(out).warnings as string[]).filter((each) => each.includes("taken out"));
      assertEquals(told, [`${verb[0] === "select" ? 3 : 2} places were taken out (redact)`], verb[0]);
    }
    const started = await runCaptured(["tracker", "start", ...TASK, ...pattern, "--json"]);
    assertEquals(JSON.parse(started.out).warnings, ["1 place was taken out (redact)"]);
  });
});

Deno.test("a pattern that isn't accepted is named, and best-of-n takes none", async () => {
  await withRuns(async (a, b) => {
    for (const args of [["compare", a, b], ["track", a], ["gate", a], ["tracker", "start"]]) {
      const { status, err } = await runCaptured([...args, ...TASK, "--redact", "ok", "--redact", "(a+)+"]);
      assertEquals(status, 2, err);
      assertStringIncludes(err, "--redact (/1) must not repeat");
    }
    const { status, err } = await runCaptured(["best-of-n", "Write.", "--redact", "x"]);
    assertEquals(status, 2);
    assertStringIncludes(err, "--redact");
  });
});
