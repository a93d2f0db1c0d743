/**
 * What a run's observed steps add up to: some 20 numbers, each countable by hand from the log.
 *
 * Which of them a judge uses, with which sign and weight, is data (`weights.json`); names are those of the weights.
 *
 * @module
 */
import { editsProduct } from "./edits.ts";
import {
  CHECK_WORD,
  CLEAN_UP,
  CODE_WORD,
  codePointLength,
  countMatches,
  FAILURE,
  firstCodePoints,
  lastCodePoints,
  NEGATIVE_WORD,
  PASS_WORD,
  TIMED_OUT,
  VERIFYING,
} from "./patterns.ts";
import type { Requirements } from "./requirements.ts";
import type { ObservedOutput, ObservedStep } from "./view.ts";

/** Every feature and what it is called when the judge explains itself. */
export const FEATURE_LABELS = {
  log_steps: "steps taken (log)",
  log_chars: "commands and outputs, characters (log)",
  heredoc_n: "inline scripts written (log)",
  late_heredoc: "inline scripts in the closing phase",
  late_code_rate: "analysis code in the closing phase",
  exit_bad_n: "commands that exited non-zero (log)",
  after_fail_frac: "failing outputs since the last edit",
  timeout_n: "time-outs (log)",
  dup_cmd_frac: "repeated commands",
  last_act_bad: "last action unanswered, timed out or failed",
  last_act_verify: "last action is an answered check with exit 0",
  late_clean: "clean-up in the closing phase (log)",
  late_verify: "closing actions that check something",
  verify_after: "a check ran after the last edit",
  late_check_rate: "check words in closing commands",
  cov_after: "named requirements seen since the last edit",
  cov_paths_late: "the task's paths seen late",
  cov_quoted_late: "the task's quoted strings seen late",
  false_words: "late outputs with False, None or NaN (log)",
  pass_frac: "outputs with a pass word",
  edited: "a file of the result was edited",
  cov_all: "named requirements seen",
  since_edit: "actions since the last edit",
  agree_cmd: "closing commands agree with the others",
  agree_out: "last outputs agree with the others",
  agree_all: "commands agree with the others",
} as const;

/** Name of a feature, as in the weights. */
export type FeatureName = keyof typeof FEATURE_LABELS;

/** Values by name; `agree_*` only where there are three or more candidates. */
export type Features = Readonly<Partial<Record<FeatureName, number>>>;

/** Everything that is counted in one acting step. */
interface ActFacts {
  readonly commandCount: number;
  readonly commandCharacters: number;
  readonly heredocs: number;
  readonly edits: boolean;
  readonly verifies: boolean;
  readonly checkWords: number;
  readonly codeWords: number;
  readonly cleanUps: number;
  /** Commands with digits masked, shortened: equal for repeats that differ in a counter only. */
  readonly shapes: readonly string[];
  readonly outputs: readonly OutputFacts[];
}

interface OutputFacts {
  readonly characters: number;
  readonly badExit: boolean;
  readonly failing: boolean;
  readonly saysTimeout: boolean;
  readonly timedOut: boolean;
  readonly negative: boolean;
  readonly passing: boolean;
  readonly credit: boolean;
}

const SHAPE_LENGTH = 160;

/** Steps that did something. A closing call that was never executed (a submit sentinel) is none. */
export function actingSteps(steps: readonly ObservedStep[]): readonly ObservedStep[] {
  return steps.filter((step) =>
    step.commands.length > 0 &&
    !step.outputs.some((output) => lastCodePoints(output.text, 200).includes("not executed"))
  );
}

/** Features of a whole run. Linear in its text. */
export function features(steps: readonly ObservedStep[], requirements: Requirements): Features {
  return prefixFeatures(steps, requirements, [steps.length])[0]!;
}

/**
 * Features of several prefixes of one run, one pass over its text.
 *
 * @param lengths numbers of steps, ascending
 */
export function prefixFeatures(
  steps: readonly ObservedStep[],
  requirements: Requirements,
  lengths: readonly number[],
): readonly Features[] {
  const acts: ActFacts[] = [];
  const sightings = new Sightings(requirements.all);
  const results: Features[] = [];
  let done = 0;
  for (const length of lengths) {
    const added = actingSteps(steps.slice(done, length));
    done = Math.max(done, length);
    sightings.add(added);
    for (const act of added) acts.push(factsOf(act));
    results.push(summarize(acts, requirements, sightings));
  }
  return results;
}

function factsOf(act: ObservedStep): ActFacts {
  const commands = act.commands.join("\n");
  return {
    commandCount: act.commands.length,
    commandCharacters: act.commands.reduce((sum, command) => sum + codePointLength(command), 0),
    heredocs: act.commands.filter((command) => command.includes("<<")).length,
    edits: act.commands.some(editsProduct),
    verifies: VERIFYING.test(commands),
    checkWords: countMatches(CHECK_WORD, commands),
    codeWords: countMatches(CODE_WORD, commands),
    cleanUps: countMatches(CLEAN_UP, commands),
    shapes: act.commands.map((command) => firstCodePoints(command.replace(/\d+/g, "0"), SHAPE_LENGTH)),
    outputs: act.outputs.map(outputFacts),
  };
}

