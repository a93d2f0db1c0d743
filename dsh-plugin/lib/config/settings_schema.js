// @ts-check
/**
 * The settings namespace's schema in the shape that the host's settings service reads (schemastery's): a function that
 * checks a section, the live nodes by which secrets are found, and an envelope that a browser can make a schema of.
 *
 * It is made by hand because a plugin in a linked folder can't import the host's packages. It fills no defaults in: what
 * comes out is the user's own layer, and the row and the environment keep their places around it.
 *
 * @module
 */
import { fieldOfSetting, FIELDS } from "./fields.js";
import { nearestName } from "./nearest.js";
import { isAbsent, misfit, refusal } from "./values.js";

/** @typedef {import("./fields.js").Field} Field */
/** @typedef {{ type: string, meta: Record<string, unknown>, value?: unknown, list?: Node[], dict?: Record<string, Node> }} Node */
/** @typedef {((section: unknown) => Record<string, unknown>) & Node & { toJSON(): unknown, toString(): string }} SettingsSchema */

/**
 * A schema for one registration.
 *
 * The first section it sees is the stored one and is let pass as it is: one bad value in a file must not cost the user
 * all settings, and resolving them reports it. From then on, whatever changes has to fit.
 *
 * @returns {SettingsSchema}
 */
export function settingsSchema() {
  /** @type {Readonly<Record<string, unknown>> | null} */
  let accepted = null;
  /** @param {unknown} section */
  const check = (section) => {
    const next = /** @type {Record<string, unknown>} */ (section ?? {});
    const before = accepted;
    if (before !== null) {
      const changed = Object.entries(next).filter(([key, value]) => !sameJson(value, before[key]));
      const faults = changed.flatMap(([key, value]) => settingFault(key, value) ?? []);
      if (faults.length > 0) throw new TypeError(faults.join("; "));
    }
    accepted = structuredClone(next);
    return { ...next };
  };
  const root = rootNode();
  return Object.assign(check, root, {
    toJSON: () => envelope(root),
    toString: () => "assay settings",
  });
}

/**
 * @param {string} key Of the namespace.
 * @param {unknown} value
 * @returns {string | null} What is wrong, naming key and value but no secret.
 */
export function settingFault(key, value) {
  const field = fieldOfSetting(key);
  if (field === undefined) return unknownSetting(key);
  const rule = isAbsent(value) ? null : misfit(field, value);
  return rule === null ? null : `${key} ${refusal(field, rule, value)}`;
}

/**
 * The namespace has one key for a setting whichever row it is for, so a gate's setting is often looked for by its name in
 * the gate's row.
 *
 * @param {string} key
 * @returns {string}
 */
export function unknownSetting(key) {
  /** @type {Map<string, string>} */
  const known = new Map();
  for (const { name, settings } of FIELDS) {
    if (settings !== null && !known.has(name)) {
      known.set(name, settings).set(settings, settings);
    }
  }
  const near = nearestName(key, known.keys());
  return `${key} is not a setting${near === null ? "" : `; did you mean "${known.get(near)}"?`}`;
}

/** @returns {Node} */
function rootNode() {
  const dict = Object.fromEntries(
    FIELDS.flatMap((field) => field.settings === null ? [] : [[field.settings, fieldNode(field)]]),
  );
  return { type: "object", meta: {}, dict };
}

/** @param {Field} field @returns {Node} */
function fieldNode(field) {
  const meta = { description: field.help.en };
  if (field.enum !== undefined) {
    return {
      type: "union",
      meta,
      list: field.enum.map((value) => ({ type: "const", meta: {}, value })),
    };
  }
  switch (field.type) {
    case "boolean":
      return { type: "boolean", meta };
    case "string":
      return {
        type: "string",
        meta: field.secret ? { ...meta, role: "secret" } : meta,
      };
    case "number":
    case "integer": {
      const range = { ...meta, min: field.minimum, max: field.maximum };
      return {
        type: "number",
        meta: field.type === "integer" ? { ...range, step: 1 } : range,
      };
    }
    case "json":
      return { type: "any", meta };
  }
}

/**
 * The nodes numbered and in one table, as schemastery writes them.
 *
 * @param {Node} root
 * @returns {{ uid: number, refs: Record<number, unknown> }}
 */
function envelope(root) {
  /** @type {Record<number, unknown>} */
  const refs = {};
  let last = 0;
  /** @param {Node} node @returns {number} */
  const add = ({ list, dict, ...node }) => {
    const uid = ++last;
    refs[uid] = {
      ...node,
      ...(list === undefined ? {} : { list: list.map(add) }),
      ...(dict === undefined ? {} : {
        dict: Object.fromEntries(
          Object.entries(dict).map(([key, each]) => [key, add(each)]),
        ),
      }),
    };
    return uid;
  };
  return { uid: add(root), refs };
}

/** @param {unknown} a @param {unknown} b @returns {boolean} Of values that came from JSON or YAML. */
function sameJson(a, b) {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
