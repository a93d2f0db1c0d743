import { assert, assertEquals } from "@std/assert";
import { parseRubricMarkdown } from "../../core.ts";
import { aspectOf } from "./aspects.ts";

const custom = (name: string, description = "") => aspectOf({ id: "custom_1", name, description });

Deno.test("aspectOf() knows the built-in criteria by id, whatever their text says", () => {
  const of = (id: string) => aspectOf({ id, name: "x", description: "errors errors errors" });
  assertEquals(of("residual_error_signals"), "errors");
  assertEquals(of("output_match"), "output");
  assertEquals(of("empirical_verification"), "verification");
  assertEquals(of("task_requirement_match"), "specification");
  assertEquals(of("reversibility"), null);
});

Deno.test("aspectOf() reads a custom criterion's name first, then its description if that is clear", () => {
  assertEquals(custom("No crashes"), "errors");
  assertEquals(custom("Test coverage was checked"), "verification");
  assertEquals(custom("测试通过"), "verification");
  assertEquals(custom("Elegance", "The printed output must match."), "output");
  assertEquals(custom("Elegance", "Errors and outputs."), null);
  assertEquals(custom("Elegance"), null);
  assertEquals(aspectOf({ id: "constructor", name: "", description: "" }), null);
});

Deno.test("aspectOf() has an answer by id for every criterion of every built-in rubric", async () => {
  const directory = new URL("../../../criteria/", import.meta.url);
  let count = 0;
  for await (const entry of Deno.readDir(directory)) {
    const { criteria } = parseRubricMarkdown(await Deno.readTextFile(new URL(entry.name, directory)));
    for (const { id } of criteria) {
      // Known by id: a misleading text changes nothing.
      assertEquals(
        aspectOf({ id, name: "crash", description: "crash" }),
        aspectOf({ id, name: "tests", description: "tests" }),
        `${entry.name}: ${id}`,
      );
      count++;
    }
  }
  assert(count >= 30);
});
