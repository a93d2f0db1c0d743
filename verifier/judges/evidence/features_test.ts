import { assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { renderSteps } from "../../core.ts";
import { actingSteps, features, prefixFeatures } from "./features.ts";
import { readRequirements } from "./requirements.ts";
import { readSteps } from "./view.ts";

const TASK = readRequirements("Write `/srv/out.txt` with 250 lines, use --strict.");

const observed = (...runs: readonly (readonly [command: string, output: string])[]) =>
  readSteps(
    renderSteps(runs.map(([command, output]) => ({ message: "", commands: [command], outputs: [output] })))
      .join(""),
  );

Deno.test("features() counts failures, time-outs, repeats and checks", () => {
  const counted = features(
    observed(
      ["make part 1", "(exit code 2) error: no"],
      ["make part 2", "(exit code 124) "],
      ["seq 250 > /srv/out.txt", "(exit code 0) "],
      ["test -s /srv/out.txt", "(exit code 0) OK"],
    ),
    TASK,
  );
  assertAlmostEquals(counted.exit_bad_n!, Math.log(3));
  assertAlmostEquals(counted.timeout_n!, Math.log(2));
  assertEquals(counted.dup_cmd_frac, 0.25);
  assertEquals([counted.last_act_verify, counted.last_act_bad, counted.verify_after, counted.edited], [
    1,
    0,
    1,
    1,
  ]);
  assertEquals(counted.pass_frac, 0.25);
  assertEquals(counted.cov_paths_late, 1);
  assertAlmostEquals(counted.cov_all!, 2 / 3);
});

Deno.test("features() of a run that did nothing are defined", () => {
  for (const text of ["", "only words", "--- Agent Step 1 ---\nonly words"]) {
    const counted = features(readSteps(text), TASK);
    assertEquals([counted.log_chars, counted.log_steps, counted.cov_all, counted.last_act_bad], [0, 0, 0, 0]);
  }
});

Deno.test("actingSteps() leaves out steps of words and a call that was never executed", () => {
  const steps = readSteps(
    "--- Agent Step 1 ---\nwords\n--- Agent Step 2 ---\n[Command] ls\n[Output]\na\n" +
      "--- Agent Step 3 ---\n[Command] submit\n[Output]\naction was not executed\n",
  );
  assertEquals(actingSteps(steps).map(({ number }) => number), [2]);
});

Deno.test("prefixFeatures() equal the features of each prefix by itself", () => {
  const command = fc.constantFrom(
    "ls",
    "make test",
    "seq 250 > /srv/out.txt",
    "rm -rf x",
    "cat <<EOF\nprint(1)\nEOF",
    "grep --strict 250 /srv/out.txt",
  );
  const output = fc.constantFrom(
    "(exit code 0) OK",
    "(exit code 1) Error: no",
    "(exit code 124) timed out",
    "False 250",
    "action was not executed",
  );
  fc.assert(fc.property(fc.array(fc.tuple(command, output), { minLength: 1, maxLength: 20 }), (runs) => {
    const steps = observed(...runs);
    const lengths = steps.map((_, i) => i + 1);
    assertEquals(
      prefixFeatures(steps, TASK, lengths),
      lengths.map((length) => features(steps.slice(0, length), TASK)),
    );
  }));
});
