import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { criterionIds, parseRubricMarkdown } from "../core.ts";
import { AssayError } from "../errors.ts";

Deno.test("parseRubricMarkdown() reads note, criteria, pinned ids and weights", () => {
  assertEquals(
    parseRubricMarkdown(
      "# T\n## Ground Truth Note\nnote\n## Criteria\n### One {#first weight=2.5}\nLook.\n### 第二\nAgain.\n",
    ),
    {
      groundTruthNote: "note",
      criteria: [
        { id: "first", name: "One", description: "Look.", weight: 2.5 },
        { id: "criterion", name: "第二", description: "Again.", weight: 1 },
      ],
      warnings: [],
    },
  );
});

Deno.test("parseRubricMarkdown() names heading and line of what is wrong", () => {
  const error = assertThrows(() => parseRubricMarkdown("## Criteria\n\n### Empty\n"), AssayError);
  assertEquals([error.code, error.errors[0]?.path], ["invalid_request", "/criteria"]);
  assert(error.message.includes('"Empty" (line 3)'), error.message);
});

Deno.test("parseRubricMarkdown() says which text no judge will see", () => {
  const { warnings } = parseRubricMarkdown("## Scope\nx\n## Criteria\nfirst\n### A\nb\n");
  assertEquals(warnings.map((warning) => warning.split(":")[0]), ["line 1", "line 4"]);
});

Deno.test("parseRubricMarkdown() reads every built-in rubric, ids as pinned", async () => {
  const folder = new URL("../../criteria/", import.meta.url);
  let count = 0;
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".md")) continue;
    const markdown = await Deno.readTextFile(new URL(name, folder));
    const rubric = parseRubricMarkdown(markdown);
    const anchors = [...markdown.matchAll(/^### .*\{#(\w+)\}$/gm)].map((match) => match[1]);
    assertEquals(rubric.criteria.map((criterion) => criterion.id), anchors as string[], name);
    assert(rubric.groundTruthNote !== "", name);
    count++;
  }
  assert(count >= 10, `only ${count} rubrics`);
});

Deno.test("parseRubricMarkdown() answers or refuses whatever it is given", () => {
  const piece = fc.constantFrom(
    "## Criteria\n",
    "### A\n",
    "x\n",
    "\r",
    "```\n",
    "<!--",
    "-->",
    "- ",
    "\ud800",
    "{#a}",
  );
  fc.assert(fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
    try {
      const { criteria } = parseRubricMarkdown(pieces.join(""));
      assertEquals(new Set(criteria.map((criterion) => criterion.id)).size, criteria.length);
      for (const { description, weight } of criteria) assert(description.trim() !== "" && weight > 0);
    } catch (error) {
      assert(error instanceof AssayError && error.code === "invalid_request", String(error));
    }
  }));
});

Deno.test("criterionIds() slugs, numbers duplicates and keeps pinned ids", () => {
  assertEquals(criterionIds([{ name: "A b" }, { name: "a-B" }, { name: "x", id: "a_b" }, { name: "判据" }]), [
    "a_b_2",
    "a_b_3",
    "a_b",
    "criterion",
  ]);
  assertEquals(criterionIds([]), []);
  assertThrows(() => criterionIds([{ name: "a", id: "my id" }]), AssayError, "/0/id");
});
