import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { BUILT_IN_RUBRICS } from "../verifier/rubrics.ts";
import { runCaptured, widest } from "./testing.ts";

const SHELL_WORK = fromFileUrl(new URL("../examples/rubrics/shell-work.md", import.meta.url));

async function check(text: string, ...options: string[]) {
  const folder = await Deno.makeTempDir({ prefix: "assay-test-" });
  try {
    const file = join(folder, "rubric.md");
    await Deno.writeTextFile(file, text);
    return await runCaptured(["criteria", "check", file, ...options]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("criteria list and show print every built-in rubric within 80 columns", async () => {
  const list = await runCaptured(["criteria", "list"]);
  const json = JSON.parse((await runCaptured(["criteria", "list", "--json"])).out);
  assertEquals(await runCaptured(["criteria"]), list);
  for (const name of BUILT_IN_RUBRICS.keys()) {
    assertStringIncludes(list.out, name);
    const { status, out } = await runCaptured(["criteria", "show", name]);
    assertEquals(status, 0);
    assert(widest(out) <= 80, out);
    const shown = JSON.parse((await runCaptured(["criteria", "show", name, "--json"])).out);
    const ids = json.rubrics.find((rubric: { name: string }) => rubric.name === name).criteria;
    assertEquals(shown.criteria.map(({ id }: { id: string }) => id), ids);
    for (const id of ids) assertStringIncludes(out, `(${id})`);
  }
});

Deno.test("criteria check prints ids, note and warnings with their lines", async () => {
  const { status, out } = await runCaptured(["criteria", "check", SHELL_WORK]);
  assertEquals(status, 0);
  assert(widest(out) <= 80, out);
  for (
    const text of ["3 criteria", "Ground truth note", "Odd input (odd_input)", "Warning: /criteria: line 3"]
  ) {
    assertStringIncludes(out, text);
  }
  const json = await runCaptured(["criteria", "check", SHELL_WORK, "--json"]);
  assertEquals(Object.keys(JSON.parse(json.out)), ["groundTruthNote", "criteria"]);
  assertStringIncludes(json.err, "warning: /criteria: line 3");
});

Deno.test("criteria check takes JSON, weights and headings in any writing", async () => {
  const { out } = await runCaptured([
    "criteria",
    "check",
    '[{"name":"Läuft","description":"It runs.","weight":2}]',
  ]);
  assertStringIncludes(out, "weight 2");
  assertStringIncludes(
    (await check("\uFEFF## Criteria\r\n\r\n### 正确性\r\n\r\n结果正确。\r\n")).out,
    "正确性",
  );
});

Deno.test("criteria check names the heading and the line of what can't be read", async () => {
  const cases: [string, string[]][] = [
    ["# only a title\n", ["criteri"]],
    ["## Criteria\n\n### Empty\n\n### Full\n\nIs it?\n", ["Empty", "line 3"]],
    ["{broken", ["JSON"]],
    ["[]", ["at least one criterion"]],
  ];
  for (const [text, messages] of cases) {
    const { status, out, err } = await check(text);
    assertEquals([status, out], [2, ""]);
    assert(err.startsWith("assay: "), err);
    for (const message of messages) assertStringIncludes(err, message);
  }
});
