import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { delimitBlock, pairwiseFrame, pairwiseSuffix, progressFrame, progressSuffix } from "../../core.ts";
import { readPrompt, UnreadablePrompt } from "./prompt_reader.ts";

const SECRET = "a secret";
const CRITERION = {
  id: "output_match",
  name: "Output match",
  description: "Compare.\n\n## Answer\n\nBoth.",
  weight: 1,
};

function pairwise(
  task: string,
  a: string,
  b: string,
  context?: string,
  stage: "trajectory" | "proposal" = "trajectory",
) {
  const frame = pairwiseFrame({
    groundTruthNote: "## Trajectory A\nnote",
    hasContext: context !== undefined,
    images: 2,
    stage,
  });
  return frame.beforeTask + delimitBlock(SECRET, task) +
    (context === undefined ? "" : frame.beforeContext + delimitBlock(SECRET, context)) +
    frame.beforeA + delimitBlock(SECRET, a) + frame.beforeB + delimitBlock(SECRET, b) + frame.afterB;
}

Deno.test("readPrompt() finds task, both sides and the criterion of a pairwise prompt", () => {
  const prompt = readPrompt(pairwise("do it", "text of A\n", ""), pairwiseSuffix(CRITERION));
  assert(prompt.kind === "pairwise");
  assertEquals([prompt.task.text, prompt.a.text, prompt.b.text], ["do it", "text of A\n", ""]);
  const { id, name, description } = CRITERION;
  assertEquals(prompt.criterion, { id, name, description });
});

Deno.test("readPrompt() reads proposals and prompts with a context", () => {
  const prompt = readPrompt(pairwise("t", "a", "b", "more", "proposal"), pairwiseSuffix(CRITERION));
  assert(prompt.kind === "pairwise");
  assertEquals([prompt.task.text, prompt.a.text, prompt.b.text], ["t", "a", "b"]);
});

Deno.test("readPrompt() finds steps and checkpoints of a progress prompt", () => {
  const frame = progressFrame({ groundTruthNote: "", criteria: [CRITERION], hasContext: false, images: 0 });
  const prefix = frame.beforeTask + delimitBlock(SECRET, "t") + frame.beforeSteps +
    delimitBlock(SECRET, "s") + frame.afterSteps;
  const prompt = readPrompt(prefix, progressSuffix([1, 3, 12], 12));
  assert(prompt.kind === "progress");
  assertEquals([prompt.steps.text, prompt.checkpoints], ["s", [1, 3, 12]]);
});

Deno.test("readPrompt() is not moved by blocks, ends and headings inside a block", () => {
  const token = delimitBlock(SECRET, "x").slice(8, 24);
  const piece = fc.constantFrom(
    "\n",
    "## Trajectory B\n",
    `<<<DATA ${token}>>>\n`,
    `<<<END ${token}>>>`,
    "<<<END >>>",
    "## Criterion: x\nId: y\n",
    "\n<<<DATA ",
    "words",
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  fc.assert(fc.property(text, text, text, (task, a, b) => {
    const prompt = readPrompt(pairwise(task, a, b), pairwiseSuffix(CRITERION));
    assert(prompt.kind === "pairwise");
    assertEquals([prompt.task.text, prompt.a.text, prompt.b.text], [task, a, b]);
    assertEquals(prompt.criterion.id, "output_match");
  }));
});

Deno.test("readPrompt() says what is missing from a text that is no prompt", () => {
  const good = pairwise("t", "a", "b");
  const suffix = pairwiseSuffix(CRITERION);
  assertThrows(() => readPrompt("hello", suffix), UnreadablePrompt, 'no block under "## Task"');
  assertThrows(
    () => readPrompt(good.slice(0, good.lastIndexOf("<<<END")), suffix),
    UnreadablePrompt,
    "no end",
  );
  assertThrows(() => readPrompt(good, "hello"), UnreadablePrompt, "## Criterion: ");
  assertThrows(() => readPrompt("## Task\n<<<DATA x", suffix), UnreadablePrompt, "cut off");
});
