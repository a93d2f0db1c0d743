import type { ExampleTask } from "./task.ts";

const TESTS = "python3 check.py";

/** One longer run for `track`: it gains, loses what it had, and gets there. */
export const romanNumerals: ExampleTask = {
  name: "progress",
  instruction:
    `Write roman.py with a function to_roman(n) for 1 to 3999. It must raise ValueError for anything else,
bool included. "python3 check.py" must report 6 of 6.`,
  files: {
    "check.py": `def raises(value):
    try:
        to_roman(value)
    except ValueError:
        return True
    return False


from roman import to_roman

results = [
    to_roman(3) == "III",
    to_roman(8) == "VIII",
    to_roman(4) == "IV",
    to_roman(1994) == "MCMXCIV",
    raises(0) and raises(4000),
    raises(True) and raises(1.0),
]
print(results)
print(f"{sum(results)} of {len(results)}")
raise SystemExit(0 if all(results) else 1)
`,
  },
  check: String.raw`python3 - <<'EOF'
from roman import to_roman
values = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
def value(text):
    numbers = [values[letter] for letter in text]
    return sum(-n if i + 1 < len(numbers) and numbers[i + 1] > n else n for i, n in enumerate(numbers))
assert all(value(to_roman(n)) == n for n in range(1, 4000))
assert to_roman(49) == "XLIX" and to_roman(3999) == "MMMCMXCIX"
for bad in (0, -1, 4000, True, 1.0, "5", None):
    try:
        to_roman(bad)
    except ValueError:
        continue
    raise AssertionError(bad)
EOF`,
  candidates: [
    {
      name: "roman",
      turns: [
        { say: "I start with what is there.", run: "ls -1; cat check.py" },
        {
          say: "A first version that only adds.",
          run: String.raw`cat > roman.py <<'EOF'
def to_roman(n):
    result = ""
    for value, letter in [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")]:
        result += letter * (n // value)
        n %= value
    return result
EOF`,
        },
        { say: "", run: TESTS },
        {
          say: "Subtractive pairs are missing, and the limits.",
          run: `python3 -c "from roman import to_roman; print(to_roman(4), to_roman(1994))"`,
        },
        {
          say: "I try to patch the strings afterwards.",
          run: String.raw`cat >> roman.py <<'EOF'


plain = to_roman


def to_roman(n):
    return plain(n).replace("IIII", "IV").replace("XXXX", "XL").replace("CCCC", "CD").replace("V", "").replace("DCD", "CM")
EOF
python3 check.py`,
        },
        {
          say: "That broke VIII. The patches are a dead end; a table with the pairs is simpler.",
          run: `python3 -c "from roman import to_roman; print(to_roman(8))"`,
        },
        {
          say: "",
          run: String.raw`cat > roman.py <<'EOF'
TABLE = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]


def to_roman(n):
    result = ""
    for value, letters in TABLE:
        result += letters * (n // value)
        n %= value
    return result
EOF
python3 check.py`,
        },
        {
          say: "Now the limits; bool is a subclass of int, so it is named.",
          run: String.raw`python3 - <<'EOF'
from pathlib import Path
path = Path("roman.py")
guard = '''def to_roman(n):
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 3999:
        raise ValueError(f"to_roman takes an integer from 1 to 3999, not {n!r}")
'''
path.write_text(path.read_text().replace("def to_roman(n):\n", guard))
EOF
python3 check.py`,
        },
        {
          say: "All six. One more look at the whole range: every result must be different.",
          run:
            `python3 -c "from roman import to_roman; print(len({to_roman(n) for n in range(1, 4000)}), to_roman(49), to_roman(3999))"`,
        },
        { say: "roman.py covers 1 to 3999, refuses the rest with ValueError, and check.py reports 6 of 6." },
      ],
    },
  ],
};
