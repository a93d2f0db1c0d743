/**
 * From what a request says about criteria to a rubric: built-in name, Markdown, JSON object or JSON array.
 *
 * @module
 */
import { criterionIds, parseRubricMarkdown } from "./core.ts";
import { AssayError } from "./errors.ts";
import { nearestName } from "./request_errors.ts";
import { MAXIMUM_CRITERIA } from "./requests.ts";
import { BUILT_IN_RUBRICS } from "./rubrics.ts";
import { cleanText, Warnings } from "./text.ts";
import type { CriteriaInput, Criterion, Rubric } from "./types.ts";

const PATH = "/criteria";

/** Names of the built-in rubrics, in the order they are listed. */
export function builtInRubricNames(): readonly string[] {
  return [...BUILT_IN_RUBRICS.keys()];
}

const readBuiltIns = new Map<string, Rubric>();

/**
 * A rubric from whatever form the request gave it in.
 *
 * @param note overrides the rubric's own ground-truth note
 * @param warnings takes what the Markdown reader noticed
 * @throws {AssayError} `invalid_request`: an unknown name (the error lists the built-in ones), a path (the server
 * never reads one), no criterion or more than 12, a criterion without an instruction, a repeated id, a weight that is
 * not positive
 */
export function resolveRubric(
  input: CriteriaInput,
  note?: string,
  warnings: Warnings = new Warnings(),
): Rubric {
  const rubric = typeof input === "string"
    ? fromString(input, warnings)
    : fromJson(input, "custom", warnings);
  check(rubric.criteria);
  return note === undefined
    ? rubric
    : { ...rubric, groundTruthNote: cleanText(note, "/groundTruthNote", warnings).trim() };
}

