/** `deno task assay`. @module */
import { denoIo } from "./io.ts";
import { run } from "./run.ts";

if (import.meta.main) {
  // `deno task` starts in the project's folder; paths mean the folder that the user is in.
  const folder = Deno.env.get("ASSAY_CWD");
  if (folder) Deno.chdir(folder);
  const controller = new AbortController();
  const stop = () => {
    // A second Ctrl-C doesn't wait for anything.
    if (controller.signal.aborted) Deno.exit(130);
    controller.abort(new DOMException("interrupted", "AbortError"));
  };
  Deno.addSignalListener("SIGINT", stop);
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", stop);
  try {
    Deno.exit(await run(Deno.args, denoIo(controller.signal)));
  } catch (error) {
    // The reader of a pipe went away (`… | head`): nobody is left to tell.
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(141);
    throw error;
  }
}
