/**
 * Makes the examples: runs every scripted candidate in a fresh folder, records the true output and exit status of every
 * command, runs the hidden check and writes one trajectory file a candidate.
 *
 *     deno run -A examples/make.ts            write the files
 *     deno run -A examples/make.ts --check    run everything again and compare rewards and exit statuses
 *
 * Needs bash, python3 and node. Temporary paths and durations are masked, so that the files stay the same from run to
 * run on the same versions of these programs.
 *
 * @module
 */
import { dirname, fromFileUrl, join } from "@std/path";
import { csvSummary } from "./make/csv_summary.ts";
import { fixMedian } from "./make/fix_median.ts";
import { logErrors } from "./make/log_errors.ts";
import { mergePeople } from "./make/merge_people.ts";
import { renameFiles } from "./make/rename_files.ts";
import { romanNumerals } from "./make/roman_numerals.ts";
import type { Candidate, ExampleTask } from "./make/task.ts";

export const TASKS: readonly ExampleTask[] = [
  csvSummary,
  fixMedian,
  renameFiles,
  logErrors,
  mergePeople,
  romanNumerals,
];

const FOLDER = dirname(fromFileUrl(import.meta.url));

interface Result {
  readonly status: number;
  readonly output: string;
}

async function bash(script: string, folder: string): Promise<Result> {
  const { code, stdout } = await new Deno.Command("bash", {
    args: ["-c", `exec 2>&1\n${script}`],
    cwd: folder,
    clearEnv: true,
    env: {
      PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
      HOME: folder,
      LC_ALL: "C.UTF-8",
      TZ: "UTC",
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONHASHSEED: "0",
      NO_COLOR: "1",
    },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    signal: AbortSignal.timeout(60_000),
  }).output();
  return { status: code, output: mask(new TextDecoder().decode(stdout), folder) };
}

function mask(output: string, folder: string): string {
  return output
    .replaceAll(folder, "/task")
    .replace(/\b(Ran \d+ tests?) in \d+\.\d+s/g, "$1 in 0.000s")
    .trimEnd();
}

/** Runs one candidate from the starting files and records it in the format of the benchmark's files. */
export async function record(task: ExampleTask, candidate: Candidate): Promise<Record<string, unknown>> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "assay-example-" }));
  try {
    for (const [path, content] of Object.entries(task.files)) {
      const full = join(folder, path);
      await Deno.mkdir(dirname(full), { recursive: true });
      await Deno.writeTextFile(full, content);
    }
    const steps: Record<string, unknown>[] = [{ step_id: 1, source: "user", message: task.instruction }];
    for (const turn of candidate.turns) {
      const step: Record<string, unknown> = { step_id: steps.length + 1, source: "agent", message: turn.say };
      if (turn.run !== undefined) {
        const id = `call_${steps.length + 1}`;
        const { status, output } = await bash(turn.run, folder);
        step.tool_calls = [{ tool_call_id: id, function_name: "bash", arguments: { command: turn.run } }];
        step.observation = {
          results: [{
            source_call_id: id,
            content: `(exit code ${status})${output === "" ? "" : `\n${output}`}`,
          }],
        };
      }
      steps.push(step);
    }
    const check = await bash(task.check, folder);
    return {
      trial_name: candidate.name,
      task_name: task.name,
      reward: check.status === 0 ? 1 : 0,
      trajectory: {
        schema_version: "ATIF-v1.4",
        session_id: `${task.name}/${candidate.name}`,
        agent: { name: "scripted", version: "1" },
        steps,
      },
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The exit statuses of a recorded run, in order. */
export function statuses(run: unknown): readonly string[] {
  return [...JSON.stringify(run).matchAll(/"content":"(\(exit code -?\d+\))/g)].map((match) => match[1]!);
}

/** Where a candidate's file lies. */
export function fileOf(task: ExampleTask, candidate: Candidate): string {
  return join(FOLDER, task.name, `${candidate.name}.json`);
}

/** Runs everything again; a list of what differs from the files (rewards and exit statuses). */
export async function differences(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const task of TASKS) {
    for (const candidate of task.candidates) {
      const now = await record(task, candidate);
      const stored = JSON.parse(await Deno.readTextFile(fileOf(task, candidate)));
      if (now.reward !== stored.reward) {
        found.push(`${task.name}/${candidate.name}: reward ${now.reward}, stored ${stored.reward}`);
      }
      if (statuses(now).join() !== statuses(stored).join()) {
        found.push(
          `${task.name}/${candidate.name}: exit statuses ${statuses(now)}, stored ${statuses(stored)}`,
        );
      }
    }
  }
  return found;
}

if (import.meta.main) {
  if (Deno.args.includes("--check")) {
    const found = await differences();
    for (const line of found) console.error(line);
    console.log(found.length === 0 ? "the examples are as recorded" : `${found.length} differences`);
    Deno.exit(found.length === 0 ? 0 : 1);
  }
  for (const task of TASKS) {
    for (const candidate of task.candidates) {
      const run = await record(task, candidate);
      const path = fileOf(task, candidate);
      await Deno.mkdir(dirname(path), { recursive: true });
      await Deno.writeTextFile(path, JSON.stringify(run, null, 2) + "\n");
      console.log(`${task.name}/${candidate.name}: reward ${run.reward}`);
    }
  }
}
