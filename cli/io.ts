/**
 * What the command line needs from its surroundings: streams, files, variables. Tests give their own.
 *
 * @module
 */

/** Where output goes and input comes from. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Width of the terminal in columns. */
  readonly columns: number;
  readonly env: (name: string) => string | undefined;
  /** All of standard input, at most `limit` bytes. */
  readonly readStdin: (limit: number) => Promise<Uint8Array>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** A mistake of the user: one line, exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The server of `--server` can't be reached or doesn't speak Assay's language: exit status 3. */
export class ServerError extends Error {
  override readonly name = "ServerError";
}

/** Text is laid out for this many columns where the terminal doesn't say, and at most for 120. */
export const COLUMNS = 80;

/** The real surroundings. */
export function denoIo(signal: AbortSignal): Io {
  const writer = (stream: { writeSync(data: Uint8Array): number }) => (text: string) => {
    let bytes = new TextEncoder().encode(text);
    while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
  };
  return {
    out: writer(Deno.stdout),
    err: writer(Deno.stderr),
    outIsTerminal: Deno.stdout.isTerminal(),
    errIsTerminal: Deno.stderr.isTerminal(),
    columns: terminalColumns(),
    env: (name) => Deno.env.get(name),
    readStdin: async (limit) => {
      const parts: Uint8Array[] = [];
      let size = 0;
      const reader = Deno.stdin.readable.getReader();
      // Ctrl-C must end the waiting for a pipe that says nothing.
      const leave = () => void reader.cancel(signal.reason).catch(() => {});
      signal.addEventListener("abort", leave, { once: true });
      try {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          size += value.length;
          if (size > limit) throw new UsageError(`standard input is larger than ${limit} bytes`);
          parts.push(value);
        }
      } finally {
        signal.removeEventListener("abort", leave);
      }
      signal.throwIfAborted();
      const bytes = new Uint8Array(size);
      let at = 0;
      for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
      }
      return bytes;
    },
    signal,
  };
}

function terminalColumns(): number {
  if (!Deno.stdout.isTerminal()) return COLUMNS;
  try {
    return Math.max(40, Math.min(120, Deno.consoleSize().columns));
  } catch {
    return COLUMNS;
  }
}
