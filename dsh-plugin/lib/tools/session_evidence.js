// @ts-check
/**
 * What a tool takes from the calling agent's session: its log, its task and its images.
 *
 * @module
 */
import { readImages } from "../host/images.js";
import { VerifierError } from "../server/errors.js";

/** @typedef {import("./register.js").Deps} Deps */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("../host/events.js").HostSession} HostSession */
/** @typedef {import("../host/events.js").Fields} Fields */

/**
 * The calling agent's session.
 *
 * @param {Execution} exec @param {string} tool @returns {HostSession}
 * @throws {VerifierError} `invalid_request` for a call without an agent
 */
export function sessionOf(exec, tool) {
  const session = exec.agent?.session;
  if (session !== undefined) return session;
  throw new VerifierError(
    "invalid_request",
    `${tool} reads the calling agent's session, and this call has no agent.`,
  );
}

/**
 * Images of the session for a request, unless the call brings its own or the user wants none to be sent.
 *
 * @param {Deps} deps @param {Execution} exec @param {Readonly<Record<string, unknown>>} args @param {readonly Fields[]} refs
 * @returns {Promise<{ urls: string[], skipped: { reason: string }[] }>}
 */
export async function sessionImages(deps, exec, args, refs) {
  if (args["images"] !== undefined || deps.settings.get()["sendImages"] === false) {
    return { urls: [], skipped: [] };
  }
  return await readImages(deps.ctx, refs, { signal: exec.signal });
}

/**
 * Asks with the session's images, and without them when the judge reads none.
 *
 * @template T
 * @param {readonly string[]} urls
 * @param {(images: { images?: readonly string[] }) => Promise<T>} ask
 * @returns {Promise<{ answer: T, warnings: string[] }>}
 */
export async function askWithImages(urls, ask) {
  if (urls.length === 0) return { answer: await ask({}), warnings: [] };
  try {
    return { answer: await ask({ images: urls }), warnings: [] };
  } catch (error) {
    const refused = error instanceof VerifierError &&
      error.errors?.some(({ path, message }) => path === "/images" && /\bread\b/.test(message));
    if (!refused) throw error;
    const count = urls.length === 1
      ? "1 image of the session wasn't"
      : `${urls.length} images of the session weren't`;
    return { answer: await ask({}), warnings: [`${count} shown: the judge can't read images`] };
  }
}
