// @ts-check
/**
 * Requests to the Assay server: authentication, the deadline, cancellation, and every failure as a `VerifierError`.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { parseServerUrl } from "../config/values.js";
import { VERSION } from "../version.js";
import { answerValue } from "./answer.js";
import { quoteValue, toVerifierError, VerifierError } from "./errors.js";
import { createTransport, MAX_ANSWER, TransportError } from "./transport.js";

/** @typedef {import("../config/values.js").ServerUrl} ServerUrl */
/** @typedef {import("../config/resolve.js").Settings} Settings */

/**
 * @typedef {object} RequestOptions
 * @property {AbortSignal} [signal] Its reason is never looked at: in this host it is a plain object.
 * @property {number} [timeoutMs] Deadline of the whole call, starting a server and trying again included; default the setting's.
 * @property {string} [idempotencyKey] Visible ASCII. Makes it safe to send the same request again after a lost connection.
 * @property {boolean} [repeatable] The same without a key: the server answers the same request alike by itself.
 */

/** @typedef {{ value: any, status: number, headers: Record<string, string> }} Answered `value` is null without a body. */

/**
 * @typedef {object} Connection
 * @property {(path: string, body: unknown, options?: RequestOptions) => Promise<Answered>} post
 * @property {(path: string, options?: RequestOptions) => Promise<Answered>} get
 * @property {(path: string, options?: RequestOptions) => Promise<Answered>} remove
 * @property {() => void} close Lets go of idle connections.
 */

/** Errors of a connection that was never made, or that broke before the server said anything. */
const LOST = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE"]);

const USER_AGENT = `dsh-assay/${VERSION}`;

/**
 * @param {object} options
 * @param {() => Settings} options.settings Asked for every call: `url`, `token`, `timeoutMs`, `autostart`.
 * @param {{ ensure(signal: AbortSignal): Promise<void> }} [options.autostart] Starts a local server when none listens.
 * @param {{ send(exchange: import("./transport.js").Exchange): Promise<import("./transport.js").Answer>, close(): void }} [options.transport]
 * @returns {Connection}
 */
export function createConnection(
  { settings, autostart, transport = createTransport() },
) {
  /** @param {string} method @param {string} path @param {string | null} body @param {RequestOptions} options */
  async function call(
    method,
    path,
    body,
    { signal, timeoutMs, idempotencyKey, repeatable = false },
  ) {
    const { url: address, token, timeoutMs: limit, autostart: mayStart } = settings();
    const url = serverUrl(address);
    const deadline = timeoutMs ?? limit;
    const controller = new AbortController();
    /** @type {VerifierError | null} */
    let stopped = null;
    /** @param {VerifierError} reason */
    const stop = (reason) => {
      stopped ??= reason;
      controller.abort();
    };
    const onAbort = () => stop(new VerifierError("aborted", "The call was cancelled."));
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort);
    const timer = setTimeout(() => {
      stop(
        new VerifierError(
          "deadline_exceeded",
          `The server at ${url.base} gave no answer within ${deadline} ms.`,
        ),
      );
    }, deadline);
    try {
      /** @type {import("./transport.js").Exchange} */
      const exchange = {
        url,
        method,
        path: new URL(url.base).pathname.replace(/\/$/, "") + path,
        headers: headersOf(token, body !== null, idempotencyKey),
        body,
        signal: controller.signal,
      };
      const start = mayStart === true ? autostart : undefined;
      return answerValue(
        await sendPatiently(exchange, start, repeatable || method === "GET" || idempotencyKey !== undefined),
        url.base,
        (text) => withoutToken(text, token),
      );
    } catch (error) {
      throw stopped ?? failure(error, url);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /**
   * @param {import("./transport.js").Exchange} exchange
   * @param {{ ensure(signal: AbortSignal): Promise<void> } | undefined} start
   * @param {boolean} repeatable
   */
  async function sendPatiently(exchange, start, repeatable) {
    try {
      return await transport.send(exchange);
    } catch (error) {
      if (
        !(error instanceof TransportError) || error.answered ||
        !LOST.has(error.code)
      ) throw error;
      // Nobody listens, so nothing was sent: after a start even a request without a key may be sent again.
      if (error.code === "ECONNREFUSED" && start !== undefined) {
        await start.ensure(exchange.signal);
      } else if (!repeatable) throw error;
      return await transport.send(exchange);
    }
  }

  return {
    post: async (path, body, options = {}) => await call("POST", path, asJson(body), options),
    get: async (path, options = {}) => await call("GET", path, null, options),
    remove: async (path, options = {}) => await call("DELETE", path, null, options),
    close: () => transport.close(),
  };
}

/** @param {unknown} address @returns {ServerUrl} */
function serverUrl(address) {
  const url = parseServerUrl(address);
  if (typeof url !== "string") return url;
  throw new VerifierError("invalid_request", `The setting url ${url}.`);
}

/**
 * @param {unknown} token
 * @param {boolean} withBody
 * @param {string | undefined} idempotencyKey
 * @returns {Record<string, string>}
 */
function headersOf(token, withBody, idempotencyKey) {
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]+$/.test(idempotencyKey)) {
    throw new VerifierError(
      "invalid_request",
      `idempotencyKey must be visible ASCII without spaces; value: ${quoteValue(idempotencyKey)}`,
    );
  }
  return {
    accept: "application/json",
    "user-agent": USER_AGENT,
    "x-request-id": randomUUID(),
    ...(withBody ? { "content-type": "application/json" } : {}),
    ...(typeof token === "string" ? { authorization: `Bearer ${token}` } : {}),
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
}

/** Shorter ones are no secret, and might stand in any text. */
const SHORTEST_SECRET = 4;

/** @param {string} text @param {unknown} token @returns {string} */
function withoutToken(text, token) {
  return typeof token === "string" && token.length >= SHORTEST_SECRET
    ? text.replaceAll(token, "(the token)")
    : text;
}

/** @param {unknown} body @returns {string} */
function asJson(body) {
  /** @type {string | undefined} */
  let text;
  try {
    text = JSON.stringify(body);
  } catch (cause) {
    throw new VerifierError(
      "invalid_request",
      "The request can't be written as JSON.",
      { cause },
    );
  }
  if (text === undefined) {
    throw new VerifierError("invalid_request", "A request needs a JSON body.");
  }
  return text;
}

/** @param {unknown} error @param {ServerUrl} url @returns {VerifierError} */
function failure(error, url) {
  if (!(error instanceof TransportError)) return toVerifierError(error);
  if (error.code === "TOO_LARGE") {
    return new VerifierError(
      "bad_answer",
      `The answer of ${url.base} is larger than ${MAX_ANSWER} bytes.`,
    );
  }
  const what = error.code === "ECONNREFUSED"
    ? `Nothing listens at ${url.base} (ECONNREFUSED). Start the Assay server there, or set url, or autostart`
    : error.answered
    ? `The connection to ${url.base} broke while the answer came (${error.code}); the work may have been done`
    : `${url.base} could not be reached (${error.code}: ${error.message})`;
  return new VerifierError("server_unreachable", `${what}.`, { cause: error });
}
