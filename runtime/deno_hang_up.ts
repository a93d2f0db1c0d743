/**
 * Notices that a caller hung up while the handler still works.
 *
 * `request.signal` should tell, but in Deno 2.9.6 it stays silent until the response is written unless the whole request
 * came in one small packet: with a body of 600 bytes it never aborts. Whoever cancels a comparison would go on paying
 * for it. Where the kernel shows its connections (Linux), a waiting request is looked up there instead: a peer that hung
 * up leaves our end in CLOSE_WAIT, or nothing at all. Other systems have `request.signal` alone.
 *
 * `deno_hang_up_test.ts` has a test that fails when Deno no longer needs this.
 *
 * @module
 */

/** The kernel's tables of connections, for IPv4 and IPv6. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
/** How often waiting requests are looked up. */
const INTERVAL_MS = 500;
const ESTABLISHED = "01";
const LISTENING = "0A";

interface Waiting {
  readonly address: string;
  readonly abort: AbortController;
}

const waiting = new Set<Waiting>();
let timer: ReturnType<typeof setInterval> | undefined;
let looking = false;

/** Watches one request's connection until `stop`. The signal aborts once the peer at this address has gone. */
export function watchHangUp(peer: Deno.NetAddr): { readonly signal: AbortSignal; readonly stop: () => void } {
  const entry: Waiting = { address: tableAddress(peer.hostname, peer.port), abort: new AbortController() };
  waiting.add(entry);
  timer ??= setInterval(look, INTERVAL_MS);
  return {
    signal: entry.abort.signal,
    stop: () => {
      waiting.delete(entry);
      if (waiting.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

async function look(): Promise<void> {
  if (looking) return;
  looking = true;
  const asked = [...waiting];
  try {
    const tables = await Promise.all(TABLES.map((path) => Deno.readTextFile(path)));
    const { states, complete } = readTables(tables);
    for (const { address, abort } of asked) {
      const state = states.get(address);
      if (state === undefined ? complete : state !== ESTABLISHED) {
        abort.abort(new DOMException("the caller hung up", "AbortError"));
      }
    }
  } catch {
    // No such table on this system, or no permission to read it: `request.signal` is all there is.
    for (const entry of asked) waiting.delete(entry);
  } finally {
    looking = false;
  }
}

/**
 * The state of each connection by its peer, in the tables' own spelling. `complete` says whether the tables show a
 * listener: ours must be there, so where none is (a sandbox that hides them), a missing peer proves nothing.
 */
export function readTables(
  tables: readonly string[],
): { readonly states: ReadonlyMap<string, string>; readonly complete: boolean } {
  const states = new Map<string, string>();
  let complete = false;
  for (const line of tables.flatMap((table) => table.split("\n").slice(1))) {
    const [, , peer, state] = line.trim().split(/\s+/);
    if (peer === undefined || state === undefined) continue;
    if (state === LISTENING) complete = true;
    else if (states.get(normal(peer)) !== ESTABLISHED) states.set(normal(peer), state);
  }
  return { states, complete };
}

/** IPv4 mapped into IPv6 (`::ffff:a.b.c.d`) as plain IPv4: a listener on `::` has those for IPv4 callers. */
function normal(address: string): string {
  return address.replace(/^0000000000000000FFFF0000(?=[0-9A-F]{8}:)/, "");
}

/** An address as the tables write it: hexadecimal 32-bit words in the machine's (little) byte order, then the port. */
export function tableAddress(hostname: string, port: number): string {
  const bytes = hostname.includes(":") ? ipv6Bytes(hostname) : hostname.split(".").map(Number);
  let text = "";
  for (let word = 0; word < bytes.length; word += 4) {
    for (let i = 3; i >= 0; i--) text += hex(bytes[word + i] ?? 0, 2);
  }
  return normal(`${text}:${hex(port, 4)}`);
}

function ipv6Bytes(hostname: string): number[] {
  // The URL parser knows every spelling, `::ffff:127.0.0.1` included, and gives one.
  const [head = "", tail] = new URL(`http://[${hostname.split("%")[0]}]/`).hostname.slice(1, -1).split("::");
  const groups = (text: string) => text === "" ? [] : text.split(":").map((group) => parseInt(group, 16));
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const all = [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
  return all.flatMap((group) => [group >> 8, group & 0xff]);
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}
