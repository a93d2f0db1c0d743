/**
 * What the DSH plugin costs in the real host (`deno task bench:plugin`, which installs the host first).
 *
 * Measures: the time between the host's writing of a call and of its result, for `verifier_compare` with 6 judged calls,
 * for a tool that only echoes and for one that posts the same request by itself, in turn in one session; the time from
 * starting the host to its first model request, with and without the plugin in its profile, in turn; and how long
 * importing and applying the two rows takes in a host that is up.
 *
 * Doesn't measure: any model (the judge is a process that answers at once), a network (all is loopback), tools whose
 * evidence is large, the gate, or how a model's answers differ because of the tools' descriptions.
 *
 * @module
 */
import { fromFileUrl, join } from "@std/path";
import { median, quantile, row, runBench } from "./harness.ts";
import { start } from "./process.ts";
import { startAssay } from "../tests/host/assay.ts";
import { findHost, type Host } from "../tests/host/host.ts";
import { startModel } from "../tests/host/model.ts";
import { copyPlugin, writeProfile } from "../tests/host/plugin.ts";
import { createScene } from "../tests/host/scene.ts";

/** Called in turn. */
const TOOLS = ["verifier_compare", "bench_echo", "bench_straight"] as const;
const CALLS = 60;
/** Calls of each tool that come first and aren't counted: connections, compilation. */
const WARM_UP = 5;
const STARTS = 20;
const LOADS = 9;

/** Figures of `dsh_probe.js`. */
interface Figures {
  readonly calls: readonly { readonly name: string; readonly ms: number; readonly isError: boolean }[];
  /** Of all modules to load, together. */
  readonly importMs: number;
  readonly applyMs: number;
}

const probe = (out: string, more: Readonly<Record<string, unknown>> = {}): string =>
  `- insert:\n    - id: assay-bench-probe\n      name: ${
    JSON.stringify(fromFileUrl(new URL("dsh_probe.js", import.meta.url)))
  }\n      config: ${JSON.stringify({ out, ...more })}\n`;

/** A comparison that no cache knows: 3 criteria, 2 repeats. */
const comparison = (number: number) => ({
  task: "Sort the lines of a file by their second column.",
  a: `$ sort -k2 data-${number}.txt\n1 a\n2 b\n`,
  b: `I think that data-${number}.txt is sorted by now.`,
  criteria: ["The output is sorted.", "Nothing is lost.", "It was checked."],
  repeats: 2,
});

async function calls(host: Host, folder: string, server: { readonly url: string }) {
  const out = join(folder, "calls.json");
  await using model = startModel(({ index }) => {
    if (index >= TOOLS.length * (CALLS + WARM_UP)) return { text: "Done." };
    const name = TOOLS[index % TOOLS.length]!;
    const request = comparison(index);
    return {
      calls: [{ name, arguments: name === "verifier_compare" ? request : { text: JSON.stringify(request) } }],
    };
  });
  const post = `${server.url}/v1/compare`;
  await using scene = await createScene(host, { model, server, patch: probe(out, { post }) });
  const run = await scene.headless("Compare and echo.");
  if (run.code !== 0) throw new Error(`the host ended with ${run.code}: ${run.stderr}`);
  const { calls } = await figuresOf(out);
  const of = (name: string): readonly number[] => {
    const found = calls.filter((call) => call.name === name);
    if (found.length !== CALLS + WARM_UP || found.some(({ isError }) => isError)) {
      throw new Error(
        `${name}: ${found.length} calls, ${found.filter(({ isError }) => isError).length} of them failed`,
      );
    }
    return found.slice(WARM_UP).map(({ ms }) => ms);
  };
  return { compare: of("verifier_compare"), echo: of("bench_echo"), straight: of("bench_straight") };
}

/** Milliseconds from starting a host to its first request of an agent. */
async function startTime(host: Host, server: { readonly url: string }, withPlugin: boolean): Promise<number> {
  const asked = Promise.withResolvers<number>();
  await using model = startModel(() => {
    asked.resolve(performance.now());
    return { text: "Done." };
  });
  await using scene = await createScene(host, { model, server, ...(withPlugin ? {} : { plugin: null }) });
  const started = performance.now();
  const { ended } = scene.start(["Hello."]);
  const run = await ended;
  if (run.code !== 0) throw new Error(`the host ended with ${run.code}: ${run.stderr}`);
  return await asked.promise - started;
}

