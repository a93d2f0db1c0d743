import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { UsageError } from "./io.ts";
import { optionHelp, type OptionName, OPTIONS, readArguments, readDuration } from "./options.ts";
import { widest } from "./testing.ts";

const KNOWN: OptionName[] = ["task", "repeats", "seed", "judge", "json", "help"];
const read = (...args: string[]) => readArguments(args, KNOWN, "compare");

Deno.test("readArguments() reads values, switches, repeated options and words", () => {
  const args = read(
    "a.json",
    "--repeats",
    "3",
    "--task=--x",
    "--json",
    "-",
    "--judge",
    "one",
    "--judge=two",
    "--",
    "--b",
  );
  assertEquals(args.positionals, ["a.json", "-", "--b"]);
  assertEquals([args.number("repeats"), args.text("task"), args.flag("json")], [3, "--x", true]);
  assertEquals(args.texts("judge"), ["one", "two"]);
  assertEquals([args.text("seed"), args.number("seed"), args.flag("help")], [undefined, undefined, false]);
  assertEquals(read("--seed", "-5").number("seed"), -5);
  assertEquals(read("-h").flag("help"), true);
});

Deno.test("readArguments() names the argument and the nearest known option", () => {
  const cases: [string[], string][] = [
    [["--repeat", "2"], "compare has no option --repeat: did you mean --repeats?"],
    [["--pivots", "2"], "compare has no option --pivots (it belongs to other commands)"],
    [["--zzzzzzzz"], "compare has no option --zzzzzzzz"],
    [["-x"], "compare has no option -x"],
    [["--task"], "--task needs a value: TEXT|@FILE"],
    [["--task", "--json"], "--task needs a value, but is followed by --json"],
    [["--json=yes"], "--json is a switch and takes no value: yes"],
    [["--seed", "1", "--seed", "2"], "--seed is given twice"],
    [["--\u001b[31mred"], "compare has no option --\\u{1b}[31mred"],
  ];
  for (const [args, message] of cases) assertThrows(() => read(...args), UsageError, message);
});

Deno.test("readArguments() leaves what a number must be to the request, and refuses what is none", () => {
  assertEquals(read("--repeats", "0.5").number("repeats"), 0.5);
  assertEquals(read("--repeats", "1e99").number("repeats"), 1e99);
  for (const text of ["two", "", " ", "1,5", "NaN"]) {
    assertThrows(() => read(`--repeats=${text}`).number("repeats"), UsageError, "--repeats must be a number");
  }
});

Deno.test("readArguments() throws nothing but a UsageError for any arguments", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom("--", "-", "--task", "--json", "-hj"))),
      (args) => {
        try {
          readArguments(args, KNOWN, "compare");
        } catch (error) {
          assert(error instanceof UsageError, String(error));
        }
      },
    ),
  );
});

Deno.test("readDuration() reads seconds, minutes, hours and milliseconds", () => {
  const read = (text: string) => readDuration(text, "deadline");
  assertEquals([read("90"), read("90s"), read("1.5m"), read("1h"), read("500ms")], [
    90_000,
    90_000,
    90_000,
    3_600_000,
    500,
  ]);
  for (const text of ["", "-1", "1d", "s", "1 0"]) {
    assertThrows(() => read(text), UsageError, "--deadline must be a time");
  }
});

Deno.test("optionHelp() fits 80 columns for all options", () => {
  assert(widest(optionHelp(Object.keys(OPTIONS) as OptionName[])) <= 80);
});
