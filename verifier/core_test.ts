import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { coreVersion } from "./core.ts";
import { call } from "./core/runtime.ts";
import { AssayError } from "./errors.ts";

Deno.test("coreVersion() is the crate's version", async () => {
  const manifest = await Deno.readTextFile(new URL("../core/Cargo.toml", import.meta.url));
  assertMatch(manifest, new RegExp(`^version = "${coreVersion()}"$`, "m"));
});

Deno.test("a trap fails its own call as internal, and the next call works", () => {
  for (let round = 0; round < 3; round++) {
    const error = assertThrows(() => call((core) => core.__trapForTests()), AssayError);
    assertEquals(error.code, "internal");
    assertMatch(coreVersion(), /^\d+\.\d+\.\d+$/);
  }
});
