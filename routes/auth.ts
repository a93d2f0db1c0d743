/**
 * Who may call: bearer tokens (RFC 6750) compared in constant time, or, with no token configured, this machine only.
 *
 * @module
 */
import type { DailyLimits } from "../verifier/budget/budget.ts";
import type { Connection } from "./connection.ts";
import { HttpError } from "./problem.ts";

/** One accepted bearer token. */
export interface AccessToken {
  /** Shown in logs and statistics. */
  readonly name: string;
  readonly value: string;
  /** What it may buy per UTC day; absent: as much as it likes. */
  readonly budget?: DailyLimits;
}

/** Decides on one request. Resolves to the token's name, or `null` for a local caller. @throws {HttpError} */
export type Gatekeeper = (request: Request, connection: Connection) => Promise<string | null>;

/** Where proxies name the caller: believed only when they make us refuse. */
const FORWARDING_HEADERS = ["cf-connecting-ip", "x-forwarded-for", "x-real-ip"];

const CHALLENGE = 'Bearer realm="assay"';

/**
 * A gatekeeper over these tokens.
 *
 * @throws {RangeError} for an empty token, one that no header can carry, or two of the same name or value: a server
 * that can't be reached by its own tokens should not start
 */
export function createGatekeeper(tokens: readonly AccessToken[]): Gatekeeper {
  for (const [index, token] of tokens.entries()) {
    if (!/^[A-Za-z0-9\-._~+/]+=*$/.test(token.value)) {
      throw new RangeError(
        `Cannot use the value of token "${token.name}": it must be one or more of A-Z a-z 0-9 - . _ ~ + / and trailing =`,
      );
    }
    if (tokens.slice(0, index).some((other) => other.name === token.name || other.value === token.value)) {
      throw new RangeError(`Cannot use token "${token.name}": its name or value is used twice`);
    }
  }
  if (tokens.length === 0) return (request, connection) => Promise.resolve(checkLocal(request, connection));
  const digests = Promise.all(tokens.map((token) => digest(token.value)));
  return async (request) => {
    const given = await digest(readBearer(request.headers));
    let name: string | null = null;
    // Every token is compared, so that neither the match's place nor its prefix shows in the time taken.
    for (const [index, expected] of (await digests).entries()) {
      if (equalDigests(given, expected)) name = tokens[index]?.name ?? null;
    }
    if (name === null) {
      throw new HttpError("unauthorized", "The bearer token is not one that this server knows.", {
        headers: { "www-authenticate": `${CHALLENGE}, error="invalid_token"` },
      });
    }
    return name;
  };
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function equalDigests(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

function readBearer(headers: Headers): string {
  const header = headers.get("authorization");
  if (header === null || !/^bearer(?:\s|$)/i.test(header.trim())) {
    throw new HttpError(
      "unauthorized",
      header === null
        ? "Send a token: Authorization: Bearer <token>."
        : "Authorization must use the Bearer scheme: Authorization: Bearer <token>.",
      { headers: { "www-authenticate": CHALLENGE } },
    );
  }
  const match = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header.trim());
  if (match?.[1] === undefined) {
    // Two Authorization headers arrive here too, joined by a comma.
    throw new HttpError("invalid_request", "Authorization must be one header of the form: Bearer <token>.", {
      headers: { "www-authenticate": `${CHALLENGE}, error="invalid_request"` },
    });
  }
  return match[1];
}

/**
 * Without tokens only this machine is answered. The peer's address alone is not enough: a web page can make a
 * browser on this machine call us, by its own name (Origin) or by a name rebound to 127.0.0.1 (Host).
 */
function checkLocal(request: Request, connection: Connection): null {
  // A Host header that no URL can hold names nobody.
  const url = URL.canParse(request.url) ? new URL(request.url) : null;
  const host = request.headers.get("host");
  const origin = request.headers.get("origin");
  const forwarded = FORWARDING_HEADERS.flatMap((name) => (request.headers.get(name) ?? "").split(","))
    .map((address) => address.trim()).filter((address) => address !== "");
  if (connection.remoteAddress !== null && !isLoopbackAddress(connection.remoteAddress)) {
    throw notLocal("it came from another machine");
  }
  if (!forwarded.every(isLoopbackAddress)) throw notLocal("a proxy forwarded it from another machine");
  if (url === null || !isLoopbackHost(url.hostname) || (host !== null && !isLoopbackHost(hostName(host)))) {
    throw notLocal("its Host header does not name this machine");
  }
  if (origin !== null && originHost(origin) !== (host ?? url.host).toLowerCase()) {
    throw notLocal("a web page of another origin sent it");
  }
  return null;
}

function notLocal(why: string): HttpError {
  return new HttpError(
    "forbidden",
    `This server has no access token, so it answers this machine only, and refused this request because ${why}. ` +
      "To open it, set ASSAY_TOKEN (or server.tokens in the configuration) and send Authorization: Bearer <token>.",
  );
}

function hostName(host: string): string {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return "";
  }
}

function originHost(origin: string): string {
  try {
    return new URL(origin).host;
  } catch {
    return "";
  }
}

/** Whether a URL's host name means this machine: `localhost`, `*.localhost`, 127.0.0.0/8 or `[::1]`. */
export function isLoopbackHost(name: string): boolean {
  const plain = name.toLowerCase().replace(/\.$/, "");
  return plain === "localhost" || plain.endsWith(".localhost") ||
    isLoopbackAddress(plain.replace(/^\[(.*)\]$/, "$1"));
}

/** Whether an IP address is this machine's own: 127.0.0.0/8, `::1`, or the first mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
  return plain === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}
