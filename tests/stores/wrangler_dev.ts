/**
 * Runs a Worker locally in workerd (`wrangler dev`): no account, no network, on a free loopback port.
 *
 * @module
 */
import { freePort } from "../free_port.ts";

/** A running Worker. */
export interface LocalWorker {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** Process id of wrangler. */
  readonly pid: number;
  /** What wrangler printed so far. */
  output(): string;
  /** Ends wrangler and every process it started, and removes its state. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 120_000;

/**
 * Starts `wrangler dev` and waits for its first answer.
 * @param config path of the wrangler configuration
 * @param variables plain-text bindings (`--var`)
 * @throws {Error} with wrangler's output when it ends or doesn't answer
 */
export async function startWorker(
  config: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<LocalWorker> {
  const port = freePort();
  const state = await Deno.makeTempDir({ prefix: "assay-worker-" });
  const vars = Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--quiet", "npm:wrangler@4.164.0", "dev", "--config", config, "--ip", "127.0.0.1"],
      ...["--port", String(port), "--inspector-port", String(freePort()), "--persist-to", state],
      ...["--show-interactive-dev-session=false", ...vars],
    ],
    // Nothing but loopback: no look for updates, no telemetry, no look-up of this machine's location.
    env: {
      CI: "1",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      NO_COLOR: "1",
      WRANGLER_HIDE_BANNER: "true",
      WRANGLER_SEND_METRICS: "false",
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  let printed = "";
  const drain = async (stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) printed += text;
  };
  const drained = Promise.all([drain(child.stdout), drain(child.stderr)]);
  let ended = false;
  const status = child.status.finally(() => ended = true);

  async function stop(): Promise<void> {
    const family = await descendants(child.pid);
    if (!ended) child.kill("SIGTERM");
    await Promise.race([status, new Promise((resolve) => setTimeout(resolve, 5000))]);
    // wrangler usually takes its children along; what it left, and itself if it hangs, ends here.
    for (const pid of ended ? family : [child.pid, ...family]) {
      try {
        Deno.kill(pid, "SIGKILL");
      } catch { /* already gone */ }
    }
    await status;
    await drained;
    await Deno.remove(state, { recursive: true });
  }

  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!ended && Date.now() < deadline) {
    try {
      await (await fetch(url)).body?.cancel();
      return { url, pid: child.pid, output: () => printed, stop };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  await stop();
  throw new Error(`wrangler dev did not answer on ${url}:\n${printed}`);
}

/** All living descendants of a process, from `/proc`. */
async function descendants(pid: number): Promise<number[]> {
  const found: number[] = [];
  const waiting = [pid];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    try {
      for await (const task of Deno.readDir(`/proc/${parent}/task`)) {
        const children = await Deno.readTextFile(`/proc/${parent}/task/${task.name}/children`);
        for (const child of children.split(" ").filter(Boolean).map(Number)) {
          found.push(child);
          waiting.push(child);
        }
      }
    } catch { /* ended meanwhile, or a system without /proc */ }
  }
  return found;
}
