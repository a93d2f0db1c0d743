/**
 * Rubrics and criterion ids against recorded results of two other implementations. Every vector is either equal or on
 * the list of deliberate differences below, which holds both results, so that the list can't rot.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { criterionIds, parseRubricMarkdown } from "../../verifier/core.ts";
import { AssayError } from "../../verifier/errors.ts";
import { resolveRubric } from "../../verifier/rubric.ts";
import type { CriteriaInput } from "../../verifier/types.ts";

const folder = new URL("../../../shared/golden/", import.meta.url);
const present = await Deno.stat(folder).then(() => true, () => false);
const suffix = present ? "" : " (skipped: ../shared/golden is not here)";

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** A rubric as far as the vectors record it; `"error"` where it was refused. */
type Outcome = { readonly note: string; readonly criteria: readonly Entry[] } | "error";

interface Difference {
  readonly theirs: unknown;
  readonly ours: unknown;
  readonly why: string;
}

const rubric = (...criteria: [id: string, name: string, description: string][]): Outcome => ({
  note: "",
  criteria: criteria.map(([id, name, description]) => ({ id, name, description })),
});

/** By id of the vector. */
const MARKDOWN_DIFFERENCES: Readonly<Record<string, Difference>> = {
  lone_cr: {
    theirs: "error",
    ours: rubric(["alpha", "Alpha", "body"]),
    why: "a lone CR ends a line",
  },
  bom_first_heading: {
    theirs: "error",
    ours: rubric(["alpha", "Alpha", "body"]),
    why: "a byte order mark is no part of the first heading",
  },
  anchor_collides_with_slug: {
    theirs: rubric(["a_b", "A b", "1"], ["a_b_2", "Other", "2"]),
    ours: rubric(["a_b_2", "A b", "1"], ["a_b", "Other", "2"]),
    why: "an anchor pins its id, also against the slug of an earlier name: stored results depend on it",
  },
  anchor_bad_chars: {
    theirs: rubric(["one_bad_id", "One {#bad id}", "1"]),
    ours: "error",
    why: "an anchor that can't be one is a mistake to be told, not a name",
  },
  anchor_empty: {
    theirs: rubric(["one", "One {#}", "1"]),
    ours: "error",
    why: "an anchor that can't be one is a mistake to be told, not a name",
  },
  anchor_only: {
    theirs: rubric(["only", "", "body"]),
    ours: rubric(["only", "only", "body"]),
    why: "the name stands in the prompt, so it is never blank",
  },
  heading_localised: {
    theirs: "error",
    ours: rubric(["alpha", "Alpha", "body"]),
    why: "section names are known in other languages, too",
  },
  code_fence_with_headings: {
    theirs: rubric(["alpha", "Alpha", "```sh"]),
    ours: rubric(["alpha", "Alpha", "```sh\n## build\nmake\n```\nafter"]),
    why: "a # line in a code fence is text",
  },
  h3_empty_name: {
    theirs: rubric(["criterion", "", "body"]),
    ours: "error",
    why: "the name stands in the prompt, so it is never blank",
  },
  h1_between: {
    theirs: rubric(["alpha", "Alpha", "a\nb"], ["beta", "Beta", "c"]),
    ours: rubric(["alpha", "Alpha", "a\n# New title\nb"], ["beta", "Beta", "c"]),
    why: "nothing is dropped from an instruction",
  },
  // upstream
  h1_in_body: {
    theirs: rubric(["x", "X", "line\nmore"]),
    ours: rubric(["x", "X", "line\n# dropped heading\nmore"]),
    why: "nothing is dropped from an instruction",
  },
};

const ID_DIFFERENCES: Readonly<Record<string, Difference>> = {
  '["","",""]': {
    theirs: ["", "_2", "_3"],
    ours: ["criterion", "criterion_2", "criterion_3"],
    why: "an id is never empty",
  },
};

/** By JSON of the input. */
const NORMALIZE_DIFFERENCES: Readonly<Record<string, Difference>> = {
  '[{"description":"only description here"}]': {
    theirs: [["only_description_here", "only_description_here"]],
    ours: [["only_description_here", "only description here"]],
    why: "a missing name is the start of the description as it was written, not its slug",
  },
  '[{"description":"d only"}]': {
    theirs: [["d_only", "d_only"]],
    ours: [["d_only", "d only"]],
    why: "a missing name is the start of the description as it was written, not its slug",
  },
  '[{"id":"my ID","name":"N","description":"d"}]': {
    theirs: [["my ID", "N"]],
    ours: "error",
    why: "ids stand in results, cache keys and addresses: one with a space is refused, and the field named",
  },
  '[{"id":"a","name":"A","description":"1"},{"id":"a","name":"B","description":"2"}]': {
    theirs: [["a", "A"], ["a_2", "B"]],
    ours: "error",
    why: "whoever writes the same id twice into a request can be told so",
  },
  '[{"name":"  ","description":" d "}]': {
    theirs: [["d", "d"]],
    ours: "error",
    why: "a blank name is a mistake to be told; a name may be left out",
  },
};

