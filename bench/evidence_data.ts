/**
 * The labelled runs that `bench/evidence.ts` measures on: texts where they are at hand, else published numbers.
 *
 * @module
 */
import { readTranscript } from "../transcripts/transcript.ts";
import type { Overlaps } from "../verifier/agreement.ts";
import type { Features } from "../verifier/judges/evidence/features.ts";
import type { EvidenceWeights } from "../verifier/judges/evidence/weights.ts";
import type { TrajectoryInput } from "../verifier/types.ts";

const shared = new URL("../../shared/", import.meta.url);
const SETS = ["2.0", "2.1"] as const;

/** Runs of one task, some passing and some failing. */
export interface TextTask {
  readonly set: string;
  readonly name: string;
  readonly task: string;
  readonly rewards: readonly number[];
  readonly trajectories: readonly Exclude<TrajectoryInput, string>[];
  /** Had no part in choosing features or fitting weights. */
  readonly keptOut: boolean;
}

/** The same as numbers only. */
export interface NumberTask {
  readonly set: string;
  readonly name: string;
  readonly rewards: readonly number[];
  readonly features: readonly (Features & Overlaps)[];
  readonly keptOut: boolean;
}

/** Names of the 2.1 tasks that were kept out. */
export async function keptOutNames(): Promise<ReadonlySet<string>> {
  return new Set(JSON.parse(await Deno.readTextFile(new URL("tools/evidence/split.json", shared))));
}

/** The 20-feature weights that were frozen before the kept-out tasks were first looked at. */
export async function frozenWeights(): Promise<EvidenceWeights> {
  return JSON.parse(await Deno.readTextFile(new URL("tools/evidence/weights.json", shared)));
}

/** Every task whose texts are here and whose runs differ in reward. */
export async function textTasks(): Promise<readonly TextTask[]> {
  const names = await keptOutNames();
  const tasks: TextTask[] = [];
  for (const set of SETS) {
    const directory = new URL(`data/terminal_bench_${set}/`, shared);
    for (const name of await entries(directory)) {
      const folder = new URL(`${name}/`, directory);
      const runs = [];
      for (const file of await entries(folder)) {
        runs.push(readTranscript(await Deno.readFile(new URL(file, folder)), file));
      }
      const task = runs[0]?.task;
      const rewards = runs.map(({ reward }) => {
        if (reward === null) throw new Error(`${set}/${name}: a run has no reward`);
        return reward;
      });
      if (task === undefined || task === null) throw new Error(`${set}/${name}: no task text`);
      if (!isMixed(rewards)) continue;
      const trajectories = runs.map(({ trajectory }) => trajectory);
      tasks.push({ set, name, task, rewards, trajectories, keptOut: set === "2.1" && names.has(name) });
    }
  }
  return tasks;
}

/** Every task as numbers, those included whose runs all pass or all fail. */
export async function numberTasks(): Promise<readonly NumberTask[]> {
  const names = await keptOutNames();
  const file = await Deno.open(new URL("tools/evidence/features.json.gz", shared));
  const text = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
  const rows = JSON.parse(text) as readonly {
    readonly set: string;
    readonly task: string;
    readonly reward: number;
    /** Share of the run's steps. */
    readonly q: number;
    readonly f: Features & Overlaps;
  }[];
  const whole = rows.filter(({ q }) => q === 1);
  return [...Map.groupBy(whole, ({ set, task }) => `${set}/${task}`).values()]
    .map((runs) => ({
      set: runs[0]!.set,
      name: runs[0]!.task,
      rewards: runs.map(({ reward }) => reward),
      features: runs.map(({ f }) => f),
      keptOut: runs[0]!.set === "2.1" && names.has(runs[0]!.task),
    }));
}

/** Whether some runs of a task pass and some fail. */
export function isMixed(rewards: readonly number[]): boolean {
  return rewards.some((reward) => reward > 0) && rewards.some((reward) => reward === 0);
}

async function entries(directory: URL): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(directory)) {
    if (entry.isDirectory || entry.name.endsWith(".json")) names.push(entry.name);
  }
  return names.sort();
}
