/**
 * Collects what is wrong with a configuration, so that all of it is told at once and none of it holds a secret.
 *
 * @module
 */
import { AssayError, type FieldError, showValue } from "../errors.ts";
import { redact } from "../redaction/redact.ts";
import { jsonPointer } from "../request_errors.ts";

/** Most faults that one error lists. */
export const MAXIMUM_FAULTS = 50;

/** Faults found so far. */
export class Faults {
  readonly #errors: FieldError[] = [];

  /** Adds a fault at a path. @param value the faulty value, shown shortened */
  add(path: readonly PropertyKey[], message: string, value?: unknown): void {
    this.push({
      path: jsonPointer(path),
      message,
      ...(value === undefined ? {} : { value: showValue(value) }),
    });
  }

  /** Adds a fault, its value without secrets; a field named like a secret shows none at all. */
  push(error: FieldError): void {
    // A pasted key must not travel on in the error about it.
    const isSecret = /key|secret|token$|password|authorization/i.test(error.path) && !/Env$/.test(error.path);
    const value = error.value === undefined || isSecret ? undefined : redact(error.value);
    this.#errors.push({
      path: error.path,
      message: error.message,
      ...(value === undefined ? {} : { value }),
    });
  }

  /** @throws {AssayError} `invalid_request` with all faults, if there is one */
  throwIfAny(where: string): void {
    if (this.#errors.length === 0) return;
    const errors = this.#errors.slice(0, MAXIMUM_FAULTS);
    const lines = errors.map((e) =>
      `${e.path || "/"} ${e.message}${e.value === undefined ? "" : ` (value: ${e.value})`}`
    );
    throw new AssayError("invalid_request", `Cannot use ${where}:\n${lines.join("\n")}`, { errors });
  }
}
