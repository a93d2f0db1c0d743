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
  checkNumbers(value, "");
  return JSON.stringify(value);
}

// A walk of its own: a replacer function makes `JSON.stringify` four times slower.
function checkNumbers(value: unknown, key: string | number): void {
  if (typeof value === "number") {
    if (Number.isFinite(value)) return;
    throw new RangeError(`Cannot answer with the field "${key}": its value is ${value}`);
  }
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) checkNumbers(value[i], i);
  } else {
    for (const name in value) checkNumbers((value as Record<string, unknown>)[name], name);
  }
}

/** A JSON response that no cache keeps. */
export function jsonResponse(value: unknown, status = 200): Response {
  return new Response(toJson(value), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}
