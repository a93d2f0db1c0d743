import { assert, assertEquals } from "@std/assert";
import { readTranscript } from "../transcripts/transcript.ts";
import { differences, fileOf, TASKS } from "./make.ts";

const missing = ["bash", "python3", "node"].filter((program) => {
  try {
    return !new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
});

Deno.test({
  name: "the examples run again with the recorded rewards and exit statuses" +
    (missing.length > 0 ? ` (skipped: ${missing.join(", ")} not installed)` : ""),
  ignore: missing.length > 0,
  fn: async () => assertEquals(await differences(), []),
});

Deno.test("every example is a readable run whose task text, name and reward are in it", () => {
  for (const task of TASKS) {
    const rewards = new Set<number | null>();
    for (const candidate of task.candidates) {
      const file = fileOf(task, candidate);
      const transcript = readTranscript(Deno.readFileSync(file), file);
      assertEquals(transcript.task, task.instruction);
      assertEquals(transcript.id, candidate.name);
      assertEquals(transcript.warnings, []);
      rewards.add(transcript.reward);
    }
    if (task.candidates.length > 1) {
      assert(rewards.has(0) && rewards.has(1), `${task.name} has right and wrong candidates`);
    }
  }
});
