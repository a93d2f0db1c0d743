// @ts-check
/**
 * Declared output schemas, and the projection of a server's answer onto one.
 *
 * The host checks every result against the tool's schema and loses the whole call for one field too many or too few.
 * So a newer server's extra fields are left out here, and a field that is missing is an error that names it. Only the
 * host's subset of JSON Schema is built: one scalar `type`, `oneOf`, closed objects, `items`, `enum`.
 *
 * @module
 */
import { VerifierError } from "../server/errors.js";

/** @typedef {Readonly<Record<string, unknown>>} Schema A node of the host's JSON Schema subset. */

/**
 * What stands for an absent field, by schema node. Kept beside the nodes, as the host refuses unknown keywords in them.
 *
 * @type {WeakMap<object, unknown>}
 */
const DEFAULTS = new WeakMap();

/** @type {Readonly<Record<string, (value: unknown) => boolean>>} */
const SCALARS = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  null: (value) => value === null,
};

/**
 * A node of one scalar type. No node has a prototype: the host looks at every node's when a tool is registered, which is
 * most of what that costs, and is done at once where there is none.
 *
 * @param {string} type @param {string | undefined} description @returns {Schema}
 */
const scalar = (type, description) =>
  description === undefined ? { __proto__: null, type } : { __proto__: null, type, description };

/** @param {string} [description] @returns {Schema} */
export const string = (description) => scalar("string", description);
/** @param {string} [description] @returns {Schema} */
export const number = (description) => scalar("number", description);
/** @param {string} [description] @returns {Schema} */
export const integer = (description) => scalar("integer", description);
/** @param {string} [description] @returns {Schema} */
export const boolean = (description) => scalar("boolean", description);
/** @param {readonly string[]} values @returns {Schema} */
export const oneOfStrings = (values) => ({ __proto__: null, type: "string", enum: [...values] });
/** @param {Schema} items @returns {Schema} */
export const array = (items) => ({ __proto__: null, type: "array", items });
/** @param {readonly Schema[]} branches exactly one of them must fit a value @returns {Schema} */
export const oneOf = (branches) => ({ __proto__: null, oneOf: [...branches] });
/** Any JSON value. @returns {Schema} */
export const anything = () => ({ __proto__: null });

/** The value or `null`. @param {Schema} schema @returns {Schema} */
export const nullable = (schema) => oneOf([schema, scalar("null", undefined)]);

/** A closed object in which every field is present. @param {Readonly<Record<string, Schema>>} properties @returns {Schema} */
export const object = (properties) => ({
  __proto__: null,
  type: "object",
  properties: { __proto__: null, ...properties },
  required: Object.keys(properties),
  additionalProperties: false,
});

/**
 * A field that the wire may leave out: `fallback` stands in its place.
 *
 * @param {Schema} schema @param {unknown} fallback @returns {Schema}
 */
export function withDefault(schema, fallback) {
  const node = { __proto__: null, ...schema };
  DEFAULTS.set(node, fallback);
  return node;
}

/** A field that the wire may leave out, then `null`. @param {Schema} schema @returns {Schema} */
export const optional = (schema) => withDefault(nullable(schema), null);

/**
 * The declared part of `value`.
 *
 * @param {Schema} schema made by the builders of this module
 * @param {unknown} value a JSON value, as a server sent it
 * @param {string} [path] JSON pointer of the value, for errors
 * @returns {unknown} a fresh value that the schema accepts
 * @throws {VerifierError} `bad_answer` naming the first field that is missing or of another type
 */
export function project(schema, value, path = "") {
  const branches = schema["oneOf"];
  if (Array.isArray(branches)) return projectBranch(branches, value, path);
  switch (schema["type"]) {
    case undefined:
      return value;
    case "object":
      return projectObject(schema, value, path);
    case "array":
      if (!Array.isArray(value)) throw mismatch(path, "an array", value);
      return value.map((item, i) =>
        project(
          /** @type {Schema} */ (schema["items"] ?? {}),
          item,
          `${path}/${i}`,
        )
      );
    default:
      return projectScalar(schema, value, path);
  }
}

/** @param {readonly Schema[]} branches @param {unknown} value @param {string} path @returns {unknown} */
function projectBranch(branches, value, path) {
  const nullBranch = branches.find((branch) => branch["type"] === "null");
  if (nullBranch !== undefined) {
    if (value === null) return null;
    const others = branches.filter((branch) => branch !== nullBranch);
    const [only] = others;
    // With one branch left its own error says more than "none fits".
    if (only !== undefined && others.length === 1) {
      return project(only, value, path);
    }
    return projectBranch(others, value, path);
  }
  /** @type {VerifierError[]} */
  const failures = [];
  for (const branch of branches) {
    try {
      return project(branch, value, path);
    } catch (error) {
      if (!(error instanceof VerifierError)) throw error;
      failures.push(error);
    }
  }
  // The first branch is the usual answer: its failure names what is missing.
  throw failures[0] ?? mismatch(path, "one of the declared forms", value);
}

/** @param {Schema} schema @param {unknown} value @param {string} path @returns {Record<string, unknown>} */
function projectObject(schema, value, path) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw mismatch(path, "an object", value);
  }
  const source = /** @type {Record<string, unknown>} */ (value);
  /** @type {Record<string, unknown>} */
  const result = {};
  for (
    const [name, child] of Object.entries(
      /** @type {Record<string, Schema>} */ (schema["properties"] ?? {}),
    )
  ) {
    const at = `${path}/${name}`;
    if (Object.hasOwn(source, name) && source[name] !== undefined) {
      result[name] = project(child, source[name], at);
    } else if (DEFAULTS.has(child)) {
      result[name] = structuredClone(DEFAULTS.get(child));
    } else {
      throw new VerifierError(
        "bad_answer",
        `The server's answer has no field ${at}: server and plugin are of different versions.`,
        {
          errors: [{ path: at, message: "is missing" }],
        },
      );
    }
  }
  return result;
}

/** @param {Schema} schema @param {unknown} value @param {string} path @returns {unknown} */
function projectScalar(schema, value, path) {
  const { type } = schema;
  const fits = SCALARS[/** @type {string} */ (type)]?.(value) ?? false;
  const allowed = schema["enum"];
  if (!fits) throw mismatch(path, `a ${type}`, value);
  if (Array.isArray(allowed) && !allowed.includes(value)) {
    throw mismatch(path, `one of ${allowed.join(", ")}`, value);
  }
  // The host refuses -0 as a number that JSON would lose.
  return Object.is(value, -0) ? 0 : value;
}

/** @param {string} path @param {string} expected @param {unknown} value @returns {VerifierError} */
function mismatch(path, expected, value) {
  const at = path === "" ? "the answer" : path;
  return new VerifierError(
    "bad_answer",
    `The server's answer can't be read: ${at} isn't ${expected}.`,
    {
      errors: [{
        path,
        message: `must be ${expected}`,
        value: value === undefined ? null : value,
      }],
    },
  );
}
