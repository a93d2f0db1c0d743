/**
 * A server process for the browser.
 *
 * @module
 */

/** A running server; disposing of it ends the process. */
export interface BrowserServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts `assay serve` on a free port and waits for the address that it prints. */
export async function startServer(root: string): Promise<BrowserServer> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "cli/main.ts", "serve", "--port", "0", "--store", "memory"],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let text = "";
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let url: string | undefined;
  while (url === undefined) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the server ended before it said where it is:\n${text}`);
    text += value;
    url = text.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await reader.cancel();
      await child.status;
    },
  };
}
