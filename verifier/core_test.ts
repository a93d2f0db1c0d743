import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  coreVersion,
  decoderVersion,
  delimitBlock,
  pairwiseSuffix,
  parseRubricMarkdown,
  quoteMarkers,
  renderSteps,
} from "./core.ts";
import { call } from "./core/runtime.ts";
import { AssayError } from "./errors.ts";
import { sourceHash } from "../tasks/wasm_sources.ts";

Deno.test("coreVersion() is the crate's version with the decoder's", async () => {
  const manifest = await Deno.readTextFile(new URL("../core/Cargo.toml", import.meta.url));
  const [crate, decoder] = coreVersion().split("+");
  assertMatch(manifest, new RegExp(`^version = "${crate}"$`, "m"));
  assertEquals(decoder, `decoder.${decoderVersion()}`);
});

Deno.test("wasm/ was built from the sources in core/", async () => {
  const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
  const record = JSON.parse(await Deno.readTextFile(`${root}/wasm/build.json`));
  assertEquals(record.sources, await sourceHash(root), "run: deno task build:wasm");
});

Deno.test("a trap fails its own call as internal, and the next call works", () => {
  for (let round = 0; round < 3; round++) {
    const error = assertThrows(() => call((core) => core.__trapForTests()), AssayError);
    assertEquals(error.code, "internal");
    assert(error.cause instanceof WebAssembly.RuntimeError);
    assertEquals(quoteMarkers("[Output]"), "> [Output]");
  }
});

Deno.test("bad input is no trap: the instance and its memory stay", () => {
  const before = call((core) => core.memoryBytes());
  const error = assertThrows(() => delimitBlock("", "x"), AssayError);
  assertEquals(error.code, "invalid_request");
  assertEquals(call((core) => core.memoryBytes()), before);
});

Deno.test("10,000 calls of each kind don't grow the core's memory", () => {
  const criterion = { id: "a", name: "A", description: "b ".repeat(500), weight: 1 };
  const step = { message: "m".repeat(2000), commands: ["ls"], outputs: ["[Output]\n".repeat(100)] };
  const round = () => {
    delimitBlock("secret", criterion.description);
    pairwiseSuffix(criterion);
    renderSteps([step]);
    parseRubricMarkdown("## Criteria\n### A\nb\n");
    assertThrows(() => parseRubricMarkdown("## Criteria\n"), AssayError);
  };
  for (let i = 0; i < 100; i++) round();
  const before = call((core) => core.memoryBytes());
  for (let i = 0; i < 10_000; i++) round();
  assertEquals(call((core) => core.memoryBytes()), before);
});

Deno.test("texts of 20 MB go through the core", () => {
  const text = "0123456789abcde\n".repeat(1_250_000);
  assertEquals(text.length, 20_000_000);
  assert(delimitBlock("secret", text).includes(`\n${text}\n`));
  const [rendered] = renderSteps([{ message: "", commands: ["cat"], outputs: [text] }]);
  assertEquals(rendered, `--- Agent Step 1 ---\n[Command] cat\n[Output]\n${text}\n\n`);
  assertEquals(quoteMarkers(text), text);
});

Deno.test("lone surrogates in plain strings become U+FFFD", () => {
  assertEquals(quoteMarkers("a\ud800b\udfff"), "a\ufffdb\ufffd");
  assertEquals(quoteMarkers("\u{1f680}"), "\u{1f680}");
});
