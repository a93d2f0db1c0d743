import { assert, assertEquals } from "@std/assert";
import { readTables, tableAddress, watchHangUp } from "./deno_hang_up.ts";

Deno.test("tableAddress() writes addresses as the kernel's tables do", () => {
  assertEquals(tableAddress("127.0.0.1", 8787), "0100007F:2253");
  assertEquals(tableAddress("::1", 443), "00000000000000000000000001000000:01BB");
  assertEquals(tableAddress("::ffff:127.0.0.1", 80), "0100007F:0050");
  assertEquals(tableAddress("2001:db8::8a2e:370:7334", 1), "B80D0120000000002E8A000034737003:0001");
  assertEquals(tableAddress("fe80::1%eth0", 1), "000080FE000000000000000001000000:0001");
});

Deno.test("readTables() reads the state of every connection by its peer, and whether a listener is shown", () => {
  const head =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
  const listener =
    "   0: 0100007F:2253 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1\n";
  const rows = `   1: 0100007F:2253 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 2 1
   2: 0100007F:2253 0100007F:C351 08 00000001:00000000 00:00000000 00000000     0        0 3 1
   3: 0000000000000000FFFF00000100007F:2253 0000000000000000FFFF00000100007F:C352 01 00000000:00000000 00:0
`;
  const states = new Map([["0100007F:C350", "01"], ["0100007F:C351", "08"], ["0100007F:C352", "01"]]);
  assertEquals(readTables([head + listener + rows, head]), { states, complete: true });
  assertEquals(readTables([head + rows]), { states, complete: false });
  assertEquals(readTables(["", ""]), { states: new Map(), complete: false });
});

/** A server whose handler waits until it notices the caller leaving by `notice`, and a caller who leaves. */
async function hangUp(
  bodyBytes: number,
  notice: (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => Promise<string>,
): Promise<string> {
  const { promise: noticed, resolve } = Promise.withResolvers<string>();
  const { promise: waiting, resolve: handling } = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request, info) => {
    await request.text();
    handling();
    resolve(await notice(request, info));
    return new Response("too late");
  });
  const caller = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
  const head = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${bodyBytes}\r\n\r\n`;
  await caller.write(new TextEncoder().encode(head + "x".repeat(bodyBytes)));
  await waiting;
  caller.close();
  const result = await noticed;
  await server.shutdown();
  return result;
}

const ended = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

Deno.test({
  name: "watchHangUp() notices a caller who leaves after a body of any size",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    for (const bodyBytes of [0, 3000]) {
      const how = await hangUp(bodyBytes, async (_request, info) => {
        const watch = watchHangUp(info.remoteAddr);
        await ended(watch.signal);
        watch.stop();
        return (watch.signal.reason as Error).message;
      });
      assertEquals(how, "the caller hung up");
    }
  },
});

Deno.test({
  name: "watchHangUp() leaves a caller alone who stays",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const stays = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const caller = await Deno.connect({ hostname: "127.0.0.1", port: (stays.addr as Deno.NetAddr).port });
    const accepted = await stays.accept();
    const staying = watchHangUp(accepted.remoteAddr as Deno.NetAddr);
    // Somebody else's end is noticed in the same look, so when it is, this one has been looked up too.
    const leaving = watchHangUp({ transport: "tcp", hostname: "127.0.0.1", port: 1 });
    await ended(leaving.signal);
    assert(!staying.signal.aborted);
    leaving.stop();
    staying.stop();
    accepted.close();
    caller.close();
    stays.close();
  },
});

Deno.test({
  name: "Deno still needs watchHangUp(): request.signal is silent after a body of 3,000 bytes",
  ignore: Deno.build.os !== "linux" || Deno.version.deno !== "2.9.6",
  fn: async () => {
    const first = await hangUp(3000, async (request, info) => {
      const watch = watchHangUp(info.remoteAddr);
      const first = await Promise.race([
        ended(request.signal).then(() => "request.signal"),
        ended(watch.signal).then(() => "watchHangUp"),
      ]);
      watch.stop();
      return first;
    });
    assertEquals(first, "watchHangUp");
  },
});
