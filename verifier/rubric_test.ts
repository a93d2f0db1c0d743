import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AssayError } from "./errors.ts";
import { builtInRubricNames, resolveRubric } from "./rubric.ts";
import { Warnings } from "./text.ts";
import type { CriteriaInput } from "./types.ts";

const refusal = (input: CriteriaInput): AssayError => assertThrows(() => resolveRubric(input), AssayError);

Deno.test("every built-in rubric has a note and unique criteria with instructions", () => {
  assertEquals(builtInRubricNames(), [
    "coding",
    "debug",
    "research",
    "ops",
    "writing",
    "general",
    "terminal_bench",
    "swe_bench",
    "medagentbench",
    "proposal",
  ]);
  for (const name of builtInRubricNames()) {
    const rubric = resolveRubric(name);
    assertEquals(rubric.name, name);
    assert(rubric.criteria.length >= 2 && rubric.criteria.length <= 12);
    assertEquals(new Set(rubric.criteria.map(({ id }) => id)).size, rubric.criteria.length);
    assert(rubric.criteria.every(({ description, weight }) => description.length > 40 && weight === 1), name);
    assert(rubric.groundTruthNote.length > 40, name);
  }
});

Deno.test("Markdown, an object, an array and JSON text all make the same rubric", () => {
  const criteria = [{ id: "first_one", name: "First one", description: "Look here.", weight: 1 }];
  for (
    const input of [
      "## Criteria\n\n### First one\n\nLook here.\n",
      "\ufeff## Criteria\r\n\r\n### First one\r\n\r\nLook here.",
      { "First one": "Look here." },
      [{ name: "First one", description: "Look here." }],
      '[{"name":"First one","description":"Look here."}]',
      ' {"First one":"Look here."}',
    ]
  ) {
    assertEquals(
      resolveRubric(input),
      { name: "custom", groundTruthNote: "", criteria },
      JSON.stringify(input),
    );
  }
});

Deno.test("strings in an array name themselves by their first words", () => {
  const long = "Is every single file that the task names really there and does it hold what the task wants?";
  const { criteria } = resolveRubric(["Tests pass", long, { id: "x", description: "Y", weight: 2.5 }]);
  assertEquals(criteria.map(({ id, name, weight }) => [id, name, weight]), [
    ["tests_pass", "Tests pass", 1],
    [
      "is_every_single_file_that_the_task_names",
      "Is every single file that the task names really there and…",
      1,
    ],
    ["x", "x", 2.5],
  ]);
  assertEquals(criteria[1]!.description, long);
});

Deno.test("a note of the request overrides the rubric's", () => {
  assertEquals(resolveRubric("coding", " Trust nobody. ").groundTruthNote, "Trust nobody.");
  assertEquals(resolveRubric("coding", "").groundTruthNote, "");
});

Deno.test("an unknown name is refused with the built-in names and the nearest one", () => {
  const error = refusal("codng");
  assertStringIncludes(error.message, "coding, debug, research");
  assertStringIncludes(error.message, "did you mean coding?");
  assertEquals(error.errors[0]?.path, "/criteria");
});

Deno.test("a path is refused: the server never reads one", () => {
  for (const path of ["./x.md", "/etc/passwd", "../a/b", "~/x", "C:\\x", "x.md", "file:///x", "a/b"]) {
    assertStringIncludes(refusal(path).message, "never reads paths");
  }
});

Deno.test("what makes no rubric is refused by name", () => {
  const cases: readonly [unknown, RegExp][] = [
    ["", /blank/],
    [" ", /blank/],
    [[], /at least one criterion/],
    [{}, /at least one criterion/],
    [Array(13).fill("x"), /at most 12/],
    [[{ description: " " }], /\/criteria\/0\/description/],
    [{ a: "" }, /\/criteria\/a/],
    [{ " ": "x" }, /blank name/],
    [[{ id: "a", description: "x" }, { id: "a", description: "y" }], /\/criteria\/1\/id/],
    [[{ id: "a b", description: "x" }], /\/criteria\/0\/id/],
    ['[{"description":"x","weight":0}]', /\/criteria\/0\/weight/],
    ['[{"description":"x","weight":1e999}]', /\/criteria\/0\/weight/],
    ['[{"description":"x","wieght":1}]', /\/criteria\/0\/wieght/],
    ["[1]", /\/criteria\/0/],
    ['{"a":1}', /\/criteria\/a/],
    ["[", /valid JSON/],
    ["## Criteria\n", /criteri/i],
    ["# only a title", /criteri/i],
  ];
  for (const [input, message] of cases) {
    const error = refusal(input as CriteriaInput);
    assertEquals(error.code, "invalid_request");
    assert(message.test(error.message), `${JSON.stringify(input)}: ${error.message}`);
  }
});

Deno.test("any JSON value is a rubric or a named refusal", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.string(), fc.array(fc.string()), fc.dictionary(fc.string(), fc.string())),
      (input) => {
        try {
          const { criteria } = resolveRubric(input as CriteriaInput, undefined, new Warnings());
          assert(criteria.length >= 1 && criteria.length <= 12);
          assertEquals(new Set(criteria.map(({ id }) => id)).size, criteria.length);
          assert(
            criteria.every(({ name, description, weight }) =>
              name !== "" && description.trim() !== "" && weight > 0
            ),
          );
        } catch (error) {
          assert(error instanceof AssayError && error.code === "invalid_request", String(error));
        }
      },
    ),
  );
});
