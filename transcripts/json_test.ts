import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { TranscriptError } from "./error.ts";
import { jsonErrorOffset, parseJson } from "./json.ts";

Deno.test("parseJson() gives what JSON.parse gives", () => {
  fc.assert(fc.property(fc.json(), (text) => assertEquals(parseJson(text, "f"), JSON.parse(text))));
});

Deno.test("parseJson() counts lines from the line it is told", () => {
  const error = assertThrows(() => parseJson('{"a":\n]', "f", 10), TranscriptError);
  assertEquals(error.place, { line: 11, column: 1 });
});

Deno.test("jsonErrorOffset() finds the end of every cut-off text", () => {
  fc.assert(
    fc.property(fc.jsonValue().map((value) => JSON.stringify([value])), fc.nat(), (text, cut) => {
      const end = 1 + cut % (text.length - 1);
      const part = text.slice(0, end);
      // A cut inside a literal or a number ends at the cut as well: nothing before it is wrong.
      assertEquals(jsonErrorOffset(part), part.length);
    }),
  );
});

Deno.test("jsonErrorOffset() agrees with JSON.parse on where single-character damage is noticed, at or after it", () => {
  fc.assert(
    fc.property(fc.jsonValue().map((value) => JSON.stringify({ a: value })), fc.nat(), (text, position) => {
      const at = position % text.length;
      const damaged = text.slice(0, at) + "\u0001" + text.slice(at + 1);
      const offset = jsonErrorOffset(damaged);
      assert(offset <= damaged.length);
      // U+0001 stands nowhere in JSON, so the scan can't get past it; it may stop right before, in an unfinished word.
      assert(offset <= at && offset >= 0, `${offset} for damage at ${at}: ${JSON.stringify(damaged)}`);
    }),
  );
});

Deno.test("jsonErrorOffset() is the text's length for valid JSON", () => {
  for (const text of ["1", '"a"', "[]", "{}", '{"a":[1,{"b":null}]}', " true ", "[1e5,-0.1,false]"]) {
    assertEquals(jsonErrorOffset(text), text.length, text);
  }
});

Deno.test("jsonErrorOffset() doesn't recurse", () => {
  assertEquals(jsonErrorOffset("[".repeat(1_000_000)), 1_000_000);
});
