// @ts-check
/**
 * One value for every setting, out of the layers: a tool call's arguments, the row in a composition file, the user's
 * settings, the environment, the default. The first that says something wins.
 *
 * @module
 */
import { didYouMean, VerifierError } from "../server/errors.js";
import { fieldOfSetting, FIELDS, fieldsOf } from "./fields.js";
import { strayVariables } from "./problems.js";
import { rowIssues, unknownSetting } from "./schemas.js";
import { isAbsent, misfit, parseServerUrl, readText, refusal } from "./values.js";

/** @typedef {import("./fields.js").Field} Field */
/** @typedef {import("./fields.js").RowName} RowName */
/** @typedef {"arguments" | "row" | "settings" | "environment" | "default"} Source */
/** @typedef {Readonly<Record<string, any>>} Settings Every field of the row by its name; absent ones are null. */

/**
 * @typedef {object} SettingsReader
 * @property {(toolArguments?: Readonly<Record<string, unknown>>) => Settings} get Frozen. Throws a `VerifierError`
 *   (`invalid_request`) when an argument doesn't fit. Arguments that are no setting, or that a call may not set, are not looked at.
 * @property {(name: string, toolArguments?: Readonly<Record<string, unknown>>) => Source} source Which layer a value is from.
 * @property {() => string[]} problems What was left out of the user's settings and the environment and why, and what is
 *   unwise in the outcome. Sentences without secrets.
 */

/** @typedef {{ values: Settings, sources: Readonly<Record<string, Source>>, problems: readonly string[] }} Resolved */
/** @typedef {Readonly<Record<string, unknown>>} Layer */

/** @type {Layer} */
const NOTHING = Object.freeze({});

/**
 * @param {object} options
 * @param {RowName} options.row
 * @param {unknown} options.config The row's own `config`; throws a `VerifierError` when it isn't valid.
 * @param {() => unknown} [options.shared] The tools row's `config`, for a gate row.
 * @param {() => unknown} [options.user] The user's section as it is stored, without defaults. The same object as long
 *   as nothing changed, so that a call costs nothing.
 * @param {Readonly<Record<string, string | undefined>>} [options.environment] Read once, here.
 * @returns {SettingsReader}
 */
export function createSettings(
  { row, config, shared, user, environment = {} },
) {
  const issues = rowIssues(row, config);
  if (issues.length > 0) {
    throw new VerifierError(
      "invalid_request",
      `The configuration of the ${row} row is not valid.`,
      {
        errors: issues.map(({ path, message }) => ({
          path: path.map((part) => `/${part}`).join(""),
          message,
        })),
      },
    );
  }
  const fields = fieldsOf(row);
  const own = asLayer(config);
  const variables = Object.freeze(Object.fromEntries(
    FIELDS.flatMap(({ env }) => env === null ? [] : [[env, environment[env]]]),
  ));
  const strays = strayVariables(environment);
  /** @type {{ user: unknown, shared: unknown, resolved: Resolved } | undefined} */
  let last;

  function resolved() {
    const [userNow, sharedNow] = [user?.(), shared?.()];
    if (
      last === undefined || last.user !== userNow || last.shared !== sharedNow
    ) {
      const layers = {
        own,
        shared: asLayer(sharedNow),
        user: asLayer(userNow),
        variables,
      };
      last = {
        user: userNow,
        shared: sharedNow,
        resolved: resolveAll(fields, layers),
      };
    }
    return last.resolved;
  }

  return {
    get(toolArguments) {
      const { values } = resolved();
      const given = toolArguments === undefined ? [] : argumentsOf(fields, toolArguments);
      return given.length === 0 ? values : Object.freeze({ ...values, ...Object.fromEntries(given) });
    },
    source(name, toolArguments) {
      const source = resolved().sources[name];
      if (source === undefined) {
        throw new TypeError(
          `"${name}" is not a setting of the ${row} row${didYouMean(name, fields.map((each) => each.name))}`,
        );
      }
      const given = toolArguments === undefined ? [] : argumentsOf(fields, toolArguments);
      return given.some(([argument]) => argument === name) ? "arguments" : source;
    },
    problems() {
      const { problems, values } = resolved();
      return [...problems, ...strays, ...warnings(values)];
    },
  };
}

/**
 * @param {readonly Field[]} fields
 * @param {Readonly<Record<string, unknown>>} toolArguments
 * @returns {[string, unknown][]}
 */