function fromString(input: string, warnings: Warnings): Rubric {
  const text = input.replace(/^\ufeff/, "");
  const name = text.trim();
  const builtIn = BUILT_IN_RUBRICS.get(name);
  if (builtIn !== undefined) {
    let rubric = readBuiltIns.get(name);
    if (rubric === undefined) readBuiltIns.set(name, rubric = fromMarkdown(builtIn, name, new Warnings()));
    return rubric;
  }
  if (/^\s*[[{]/.test(text)) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw AssayError.field(
        PATH,
        `must be valid JSON as it starts like it: ${(error as Error).message}`,
        text,
      );
    }
    return fromJson(value, "custom", warnings);
  }
  if (/[\r\n\u2028\u2029#]/.test(text)) {
    return fromMarkdown(cleanText(text, PATH, warnings), "custom", warnings);
  }
  if (name === "") throw AssayError.field(PATH, "must not be blank", input);
  const names = builtInRubricNames();
  if (/^(?:\.{0,2}[/\\]|~|[a-z]:[/\\]|file:)|[/\\]|\.(?:md|markdown|txt|json)$/i.test(name)) {
    throw AssayError.field(
      PATH,
      "must be a rubric and not a path, as the server never reads paths: send the file's text",
      input,
    );
  }
  const near = nearestName(name, names);
  throw AssayError.field(
    PATH,
    `must be a built-in rubric (${names.join(", ")}), rubric Markdown or JSON${
      near === null ? "" : `: did you mean ${near}?`
    }`,
    input,
  );
}

function fromMarkdown(markdown: string, name: string, warnings: Warnings): Rubric {
  const parsed = parseRubricMarkdown(markdown);
  for (const warning of parsed.warnings) warnings.add(`${PATH}: ${warning}`);
  return { name, groundTruthNote: parsed.groundTruthNote, criteria: parsed.criteria };
}

interface Item {
  readonly id: string | null;
  readonly name: string;
  readonly description: string;
  readonly weight: number;
}

function fromJson(value: unknown, name: string, warnings: Warnings): Rubric {
  const items: Item[] = [];
  if (Array.isArray(value)) {
    if (value.length > MAXIMUM_CRITERIA) {
      throw AssayError.field(PATH, `must have at most ${MAXIMUM_CRITERIA} criteria`, value.length);
    }
    value.forEach((entry: unknown, i) => items.push(readEntry(entry, `${PATH}/${i}`, warnings)));
  } else if (typeof value === "object" && value !== null) {
    for (const [key, description] of Object.entries(value)) {
      const at = `${PATH}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (key.trim() === "") throw AssayError.field(PATH, "must not have a criterion with a blank name", key);
      items.push({
        id: null,
        name: oneLine(cleanText(key, at, warnings)),
        description: instruction(description, at, warnings),
        weight: 1,
      });
    }
  } else {
    throw AssayError.field(PATH, "must be a rubric: a name, Markdown, an object or an array", value);
  }
  const pinned = new Set<string>();
  items.forEach(({ id }, i) => {
    if (id === null) return;
    if (pinned.has(id)) {
      throw AssayError.field(`${PATH}/${i}/id`, "must not repeat another criterion's id", id);
    }
    pinned.add(id);
  });
  const ids = criterionIds(
    items.map((item) => item.id === null ? { name: item.name } : { name: item.name, id: item.id }),
  );
  return {
    name,
    groundTruthNote: "",
    criteria: items.map((item, i) => ({
      id: ids[i] ?? `criterion_${i + 1}`,
      name: item.name,
      description: item.description,
      weight: item.weight,
    })),
  };
}

function readEntry(entry: unknown, at: string, warnings: Warnings): Item {
  if (typeof entry === "string") {
    const description = instruction(entry, at, warnings);
    return { id: null, name: nameOf(description), description, weight: 1 };
  }
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    throw AssayError.field(at, "must be a string or an object with a description", entry);
  }
  const { id, name, description, weight, ...unknown } = entry as Record<string, unknown>;
  const [extra] = Object.keys(unknown);
  if (extra !== undefined) {
    throw AssayError.field(
      `${at}/${extra}`,
      "must not be present: the known fields are id, name, description, weight",
    );
  }
  if (id !== undefined && (typeof id !== "string" || !/^[A-Za-z0-9_-]{1,40}$/.test(id))) {
    throw AssayError.field(`${at}/id`, "must be 1 to 40 letters, digits, hyphens or underscores", id);
  }
  if (name !== undefined && (typeof name !== "string" || name.trim() === "")) {
    throw AssayError.field(`${at}/name`, "must be a name that is not blank", name);
  }
  const text = instruction(description, `${at}/description`, warnings);
  return {
    id: id ?? null,
    name: name === undefined ? id ?? nameOf(text) : oneLine(cleanText(name, `${at}/name`, warnings)),
    description: text,
    weight: weight === undefined ? 1 : readWeight(weight, `${at}/weight`),
  };
}

function instruction(value: unknown, at: string, warnings: Warnings): string {
  if (typeof value !== "string") {
    throw AssayError.field(at, "must be a string that says what to check", value ?? null);
  }
  if (value.trim() === "") throw AssayError.field(at, "must say what to check and not be blank", value);
  return cleanText(value, at, warnings).trim();
}

/** Names stand in a heading of the prompt. */
function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

// A criterion given as one string has no heading of its own: its first words serve.
function nameOf(description: string): string {
  const line = oneLine(description.split(/\r\n|\r|\n/, 1)[0] ?? "");
  if (line.length <= 60) return line;
  const cut = line.slice(0, 60).toWellFormed();
  const space = cut.lastIndexOf(" ");
  return (space > 20 ? cut.slice(0, space) : cut).replace(/\ufffd$/, "") + "…";
}

function readWeight(value: unknown, at: string): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) {
    throw AssayError.field(at, "must be a positive finite number", value);
  }
  return value;
}

function check(criteria: readonly Criterion[]): void {
  if (criteria.length === 0) {
    throw AssayError.field(PATH, "must have at least one criterion");
  }
  if (criteria.length > MAXIMUM_CRITERIA) {
    throw AssayError.field(PATH, `must have at most ${MAXIMUM_CRITERIA} criteria`, criteria.length);
  }
}
