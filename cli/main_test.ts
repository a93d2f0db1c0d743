/** The command line as a process of its own, with the embedded judge: what a user gets. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { runCaptured, widest } from "./testing.ts";

const root = fromFileUrl(new URL("../", import.meta.url));
const CHECKED = join(root, "examples/csv-summary/checked.json");
const WRONG = join(root, "examples/csv-summary/split-on-commas.json");

function command(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin: "null" | "piped" = "null",
): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", join(root, "cli/main.ts"), ...args],
    cwd: root,
    env: { ASSAY_STORE: "memory", NO_COLOR: "1", ...env },
    stdin,
    stdout: "piped",
    stderr: "piped",
  });
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

async function runProcess(
  ...args: string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const { code, stdout, stderr } = await command(args).output();
  return { code, out: decode(stdout), err: decode(stderr) };
}

/** Everything of a result but its own name. */
function withoutId(text: string): unknown {
  const { id, ...rest } = JSON.parse(text);
  assert(/^dec_/.test(id), id);
  return rest;
}

Deno.test("a process prints a table, JSON and errors with their exit statuses", async () => {
  const select = await runProcess("select", join(root, "examples/csv-summary"));
  assertEquals([select.code, select.err], [0, ""]);
  assert(widest(select.out) <= 80, select.out);
  for (
    const text of ["Judge  evidence: rule-based", "split-on-commas", "Pick  ", "Reward of the pick", "Agree"]
  ) {
    assertStringIncludes(select.out, text);
  }
  const compare = await runProcess("compare", CHECKED, WRONG, "--json");
  assertEquals(compare.code, 0);
  const result = JSON.parse(compare.out);
  assertEquals([result.verb, result.judge.kind, result.usage.calls], ["compare", "evidence", 6]);
  assertEquals((await runProcess("slect")).code, 2);
  assertEquals((await runProcess("version")).code, 0);
});

function withoutInitCwd(): Record<string, string> {
  const { INIT_CWD: _, ...rest } = Deno.env.toObject();
  return rest;
}

Deno.test("paths given to deno task mean the folder that the user is in", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "assay", "select", "log-errors", "--dry-run"],
    cwd: join(root, "examples"),
    // Started by a task or npx itself, the test holds the INIT_CWD of that one, and a task keeps what it finds.
    clearEnv: true,
    env: { ...withoutInitCwd(), ASSAY_STORE: "memory", NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).output();
  assertEquals([code, decode(stderr)], [0, ""]);
  assertStringIncludes(decode(stdout), "calls          27");
});

Deno.test("standard input is read as a trajectory", async () => {
  const child = command(["track", "-", "--json"], {}, "piped").spawn();
  const writer = child.stdin.getWriter();
  await writer.write(Deno.readFileSync(join(root, "examples/progress/roman.json")));
  await writer.close();
  const { code, stdout } = await child.output();
  assertEquals(code, 0);
  assertEquals(JSON.parse(decode(stdout)).curve.length, 10);
});

Deno.test("a request's faults are told in the words of the options", async () => {
  const cases: [string[], string][] = [
    [["--repeats", "0.5"], "--repeats must be"],
    [["--repeats", "65"], "--repeats must be"],
    [["--seed", "1e99"], "--seed must be"],
    [["--channel", "magic"], "--channel must be"],
    [["--budget-calls", "-1"], "--budget-calls must be"],
    [["--criteria", "codnig"], "did you mean coding?"],
    [["--judge", "gpt"], "--judge must be"],
    [["--task", " "], "--task must not be blank"],
    [["--checkpoints", "0"], "--checkpoints must be"],
    [["--checkpoints", "99"], "--checkpoints must be"],
    [["--budget-calls", "1"], "calls"],
  ];
  for (const [options, message] of cases) {
    const { status, out, err } = await runCaptured([
      "track",
      join(root, "examples/progress/roman.json"),
      ...options,
    ]);
    assertEquals([status, out], [2, ""], `${options}: ${err}`);
    assertStringIncludes(err, message);
  }
});

Deno.test("one candidate needs no call, identical candidates are judged once", async () => {
  const one = await runCaptured(["select", CHECKED]);
  assertEquals(one.status, 0);
  assertStringIncludes(one.out, "Used   0 calls; no cost");
  const twins = await runCaptured(["select", CHECKED, CHECKED, WRONG]);
  assertEquals(twins.status, 0, twins.err);
  assertStringIncludes(twins.out, "(= ");
  assertStringIncludes((await runCaptured(["compare", CHECKED, CHECKED])).out, "identical: a tie");
});

