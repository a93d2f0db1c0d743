/**
 * Records in the store as JSON, read back through their schema.
 *
 * @module
 */
import type * as z from "zod";

/** Bytes of a record. */
export function encodeRecord(record: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record));
}

/** The record in these bytes; `null` for anything that the schema refuses, and for what is no JSON in UTF-8. */
export function decodeRecord<T>(schema: z.ZodType<T>, bytes: Uint8Array): T | null {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : null;
}
