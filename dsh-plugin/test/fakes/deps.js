// @ts-check
/**
 * What the tools get, made of fakes.
 *
 * @module
 */
import { createSettings } from "../../lib/config/resolve.js";

/**
 * @param {any} connection @param {{ config?: unknown, environment?: Record<string, string>, user?: () => unknown }} [options]
 * @returns {import("../../lib/tools/register.js").Deps & { log: { lines: string[] } }}
 */
export function fakeDeps(connection, { config, environment = {}, user } = {}) {
  /** @type {string[]} */
  const lines = [];
  return {
    settings: createSettings({
      row: "tools",
      config,
      environment,
      ...(user === undefined ? {} : { user }),
    }),
    connection,
    ctx: { get: () => undefined },
    log: {
      lines,
      warn: (/** @type {string} */ line) => void lines.push(line),
      info: () => {},
    },
  };
}

/**
 * What a tool's `execute` gets beside its arguments.
 *
 * @param {{ signal?: AbortSignal, callId?: string, session?: any }} [options]
 */
export function fakeExecution(
  { signal = new AbortController().signal, callId = "call-1", session } = {},
) {
  const header = {
    type: "session",
    version: 0,
    id: "ses-1",
    cwd: "/nowhere",
    delegationDepth: 0,
  };
  return {
    signal,
    callId,
    agent: { session: session ?? { id: "ses-1", header, events: [] } },
  };
}

/** The host's tool registry, as far as it is used. */
export function fakeTools() {
  /** @type {Map<string, any>} */
  const registered = new Map();
  return {
    registered,
    register(/** @type {any} */ definition) {
      if (registered.has(definition.name)) {
        throw new Error(`duplicate tool ${definition.name}`);
      }
      registered.set(definition.name, definition);
      return () => registered.delete(definition.name);
    },
  };
}
