import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { editsProduct } from "./edits.ts";

const CASES: readonly (readonly [string, boolean])[] = [
  ["cat > /srv/app.py <<'EOF'\nx\nEOF", true],
  ["python3 make.py >> out.txt", true],
  ["python3 run.py > /tmp/out.txt", false],
  ["make 2>&1 | tee build.log", false],
  ["make | tee -a result.txt", true],
  ["ls 2> /dev/null", false],
  ["echo hi > /dev/null", false],
  ["sed -i 's/a/b/' app.py", true],
  ["sed -i.bak -e s/a/b/ /etc/app.conf | cat", true],
  ["sed -n 's/a/b/p' app.py", false],
  ["perl -0pi -e 's/a/b/' app.py  ", true],
  ["sed -i s/a/b/ /tmp/app.py", false],
  ["sed -i s/a/b/ README", false],
  ["cp -r build /srv/www", true],
  ["cp a b", false],
  ["mv draft ./final.txt", true],
  ["python3 -c \"open('answer.txt', 'w').write('4')\"", true],
  ["python3 -c \"open('answer.txt').read()\"", false],
  ["python3 -c \"Path('answer.txt').write_text('4')\"", true],
  ["git apply fix.patch", true],
  ["cat > test_app.py <<'EOF'\nEOF", false],
  ["ls -la", false],
  ['[write] {"file_path": "/srv/app.py", "content": ""}', true],
  ['[Edit] {"path": "/tmp/app.py"}', false],
  ['[read] {"path": "/srv/app.py"}', false],
  ["", false],
];

for (const [command, expected] of CASES) {
  Deno.test(`editsProduct() says ${expected} to ${JSON.stringify(command)}`, () => {
    assertEquals(editsProduct(command), expected);
  });
}

// The pattern that the hand-written search replaces; quadratic, so only good for short commands.
const STREAM_EDIT =
  /\b(?:sed|perl)[ \t\n\r\f\v]+(?:-\w+[ \t\n\r\f\v]+)*-\w*i\w*\b[^|;&\n]*?([\w./+-]*[\w-]\.\w+|\/[\w./+-]+)[ \t\n\r\f\v]*(?:$|[;&|\n])/g;
const UNWANTED =
  /^\/dev\/|^\/tmp|\/tmp\/|\.(?:log|out|err)$|(?:^|\/)(?:test|debug|check|verify|tmp|scratch)[\w-]*\.\w+$/;

Deno.test("editsProduct() finds the in-place edits that the pattern finds", () => {
  const word = fc.constantFrom(
    "sed",
    "perl",
    " ",
    " ",
    "-i",
    "-n",
    "-ni",
    ".bak",
    "a.py",
    "/x",
    "/",
    ".",
    "'s'",
    ";",
    "|",
    "\n",
    "\t",
    "/tmp/a.b",
    "-",
    "i",
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 14 }), (words) => {
      const command = "sed " + words.join("");
      const expected = [...command.matchAll(STREAM_EDIT)].some((match) => !UNWANTED.test(match[1]!));
      assertEquals(editsProduct(command), expected, JSON.stringify(command));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("editsProduct() reads a long line once", () => {
  // Each of these would take hours if any part of the search were quadratic.
  const length = 500_000;
  for (const piece of ["sed -i ", "-sed ", "a", "> ", "cp -cp ", "open('", "-i", ".", "/", "\n", " "]) {
    const command = "sed -i " + piece.repeat(length / piece.length) + "!";
    assert(typeof editsProduct(command) === "boolean");
  }
});
