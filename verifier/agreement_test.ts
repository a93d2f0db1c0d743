import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { agreement, overlaps } from "./agreement.ts";
import { renderSteps } from "./core.ts";

const TASK = "Compute the checksum of data.bin";

/** A run that ends in one command and its output. */
const run = (command: string, output: string) =>
  renderSteps([{ message: "", commands: [command], outputs: [`(exit code 0) ${output}`] }]).join("");

const ALIKE = [
  run("openssl dgst digest_one", "alpha beta gamma 1234"),
  run("openssl dgst digest_one twice", "alpha beta gamma 1234"),
  run("openssl dgst digest_two", "alpha beta delta 1234"),
];
const ODD = run("touch nothing_useful", "zeta eta theta");

Deno.test("agreement() is high where candidates resemble each other and low for the odd one out", () => {
  const result = agreement(TASK, [...ALIKE, ODD])!;
  for (const one of result) {
    assert(one.mean >= 0 && one.mean <= 1);
    assert(Math.abs(one.standardized) <= 2);
  }
  const odd = result[3]!;
  for (const alike of result.slice(0, 3)) {
    assert(alike.mean > odd.mean);
    assert(alike.standardized > 0 && odd.standardized < 0);
  }
});

Deno.test("agreement() is unknown with fewer than three different candidates", () => {
  assertEquals(agreement(TASK, []), null);
  assertEquals(agreement(TASK, ALIKE.slice(0, 2)), null);
  assertEquals(agreement(TASK, [ALIKE[0]!, ALIKE[0]!, ALIKE[1]!]), null);
});

Deno.test("agreement() counts copies of a candidate once and gives them equal figures", () => {
  const plain = agreement(TASK, [...ALIKE, ODD])!;
  const copied = agreement(TASK, [ODD, ...ALIKE, ODD, ODD])!;
  assertEquals(copied.slice(1, 4), plain.slice(0, 3));
  assertEquals([copied[0], copied[4], copied[5]], [plain[3], plain[3], plain[3]]);
});

Deno.test("agreement() ignores the task's own words, what agents say and echoes", () => {
  const said = [
    "Compute the checksum of data.bin",
    'echo "alpha beta gamma delta epsilon"',
    "printf alpha_beta_gamma",
  ].map((command, i) => run(command, i === 0 ? "data.bin checksum" : "alpha beta gamma"));
  for (const { agree_out } of overlaps(TASK, said)) assertEquals(agree_out, 0);
  assertEquals(overlaps(TASK, said)[0], { agree_cmd: 0, agree_out: 0, agree_all: 0 });
});

Deno.test("agreement() does not depend on the order of the candidates, also with more than it compares", () => {
  const word = fc.constantFrom("alpha", "beta", "gamma", "delta", "epsilon", "zeta");
  const text = fc.tuple(fc.array(word, { maxLength: 6 }), fc.array(word, { maxLength: 6 }), fc.nat(999))
    .map(([command, output, salt]) => run(`${command.join(" ")} # ${salt}`, output.join(" ")));
  fc.assert(fc.property(fc.array(text, { minLength: 3, maxLength: 100 }), fc.nat(99), (texts, turn) => {
    const distinct = [...new Set(texts)];
    if (distinct.length < 3) return;
    const by = turn % distinct.length;
    const turned = [...distinct.slice(by), ...distinct.slice(0, by)];
    const expected = agreement(TASK, distinct)!;
    const actual = agreement(TASK, turned)!;
    turned.forEach((candidate, i) => {
      const original = expected[distinct.indexOf(candidate)]!;
      assertAlmostEquals(actual[i]!.mean, original.mean, 1e-9);
      assertAlmostEquals(actual[i]!.standardized, original.standardized, 1e-9);
    });
  }));
});

Deno.test("agreement() takes candidates without any action", () => {
  assertEquals(
    agreement(TASK, ["one", "two", "three"]),
    Array.from({ length: 3 }, () => ({ mean: 0, standardized: 0 })),
  );
});
