/**
 * What Ctrl-C does to a host that waits for the server.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { FaultyServer } from "./assay.ts";
import type { RunningHost } from "./process.ts";

/** Interrupts the host once it has asked the server: it ends at once, as one that was interrupted, and hangs up. */
export async function interrupt(running: RunningHost, server: FaultyServer): Promise<void> {
  await Promise.race([server.called, running.ended]);
  const sent = performance.now();
  running.kill("SIGINT");
  const run = await running.ended;
  assertEquals(run.code, 130, run.stderr);
  const took = performance.now() - sent;
  assert(took < 5000, `it took ${took} ms`);
  await server.hungUp;
}
