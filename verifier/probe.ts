/**
 * One real scored call per judge, to see whether it works and what it can do.
 *
 * @module
 */
import type { Environment } from "./environment.ts";
import { AssayError, type ErrorCode, showValue } from "./errors.ts";
import type { CallOptions, Channel, CompareRequest, CompareResult, PlanResult, Score } from "./types.ts";

/** What a probe found out about one judge. */
export interface JudgeProbe {
  readonly judge: string;
  /** Both sides of the pair were scored. */
  readonly ok: boolean;
  /** Score of the better side, 0 to 1; `null` when the call failed as a whole. */
  readonly score: Score | null;
  readonly channel: Channel | null;
  readonly latencyMs: number;
  readonly code?: ErrorCode;
  /** What went wrong, for people; secrets are redacted. */
  readonly detail?: string;
  /** What is known of the judge's capabilities now. */
  readonly learnt: Readonly<Record<string, boolean | number>>;
}

/** The verb that a probe buys its call with. */
export type Compare = (
  environment: Environment,
  request: CompareRequest,
  options: CallOptions,
) => Promise<CompareResult | PlanResult>;

/** A pair whose better side any judge can tell. */
const PAIR: Pick<CompareRequest, "task" | "a" | "b" | "criteria"> = {
  task: "Write the number 4 into the file answer.txt and check it.",
  a: {
    messages: [
      {
        role: "assistant",
        content: "",
        tool_calls: [toolCall("1", "echo 4 > answer.txt && cat answer.txt")],
      },
      { role: "tool", tool_call_id: "1", content: "4\n[exit code 0]" },
      { role: "assistant", content: "answer.txt holds 4." },
    ],
  },
  b: {
    messages: [
      { role: "assistant", content: "", tool_calls: [toolCall("1", "cat answer.txt")] },
      {
        role: "tool",
        tool_call_id: "1",
        content: "cat: answer.txt: No such file or directory\n[exit code 1]",
      },
      { role: "assistant", content: "I did not write the file." },
    ],
  },
  criteria: [{
    id: "correctness",
    name: "Correctness",
    description: "The file holds what the task asked for, and a command's output shows it.",
  }],
};

function toolCall(id: string, command: string): Readonly<Record<string, unknown>> {
  return { id, type: "function", function: { name: "shell", arguments: JSON.stringify({ command }) } };
}

/**
 * Probes one judge, or all of them at once. What was learnt about a judge's capabilities is forgotten first, so that
 * a probe finds out anew. A judge's failure is its entry's `code` and `detail`, never an exception.
 *
 * @param options.judge name of one profile; all when absent
 * @throws {AssayError} `invalid_request` for an unknown profile; rejects with the signal's reason when it aborts
 */
export async function probeJudges(
  compare: Compare,
  environment: Environment,
  options: Pick<CallOptions, "signal" | "allowance"> & { readonly judge?: string } = {},
): Promise<readonly JudgeProbe[]> {
  const names = environment.judges.profiles().map(({ name }) => name);
  if (options.judge !== undefined && !names.includes(options.judge)) {
    throw AssayError.field("/judge", `must be one of ${names.map(showValue).join(", ")}`, options.judge);
  }
  const wanted = options.judge === undefined ? names : [options.judge];
  return await Promise.all(wanted.map((name) => probeJudge(compare, environment, name, options)));
}

async function probeJudge(
  compare: Compare,
  environment: Environment,
  judge: string,
  options: Pick<CallOptions, "signal" | "allowance">,
): Promise<JudgeProbe> {
  await environment.judges.forget(judge);
  const started = performance.now();
  const request: CompareRequest = {
    ...PAIR,
    judge,
    repeats: 1,
    channel: "any",
    images: [],
    seed: 0,
    dryRun: false,
    cache: "off",
  };
  let found: Omit<JudgeProbe, "judge" | "latencyMs" | "learnt">;
  try {
    const { signal, allowance } = options;
    const passed = {
      ...(signal === undefined ? {} : { signal }),
      ...(allowance === undefined ? {} : { allowance }),
    };
    found = readVerdict(await compare(environment, request, passed));
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof AssayError)) throw error;
    found = { ok: false, score: null, channel: null, code: error.code, detail: error.message };
  }
  const latencyMs = Math.round(performance.now() - started);
  const learnt = environment.judges.profiles().find(({ name }) => name === judge)?.learnt ?? {};
  return { judge, ...found, latencyMs, learnt };
}

function readVerdict(result: CompareResult | PlanResult): Omit<JudgeProbe, "judge" | "latencyMs" | "learnt"> {
  const call = "plan" in result ? undefined : result.calls[0];
  if (call === undefined) throw new Error("a probe's comparison came back without its call");
  const unscored = [call.a, call.b].find((side) => side.kind === "unscored");
  const channel = call.a.kind === "scored" ? call.a.channel : null;
  if (unscored?.kind !== "unscored") return { ok: true, score: call.a, channel };
  const detail = unscored.detail === undefined ? unscored.reason : `${unscored.reason}: ${unscored.detail}`;
  return { ok: false, score: call.a, channel, code: "nothing_scored", detail };
}
