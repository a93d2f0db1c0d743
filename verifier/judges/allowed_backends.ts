/**
 * Which base URLs a request may name: only those whose host the operator listed, spelled exactly so. A Worker can't
 * resolve a name before it connects, so nothing short of a list is sound.
 *
 * @module
 */
import { AssayError } from "../errors.ts";

/** One entry of the allow-list: scheme and canonical `host[:port]`. */
export interface AllowedBackend {
  readonly protocol: "https:" | "http:";
  readonly host: string;
}

/**
 * Reads an entry: `host`, `host:port`, `https://host[:port]` or `http://host[:port]`. Only an entry that says
 * `http://` allows plain http.
 * @returns `null` for anything that isn't in canonical spelling (numeric forms of addresses, trailing dots, paths)
 */
export function parseAllowedBackend(entry: string): AllowedBackend | null {
  const match = /^(?:(https?):\/\/)?([^/?#@\\\s]+)$/i.exec(entry);
  if (match === null) return null;
  const protocol = match[1]?.toLowerCase() === "http" ? "http:" : "https:";
  const authority = (match[2] ?? "").toLowerCase();
  const text = `${protocol}//${authority}/`;
  if (!URL.canParse(text)) return null;
  const { host } = new URL(text);
  return isCanonical(authority, host, protocol) ? { protocol, host } : null;
}

/** Whether an authority says the same as its canonical form; an explicit default port is the one freedom. */
function isCanonical(authority: string, host: string, protocol: "https:" | "http:"): boolean {
  const defaultPort = protocol === "https:" ? ":443" : ":80";
  return (authority === host || authority === host + defaultPort) && !/\.(?::\d+)?$/.test(host);
}

/**
 * Checks a base URL that a request names.
 *
 * @param path JSON pointer of the field, for the error
 * @returns the URL without a trailing slash
 * @throws {AssayError} `invalid_request` for what isn't a plain URL, `forbidden` for a host that isn't listed
 */
export function checkRequestBackend(text: string, allowed: readonly string[], path: string): string {
  const match = /^(https?):\/\/([^/?#\\\s]*)(\/[^?#\\\s]*)?$/i.exec(text);
  if (match === null || text.length > 2000 || !URL.canParse(text)) {
    throw AssayError.field(path, "must be an https: URL without user name, query and fragment", text);
  }
  const url = new URL(text);
  const authority = (match[2] ?? "").toLowerCase();
  const protocol = url.protocol as "https:" | "http:";
  if (url.username !== "" || url.password !== "" || authority.includes("@")) {
    throw AssayError.field(path, "must not hold a user name or a password");
  }
  const listed = isCanonical(authority, url.host, protocol) &&
    allowed.some((entry) => {
      const backend = parseAllowedBackend(entry);
      return backend !== null && backend.protocol === protocol && backend.host === url.host;
    });
  if (!listed) {
    throw new AssayError(
      "forbidden",
      `${path}: this server doesn't let requests name the host ${url.host}.`,
      {
        errors: [{
          path,
          message: "must name a host on the server's allowRequestBackends list",
          value: url.host,
        }],
      },
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
