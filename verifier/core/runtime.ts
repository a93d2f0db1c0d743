/**
 * How the TypeScript side calls the wasm core: one loader, one calling convention, recovery from traps.
 *
 * The calling convention is documented in `core/src/wasm.rs`: numbers, strings and typed arrays in; numbers, typed
 * arrays or one string out; a thrown *string* is bad input as JSON, anything else thrown is a trap.
 *
 * @module
 */
import * as wasm from "../../wasm/core.js";
import { AssayError, type FieldError, showValue } from "../errors.ts";

/** The exports of the core. */
export type Core = typeof wasm;

/**
 * Calls the core. After a trap the instance is replaced, so the next call works.
 * @throws {AssayError} `invalid_request` for bad input, `internal` for a trap
 */
export function call<T>(work: (core: Core) => T): T {
  try {
    return work(wasm);
  } catch (error) {
    if (typeof error === "string") throw badInput(error);
    if (error instanceof AssayError) throw error;
    // A trap (panic, out of memory, stack overflow) leaves the old instance's memory in an unknown state.
    wasm.__wbg_reset_state();
    throw new AssayError("internal", "the core failed on this input", { cause: error });
  }
}

/** Calls an export that answers with JSON. The type is a promise of the Rust side, which the tests check. */
export function callJson<T>(work: (core: Core) => string): T {
  return JSON.parse(call(work)) as T;
}

/**
 * A list of texts as an argument: their concatenation and their lengths in UTF-16 units. Lone surrogates become U+FFFD
 * before that, as they do in plain strings: a high one and a low one that meet would become one character.
 */
export function joinTexts(texts: readonly string[]): [joined: string, lengths: Uint32Array] {
  const wellFormed = texts.map((text) => text.toWellFormed());
  return [wellFormed.join(""), Uint32Array.from(wellFormed, (text) => text.length)];
}

function badInput(thrown: string): AssayError {
  const { path, message, value } = JSON.parse(thrown) as { path: string; message: string; value?: string };
  const error: FieldError = value === undefined
    ? { path, message }
    : { path, message, value: showValue(value) };
  const detail = `${path || "/"}: ${message}${error.value === undefined ? "" : ` (value: ${error.value})`}`;
  return new AssayError("invalid_request", detail, { errors: [error] });
}
