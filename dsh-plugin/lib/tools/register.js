// @ts-check
/**
 * From a tool's specification to what the host registers. Registering loads nothing that only a call needs: what a tool
 * does, and what is common to all calls, is loaded by the first one, so that a host starts faster.
 *
 * @module
 */
import { toVerifierError } from "../server/errors.js";
import { readNames } from "./spelling.js";

/** @typedef {import("./output.js").Schema} Schema */
/** @typedef {import("./parameters.js").Arguments} Arguments */

/** The host's deadline of a tool stands this far behind the plugin's own, which says more. Milliseconds. */
const HOST_SLACK_MS = 5000;

/**
 * What a tool gets from the host for one call; the part of it that is used here.
 *
 * @typedef {object} Execution
 * @property {AbortSignal} signal Its reason is a plain object.
 * @property {string} [callId]
 * @property {any} [agent] The calling agent with its `session`.
 */

/**
 * @typedef {object} Connection
 * @property {(path: string, body: unknown, options?: Readonly<Record<string, unknown>>) => Promise<{ value: any, status: number, headers: any }>} post
 * @property {(path: string, options?: Readonly<Record<string, unknown>>) => Promise<{ value: any, status: number, headers: any }>} get
 * @property {(path: string, options?: Readonly<Record<string, unknown>>) => Promise<{ value: any, status: number, headers: any }>} remove
 */

/**
 * What the tools need.
 *
 * @typedef {object} Deps
 * @property {{ get(args?: Readonly<Record<string, unknown>>): Readonly<Record<string, any>>, source(name: string, args?: Readonly<Record<string, unknown>>): string, problems(): readonly string[] }} settings
 * @property {() => import("../config/resolve.js").SettingsReader | null} [gate] The settings of the gate beside the tools; null without one.
 * @property {Connection} connection
 * @property {any} ctx The host's context of this plugin.
 * @property {{ warn(message: string): void, info?(message: string): void }} log
 * @property {readonly string[]} [problems] What went wrong at load.
 * @property {{ state(): import("./lazy_server.js").AutostartState }} [autostart]
 */

/**
 * @typedef {object} ToolSpec
 * @property {string} name
 * @property {readonly { name: string, description: string }[]} [aliases] Other names of the same tool. Their parameters aren't repeated.
 * @property {string} description
 * @property {Schema} parameters An open object of declared arguments.
 * @property {readonly string[]} [accepts] Declared names of arguments that are taken without being declared to the model.
 * @property {Schema} output Closed, from `output.js`.
 * @property {boolean} concurrencySafe Whether calls may overlap.
 * @property {readonly (readonly [string, string])[]} [renames] From a JSON pointer of the wire to one of the declared arguments.
 * @property {(args: Arguments) => string} title Of the pending call, short.
 * @property {() => Promise<ToolWork>} work Imports what the tool does.
 */

/**
 * What a tool does. `render` and `headline` only get what `run` gave.
 *
 * @typedef {object} ToolWork
 * @property {(args: Arguments, exec: Execution, deps: Deps) => Promise<unknown>} run
 * @property {(args: Arguments, value: any) => string} render
 * @property {(value: any) => string} [headline] Of the completed call, short.
 * @property {(error: import("../server/errors.js").VerifierError) => string | null} [advise] What to do after a failure that only this tool knows.
 */

/**
 * Registers a tool and its aliases.
 *
 * @param {any} ctx the host's context
 * @param {Deps} deps
 * @param {ToolSpec} spec
 */
export function registerTool(ctx, deps, spec) {
  for (const definition of toolDefinitions(deps, spec)) {
    ctx.tools.register(definition);
  }
}

/**
 * The host's definitions of a tool and its aliases.
 *
 * @param {Deps} deps @param {ToolSpec} spec @returns {readonly Record<string, any>[]}
 */
export function toolDefinitions(deps, spec) {
  const { description, parameters } = spec;
  return [
    define(deps, spec, { name: spec.name, description, parameters }),
    ...(spec.aliases ?? []).map((alias) =>
      define(deps, spec, {
        ...alias,
        parameters: { type: "object", properties: {} },
      })
    ),
  ];
}

/** @param {Deps} deps @param {ToolSpec} spec @param {{ name: string, description: string, parameters: Schema }} face @returns {Record<string, any>} */
function define(deps, spec, face) {
  const declared = Object.keys(/** @type {Record<string, Schema>} */ (spec.parameters["properties"] ?? {}));
  const names = [...declared, ...(spec.accepts ?? [])];
  const read = (/** @type {unknown} */ raw) => readNames(raw, names, declared);
  /** @type {import("./execution.js").Tool | null} */
  let loaded = null;
  /** The tool of the call that gave a value: it has run, so it is there. */
  const ran = () => {
    if (loaded === null) throw new TypeError(`${face.name} has given no result yet`);
    return loaded;
  };
  return {
    ...face,
    output: {
      schema: spec.output,
      render: (/** @type {unknown} */ raw, /** @type {unknown} */ value) => [
        { type: "text", text: ran().render(read(raw).args, value) },
      ],
      presentationMeta: (/** @type {unknown} */ _raw, /** @type {unknown} */ value) => ({
        headline: ran().headline(value),
      }),
    },
    // Read by the host at every call, so that a changed setting counts at once.
    get timeoutMs() {
      return deps.settings.get()["timeoutMs"] + HOST_SLACK_MS;
    },
    isConcurrencySafe: () => spec.concurrencySafe,
    presentCall: (/** @type {unknown} */ raw) => presentCall(spec, read, raw),
    presentResult: (/** @type {unknown} */ _raw, /** @type {any} */ result) => presentResult(result),
    async execute(/** @type {unknown} */ raw, /** @type {Execution} */ exec) {
      loaded ??= await load(deps, spec, read);
      return await loaded.execute(raw, exec);
    },
  };
}

/** @param {Deps} deps @param {ToolSpec} spec @param {(raw: unknown) => ReturnType<typeof readNames>} read @returns {Promise<import("./execution.js").Tool>} */
async function load(deps, spec, read) {
  try {
    const [{ prepare }, work] = await Promise.all([import("./execution.js"), spec.work()]);
    return prepare(deps, spec, work, read);
  } catch (error) {
    throw toVerifierError(error);
  }
}

/** @param {ToolSpec} spec @param {(raw: unknown) => ReturnType<typeof readNames>} read @param {unknown} raw @returns {unknown} */
function presentCall(spec, read, raw) {
  try {
    return {
      card: "generic",
      title: spec.title(read(raw).args),
      kind: "other",
    };
  } catch {
    // Called while arguments are still streaming in: the host then shows the tool's name.
    return undefined;
  }
}

/** @param {{ isError: boolean, meta?: any }} result @returns {unknown} */
function presentResult({ isError, meta }) {
  const headline = isError ? null : meta?.headline;
  return typeof headline === "string" ? { card: "generic", title: headline } : undefined;
}
