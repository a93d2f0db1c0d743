/**
 * Pairwise prompts of two 4 MB trajectories.
 *
 * Measures: delimiting and hashing both texts and putting the prefix together, once per (task, A, B), as `compare` does
 * it; and the peak of heap and external memory (wasm memory included) above the start, against the bytes of the input.
 * Doesn't measure: reading the request, the judge, or the flat copy of the prompt that a judge's own request body makes.
 *
 * @module
 */
import { pairwisePrefix, promptText } from "../verifier/prompt.ts";
import { median, row, runBench } from "./harness.ts";

const MEGABYTES = 4;
const ROUNDS = 9;

/** About four megabytes of steps; another seed gives another text. */
function trajectory(seed: number): string {
  const lines: string[] = [];
  let bytes = 0;
  for (let i = 0; bytes < MEGABYTES * 1e6; i++) {
    const line = `--- Agent Step ${i} ---\n[Command] make test-${seed}-${i}\n[Output]\nok ${
      i * 7919 % 100_003
    } of ${seed}\n`;
    lines.push(line);
    bytes += line.length;
  }
  return lines.join("");
}

const used = (): number => {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
};

await runBench(async () => {
  const secret = "0123456789abcdef";
  const times: number[] = [];
  let peak = 0;
  let input = 0;
  for (let round = -2; round < ROUNDS; round++) {
    const [a, b] = [trajectory(2 * round + 10), trajectory(2 * round + 11)];
    input = a.length + b.length;
    const subject = {
      task: await promptText(secret, "Make the tests pass."),
      context: null,
      groundTruthNote: "Only outputs count.",
    };
    const before = used();
    const started = performance.now();
    const slotA = await promptText(secret, a);
    let most = used();
    const slotB = await promptText(secret, b);
    most = Math.max(most, used());
    const prefix = await pairwisePrefix(subject, slotA, slotB, 0);
    most = Math.max(most, used());
    if (round >= 0) {
      times.push(performance.now() - started);
      peak = Math.max(peak, most - before);
    }
    if (prefix.bytes < input) throw new Error("the prefix is shorter than its parts");
  }
  return [
    row(
      "pairwise prompt, two 4 MB texts",
      median(times),
      "ms",
      { atMost: 100 },
      "delimit, hash and join, median of 9",
    ),
    row(
      "its peak memory over the input",
      1 + peak / input,
      "x",
      { atMost: 6 },
      "input itself included; heap and external",
    ),
  ];
});
