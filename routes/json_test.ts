import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AssayError } from "../verifier/errors.ts";
import { MAXIMUM_DEPTH, MAXIMUM_VALUES, parseJson } from "./json.ts";

function faultOf(text: string): { readonly path: string; readonly message: string } {
  const error = assertThrows(() => parseJson(text), AssayError);
  assertEquals(error.code, "invalid_json");
  const [field] = error.errors;
  assert(field !== undefined);
  assertStringIncludes(error.message, field.message);
  return field;
}

function acceptedByEngine(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

Deno.test("parseJson() reads what JSON.parse reads", () => {
  fc.assert(fc.property(fc.json({ maxDepth: 8 }), (text) => {
    fc.pre(!text.includes("__proto__"));
    assertEquals(parseJson(text), JSON.parse(text));
  }));
});

Deno.test("parseJson() refuses a damaged text exactly when JSON.parse does, and finds the fault", () => {
  const damage = fc.record({
    text: fc.json({ maxDepth: 5 }),
    at: fc.nat(),
    cut: fc.nat(3),
    insert: fc.constantFrom(
      "",
      '"',
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      "\\",
      "NaN",
      "-",
      "0",
      "\n",
      "\u0000",
      "/*",
      "é",
    ),
  });
  fc.assert(
    fc.property(damage, ({ text, at, cut, insert }) => {
      const start = at % (text.length + 1);
      const damaged = text.slice(0, start) + insert + text.slice(start + cut);
      fc.pre(!damaged.includes("__proto__"));
      if (acceptedByEngine(damaged)) {
        try {
          parseJson(damaged);
        } catch (error) {
          assert(error instanceof AssayError && error.message.includes("stands twice"), String(error));
        }
      } else {
        faultOf(damaged);
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("parseJson() never throws anything but an AssayError, whatever the text", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
    try {
      parseJson(text);
    } catch (error) {
      assert(error instanceof AssayError, String(error));
    }
  }));
});

Deno.test("parseJson() names the fault, its line and column, and where in the document it lies", () => {
  const cases: [string, string, string][] = [
    ["", "", "it is empty (line 1, column 1)"],
    ["  \n ", "", "it is empty (line 2, column 2)"],
    ['{"a": NaN}', "/a", "NaN is not a JSON value (line 1, column 7)"],
    ['{"a": [1, -Infinity]}', "/a/1", "-Infinity is not a JSON value (line 1, column 11)"],
    ['{"a": Infinity}', "/a", "Infinity is not a JSON value"],
    ['{"a": undefined}', "/a", "use null or leave it out"],
    ['{"a": True}', "/a", "use true"],
    ["{'a': 1}", "", "a name in double quotes is expected"],
    ["{\"a\": 'b'}", "/a", "strings must stand in double quotes"],
    ['{"a": 1,}', "", 'a comma before "}" is not allowed (line 1, column 9)'],
    ["[1,\r\n2,]", "/2", 'a comma before "]" is not allowed (line 2, column 3)'],
    ['{"a": 1 // one\n}', "", '"," or "}" is expected, found "/"'],
    ["// note\n{}", "", "comments are not allowed in JSON"],
    ['{"a": 01}', "/a", "without leading zeros"],
    ['{"a": .5}', "/a", 'a value is expected, found "."'],
    ['{"a": 1.}', "/a", "a number must look like"],
    ['{"a": +1}', "/a", 'a value is expected, found "+"'],
    ['{"a": "x\ny"}', "/a", "U+000A must be escaped inside a string"],
    ['{"a": "x\0"}', "/a", "U+0000 must be escaped inside a string"],
    ['{"a": "\\x41"}', "/a", "a backslash must start one of"],
    ['{"a": "\\u12G4"}', "/a", "a backslash must start one of"],
    ['{"a": "open', "/a", "a string has no end"],
    ['{"a" 1}', "/a", '":" is expected after a name, found "1"'],
    ["{} {}", "", 'unexpected "{" after the end of the document'],
    ["{\u202e}", "", "found U+202E"],
  ];
  for (const [text, path, message] of cases) {
    const fault = faultOf(text);
    assertEquals(fault.path, path, text);
    assertStringIncludes(fault.message, message);
  }
});

Deno.test("parseJson() refuses a name that stands twice in one object, also when it is spelled with escapes", () => {
  assertEquals(faultOf('{"a": {"b": 1, "\\u0062": 2}}').path, "/a/b");
  assertStringIncludes(
    faultOf('{"x": [0, {"b": 1, "b": 2}]}').message,
    'the name "b" stands twice in one object',
  );
  assertEquals(parseJson('{"a": {"b": 1}, "c": {"b": 2}, "d": [{"b": 1}, {"b": 2}]}'), {
    a: { b: 1 },
    c: { b: 2 },
    d: [{ b: 1 }, { b: 2 }],
  });
});

Deno.test("parseJson() refuses the name __proto__ anywhere, and no prototype changes", () => {
  for (const text of ['{"__proto__": {"x": 1}}', '{"a": [{"\\u005f_proto__": 1}]}']) {
    assertStringIncludes(faultOf(text).message, "__proto__");
  }
  assertEquals(({} as { x?: number }).x, undefined);
  assertEquals(parseJson('{"a": "__proto__"}'), { a: "__proto__" });
});

Deno.test("parseJson() bounds nesting before anything is built", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  parseJson(nested(MAXIMUM_DEPTH));
  const fault = faultOf(nested(MAXIMUM_DEPTH + 1));
  assertStringIncludes(fault.message, `at most ${MAXIMUM_DEPTH} levels`);
  assertEquals(faultOf('{"a":'.repeat(1_000_000)).message.includes("levels"), true);
});

Deno.test("parseJson() bounds the number of values before anything is built", () => {
  assertEquals((parseJson(`[${"1,".repeat(100_000)}1]`) as number[]).length, 100_001);
  for (const element of ["1,", "[],", "{},", '{"a":1},']) {
    const fault = faultOf(`{"a":[${element.repeat(MAXIMUM_VALUES)}1]}`);
    assertStringIncludes(fault.message, `at most ${MAXIMUM_VALUES} values`);
  }
});

Deno.test("parseJson() tolerates one byte order mark and not two", () => {
  assertEquals(parseJson("\ufeff{}"), {});
  assertStringIncludes(faultOf("\ufeff\ufeff{}").message, "found U+FEFF");
});

Deno.test("parseJson() isn't fooled by quotes and backslashes inside strings", () => {
  for (const value of ['\\"', "\\\\", '{"a":1,"a":2}', '\\\\"\\', '"'.repeat(50), "\\".repeat(51)]) {
    assertEquals(parseJson(JSON.stringify({ [value]: [value, value] })), { [value]: [value, value] });
  }
});