/** Import and apply of both rows in a host that is up and doesn't load them otherwise. */
async function loading(host: Host, folder: string): Promise<number> {
  const out = join(folder, "loading.json");
  await using model = startModel(async () => {
    // The host stays until the figures are there.
    while (!await exists(out)) await new Promise((resolve) => setTimeout(resolve, 20));
    return { text: "Done." };
  });
  const place = async (target: string, scratch: string): Promise<void> => {
    await copyPlugin(target);
    const load = [join(target, "index.js"), join(target, "verify-gate.js")];
    const home = join(scratch, "home");
    // The package lies there, but no bundle of the profile names it.
    await writeProfile(home, "headless", false);
    await Deno.writeTextFile(join(home, "profiles", "headless", "cordis.patch.yml"), probe(out, { load }));
  };
  await using scene = await createScene(host, { model, plugin: place });
  const run = await scene.headless("Hello.");
  if (run.code !== 0) throw new Error(`the host ended with ${run.code}: ${run.stderr}`);
  const { importMs, applyMs } = await figuresOf(out);
  await Deno.remove(out);
  return importMs + applyMs;
}

async function exists(file: string): Promise<boolean> {
  try {
    return (await Deno.stat(file)).size > 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function figuresOf(file: string): Promise<Figures> {
  return JSON.parse(await Deno.readTextFile(file));
}

await runBench(async () => {
  const host = findHost();
  if ("missing" in host) {
    return [row("DSH plugin", null, "ms", { atMost: 0 }, `no DSH host: ${host.missing}`)];
  }
  const folder = await Deno.makeTempDir({ prefix: "assay-bench-" });
  const judge = await start(
    ["run", "-A", "--quiet", fromFileUrl(new URL("stub_judge.ts", import.meta.url))],
    {
      waitForLine: true,
    },
  );
  const profile = { kind: "openai-compatible", family: "generic", model: "stub", concurrency: 16 };
  const config = {
    defaultJudge: "stub",
    judges: { stub: { ...profile, baseUrl: `http://127.0.0.1:${judge.firstLine}/25` } },
  };
  try {
    await using server = await startAssay({ config });
    const { compare, echo, straight } = await calls(host, folder, server);
    const starts = { with: [] as number[], without: [] as number[] };
    for (let i = 0; i < STARTS; i++) {
      // With and without by turns, and each of them first by turns.
      for (const which of i % 2 === 0 ? ["with", "without"] as const : ["without", "with"] as const) {
        starts[which].push(await startTime(host, server, which === "with"));
      }
    }
    const added = starts.with.map((value, i) => value - starts.without[i]!);
    const loads: number[] = [];
    for (let i = 0; i < LOADS; i++) loads.push(await loading(host, folder));
    const ms = (name: string, value: number, note = "") => row(name, value, "ms", null, note);
    return [
      ms("verifier_compare, 6 judged calls: median", median(compare), `${CALLS} calls, after ${WARM_UP}`),
      ms("verifier_compare, 6 judged calls: p90", quantile(compare, 0.9)),
      ms("a tool that only echoes: median", median(echo)),
      ms("a tool that only echoes: p90", quantile(echo, 0.9)),
      ms("verifier_compare over an echo: difference of the medians", median(compare) - median(echo)),
      ms(
        "a tool that only posts the same request: median",
        median(straight),
        "Node's fetch to the same server in the same host: its own work and the judge's are in it",
      ),
      ms(
        "what the plugin adds to that: difference of the medians",
        median(compare) - median(straight),
        "reading arguments, rubric and settings, checking the answer against its schema, and its text",
      ),
      ms(
        "host's start to first model request, with the plugin: median",
        median(starts.with),
        `${STARTS} starts each`,
      ),
      ms("host's start to first model request, without: median", median(starts.without)),
      ms(
        "what the plugin adds to the host's start: median",
        median(added),
        `median of ${STARTS} differences of neighbours; half of them lie from ${
          quantile(added, 0.25).toFixed(0)
        } to ${quantile(added, 0.75).toFixed(0)} ms`,
      ),
      ms(
        "import and apply of both rows in a host that is up: median",
        median(loads),
        `${LOADS} hosts; from the disk's cache`,
      ),
    ];
  } finally {
    await judge.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
