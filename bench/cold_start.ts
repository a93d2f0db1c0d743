/**
 * Measures how long a cold server takes to its first healthy answer: `deno serve main.ts` from the process' start to the
 * answer of `/healthz`, and the Worker's bundle (`wrangler deploy --dry-run`) and start-up (`wrangler check startup`,
 * which profiles the global scope in a local workerd).
 *
 * It doesn't measure Cloudflare's or Deno Deploy's own machines, downloads, or type checking (Deno's caches are warm).
 *
 * @module
 */
import { type BenchRow, figure, median, row, runBench } from "./harness.ts";
import { start, untilHealthy } from "./process.ts";
import { freePort } from "../tests/free_port.ts";

const root = new URL("../", import.meta.url);
const ROUNDS = 7;

async function denoServe(): Promise<BenchRow> {
  const times: number[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const port = freePort();
    const started = performance.now();
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
      { env: { ASSAY_STORE: "memory" }, waitForLine: false },
    );
    try {
      await untilHealthy(`http://127.0.0.1:${port}/healthz`, server);
      if (round >= 0) times.push(performance.now() - started);
    } finally {
      await server.stop();
    }
  }
  return row(
    "deno serve to the first healthy answer",
    median(times),
    "ms",
    null,
    `median of ${ROUNDS} processes, lowest ${figure(Math.min(...times))}; store in memory`,
  );
}

/** Runs wrangler in the repository; its output. @throws {Error} with the output when it fails */
async function wrangler(...args: string[]): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "npm:wrangler@4.164.0", ...args],
    cwd: root,
    env: { WRANGLER_SEND_METRICS: "false", CI: "1", NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  if (!success) throw new Error(`wrangler ${args.join(" ")} failed:\n${output}`);
  return output;
}

/** A figure that wrangler prints. @throws {Error} when it isn't there */
function find(output: string, pattern: RegExp): number {
  const found = pattern.exec(output)?.[1];
  if (found === undefined) throw new Error(`wrangler did not print ${pattern}:\n${output}`);
  return Number(found);
}

async function worker(): Promise<BenchRow[]> {
  const directory = await Deno.makeTempDir({ prefix: "assay-bundle-" });
  try {
    const bundle = `${directory}/worker.bundle`;
    const upload = await wrangler("deploy", "--dry-run", "--outfile", bundle);
    const active: number[] = [];
    for (let round = 0; round < 5; round++) {
      const output = await wrangler(
        "check",
        "startup",
        "--worker",
        bundle,
        "--outfile",
        `${directory}/profile`,
      );
      active.push(find(output, /Active: ([\d.]+) ms/));
    }
    return [
      row(
        "Worker bundle, gzip",
        find(upload, /gzip: ([\d.]+) KiB/),
        "KiB",
        null,
        "wasm included; 3 MiB is the free plan's limit",
      ),
      row("Worker bundle", find(upload, /Total Upload: ([\d.]+) KiB/), "KiB"),
      row(
        "Worker start-up, active time in workerd",
        median(active),
        "ms",
        null,
        `median of ${active.length} runs of wrangler check startup on this machine, lowest ${
          figure(Math.min(...active))
        }; sampled, so good to some ms; Cloudflare's limit is 1 s`,
      ),
    ];
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

await runBench(async () => [await denoServe(), ...await worker()]);
