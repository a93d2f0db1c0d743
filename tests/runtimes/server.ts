/**
 * Starts the real servers that the suite talks to, and stops them with everything they started.
 *
 * @module
 */

/** What the servers of one suite share; numbers and texts are the same in all runtimes. */
export interface Settings {
  /** The configuration document. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Variables that the document names. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A server under test. */
export interface RunningServer {
  readonly origin: string;
  readonly stop: () => Promise<void>;
}

/** Starting a server takes this long at most; the tests themselves never wait for time to pass. */
const START_LIMIT_MS = 120_000;
const ROOT = new URL("../../", import.meta.url);
const WRANGLER = "npm:wrangler@4.164.0";

/** A port that nobody listens on now. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

/** `deno serve main.ts` with its store in memory. */
export async function startDeno({ config, variables }: Settings): Promise<RunningServer> {
  const port = freePort();
  const document = JSON.stringify({ ...config, store: { kind: "memory" } });
  const args = ["serve", "-A", "--no-check", "--host", "127.0.0.1", "--port", String(port), "main.ts"];
  return await start(args, { ...variables, ASSAY_CONFIG_JSON: document }, port);
}

/** `wrangler dev`, the whole Worker in workerd, with its KV namespace and Durable Object in a directory of its own. */
export async function startWorkerd({ config, variables }: Settings): Promise<RunningServer> {
  const port = freePort();
  const state = await Deno.makeTempDir({ prefix: "assay-workerd-" });
  const bindings = { ...variables, ASSAY_CONFIG_JSON: JSON.stringify(config) };
  const args = [
    "run",
    "-A",
    "--quiet",
    WRANGLER,
    "dev",
    "--local",
    "--ip",
    "127.0.0.1",
    "--port",
    String(port),
  ];
  args.push(
    "--inspector-port",
    String(freePort()),
    "--persist-to",
    state,
    "--show-interactive-dev-session=false",
  );
  for (const [name, value] of Object.entries(bindings)) args.push("--var", `${name}:${value}`);
  // Nothing but loopback: no banner (it looks for updates), no telemetry, no look-up of this machine's location.
  const quiet = {
    CI: "1",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_SEND_METRICS: "false",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
  };
  try {
    const server = await start(args, quiet, port);
    const stop = async () => {
      await server.stop();
      await Deno.remove(state, { recursive: true });
    };
    return { origin: server.origin, stop };
  } catch (error) {
    await Deno.remove(state, { recursive: true });
    throw error;
  }
}

/** Whether wrangler can be run here, which takes its package and workerd's binary for this machine. */
export async function wranglerRuns(): Promise<boolean> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", WRANGLER, "--version"],
    cwd: ROOT,
    env: { WRANGLER_HIDE_BANNER: "true", WRANGLER_SEND_METRICS: "false" },
    stdout: "null",
    stderr: "null",
  });
  return (await command.output()).success;
}

async function start(args: string[], env: Record<string, string>, port: number): Promise<RunningServer> {
  const child = new Deno.Command(Deno.execPath(), {
    args,
    env,
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const collected = Promise.all([child.stdout, child.stderr].map(async (stream) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) output += text;
  }));
  let ended = false;
  const status = child.status.then(() => ended = true);
  const origin = `http://127.0.0.1:${port}`;
  const stop = async () => {
    // The parent first, so that it can't start a child anew.
    const pids = ended ? [] : [child.pid, ...await descendants(child.pid)];
    for (const pid of pids) kill(pid);
    await status;
    await collected;
  };
  const limit = Date.now() + START_LIMIT_MS;
  while (!await isHealthy(origin)) {
    if (ended || Date.now() > limit) {
      await stop();
      throw new Error(`the server on port ${port} ${ended ? "ended" : "did not start"}:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { origin, stop };
}

async function isHealthy(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/healthz`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Children, their children and so on: wrangler starts workerd and esbuild. */
async function descendants(root: number): Promise<number[]> {
  const parents = Deno.build.os === "linux" ? await parentsFromProc() : await parentsFromPs();
  const found: number[] = [];
  for (let front = [root]; front.length > 0;) {
    front = parents.filter(([, parent]) => front.includes(parent)).map(([pid]) => pid);
    found.push(...front);
  }
  return found;
}

/** Every process with its parent, on Linux, where `ps` may be missing. */
async function parentsFromProc(): Promise<(readonly [number, number])[]> {
  const found: (readonly [number, number])[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
    // The command's name stands in parentheses and may hold anything; state and parent come after it.
    const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    if (parent !== undefined) found.push([Number(name), Number(parent)]);
  }
  return found;
}

async function parentsFromPs(): Promise<(readonly [number, number])[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-Ao", "pid=,ppid="] }).output();
  return [...new TextDecoder().decode(stdout).matchAll(/(\d+)\s+(\d+)/g)]
    .map(([, pid, parent]) => [Number(pid), Number(parent)] as const);
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    // It ended by itself, or with its parent.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
