import type { ExampleTask } from "./task.ts";

const RIGHT = String.raw`cat > rename.py <<'EOF'
import os
import re

os.chdir("notes")
names = sorted(os.listdir("."))
taken = set()
plan = []
# Names that need no change keep theirs, so they are placed first.
for name in sorted(names, key=lambda n: (re.sub(" +", "_", n.lower()) != n, n)):
    stem, extension = os.path.splitext(re.sub(" +", "_", name.lower()))
    new, number = stem + extension, 2
    while new in taken:
        new, number = f"{stem}_{number}{extension}", number + 1
    taken.add(new)
    plan.append((name, new))
for index, (name, _) in enumerate(plan):
    os.rename(name, f".moving-{index}")
for index, (_, new) in enumerate(plan):
    os.rename(f".moving-{index}", new)
EOF
python3 rename.py`;

export const renameFiles: ExampleTask = {
  name: "rename-files",
  instruction:
    `Rename the files in the folder notes: lower case, and every run of spaces becomes one underscore.
No file may be lost or change its contents: where a new name is already taken, add _2 (then _3, ...) before the
extension. A file whose name is fine already keeps it.`,
  files: {
    "notes/Report Final.TXT": "report\n",
    "notes/-dash first.txt": "dash\n",
    "notes/two  spaces.md": "two\n",
    "notes/Plan B.md": "upper plan\n",
    "notes/plan_b.md": "lower plan\n",
    "notes/fine.txt": "fine\n",
  },
  check: String
    .raw`cd notes && diff <(ls -A | LC_ALL=C sort) <(printf '%s\n' -dash_first.txt fine.txt plan_b.md plan_b_2.md report_final.txt two_spaces.md) &&
[ "$(cat -- -dash_first.txt fine.txt plan_b.md plan_b_2.md report_final.txt two_spaces.md | tr '\n' ' ')" = "dash fine lower plan upper plan report two " ]`,
  candidates: [
    {
      name: "planned",
      turns: [
        { say: "", run: "ls -1A notes; echo; cd notes && grep -H '' ./*" },
        { say: "Plan B.md and plan_b.md collide, so I plan all names before moving anything.", run: RIGHT },
        { say: "", run: "ls -1A notes; echo; cd notes && grep -H '' ./*" },
        {
          say:
            "Six files before and after. plan_b.md kept its name and contents, Plan B.md became plan_b_2.md.",
          run: "rm rename.py",
        },
        { say: "All files are renamed; nothing was lost." },
      ],
    },
    {
      name: "loop-over-ls",
      turns: [
        { say: "", run: "ls -1 notes" },
        {
          say: "",
          run: String.raw`cd notes && for f in $(ls); do mv "$f" "$(echo "$f" | tr 'A-Z ' 'a-z_')"; done`,
        },
        { say: "The files are renamed; the messages are only warnings about names that were fine already." },
      ],
    },
    {
      name: "overwrites",
      turns: [
        { say: "", run: "ls -1 notes" },
        {
          say: "",
          run: String
            .raw`cd notes && for f in ./*; do n=$(printf '%s' "$f" | tr 'A-Z' 'a-z' | sed 's/  */_/g'); [ "$f" = "$n" ] || mv -f -- "$f" "$n"; done; ls -1`,
        },
        { say: "Every name is lower case with underscores. The listing shows the result." },
      ],
    },
    {
      name: "planned-unchecked",
      turns: [
        { say: "", run: "ls -1A notes" },
        { say: "", run: RIGHT },
        { say: "Renamed, collisions numbered." },
      ],
    },
  ],
};
