import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { MOST_LITERALS, readRequirements } from "./requirements.ts";

const sorted = (literals: ReadonlySet<string>) => [...literals].sort();

Deno.test("readRequirements() finds paths, quoted strings, flags, identifiers and numbers", () => {
  const { paths, quoted, all } = readRequirements(
    'Write `/srv/notes/count.py` that reads "notes.txt" with --strict. Call readLines and max_count; at most 250, not 7.',
  );
  assertEquals(sorted(paths), ["/srv/notes/count.py", "notes.txt"]);
  assertEquals(sorted(quoted), ["/srv/notes/count.py", "notes.txt"]);
  assertEquals(sorted(all), [
    "--strict",
    "/srv/notes/count.py",
    "250",
    "max_count",
    "notes.txt",
    "readLines",
  ]);
});

Deno.test("readRequirements() stops at the harness's own advice", () => {
  const task = "Make `a.txt`.\n\n  ## Important Rules\nNever touch `b.txt`.";
  assertEquals(sorted(readRequirements(task).paths), ["a.txt"]);
});

Deno.test("readRequirements() names nothing for an empty task", () => {
  assertEquals(readRequirements("").all.size, 0);
});

// The pattern that the hand-written search replaces; quadratic, so only good for short texts.
const PATH = /(?:^|[^\w.])((?:\/[\w.+-]+)+)|\b([\w+-]+\.[A-Za-z]\w{0,9})\b/g;

Deno.test("readRequirements() finds the paths that the pattern finds", () => {
  const piece = fc.constantFrom("/", "a", "b1", ".", "-", "+", " ", "py", "_", "\n", "x.y", "é", "(");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
      const text = pieces.join("");
      const expected = [...text.matchAll(PATH)].map((match) => match[1] ?? match[2]!)
        .filter((path) => path.length > 3).map((path) => path.replace(/\.+$/, ""));
      assertEquals(sorted(readRequirements(text).paths), sorted(new Set(expected)), JSON.stringify(text));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("readRequirements() reads a huge task once and keeps a bounded number of literals", () => {
  for (const piece of ["a-", "/a", "a.", "`", '"', "\n", "- ", "1.", "aA"]) {
    assert(readRequirements(piece.repeat(1_000_000 / piece.length)).all.size <= MOST_LITERALS);
  }
  const many = Array.from({ length: 5000 }, (_, i) => `/dir/file${i}`).join(" ");
  assertEquals(readRequirements(many).paths.size, MOST_LITERALS);
});