Deno.test("--dry-run buys nothing, and a second run with a cache file buys nothing again", async () => {
  const folder = await Deno.makeTempDir({ prefix: "assay-test-" });
  try {
    const store = join(folder, "cache.sqlite3");
    const args = ["compare", CHECKED, WRONG, "--store", store];
    assertStringIncludes((await runCaptured([...args, "--dry-run"])).out, "calls          6");
    assertStringIncludes((await runCaptured(args)).out, "Used   6 calls; no cost");
    assertStringIncludes((await runCaptured(args)).out, "Used   0 calls, 6 from the cache");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Ctrl-C closes the calls in flight and exits with 130", async () => {
  // A judge that takes calls and never answers; what is watched is its end of the connection.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const child = command(["compare", CHECKED, WRONG], {
    ASSAY_JUDGE_BASE_URL: `http://127.0.0.1:${listener.addr.port}`,
    ASSAY_JUDGE_MODEL: "silent",
  }).spawn();
  const connection = await listener.accept();
  try {
    const buffer = new Uint8Array(65_536);
    const first = await connection.read(buffer);
    assertStringIncludes(decode(buffer.subarray(0, first!)), "POST /chat/completions");
    child.kill("SIGINT");
    while (await connection.read(buffer).catch(() => null) !== null) {
      // The rest of the call that was being sent.
    }
    const { code, stdout, stderr } = await child.output();
    assertEquals([code, decode(stdout)], [130, ""]);
    assertStringIncludes(decode(stderr), "interrupted");
  } finally {
    connection.close();
    listener.close();
  }
});

Deno.test("Ctrl-C ends the waiting for standard input", async () => {
  const child = command(["track", "-", "--task", "t"], {}, "piped").spawn();
  const writer = child.stdin.getWriter();
  // More than a pipe holds: when it is taken, the process is reading.
  await writer.write(new Uint8Array(1_000_000).fill(97));
  child.kill("SIGINT");
  const { code, stderr } = await child.output();
  assertEquals([code, decode(stderr)], [130, "interrupted\n"]);
  await writer.abort().catch(() => {});
});

const stream = (bytes: ReadableStream<Uint8Array>) => bytes.pipeThrough(new TextDecoderStream());

Deno.test("serve --stop-with-stdin goes on while its standard input is open, and ends with it", async () => {
  const args = ["serve", "--port", "0", "--stop-with-stdin", "--quiet"];
  const child = command(args, {}, "piped").spawn();
  const writer = child.stdin.getWriter();
  const reader = stream(child.stdout).getReader();
  let printed = "";
  try {
    while (!printed.includes("\n")) printed += (await reader.read()).value;
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)![0];
    await writer.write(new TextEncoder().encode("what is written there means nothing\n"));
    const health = await fetch(`${url}/healthz`);
    assertEquals([health.status, (await health.json()).status], [200, "ok"]);
    await writer.close();
    assertEquals((await child.status).code, 0);
  } finally {
    await child.stderr.cancel();
    await reader.cancel();
  }
});

Deno.test("a server that was started with a pipe ends when the program that started it is killed", async () => {
  const args = JSON.stringify(["run", "-A", "--quiet", join(root, "cli/main.ts"), "serve", "--port", "0"]);
  const host = new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `const child = new Deno.Command(Deno.execPath(), { args: [...${args}, "--stop-with-stdin"], stdin: "piped" }).spawn();
      await child.status;`,
    ],
    cwd: root,
    env: { ASSAY_STORE: "memory", NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = stream(host.stdout).getReader();
  let printed = "";
  while (!printed.includes("Ctrl-C")) printed += (await reader.read()).value;
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)![0];
  assertEquals(await (await fetch(`${url}/healthz`)).text().then((text) => text.includes("ok")), true);
  host.kill("SIGKILL");
  await host.status;
  // The server holds the other end of this pipe: it ends when the server does.
  while (!(await reader.read()).done) continue;
  await assertRejects(() => fetch(`${url}/healthz`), TypeError);
});

Deno.test("serve prints its address, and --server gives the numbers that this process gives", async () => {
  const child = command(["serve", "--port", "0"]).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  try {
    while (!printed.includes("Ctrl-C")) {
      const { value, done } = await reader.read();
      assert(!done, printed);
      printed += value;
    }
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)![0];
    assertStringIncludes(printed, "Judge: evidence (rule-based");
    assertStringIncludes(printed, "only callers on this machine");
    for (
      const args of [["compare", CHECKED, WRONG], ["select", join(root, "examples/log-errors")], [
        "track",
        CHECKED,
      ]]
    ) {
      const there = await runCaptured([...args, "--json", "--server", url]);
      assertEquals(there.status, 0, there.err);
      assertEquals(withoutId(there.out), withoutId((await runCaptured([...args, "--json"])).out));
    }
    const bad = await runCaptured(["track", CHECKED, "--repeats", "0.5", "--server", url]);
    assertEquals(bad.status, 2);
    assertStringIncludes(bad.err, "--repeats must be");
    const status = await runCaptured(["status", "--server", url]);
    assertEquals(status.status, 0, status.err);
    assertStringIncludes(status.out, "evidence *");
    assertEquals((await runCaptured(["probe", "--server", url])).status, 0);
  } finally {
    child.kill("SIGINT");
    await reader.cancel();
    await child.stderr.cancel();
  }
  assertEquals((await child.status).code, 0);
});
