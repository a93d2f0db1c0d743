/**
 * Successful answers.
 *
 * @module
 */

/**
 * A JSON text that holds no number it can't hold: `JSON.stringify` writes NaN and infinities as `null`, which would
 * pass for "not scored".
 *
 * @throws {RangeError} naming the field
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (key, field) => {
    if (typeof field === "number" && !Number.isFinite(field)) {
      throw new RangeError(`Cannot answer with the field "${key}": its value is ${field}`);
    }
    return field;
  });
}

/** A JSON response that no cache keeps. */
export function jsonResponse(value: unknown, status = 200): Response {
  return new Response(toJson(value), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}
