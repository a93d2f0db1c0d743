/**
 * The transcript readers against the reference implementation's loaders, on real runs.
 *
 * Equal: task text (length and SHA-256), reward, and everything the trace says: the trace rebuilt from our messages in
 * the reference's layout has the reference's length and SHA-256, so no text is lost or changed by reading.
 *
 * Deliberate differences:
 * - Step numbers: the reference prints the file's `step_id` (the first step of the agent is 2 or 3); the verifier counts
 *   the agent's steps from 1, because checkpoints are 1-based step numbers.
 * - Marker lines: the reference inserts texts raw; the verifier quotes lines that look like `[Command]`, `[Output]` or
 *   step headers, so that a message can't pose as an observation.
 * - Several outputs of one step: the reference lists all commands, then all results; a result that names its call is
 *   put in its call's place here. In the reference's data both orders agree.
 * - Commands: the reference strips white space around keystrokes; here they are kept as they were typed (a last line
 *   break is the Return key in some agents' logs).
 * - No usable user message (`$31` and nothing else): the reference invents `(Task: name)` or shows the agent's first
 *   messages; here the task is `null` and must be given, since a made-up task can't be graded against.
 * - Chats (`loaders_synthetic`, SWE-bench): the reference cuts every text at 2,000 characters, drops contents that are
 *   lists and keeps two tagged blocks of the first user message; here nothing is cut, lists are read, and the whole
 *   first user message is the task.
 * - Text that is no JSON: the reference answers `(no trajectory data)`; here that text is the trajectory, and a `.json`
 *   file that is none is refused with line and column.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { readTranscript, TranscriptError } from "../../transcripts/transcript.ts";
import { normalizeTrajectory } from "../../verifier/trajectory.ts";

const shared = new URL("../../../shared/", import.meta.url);
const exists = (path: string) => {
  try {
    return Deno.statSync(new URL(path, shared)).size > 0;
  } catch {
    return false;
  }
};
const present = exists("golden/upstream.json") && exists("data/README.md");
const suffix = present ? "" : " (skipped: ../shared is absent)";
const golden = () => JSON.parse(Deno.readTextFileSync(new URL("golden/upstream.json", shared)));

interface Trial {
  readonly trial: string;
  readonly reward: number;
  readonly problem_chars: number;
  readonly trace_chars: number;
  readonly trace_sha256: string;
  readonly problem_sha256: string;
}

async function sha256(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
}

/** Python counts code points, JavaScript UTF-16 units. */
const codePoints = (text: string) => [...text].length;

/** Our messages in the reference's layout. */
function referenceTrace(messages: readonly Readonly<Record<string, unknown>>[], firstStep: number): string {
  const steps: string[][] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      const lines = [`--- Agent Step ${firstStep + steps.length} ---`];
      if (message.content !== "") lines.push(message.content as string);
      for (const call of (message.tool_calls ?? []) as { function: { arguments: string } }[]) {
        const { keystrokes } = JSON.parse(call.function.arguments) as { keystrokes?: string };
        if (keystrokes) lines.push(`[Command] ${keystrokes.trim()}`);
      }
      steps.push(lines);
    } else if (message.content !== "") steps.at(-1)!.push(`[Output]\n${message.content}`);
  }
  return steps.map((lines) => lines.join("\n") + "\n").join("\n");
}

Deno.test({
  name: "readers find the reference's task text, reward and trace on every real run" + suffix,
  ignore: !present,
  fn: async () => {
    const replaced = new Set(
      [...Deno.readTextFileSync(new URL("data/README.md", shared)).matchAll(/^- (terminal_bench_\S+)$/gm)]
        .map((match) => match[1]!),
    );
    let checked = 0;
    let hashed = 0;
    for (
      const [set, { trials }] of Object.entries(golden().real_data.sets) as [
        string,
        { trials: Record<string, Trial[]> },
      ][]
    ) {
      for (const [task, list] of Object.entries(trials)) {
        for (const trial of list) {
          const path = `data/${set}/${task}/${trial.trial}_trajectory.json`;
          if (!exists(path)) continue;
          const bytes = Deno.readFileSync(new URL(path, shared));
          const transcript = readTranscript(bytes, fromFileUrl(new URL(path, shared)));
          assertEquals(transcript.id, trial.trial);
          assertEquals(transcript.reward, trial.reward, trial.trial);
          assertEquals(transcript.warnings, []);
          checked++;
          if (replaced.has(`${set}/${task}/${trial.trial}`)) continue; // host names were replaced in the copy
          hashed++;
          assertEquals(codePoints(transcript.task!), trial.problem_chars, trial.trial);
          assertEquals(await sha256(transcript.task!), trial.problem_sha256, trial.trial);
          const trace = referenceTrace(transcript.trajectory.messages!, 2);
          assertEquals(codePoints(trace), trial.trace_chars, trial.trial);
          assertEquals(await sha256(trace), trial.trace_sha256, trial.trial);
        }
      }
    }
    assertEquals([checked, hashed], [435, 407]);
  },
});