function argumentsOf(fields, toolArguments) {
  /** @type {[string, unknown][]} */
  const given = [];
  for (const field of fields) {
    if (!field.argument) continue;
    const value = toolArguments[field.name];
    if (isAbsent(value)) continue;
    const rule = misfit(field, value);
    if (rule !== null) {
      throw new VerifierError("invalid_request", `${field.name} ${rule}.`, {
        errors: [{ path: `/${field.name}`, message: rule, value }],
      });
    }
    given.push([field.name, freeze(value)]);
  }
  return given;
}

/**
 * @param {readonly Field[]} fields
 * @param {{ own: Layer, shared: Layer, user: Layer, variables: Readonly<Record<string, string | undefined>> }} layers
 * @returns {Resolved}
 */
function resolveAll(fields, layers) {
  /** @type {Record<string, unknown>} */
  const values = {};
  /** @type {Record<string, Source>} */
  const sources = {};
  /** @type {string[]} */
  const problems = [];
  for (const field of fields) {
    const found = fromLayers(field, layers, problems);
    values[field.name] = found === null ? field.default : freeze(found.value);
    sources[field.name] = found === null ? "default" : found.source;
  }
  for (const key of Object.keys(layers.user)) {
    if (fieldOfSetting(key) === undefined) {
      problems.push(`Of the user's settings ${unknownSetting(key)}`);
    }
  }
  return {
    values: Object.freeze(values),
    sources,
    problems: Object.freeze([...new Set(problems)]),
  };
}

/**
 * @param {Field} field
 * @param {{ own: Layer, shared: Layer, user: Layer, variables: Readonly<Record<string, string | undefined>> }} layers
 * @param {string[]} problems Added to: every layer is looked at, so that a typo shows although a higher layer wins.
 * @returns {{ value: unknown, source: Source } | null}
 */
function fromLayers(field, layers, problems) {
  /** @type {{ value: unknown, source: Source }[]} */
  const found = [];
  /** @param {Source} source @param {string} where @param {unknown} value */
  const look = (source, where, value) => {
    if (isAbsent(value)) return;
    const rule = misfit(field, value);
    if (rule === null) found.push({ value, source });
    else {problems.push(
        `${where} is not used: it ${refusal(field, rule, value)}`,
      );}
  };

  look("row", `${field.name} of the row`, layers.own[field.name]);
  if (field.row === "both") {
    look("row", `${field.name} of the tools row`, layers.shared[field.name]);
  }
  if (field.settings !== null) {
    look(
      "settings",
      `The user's setting ${field.settings}`,
      layers.user[field.settings],
    );
  }
  const text = field.env === null ? undefined : layers.variables[field.env];
  if (field.env !== null && text !== undefined && text.trim() !== "") {
    const read = readText(field, text);
    if ("value" in read) {
      found.push({ value: read.value, source: "environment" });
    } else {problems.push(
        `The variable ${field.env} is not used: it ${refusal(field, read.rule, text)}`,
      );}
  }
  if (found[0] !== undefined || field.fallback === undefined) {
    return found[0] ?? null;
  }
  const common = fieldsOf("tools").find(({ name }) => name === field.fallback);
  return common === undefined ? null : fromLayers(common, { ...layers, own: layers.shared }, problems);
}

/** @param {Settings} values @returns {string[]} */
function warnings(values) {
  const url = parseServerUrl(values["url"]);
  if (typeof url === "string") return [];
  const found = [];
  if (values["token"] !== null && !url.secure && !url.loopback) {
    found.push(
      `The token goes unencrypted to ${url.origin}: use https, or a server on this machine`,
    );
  }
  if (values["autostart"] === true && !url.loopback) {
    found.push(
      `autostart has no effect: ${url.origin} is not on this machine, so no server is started for it`,
    );
  }
  return found;
}

/** @param {unknown} value @returns {Layer} */
function asLayer(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? /** @type {Layer} */ (value)
    : NOTHING;
}

/** A copy that nobody can change, so that settings can be shared between calls. @param {unknown} value @returns {unknown} */
function freeze(value) {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) {
    return value;
  }
  if (Array.isArray(value)) return Object.freeze(value.map(freeze));
  return Object.freeze(
    Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, freeze(each)]),
    ),
  );
}
