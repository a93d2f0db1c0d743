// @ts-check
/**
 * A connection to a verifier server that answers recorded documents, for tests without a network.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { toVerifierError, VerifierError } from "../../lib/server/errors.js";

/**
 * @typedef {object} Seen
 * @property {"POST" | "GET" | "DELETE"} method
 * @property {string} path
 * @property {any} body
 * @property {any} options
 */

/** Answers of a real server, by name: `compare`, `compare_tie`, `select`, `track`, `best_of_n`, `status`, … @param {string} name @returns {any} */
export function recorded(name) {
  return JSON.parse(
    readFileSync(new URL(`./recorded/${name}.json`, import.meta.url), "utf8"),
  );
}

/**
 * A connection whose answers stand in a table.
 *
 * @param {Readonly<Record<string, unknown>>} answers by `"POST /v1/compare"`: a document, an error to throw, or a
 * function of what was asked (it may be async, and throws to fail)
 * @returns {{ seen: Seen[], post: any, get: any, remove: any }}
 */
export function fakeConnection(answers) {
  /** @type {Seen[]} */
  const seen = [];
  /** @param {Seen} asked */
  async function answer(asked) {
    seen.push(asked);
    const key = `${asked.method} ${asked.path}`;
    const known = Object.hasOwn(answers, key) ? answers[key] : undefined;
    if (known === undefined) {
      throw new VerifierError(
        "not_found",
        `the fake server has no answer for ${key}`,
        { status: 404 },
      );
    }
    const { signal } = asked.options ?? {};
    const value = await untilAborted(
      typeof known === "function" ? known(asked) : known,
      signal,
    );
    if (value instanceof Error) throw value;
    return {
      value: structuredClone(value),
      status: 200,
      headers: new Headers(),
    };
  }
  return {
    seen,
    post: (
      /** @type {string} */ path,
      /** @type {any} */ body,
      /** @type {any} */ options = {},
    ) => answer({ method: "POST", path, body, options }),
    get: (/** @type {string} */ path, /** @type {any} */ options = {}) =>
      answer({ method: "GET", path, body: undefined, options }),
    remove: (/** @type {string} */ path, /** @type {any} */ options = {}) =>
      answer({ method: "DELETE", path, body: undefined, options }),
  };
}

/**
 * A problem document as the connection turns it into an error.
 *
 * @param {string} code @param {number} status @param {string} detail @param {import("../../lib/server/errors.js").VerifierErrorOptions} [options]
 * @returns {VerifierError}
 */
export function problem(code, status, detail, options = {}) {
  return new VerifierError(code, detail, { status, ...options });
}

/** @param {unknown} value @param {AbortSignal | undefined} signal @returns {Promise<unknown>} */
function untilAborted(value, signal) {
  if (signal === undefined) return Promise.resolve(value);
  return new Promise((resolve, reject) => {
    const stop = () => reject(new VerifierError("aborted", "The call was cancelled."));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    Promise.resolve(value).then(
      resolve,
      (error) => reject(toVerifierError(error)),
    )
      .finally(() => signal.removeEventListener("abort", stop));
  });
}
