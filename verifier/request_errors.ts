/**
 * Turns zod's issues into field errors for people: JSON pointer, "must be …", the shortened value, and for an unknown
 * field the nearest known one.
 *
 * @module
 */
import type { z } from "zod";
import { type FieldError, showValue } from "./errors.ts";

type Issue = z.core.$ZodIssue;

/** JSON pointer (RFC 6901) of a path. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => "/" + String(part).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

/** The known name closest to `name` by edit distance, or `null` when none is close (over half of its length away). */
export function nearestName(name: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase().slice(0, 60), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best !== null && bestDistance <= Math.max(1, Math.floor(best.length / 2)) ? best : null;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitute, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}

// zod's run-time description of a schema; only the parts that lead to an object's field names.
interface Definition {
  readonly type: string;
  readonly innerType?: { readonly def: Definition };
  readonly element?: { readonly def: Definition };
  readonly options?: readonly { readonly def: Definition }[];
  readonly shape?: Readonly<Record<string, { readonly def: Definition }>>;
}

function reachable(definition: Definition): readonly Definition[] {
  if (definition.innerType !== undefined) return reachable(definition.innerType.def);
  if (definition.options !== undefined) return definition.options.flatMap((option) => reachable(option.def));
  return [definition];
}

function knownFields(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let level = reachable(schema.def as unknown as Definition);
  for (const part of path) {
    level = level.flatMap((definition) => {
      const child = typeof part === "number" ? definition.element : definition.shape?.[String(part)];
      return child === undefined ? [] : reachable(child.def);
    });
  }
  return level.flatMap((definition) => Object.keys(definition.shape ?? {}));
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a finite number",
  int: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
};

/** "must be …" for one issue that isn't a union. */
function messageOf(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      if (value === undefined) return "must be present";
      if (issue.expected === "number" && typeof value === "number") return "must be a finite number";
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map((v) => String(v)).join(", ")}`;
    case "too_small":
    case "too_big": {
      const [word, limit] = issue.code === "too_small"
        ? ["at least", issue.minimum]
        : ["at most", issue.maximum];
      if (issue.origin === "string") {
        return issue.code === "too_small" && limit === 1
          ? "must not be empty"
          : `must have ${word} ${limit} characters`;
      }
      if (issue.origin === "array") return `must have ${word} ${limit} ${limit === 1 ? "entry" : "entries"}`;
      const exclusive = "inclusive" in issue && issue.inclusive === false;
      return exclusive
        ? `must be ${issue.code === "too_small" ? "more" : "less"} than ${limit}`
        : `must be ${word} ${limit}`;
    }
    default:
      return issue.message.startsWith("must") ? issue.message : `must be valid: ${issue.message}`;
  }
}

// A union reports one list of issues per option. The option that fits the value's kind is the one the caller meant.
function expand(issue: Issue, root: unknown): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const value = valueAt(root, issue.path);
  const absolute = issue.errors.map((option) =>
    option.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }) as Issue)
  );
  const fitting = absolute.filter((option) =>
    !option.some((inner) => inner.code === "invalid_type" && inner.path.length === issue.path.length)
  );
  const best = fitting.sort((x, y) => x.length - y.length)[0];
  if (best !== undefined) return best.flatMap((inner) => expand(inner, root));
  const kinds = new Set(
    absolute.flat().flatMap((inner) =>
      inner.code === "invalid_type" && inner.path.length === issue.path.length
        ? [TYPE_NAMES[inner.expected] ?? inner.expected]
        : []
    ),
  );
  const message = value === undefined ? "must be present" : `must be ${[...kinds].join(" or ")}`;
  return [{ code: "custom", path: issue.path, message, input: value } as Issue];
}

/**
 * Field errors of zod's issues, in order, at most `limit` of them; `total` counts all.
 * @param root the value that was parsed
 */
export function fieldErrors(
  schema: z.ZodType,
  root: unknown,
  issues: readonly Issue[],
  limit: number,
): { readonly errors: readonly FieldError[]; readonly total: number } {
  const errors: FieldError[] = [];
  let total = 0;
  const add = (path: readonly PropertyKey[], message: string, value: unknown): void => {
    total++;
    if (errors.length >= limit) return;
    const secret = /key|token(?!s$)|secret|password/i.test(String(path.at(-1) ?? ""));
    const shown = value === undefined || secret ? {} : { value: showValue(shorten(value)) };
    errors.push({ path: jsonPointer(path), message, ...shown });
  };
  for (const issue of issues) {
    if (errors.length >= limit) {
      total++;
      continue;
    }
    for (const inner of expand(issue, root)) {
      if (inner.code === "unrecognized_keys") {
        const known = knownFields(schema, inner.path);
        for (const key of inner.keys) {
          const near = nearestName(key, known);
          const hint = near === null
            ? `: the known fields are ${known.join(", ")}`
            : `: did you mean ${near}?`;
          // A mistyped name under judge may hold a key.
          const shown = inner.path[0] === "judge" ? undefined : valueAt(root, [...inner.path, key]);
          add([...inner.path, key], `must not be present, as this field is unknown${hint}`, shown);
        }
      } else {
        const value = valueAt(root, inner.path);
        add(inner.path, messageOf(inner, value), value);
      }
    }
  }
  return { errors, total };
}

// showValue would serialise megabytes to show eighty characters.
function shorten(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, 100);
  if (Array.isArray(value)) return value.slice(0, 3).map(shorten);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).slice(0, 4).map(([key, field]) => [key, shorten(field)]));
  }
  return value;
}
