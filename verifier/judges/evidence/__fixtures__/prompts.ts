/**
 * Prompts as the verifier renders them, for the tests of the evidence judge.
 *
 * @module
 */
import {
  decodeTokens,
  delimitBlock,
  pairwiseFrame,
  pairwiseSuffix,
  progressFrame,
  progressSuffix,
  renderSteps,
} from "../../../core.ts";
import type { Criterion, Step } from "../../../types.ts";
import type { JudgeAnswer, JudgeRequest } from "../../judge.ts";
import { createEvidenceJudge } from "../judge.ts";

const SECRET = "a secret of the tests";
const judge = createEvidenceJudge({ profile: "evidence" });

export const TASK =
  'Write `/srv/notes/count.py` that reads "notes.txt" and prints the number of lines with --strict. The limit is 250 lines.';

export const CRITERION: Criterion = {
  id: "error_signals",
  name: "Error signals",
  description: "Failures that stay unresolved.",
  weight: 1,
};

/** A step that ran one command. */
export function ran(command: string, output: string, message = ""): Step {
  return { message, commands: [command], outputs: [output] };
}

/** A short run that solves the task and checks it. */
export const GOOD_STEPS: readonly Step[] = [
  ran("ls /srv/notes", "(exit code 0) notes.txt", "Looking around."),
  ran(
    "cat > /srv/notes/count.py <<'EOF'\nimport sys\nprint(sum(1 for _ in open('notes.txt')))\nEOF",
    "(exit code 0) ",
  ),
  ran("cd /srv/notes && python3 count.py --strict", "(exit code 0) 250"),
  ran("diff expected.txt out.txt && echo identical; rm -rf __pycache__", "(exit code 0) identical"),
];

export const GOOD: string = renderSteps(GOOD_STEPS).join("");

/** One pairwise call. */
export function pairwiseRequest(task: string, a: string, b: string, criterion = CRITERION): JudgeRequest {
  const frame = pairwiseFrame({ groundTruthNote: "", hasContext: false, images: 0, stage: "trajectory" });
  const block = (text: string) => delimitBlock(SECRET, text);
  return {
    prefix: frame.beforeTask + block(task) + frame.beforeA + block(a) + frame.beforeB + block(b) +
      frame.afterB,
    suffix: pairwiseSuffix(criterion),
    images: [],
    tags: ["score_A", "score_B"],
    repeat: 0,
    maxTokens: null,
  };
}

/** One progress call. */
export function progressRequest(
  task: string,
  steps: string,
  checkpoints: readonly number[],
  count: number,
): JudgeRequest {
  const frame = progressFrame({ groundTruthNote: "", criteria: [CRITERION], hasContext: false, images: 0 });
  const block = (text: string) => delimitBlock(SECRET, text);
  return {
    prefix: frame.beforeTask + block(task) + frame.beforeSteps + block(steps) + frame.afterSteps,
    suffix: progressSuffix(checkpoints, count),
    images: [],
    tags: checkpoints.map((_, i) => `c${i + 1}`),
    repeat: 0,
    maxTokens: null,
  };
}

/** The evidence judge's answer. */
export function ask(request: JudgeRequest): Promise<JudgeAnswer> {
  return judge.answer(request, { signal: new AbortController().signal, onAttempt: () => {} });
}

/** Both decoded scores of one pairwise call. */
export async function scorePairwise(
  task: string,
  a: string,
  b: string,
  criterion = CRITERION,
): Promise<{ readonly a: number; readonly b: number; readonly analysis: string }> {
  const answer = await ask(pairwiseRequest(task, a, b, criterion));
  const [scoreA, scoreB] = decodeTokens(answer.tokens ?? [], ["score_A", "score_B"], "pairwise");
  if (scoreA?.kind !== "scored" || scoreB?.kind !== "scored") throw new Error(`unscored: ${answer.text}`);
  return { a: scoreA.value, b: scoreB.value, analysis: answer.text };
}
