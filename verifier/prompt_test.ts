import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { pairwisePrefix, progressPrefix, promptText, sha256Hex, utf8Length } from "./prompt.ts";

const SECRET = "0123456789abcdef";
const subject = async (task = "the task", context: string | null = null, groundTruthNote = "note") => ({
  task: await promptText(SECRET, task),
  context: context === null ? null : await promptText(SECRET, context),
  groundTruthNote,
});
const unicode = fc.string({ unit: "binary" });

Deno.test("utf8Length() counts what the encoder writes", () => {
  fc.assert(fc.property(unicode, (text) => {
    assertEquals(utf8Length(text), new TextEncoder().encode(text).length);
  }));
});

Deno.test("sha256Hex() gives the known digest of the empty text", async () => {
  assertEquals(await sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});

Deno.test("a pairwise prefix holds task, context, A and B in this order, and knows its size", async () => {
  const [a, b] = [await promptText(SECRET, "work of A"), await promptText(SECRET, "work of B \u{1f600}")];
  const prefix = await pairwisePrefix(await subject("the task", "the context"), a, b, 0);
  const places = ["the task", "the context", "work of A", "work of B"].map((part) =>
    prefix.text.indexOf(part)
  );
  assert(places.every((place, i) => place > (places[i - 1] ?? 0)));
  assertEquals(prefix.bytes, utf8Length(prefix.text));
  assertStringIncludes(prefix.text, a.block);
});

Deno.test("prefixes have equal digests exactly when their texts are equal", async () => {
  const [a, b] = [await promptText(SECRET, "a"), await promptText(SECRET, "b")];
  const variants = await Promise.all([
    pairwisePrefix(await subject(), a, b, 0),
    pairwisePrefix(await subject(), b, a, 0),
    pairwisePrefix(await subject(), a, a, 0),
    pairwisePrefix(await subject(), a, b, 1),
    pairwisePrefix(await subject(), a, b, 0, "proposal"),
    pairwisePrefix(await subject("another"), a, b, 0),
    pairwisePrefix(await subject("the task", "c"), a, b, 0),
    pairwisePrefix(await subject("the task", null, "other note"), a, b, 0),
    progressPrefix(await subject(), a, [{ id: "x", name: "X", description: "y", weight: 1 }], 0),
  ]);
  assertEquals(new Set(variants.map(({ digest }) => digest)).size, variants.length);
  assertEquals(new Set(variants.map(({ text }) => text)).size, variants.length);
  const again = await pairwisePrefix(await subject(), a, b, 0);
  assertEquals(again, variants[0]!);
});

Deno.test("a text can't close its block, and another secret makes another block", async () => {
  const { block } = await promptText(SECRET, "x");
  const attack = await promptText(SECRET, block);
  const end = attack.block.split("\n").at(-1)!;
  assertEquals(attack.block.split(end).length, 2, "the real terminator occurs once");
  assert((await promptText("another secret 123", "x")).block !== block);
});
