// @ts-check
/**
 * From a tool's specification to what the host registers: names are read, deadlines set, errors made readable, results
 * checked against their schema and rendered.
 *
 * @module
 */
import { toVerifierError, VerifierError } from "../server/errors.js";
import { deadlines } from "./call.js";
import { adviceFor } from "./advice.js";
import { project } from "./output.js";
import { oneLine } from "./render.js";
import { readNames, renameFields } from "./spelling.js";

/** @typedef {import("./output.js").Schema} Schema */
/** @typedef {import("./parameters.js").Arguments} Arguments */

/** Characters of a card's title. */
const LONGEST_TITLE = 120;

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
 * @property {(args: Arguments, exec: Execution, deps: Deps) => Promise<unknown>} run
 * @property {(error: VerifierError) => string | null} [advise] What to do after a failure that only this tool knows.
 * @property {(args: Arguments, value: any) => string} render
 * @property {(args: Arguments) => string} title Of the pending call, short.
 * @property {(value: any) => string} [headline] Of the completed call, short.
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
  return {
    ...face,
    output: {
      schema: spec.output,
      render: (/** @type {unknown} */ raw, /** @type {any} */ value) => [
        { type: "text", text: spec.render(read(raw).args, value) },
      ],
      presentationMeta: (
        /** @type {unknown} */ _raw,
        /** @type {any} */ value,
      ) => ({
        headline: spec.headline === undefined ? null : oneLine(spec.headline(value), LONGEST_TITLE),
      }),
    },
    // Read by the host at every call, so that a changed setting counts at once.
    get timeoutMs() {
      return deadlines(deps.settings.get()["timeoutMs"]).host;
    },
    isConcurrencySafe: () => spec.concurrencySafe,
    presentCall: (/** @type {unknown} */ raw) => presentCall(spec, read, raw),
    presentResult: (/** @type {unknown} */ _raw, /** @type {any} */ result) => presentResult(result),
    execute: (/** @type {unknown} */ raw, /** @type {Execution} */ exec) =>
      execute(deps, spec, read, raw, exec),
  };
}

/**
 * One call, from raw arguments to a value that the output schema accepts.
 *
 * @param {Deps} deps @param {ToolSpec} spec @param {(raw: unknown) => ReturnType<typeof readNames>} read @param {unknown} raw @param {Execution} exec
 * @returns {Promise<unknown>}
 * @throws {VerifierError} whose message begins with a code and is written for a model
 */
async function execute(deps, spec, read, raw, exec) {
  /** @type {Readonly<Record<string, string>>} */
  let spelled = {};
  try {
    const { args, spelled: names } = read(raw);
    spelled = names;
    if (exec.signal.aborted) {
      throw new VerifierError(
        "aborted",
        "The call was cancelled before it began.",
      );
    }
    return project(spec.output, await spec.run(args, exec, deps));
  } catch (error) {
    let known = toVerifierError(error);
    if (known.status !== null) known = renameFields(known, spec.renames ?? []);
    known = renameFields(
      known,
      Object.entries(spelled).map((
        [name, spelling],
      ) => [`/${name}`, `/${spelling}`]),
    );
    throw readable(known, spec.advise?.(known) ?? adviceFor(known, deps));
  }
}

/**
 * The error with a message for a model: what was bought until then, and what to do next.
 *
 * @param {VerifierError} error @param {string | null} advice @returns {VerifierError}
 */
function readable(error, advice) {
  const { decision } = error;
  const more = [
    ...(decision === undefined ? [] : [`Decision ${decision} tells what was judged before.`]),
    ...(advice === null ? [] : [advice]),
  ];
  if (more.length > 0) {
    error.message = `${error.message.replace(/(?<![.!?…])$/, ".")} ${more.join(" ")}`;
  }
  return error;
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
