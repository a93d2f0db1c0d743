/**
 * Measures what the HTTP server adds to judging, with a judge that answers at once (`bench/stub_judge.ts`, in a process
 * of its own): latency of a compare of 6 calls over loopback, CPU time per judged call beside a bare `fetch` and
 * `JSON.parse` of the same answers, compares per second, and whether memory stays flat.
 *
 * It doesn't measure a real judge (seconds per call), the network, TLS, or the evidence judge. The load is made by this
 * process, so on two cores server, stub and load share them: figures of latency and throughput are lower bounds, and
 * other programs on the machine worsen them. CPU time is counted per process and hardly feels them.
 *
 * `--long` watches the memory for 5 minutes instead of 30 seconds; `--memory` measures nothing else.
 *
 * @module
 */
import { type BenchRow, figure, median, quantile, row, runBench } from "./harness.ts";
import { cpuMs, type Program, residentMb, start, untilHealthy } from "./process.ts";
import { freePort } from "../tests/free_port.ts";

const root = new URL("../", import.meta.url);
const CRITERIA = {
  Correctness: "Does the observed output show that the task is done?",
  Evidence: "Is every claim backed by an executed command and its output?",
  Care: "Did the agent leave everything else as it was?",
};
/** 3 criteria x 2 repeats. */
const CALLS = 6;
const WATCH_SECONDS = Deno.args.includes("--long") ? 300 : 30;

/** A trajectory of about 4 kB; `salt` makes it a different one. */
function trajectory(side: string, salt: number): string {
  const step = (n: number) =>
    `--- Agent Step ${n} ---\nStep ${n} of ${side}, run ${salt}.\n[Command] pytest -q tests/test_${n}.py\n` +
    `[Output]\n${n + 3} passed in 0.${n}2s, nothing else was changed (${side}${salt})\n`;
  return Array.from({ length: 28 }, (_, n) => step(n + 1)).join("\n");
}

function request(judge: string, salt: number, cache: "off" | "use"): string {
  return JSON.stringify({
    task: "Make all tests pass.",
    a: trajectory("A", salt),
    b: trajectory("B", salt),
    criteria: CRITERIA,
    repeats: 2,
    judge,
    cache,
  });
}

async function compare(url: string, body: string): Promise<void> {
  const response = await fetch(`${url}/v1/compare`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const text = await response.text();
  const result = JSON.parse(text);
  // A server that answers fast because it scores nothing would look good. Swapped slots make the stub's answer a tie.
  const seen = [
    response.status,
    result.calls?.length,
    result.unscored,
    result.channels?.logprobs,
    result.winner,
  ];
  const expected = [200, CALLS, 0, 2 * CALLS, "tie"];
  if (seen.join() !== expected.join()) {
    throw new Error(
      `compare answered ${seen}, expected ${expected}: ${text.slice(0, 500)} … ${text.slice(-500)}`,
    );
  }
}

/** Keeps `concurrency` compares running until `count` are done. */
async function load(
  url: string,
  concurrency: number,
  count: number,
  body: (n: number) => string,
): Promise<number> {
  const started = performance.now();
  let next = 0;
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (next < count) await compare(url, body(next++));
  }));
  return performance.now() - started;
}

/** With the cache, every compare is a new one: what is added is looking up and writing 6 records. */
async function latency(url: string, cache: "off" | "use"): Promise<BenchRow> {
  const times: number[] = [];
  for (let n = 0; n < 230; n++) {
    const body = request("stub25", n, cache);
    const started = performance.now();
    await compare(url, body);
    if (n >= 30) times.push(performance.now() - started);
  }
  return row(
    `compare of 6 calls, 25 tokens x 20${cache === "use" ? ", records into Deno KV" : ""}`,
    median(times),
    "ms",
    cache === "use" ? null : { atMost: 8 },
    `median of ${times.length}, one after the other; lowest ${figure(Math.min(...times))}, 95 % below ${
      figure(quantile(times, 0.95))
    }; two trajectories of 4 kB`,
  );
}