function outcome<T>(work: () => T): T | "error" {
  try {
    return work();
  } catch (error) {
    if (error instanceof AssayError && error.code === "invalid_request") return "error";
    throw error;
  }
}

function read(markdown: string): Outcome {
  return outcome(() => {
    const { groundTruthNote, criteria } = parseRubricMarkdown(markdown);
    return {
      note: groundTruthNote,
      criteria: criteria.map(({ id, name, description }) => ({ id, name, description })),
    };
  });
}

/** Compares one vector, and remembers which differences were met. */
function check(
  key: string,
  theirs: unknown,
  ours: unknown,
  differences: Readonly<Record<string, Difference>>,
  met: Set<string>,
): void {
  const difference = differences[key];
  if (difference === undefined) {
    assertEquals(ours, theirs, key);
    return;
  }
  assertEquals(theirs, difference.theirs, `${key}: the recorded result has changed`);
  assertEquals(ours, difference.ours, `${key}: ${difference.why}`);
  met.add(key);
}

// deno-lint-ignore no-explicit-any
const load = async (file: string): Promise<any> => JSON.parse(await Deno.readTextFile(new URL(file, folder)));

function golden(name: string, work: () => Promise<void>): void {
  Deno.test({ name: name + suffix, ignore: !present, fn: work });
}

golden("rubric Markdown reads as recorded, or differs on purpose", async () => {
  const met = new Set<string>();
  const { vectors } = (await load("dsh_llm_verifier.json")).groups.parseCriteriaMarkdown;
  assert(vectors.length > 0);
  for (const { id, input, value, throws } of vectors) {
    const theirs = throws ? "error" : { note: value.groundTruthNote, criteria: value.criteria };
    check(id, theirs, read(input), MARKDOWN_DIFFERENCES, met);
  }
  const { criteria_synthetic } = await load("upstream.json");
  assert(criteria_synthetic.length > 0);
  for (const { id, markdown, output } of criteria_synthetic) {
    check(id, output.value ?? "error", read(markdown), MARKDOWN_DIFFERENCES, met);
  }
  assertEquals([...met].sort(), Object.keys(MARKDOWN_DIFFERENCES).sort());
});

golden("slugs are as recorded", async () => {
  const slugs = [
    ...(await load("dsh_llm_verifier.json")).groups.slugCriterionId.vectors,
    ...(await load("upstream.json")).slug,
  ];
  assert(slugs.length > 20);
  for (const { input, value, output } of slugs) {
    assertEquals(criterionIds([{ name: input }]), [value ?? output], JSON.stringify(input));
  }
});

golden("duplicate ids are numbered as recorded, or differ on purpose", async () => {
  const met = new Set<string>();
  const { vectors } = (await load("dsh_llm_verifier.json")).groups.dedupeCriterionId;
  assert(vectors.length > 0);
  for (const { ids, value } of vectors) {
    const ours = criterionIds(ids.map((name: string) => ({ name })));
    check(JSON.stringify(ids), value, ours, ID_DIFFERENCES, met);
  }
  assertEquals([...met], Object.keys(ID_DIFFERENCES));
});

golden("criteria in JSON are read as recorded, or differ on purpose", async () => {
  const met = new Set<string>();
  const read = (input: unknown): unknown =>
    outcome(() => resolveRubric(input as CriteriaInput).criteria.map(({ id, name }) => [id, name]));
  const { vectors } = (await load("dsh_llm_verifier.json")).groups.normalizeCriteria;
  assert(vectors.length > 0);
  for (const { input, value, throws } of vectors) {
    // What no criteria at all means is the schema's default, not the reader's.
    if (input === "(undefined)") continue;
    const theirs = throws ? "error" : value.map((c: Entry) => [c.id, c.name]);
    check(JSON.stringify(input), theirs, read(input), NORMALIZE_DIFFERENCES, met);
  }
  const { normalize_criteria } = await load("upstream.json");
  assert(normalize_criteria.length > 0);
  for (const { input, output } of normalize_criteria) {
    const theirs = output.value === undefined ? "error" : output.value.map((c: Entry) => [c.id, c.name]);
    check(JSON.stringify(input), theirs, read(input), NORMALIZE_DIFFERENCES, met);
  }
  assertEquals([...met].sort(), Object.keys(NORMALIZE_DIFFERENCES).sort());
});
