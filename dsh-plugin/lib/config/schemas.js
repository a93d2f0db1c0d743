// @ts-check
/**
 * The two schemas that the host asks for: of a row's `config`, as a Standard Schema, and of the user's settings.
 *
 * @module
 */
import { didYouMean, nearestName } from "../server/errors.js";
import { fieldOfSetting, FIELDS, fieldsOf } from "./fields.js";
import { isAbsent, misfit, refusal } from "./values.js";

/** @typedef {import("./fields.js").Field} Field */
/** @typedef {import("./fields.js").RowName} RowName */
/** @typedef {{ message: string, path: string[] }} Issue */
/** @typedef {{ type: string, meta: Record<string, unknown>, value?: unknown, list?: Node[], dict?: Record<string, Node> }} Node */
/** @typedef {((section: unknown) => Record<string, unknown>) & Node & { toJSON(): unknown, toString(): string }} SettingsSchema */

/**
 * A row's `Config`: `export const Config = configSchema("tools")`. It checks and never fills in: what a row leaves out
 * has to stay out, as the user's settings come after the row.
 *
 * @param {RowName} row
 * @returns {{ "~standard": { version: 1, vendor: string, validate: (value: unknown) => { value: Record<string, unknown> } | { issues: Issue[] } } }}
 */
export function configSchema(row) {
  return {
    "~standard": {
      version: 1,
      vendor: "dsh-assay",
      validate: (value) => {
        const issues = rowIssues(row, value);
        return issues.length > 0 ? { issues } : { value: { .../** @type {object} */ (value ?? {}) } };
      },
    },
  };
}

/**
 * What is wrong with a row's `config`. Nothing is wrong with none at all.
 *
 * @param {RowName} row
 * @param {unknown} config
 * @returns {Issue[]}
 */
export function rowIssues(row, config) {
  if (config === undefined || config === null) return [];
  if (typeof config !== "object" || Array.isArray(config)) {
    return [{ path: [], message: "config must be an object of settings" }];
  }
  const fields = new Map(fieldsOf(row).map((field) => [field.name, field]));
  /** @type {Issue[]} */
  const issues = [];
  for (const [name, value] of Object.entries(config)) {
    const field = fields.get(name);
    if (field === undefined) {
      issues.push({ path: [name], message: unknownKey(row, name, fields.keys()) });
      continue;
    }
    const rule = isAbsent(value) ? null : misfit(field, value);
    if (rule !== null) {
      issues.push({
        path: [name],
        message: `${name} ${refusal(field, rule, value)}`,
      });
    }
  }
  return issues;
}

/** @param {RowName} row @param {string} name @param {Iterable<string>} known @returns {string} */
function unknownKey(row, name, known) {
  const message = `${name} is not a setting of this row`;
  const [other, id] = row === "tools"
    ? /** @type {const} */ (["gate", "assay-verify-gate"])
    : /** @type {const} */ (["tools", "assay"]);
  const others = fieldsOf(other).map((field) => field.name);
  if (others.includes(name)) return `${message}, but of the row ${id}`;
  const near = didYouMean(name, known);
  if (near !== "") return message + near;
  const elsewhere = nearestName(name, others);
  return elsewhere === null ? message : `${message}; did you mean "${elsewhere}" of the row ${id}?`;
}

/**
 * The settings namespace's schema for one registration, in the shape that the host's settings service reads
 * (schemastery's): a function that checks a section, the live nodes by which secrets are found, and an envelope that a
 * browser can make a schema of. Written by hand, because a plugin in a linked folder can't import the host's packages.
 * It fills no defaults in: what comes out is the user's own layer, and the row and the environment keep their places
 * around it. Titles and help stand in the settings card, which is the plugin's own.
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
function fieldNode({ type, enum: allowed, secret, minimum, maximum }) {
  if (allowed !== undefined) {
    return { type: "union", meta: {}, list: allowed.map((value) => ({ type: "const", meta: {}, value })) };
  }
  switch (type) {
    case "boolean":
      return { type: "boolean", meta: {} };
    case "string":
      return { type: "string", meta: secret ? { role: "secret" } : {} };
    case "number":
      return { type: "number", meta: { min: minimum, max: maximum } };
    case "integer":
      return { type: "number", meta: { min: minimum, max: maximum, step: 1 } };
    case "json":
      return { type: "any", meta: {} };
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
