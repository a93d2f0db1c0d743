/**
 * Child processes of the benchmarks: starting them, and reading their CPU time and memory from Linux' `/proc`.
 *
 * @module
 */

const TICKS_PER_SECOND = 100; // USER_HZ, the same on every Linux architecture
const PAGE = 4096;

/** CPU time of a process with all its threads, user and system, in milliseconds (steps of 10). */
export function cpuMs(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 1000 / TICKS_PER_SECOND;
}

/** Resident memory of a process in MB (10^6 bytes). */
export function residentMb(pid: number): number {
  return Number(Deno.readTextFileSync(`/proc/${pid}/statm`).split(" ")[1]) * PAGE / 1e6;
}

/** A running Deno program. */
export interface Program {
  readonly pid: number;
  /** First line it printed. */
  readonly firstLine: string;
  /** What it wrote to standard error so far. */
  errors(): string;
  stop(): Promise<void>;
}

/** Starts `deno …args` and waits for its first line of standard output, when `waitForLine`. */
export async function start(
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly waitForLine: boolean },
): Promise<Program> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { NO_COLOR: "1", ...options.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let printed = "";
  let errors = "";
  const line = Promise.withResolvers<string>();
  const out = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      printed = (printed + text).slice(0, 10_000);
      if (printed.includes("\n")) line.resolve(printed.slice(0, printed.indexOf("\n")));
    }
    line.reject(new Error(`deno ${args.join(" ")} ended without a word: ${errors}`));
  })();
  const err = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      errors = (errors + text).slice(-10_000);
    }
  })();
  line.promise.catch(() => {});
  const firstLine = options.waitForLine ? await line.promise : "";
  return {
    pid: child.pid,
    firstLine,
    errors: () => errors,
    async stop() {
      try {
        child.kill("SIGKILL");
      } catch { /* already gone */ }
      await Promise.all([child.status, out, err]);
    },
  };
}

/** Asks until the answer is a success. @throws {Error} with the program's errors after `withinMs` */
export async function untilHealthy(url: string, program: Program, withinMs = 60_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    try {
      const response = await fetch(url);
      await response.body?.cancel();
      if (response.ok) return;
    } catch { /* not yet listening */ }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${url} was never healthy: ${program.errors()}`);
}
