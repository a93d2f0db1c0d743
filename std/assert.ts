/**
 * The part of `@std/assert` that the tests use, over `node:assert/strict`, with std's names and argument order.
 *
 * JSR can't be reached from every machine this project is built on. Whoever has JSR points the import map's
 * `@std/assert` at `jsr:@std/assert` and deletes this file; no test changes.
 *
 * @module
 */
import nodeAssert from "node:assert/strict";

/** Fails unless `condition` is truthy. */
export function assert(condition: unknown, message = "assertion failed"): asserts condition {
  nodeAssert.ok(condition, message);
}

/** Fails unless both values are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.deepStrictEqual(actual, expected, message);
}

/** Fails if both values are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.notDeepStrictEqual(actual, expected, message);
}

/** Fails unless both values are the same by `Object.is`. */
export function assertStrictEquals<T>(actual: unknown, expected: T, message?: string): asserts actual is T {
  nodeAssert.strictEqual(actual, expected, message);
}

/** Fails unless `actual` is within `tolerance` of `expected` (both finite). @param tolerance default 1e-12 */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance = 1e-12,
  message?: string,
): void {
  nodeAssert.ok(
    Object.is(actual, expected) || Math.abs(actual - expected) <= tolerance,
    message ?? `Expected ${actual} to be within ${tolerance} of ${expected}`,
  );
}

/** Fails unless `actual` contains `expected`. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  nodeAssert.ok(
    actual.includes(expected),
    message ?? `Expected text to include "${expected}":\n${actual.slice(0, 2000)}`,
  );
}

/** Fails unless `actual` matches the pattern. */
export function assertMatch(actual: string, expected: RegExp, message?: string): void {
  nodeAssert.match(actual, expected, message);
}

/** Fails unless `value` is neither null nor undefined. */
export function assertExists<T>(value: T, message = "expected a value"): asserts value is NonNullable<T> {
  nodeAssert.ok(value !== null && value !== undefined, message);
}

// deno-lint-ignore no-explicit-any
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

function checkError<E extends Error>(
  error: unknown,
  type?: ErrorClass<E>,
  includes?: string,
  message?: string,
): E {
  nodeAssert.ok(
    error instanceof (type ?? Error),
    message ?? `Expected ${type?.name ?? "Error"}, got ${error}`,
  );
  if (includes !== undefined) assertStringIncludes((error as E).message, includes, message);
  return error as E;
}

/** Fails unless `run` throws (optionally: an error of `type` whose message includes `includes`). Returns the error. */
export function assertThrows<E extends Error = Error>(
  run: () => unknown,
  type?: ErrorClass<E>,
  includes?: string,
  message?: string,
): E {
  try {
    run();
  } catch (error) {
    return checkError(error, type, includes, message);
  }
  throw new nodeAssert.AssertionError({ message: message ?? "Expected the function to throw" });
}

/** Fails unless the promise of `run` rejects. Returns the error. */
export async function assertRejects<E extends Error = Error>(
  run: () => PromiseLike<unknown>,
  type?: ErrorClass<E>,
  includes?: string,
  message?: string,
): Promise<E> {
  try {
    await run();
  } catch (error) {
    return checkError(error, type, includes, message);
  }
  throw new nodeAssert.AssertionError({ message: message ?? "Expected the promise to reject" });
}