function outputFacts({ exit, text, credit }: ObservedOutput): OutputFacts {
  const badExit = exit !== null && exit !== 0 && exit !== -1;
  const saysTimeout = TIMED_OUT.test(text);
  return {
    characters: codePointLength(text),
    badExit,
    failing: badExit || FAILURE.test(text),
    saysTimeout,
    timedOut: exit === 124 || exit === 137 || saysTimeout,
    negative: NEGATIVE_WORD.test(text),
    passing: credit && PASS_WORD.test(text),
    credit,
  };
}

/** Where each literal was last seen in a command or a credited output. */
class Sightings {
  readonly #last = new Map<string, number>();
  #acts = 0;

  constructor(literals: Iterable<string>) {
    for (const literal of literals) this.#last.set(literal, -1);
  }

  add(acts: readonly ObservedStep[]): void {
    for (const literal of this.#last.keys()) {
      for (let i = acts.length - 1; i >= 0; i--) {
        const act = acts[i]!;
        const seen = act.commands.some((command) => command.includes(literal)) ||
          act.outputs.some((output) => output.credit && output.text.includes(literal));
        if (!seen) continue;
        this.#last.set(literal, this.#acts + i);
        break;
      }
    }
    this.#acts += acts.length;
  }

  /** Share of the literals seen in act number `from` or later; 1 when there are none. */
  share(literals: ReadonlySet<string>, from: number): number {
    if (literals.size === 0) return 1;
    let seen = 0;
    for (const literal of literals) if ((this.#last.get(literal) ?? -1) >= from) seen++;
    return seen / literals.size;
  }
}

function summarize(acts: readonly ActFacts[], requirements: Requirements, sightings: Sightings): Features {
  const count = acts.length;
  const outputs = acts.flatMap((act) => act.outputs);
  const shapes = acts.flatMap((act) => act.shapes);
  const lastEdit = acts.findLastIndex((act) => act.edits);
  const sinceEdit = acts.slice(Math.max(0, lastEdit)).flatMap((act) => act.outputs);
  const afterEdit = acts.slice(lastEdit + 1);
  // The closing phase: the last quarter of the acting steps, at least five.
  const closingLength = Math.max(5, Math.floor(0.25 * count + 0.5));
  const closing = acts.slice(-closingLength);
  const closingCommands = sum(closing, (act) => act.commandCount);
  const closingCharacters = sum(closing, (act) => act.commandCharacters) + Math.max(0, closingCommands - 1);
  const perTwoHundred = Math.max(1, closingCharacters / 200);
  const lastThird = count - Math.max(1, Math.floor(count / 3));
  const lateOutputs = outputs.slice(-Math.max(1, Math.floor(outputs.length / 3)));
  const last = acts.at(-1);
  return {
    log_steps: Math.log(Math.max(1, count)),
    log_chars: Math.log(1 + sum(acts, (act) => act.commandCharacters) + sum(outputs, (o) => o.characters)),
    heredoc_n: Math.log1p(sum(acts, (act) => act.heredocs)),
    late_heredoc: closing.filter((act) => act.heredocs > 0).length / closingLength,
    late_code_rate: sum(closing, (act) => act.codeWords) / perTwoHundred,
    exit_bad_n: Math.log1p(outputs.filter((o) => o.badExit).length),
    after_fail_frac: sinceEdit.filter((o) => o.failing).length / Math.max(1, sinceEdit.length),
    timeout_n: Math.log1p(outputs.filter((o) => o.timedOut).length),
    dup_cmd_frac: 1 - new Set(shapes).size / Math.max(1, shapes.length),
    last_act_bad: Number(
      last !== undefined &&
        (last.outputs.length === 0 || last.outputs.some((o) => o.badExit || o.saysTimeout)),
    ),
    last_act_verify: Number(
      last !== undefined && last.outputs.length > 0 && last.verifies &&
        last.outputs.every((o) => o.credit && !o.badExit),
    ),
    late_clean: Math.log1p(sum(closing, (act) => act.cleanUps)),
    late_verify: closing.filter((act) => act.verifies).length / closingLength,
    verify_after: Number(afterEdit.some((act) => act.verifies)),
    late_check_rate: sum(closing, (act) => act.checkWords) / perTwoHundred,
    cov_after: sightings.share(requirements.all, Math.max(0, lastEdit)),
    cov_paths_late: sightings.share(requirements.paths, Math.max(0, lastThird)),
    cov_quoted_late: sightings.share(requirements.quoted, Math.max(0, lastThird)),
    false_words: Math.log1p(lateOutputs.filter((o) => o.negative).length),
    pass_frac: outputs.filter((o) => o.passing).length / Math.max(1, outputs.length),
    edited: Number(lastEdit >= 0),
    cov_all: sightings.share(requirements.all, 0),
    since_edit: lastEdit >= 0 ? Math.min(5, afterEdit.length) / 5 : 0,
  };
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