Deno.test({
  name: "readers differ from the reference's synthetic cases only as listed" + suffix,
  ignore: !present,
  fn: () => {
    const encode = (text: string) => new TextEncoder().encode(text);
    const cases = golden().loaders_synthetic as {
      function: string;
      input?: { steps?: unknown };
      input_messages_json?: string;
      output: string;
    }[];
    const [stub, problem, trace, garbage] = cases;
    assertEquals(stub!.function, "loaders._tb_extract_problem");
    // The reference's first case has no agent step at all; with one, the task is unknown, not invented.
    const steps = [...stub!.input!.steps as unknown[], { source: "agent", message: "hi" }];
    assertEquals(readTranscript(encode(JSON.stringify({ steps })), "a.json").task, null);
    assertEquals(stub!.output, "(Task: t)");
    // Same messages, nothing cut, lists read.
    const read = readTranscript(encode(problem!.input_messages_json!), "a.json");
    assert(read.task!.startsWith("hi <pr_description> bug </pr_description>"));
    const assistants = read.trajectory.messages!.filter((message) => message.role === "assistant");
    assertEquals(assistants.length, 3);
    assert((assistants[0]!.content as string).length > 2000);
    assertEquals(assistants[2]!.content, [{ type: "text", text: "list content" }]);
    assert(trace!.output.includes("(truncated)"));
    assertEquals(garbage!.output, "(no trajectory data)");
    assertEquals(readTranscript(encode(garbage!.input_messages_json!), "-").trajectory, { text: "not json" });
    assertThrows(
      () => readTranscript(encode(garbage!.input_messages_json!), "a.json"),
      TranscriptError,
      "a.json:1:1",
    );
  },
});

Deno.test({
  name: "readers give the verifier one step for every agent step of every real run, with the same text" +
    suffix,
  ignore: !present,
  fn: () => {
    let runs = 0;
    for (const set of ["terminal_bench_2.0", "terminal_bench_2.1"]) {
      for (const task of Deno.readDirSync(new URL(`data/${set}/`, shared))) {
        for (const { name } of Deno.readDirSync(new URL(`data/${set}/${task.name}/`, shared))) {
          const url = new URL(`data/${set}/${task.name}/${name}`, shared);
          const bytes = Deno.readFileSync(url);
          const { trajectory, warnings } = readTranscript(bytes, name);
          const steps = JSON.parse(new TextDecoder().decode(bytes)).trajectory.steps
            .filter((step: { source: string }) => step.source === "agent");
          const normalized = normalizeTrajectory(trajectory, "/a");
          assertEquals([normalized.steps.length, warnings], [steps.length, []], name);
          // What the renderer adds stands at the start of lines: headers, marks and quotes.
          for (const [i, step] of steps.entries()) {
            const rendered = normalized.steps[i]!.replace(/^> /gm, "");
            for (const call of step.tool_calls) {
              const command = call.arguments.keystrokes.trim().replace(/^> /gm, "");
              assert(rendered.includes(command), `${name}: step ${i + 1} lost its command`);
            }
          }
          runs++;
        }
      }
    }
    assertEquals(runs, 435);
  },
});

Deno.test({
  name: "readers read the two progress runs (ATIF v1.2: stubs, call ids, several calls for one screen)" +
    suffix,
  ignore: !present,
  fn: () => {
    for (const [name, reward, steps] of [["fail", 0, 17], ["success", 1, 18]] as const) {
      const file = `data/progress_tracking/${name}_trajectory.json`;
      const transcript = readTranscript(Deno.readFileSync(new URL(file, shared)), file);
      assertEquals([transcript.reward, transcript.format, transcript.warnings], [reward, "atif", []]);
      assert(transcript.task!.startsWith("Your task is to implement a command line tool"));
      assertEquals(transcript.trajectory.messages!.filter(({ role }) => role === "assistant").length, steps);
      assertEquals(transcript.trajectory.messages!.filter(({ role }) => role === "tool").length, steps);
    }
  },
});