async function cpuPerCall(url: string, server: Program, stub: string, tokens: 25 | 138): Promise<BenchRow> {
  const compares = 300;
  const judge = `stub${tokens}`;
  await load(url, 4, compares / 3, (n) => request(judge, n, "off"));
  const before = cpuMs(server.pid);
  await load(url, 4, compares, (n) => request(judge, n, "off"));
  const ours = (cpuMs(server.pid) - before) / (compares * CALLS);
  const { body } = await (await fetch(`${stub}/last`)).json();
  const bare = await bareLoop(`${stub}/${tokens}/chat/completions`, compares * CALLS, body);
  return row(
    `CPU per judged call over a bare loop, ${tokens} tokens`,
    ours / bare,
    "x",
    { atMost: 2 },
    `${figure(ours)} ms against ${figure(bare)} ms for fetch + JSON.parse of the same request and answer, ` +
      `${compares * CALLS} calls each; ours includes the HTTP request and answer of the compare itself`,
  );
}

async function bareLoop(url: string, calls: number, body: string): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", new URL("bench/bare_loop.ts", root).href, url, String(calls), "8"],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(body));
  await writer.close();
  const { stdout, success } = await child.output();
  if (!success) throw new Error("the bare loop failed");
  return Number(new TextDecoder().decode(stdout));
}

async function throughput(url: string): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const tokens of [25, 138]) {
    const body = (n: number) => request(`stub${tokens}`, n, "off");
    await load(url, 8, 50, body);
    const count = 600;
    const took = await load(url, 8, count, body);
    rows.push(
      row(
        `compares per second, ${tokens} tokens`,
        count / (took / 1000),
        "1/s",
        null,
        `${count} compares of 6 calls, 8 at once, in ${
          figure(took / 1000)
        } s; ${navigator.hardwareConcurrency} cores ` +
          "shared with stub and load",
      ),
    );
  }
  return rows;
}

async function memory(url: string, server: Program): Promise<BenchRow> {
  const samples: number[] = [];
  let done = false;
  let compares = 0;
  // Distinct pairs, each scored into the cache: what grows without bound would grow here.
  const worker = async (lane: number) => {
    for (let n = 0; !done; n++, compares++) {
      await compare(url, request("stub25", 1_000_000 * (lane + 1) + n, "use"));
    }
  };
  const workers = Promise.all([0, 1, 2, 3].map(worker));
  workers.catch(() => done = true);
  for (let second = 0; second < WATCH_SECONDS && !done; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    samples.push(residentMb(server.pid));
  }
  done = true;
  await workers;
  const part = (from: number, to: number) =>
    median(samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to)));
  const [early, late] = [part(0.2, 0.4), part(0.8, 1)];
  return row(
    `memory after ${WATCH_SECONDS} s of load over its start`,
    late / early,
    "x",
    { atMost: 1.1 },
    `resident ${figure(early)} MB in the second fifth, ${figure(late)} MB in the last, highest ` +
      `${figure(Math.max(...samples))}; ${compares} different compares, cached in Deno KV`,
  );
}

await runBench(async () => {
  const directory = await Deno.makeTempDir({ prefix: "assay-bench-" });
  const programs: Program[] = [];
  try {
    const stub = await start(["run", "-A", "--quiet", new URL("bench/stub_judge.ts", root).href], {
      waitForLine: true,
    });
    programs.push(stub);
    const stubUrl = `http://127.0.0.1:${stub.firstLine}`;
    const profile = (tokens: number) => ({
      kind: "openai-compatible",
      family: "openai",
      baseUrl: `${stubUrl}/${tokens}`,
      model: "stub",
      concurrency: 64,
      stream: false,
    });
    await Deno.writeTextFile(
      `${directory}/assay.config.json`,
      JSON.stringify({
        defaultJudge: "stub25",
        judges: { stub25: profile(25), stub138: profile(138) },
        store: { kind: "deno-kv", path: `${directory}/store.sqlite` },
      }),
    );
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = await start(
      [
        "serve",
        "-A",
        "--quiet",
        "--host",
        "127.0.0.1",
        "--port",
        String(port),
        new URL("main.ts", root).href,
      ],
      { env: { ASSAY_CONFIG: `${directory}/assay.config.json` }, waitForLine: false },
    );
    programs.push(server);
    await untilHealthy(`${url}/healthz`, server);
    if (Deno.args.includes("--memory")) return [await memory(url, server)];
    return [
      await latency(url, "off"),
      await latency(url, "use"),
      await cpuPerCall(url, server, stubUrl, 25),
      await cpuPerCall(url, server, stubUrl, 138),
      ...await throughput(url),
      await memory(url, server),
    ];
  } finally {
    for (const program of programs) await program.stop();
    await Deno.remove(directory, { recursive: true });
  }
});
