/**
 * Parameters in the query: known names only, each once.
 *
 * @module
 */
import { AssayError } from "../verifier/errors.ts";
import { nearestName } from "../verifier/request_errors.ts";
import type { AppContext } from "./operation.ts";

/**
 * The query's parameters by name; what isn't given is absent.
 * @throws {AssayError} `invalid_request` for an unknown name (with the nearest known one), one that stands twice, or a
 * blank value
 */
export function readQuery<Name extends string>(
  context: AppContext,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  const found: Partial<Record<Name, string>> = {};
  for (const [given, value] of new URL(context.req.url).searchParams) {
    const name = names.find((known) => known === given);
    const path = `/${given.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (name === undefined) {
      const near = nearestName(given, names);
      throw AssayError.field(
        path,
        `must not be present: the known parameters are ${names.join(", ")}` +
          (near === null ? "" : ` (did you mean ${near}?)`),
      );
    }
    if (Object.hasOwn(found, name)) throw AssayError.field(path, "must not stand twice", value);
    if (value === "") throw AssayError.field(path, "must not be blank", value);
    found[name] = value;
  }
  return found;
}

/** A whole number of the query. @throws {AssayError} `invalid_request` for anything else */
export function readCount(
  text: string | undefined,
  path: string,
  { least = 1, most, fallback }: {
    readonly least?: number;
    readonly most: number;
    readonly fallback: number;
  },
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) {
    throw AssayError.field(path, `must be a whole number from ${least} to ${most}`, text);
  }
  return value;
}
