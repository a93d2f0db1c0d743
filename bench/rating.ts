/**
 * Measures schedules and ratings: buying 64 and 1,000 candidates' pairs (ring and pivot round), and rating their calls
 * (posterior, standard errors, probability of being best, cycle residual), from JavaScript objects to typed arrays, and
 * the probability that the pick is right by summing (16 candidates) and by sampling (64).
 *
 * It doesn't measure any judging (the calls' differences are made up), nor the first call, which also compiles the wasm
 * module (`bench/cold_start.ts`).
 *
 * @module
 */
import { type Observation, pivotPairs, probabilityRight, rate, ringPairs } from "../verifier/core.ts";
import { row, runBench, time } from "./harness.ts";

const CRITERIA = 3;

function schedule(count: number) {
  const ring = ringPairs(count, 1);
  return [...ring, ...pivotPairs(count, [0, 1], ring)];
}

function calls(count: number): Observation[] {
  return schedule(count).flatMap(([a, b], i) =>
    Array.from({ length: CRITERIA }, (_, criterion) => ({
      a,
      b,
      criterion,
      difference: Math.sin(17 * i + criterion) * 0.3 + (b - a) / (4 * count),
    }))
  );
}

await runBench(async () => {
  const [few, some, many] = [calls(16), calls(64), calls(1000)];
  const calibration = { pairAccuracy: 0.76, passRate: 0.4 };
  const rate64 = await time(() => rate(64, some), { rounds: 31, warmUp: 10 });
  const rate1000 = await time(() => rate(1000, many), { rounds: 5, warmUp: 1 });
  const pairs64 = await time(() => schedule(64), { rounds: 31, warmUp: 10, runs: 10 });
  const pairs1000 = await time(() => schedule(1000));
  const right16 = await time(() => probabilityRight(16, few, 0, calibration));
  const right64 = await time(() => probabilityRight(64, some, 0, calibration));
  return [
    row(`rate 64 candidates from ${some.length} calls`, rate64.median, "ms", { atMost: 5 }),
    row(`rate 1,000 candidates from ${many.length} calls`, rate1000.median, "ms", { atMost: 2000 }),
    row("ring and pivot round of 64", pairs64.median, "ms", { atMost: 1 }),
    row("ring and pivot round of 1,000", pairs1000.median, "ms", { atMost: 50 }),
    row("probability of being right, 16 candidates", right16.median, "ms", { atMost: 50 }),
    row("probability of being right, 64 candidates", right64.median, "ms", { atMost: 200 }),
  ];
});
