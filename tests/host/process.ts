/**
 * A process of the host.
 *
 * @module
 */
import type { Host } from "./host.ts";

/** How the host ended. */
export interface HostRun {
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A host that runs. */
export interface RunningHost {
  readonly pid: number;
  readonly ended: Promise<HostRun>;
  /** Sends a signal; nothing happens when it has already ended. */
  kill(signal: Deno.Signal): void;
  /** What it has printed so far. */
  stdout(): string;
}

/** A run is killed after this time; it takes about 2 s. */
const RUN_LIMIT_MS = 60_000;

/** Starts `dsh …` with nothing in its environment but `env`. */
export function startHost(
  host: Host,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): RunningHost {
  const child = new Deno.Command(host.node, {
    args: [host.launcher, ...args],
    ...options,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const printed = { stdout: "", stderr: "" };
  const collect = async (name: "stdout" | "stderr"): Promise<void> => {
    for await (const text of child[name].pipeThrough(new TextDecoderStream())) printed[name] += text;
  };
  let over = false;
  const kill = (signal: Deno.Signal): void => {
    if (!over) Deno.kill(child.pid, signal);
  };
  const timer = setTimeout(() => kill("SIGKILL"), RUN_LIMIT_MS);
  const wait = async (): Promise<HostRun> => {
    const collected = Promise.all([collect("stdout"), collect("stderr")]);
    const { code, signal } = await child.status;
    over = true;
    clearTimeout(timer);
    await collected;
    return { code, signal, ...printed };
  };
  return { pid: child.pid, ended: wait(), kill, stdout: () => printed.stdout };
}
