// @ts-check
/**
 * The host's rules for schemas and values, as far as this package must keep them: one scalar `type` or `oneOf`, exactly
 * one branch, closed objects, no unknown keyword. Written from the host's documentation, to find a broken result before
 * the host loses a call over it.
 *
 * @module
 */

const KEYWORDS = new Set([
  "type",
  "oneOf",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "description",
  "title",
  "default",
  "examples",
]);
const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** What the host would refuse in a schema. @param {any} schema @param {string} [path] @returns {string[]} */
export function schemaViolations(schema, path = "schema") {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    return [`${path} must be an object`];
  }
  const found = Object.keys(schema).filter((key) => !KEYWORDS.has(key)).map((key) =>
    `${path}.${key} is unknown`
  );
  if (schema.oneOf !== undefined) {
    if (schema.type !== undefined) found.push(`${path} has type and oneOf`);
    if (!Array.isArray(schema.oneOf) || schema.oneOf.length < 2) {
      return [...found, `${path}.oneOf needs two schemas`];
    }
    for (const key of ["properties", "required", "additionalProperties", "items", "enum", "const"]) {
      if (key in schema) found.push(`${path}.${key} stands beside oneOf`);
    }
    return [
      ...found,
      ...schema.oneOf.flatMap((/** @type {any} */ each, /** @type {number} */ i) =>
        schemaViolations(each, `${path}.oneOf[${i}]`)
      ),
    ];
  }
  if (schema.type === undefined) return found;
  if (!TYPES.includes(schema.type)) return [...found, `${path}.type is ${schema.type}`];
  if (schema.type === "object") {
    for (const key of schema.required ?? []) {
      if (!Object.hasOwn(schema.properties ?? {}, key)) found.push(`${path}.required names ${key}`);
    }
    for (const [key, child] of Object.entries(schema.properties ?? {})) {
      found.push(...schemaViolations(child, `${path}.properties.${key}`));
    }
  } else if ("properties" in schema || "required" in schema) found.push(`${path} isn't an object`);
  if (schema.items !== undefined) {
    if (schema.type !== "array") found.push(`${path}.items needs an array`);
    else found.push(...schemaViolations(schema.items, `${path}.items`));
  }
  return found;
}

/** Why the host would lose a call with this value. @param {any} schema @param {any} value @param {string} [path] @returns {string[]} */
export function valueViolations(schema, value, path = "value") {
  if (schema.oneOf !== undefined) {
    const fits = schema.oneOf.filter((/** @type {any} */ each) =>
      valueViolations(each, value, path).length === 0
    );
    return fits.length === 1 ? [] : [`${path} fits ${fits.length} branches`];
  }
  const lossless = value !== undefined && typeof value !== "function" && !Object.is(value, -0) &&
    (typeof value !== "number" || Number.isFinite(value));
  if (!lossless) return [`${path} is not lossless JSON`];
  switch (schema.type) {
    case undefined:
      return [];
    case "object": {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return [`${path} isn't an object`];
      }
      const known = schema.properties ?? {};
      const missing = (schema.required ?? []).filter((/** @type {string} */ key) =>
        !Object.hasOwn(value, key)
      );
      const extra = schema.additionalProperties === false
        ? Object.keys(value).filter((key) => !Object.hasOwn(known, key))
        : [];
      return [
        ...missing.map((/** @type {string} */ key) => `${path}.${key} is missing`),
        ...extra.map((key) => `${path}.${key} isn't declared`),
        ...Object.entries(known).flatMap(([key, child]) =>
          Object.hasOwn(value, key) ? valueViolations(child, value[key], `${path}.${key}`) : []
        ),
      ];
    }
    case "array":
      if (!Array.isArray(value)) return [`${path} isn't an array`];
      return value.flatMap((item, i) => valueViolations(schema.items ?? {}, item, `${path}[${i}]`));
    default: {
      const type = schema.type === "integer" ? Number.isInteger(value) ? "integer" : "other" : typeof value;
      const fits = schema.type === "null" ? value === null : type === schema.type;
      if (!fits) return [`${path} isn't a ${schema.type}`];
      return schema.enum !== undefined && !schema.enum.includes(value) ? [`${path} isn't in the enum`] : [];
    }
  }
}
