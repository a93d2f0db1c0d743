import type { ExampleTask } from "./task.ts";

const script = (key: string, keep: string) =>
  String.raw`cat > merge.js <<'EOF'
const { readFileSync } = require("node:fs");
const people = JSON.parse(readFileSync(process.argv[2], "utf8"));
const byEmail = new Map();
for (const person of people) {
  const key = ` + key + String.raw`;
  ` + keep + String.raw`
}
console.log(JSON.stringify([...byEmail.values()], null, 2));
EOF`;

const ANY_CASE = "person.email.trim().toLowerCase()";
const LAST = "byEmail.set(key, person);";

export const mergePeople: ExampleTask = {
  name: "merge-people",
  instruction:
    `people.json is an array of { name, email }. Write merge.js so that "node merge.js people.json" prints the
array without duplicates, as JSON with two spaces of indentation. Two people are the same if their emails are equal
without regard to case and to blanks around them. The last record of a person wins, in the place of the first.`,
  files: {
    "people.json": `[
  { "name": "Ann", "email": "ann@example.test" },
  { "name": "Bo", "email": "bo@example.test" },
  { "name": "Ann Lee", "email": "ANN@example.test" },
  { "name": "Cy", "email": " cy@example.test " },
  { "name": "Cy Young", "email": "cy@example.test" }
]
`,
  },
  check: String.raw`cat > hidden.json <<'EOF'
[{"name":"a","email":"X@y.test"},{"name":"b","email":"z@y.test"},{"name":"c","email":" x@Y.test"}]
EOF
[ "$(node merge.js hidden.json | tr -d ' \n')" = '[{"name":"c","email":"x@Y.test"},{"name":"b","email":"z@y.test"}]' ] &&
[ "$(node merge.js people.json | grep -c '"name"')" = 3 ] && node merge.js people.json | grep -q '"Cy Young"'`,
  candidates: [
    {
      name: "read-then-written",
      turns: [
        { say: "", run: "cat people.json" },
        {
          say: "A Map keeps the place of the first entry when a key is set again.",
          run: script(ANY_CASE, LAST),
        },
        { say: "", run: "node merge.js people.json" },
        {
          say:
            "Ann Lee stands first, Cy Young last, Bo between: the last records in the places of the first.",
        },
      ],
    },
    {
      name: "first-wins",
      turns: [
        { say: "", run: "head -4 people.json" },
        { say: "", run: script(ANY_CASE, "if (!byEmail.has(key)) byEmail.set(key, person);") },
        { say: "", run: "node merge.js people.json" },
        { say: "Three people are left, so the duplicates are gone." },
      ],
    },
    {
      name: "case-sensitive",
      turns: [
        { say: "", run: script("person.email", LAST) },
        { say: "", run: "node merge.js people.json | head -3" },
        { say: "It prints JSON with two spaces of indentation. Done." },
      ],
    },
    {
      name: "crashed-then-fixed",
      turns: [
        { say: "", run: script("person.mail.trim().toLowerCase()", LAST) },
        { say: "", run: 'node merge.js people.json 2>&1 | grep -m1 TypeError; exit "${PIPESTATUS[0]}"' },
        { say: "The field is called email.", run: "sed -i 's/person.mail/person.email/' merge.js" },
        { say: "", run: "node merge.js people.json" },
        { say: "Works now." },
      ],
    },
  ],
};
