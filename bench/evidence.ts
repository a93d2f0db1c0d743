/**
 * Measures how well the embedded evidence judge and the agreement between candidates tell passing from failing runs of
 * Terminal-Bench tasks, against random choice and against picking the shortest run: pairs in the right order, best of
 * five, best of three. Only tasks with both kinds of runs count. Intervals: 95 %, bootstrap over tasks.
 *
 * It says apart what had a part in choosing the features and fitting the weights and what had none; of most of the
 * latter only numbers are at hand (counted from the texts by the reference), not the texts, so there the path from
 * rendered prompt to decoded letters is left out. It doesn't measure other agents, other kinds of tasks, or lists of
 * candidates by different agents.
 *
 * @module
 */
import { createMemoryStore } from "../store/memory.ts";
import { agreement, EVIDENCE_AGREEMENT_PRIOR, standardizeOverlaps } from "../verifier/agreement.ts";
import { compare } from "../verifier/compare.ts";
import { type Observation, rate, roundRobinPairs } from "../verifier/core.ts";
import { createEnvironment, type Environment } from "../verifier/environment.ts";
import { type Features, features } from "../verifier/judges/evidence/features.ts";
import { createEvidenceJudge } from "../verifier/judges/evidence/judge.ts";
import { comparePair, scorePair } from "../verifier/judges/evidence/model.ts";
import { readRequirements } from "../verifier/judges/evidence/requirements.ts";
import { readSteps } from "../verifier/judges/evidence/view.ts";
import {
  EVIDENCE_WEIGHTS,
  type EvidenceAspect,
  type PairModel,
} from "../verifier/judges/evidence/weights.ts";
import { compareRequestSchema, parseRequest, selectRequestSchema } from "../verifier/requests.ts";
import { select } from "../verifier/select/select.ts";
import { normalizeTrajectory } from "../verifier/trajectory.ts";
import {
  frozenWeights,
  isMixed,
  type NumberTask,
  numberTasks,
  type TextTask,
  textTasks,
} from "./evidence_data.ts";
import {
  averaged,
  byStrength,
  type Figure,
  type Outcome,
  outcome,
  pairDifference,
  pairFigure,
  pickFigure,
  type Ranker,
} from "./evidence_figures.ts";

const CRITERIA = "general";
/** What the criteria of that rubric are about. */
const ASPECTS: readonly EvidenceAspect[] = ["specification", "verification", "errors"];

/** One line of a table: what ranked, and its outcome on every task with five and with three candidates. */
interface Line {
  readonly name: string;
  readonly five: readonly Outcome[];
  readonly three: readonly Outcome[] | null;
}

const environment = await evidenceEnvironment();
const texts = await textTasks();
const numbers = (await numberTasks()).filter(({ rewards }) => isMixed(rewards));
const fitted = texts.filter(({ keptOut }) => !keptOut);
const shown = texts.filter(({ keptOut }) => keptOut);
const unseen = numbers.filter(({ keptOut }) => keptOut);

const inFit = numbers.filter(({ keptOut }) => !keptOut);
const unseenLines = await fromNumbers(unseen);

print(
  `
A. ${count(fitted)} whose runs had a part in choosing features or fitting
weights: those of the ${inFit.length} whose texts are at hand
(${fitted.filter(({ set }) => set === "2.0").length} of Terminal-Bench 2.0, the rest of 2.1).
Through the whole path: text, prompt, judge, letters, decoder, rating.
In sample, so too good.
`,
  table(await fromTexts(fitted)),
);

print(
  `
B. ${count(unseen)} of 2.1 that had no part in either. From published
numbers, as most of their texts are not at hand. "First look": the 20-feature
model as it was frozen before these tasks were looked at. "Shipped": features
that failed on these tasks were dropped afterwards, so it is a second look and
no untouched result.
`,
  table(unseenLines),
);
print(`
Pairs in the right order, points more than the shortest run:
first look ${points(unseenLines, "20 features: first look")}, shipped ${
  points(unseenLines, "evidence pairs: shipped")
}.
`);

print(
  `
C. ${count(shown)}: those of B whose texts are at hand, through the whole
path (${shown.map(({ name }) => name).join(", ")}).
Too few to mean much.
`,
  table(await fromTexts(shown)),
);

function print(note: string, ...lines: readonly string[]): void {
  console.log([note.trim(), "", ...lines, ...(lines.length > 0 ? [""] : [])].join("\n"));
}

function points(lines: readonly Line[], name: string): string {
  const of = (wanted: string) => {
    const line = lines.find((one) => one.name === wanted);
    if (line === undefined) throw new Error(`no line ${wanted}`);
    return line.five;
  };
  const [value, low, high] = pairDifference(of(name), of("shortest run"));
  const signed = (share: number) => `${share < 0 ? "-" : "+"}${Math.abs(Math.round(100 * share))}`;
  return `${signed(value)} [${signed(low)}, ${signed(high)}]`;
}

async function evidenceEnvironment(): Promise<Environment> {
  const judge = createEvidenceJudge({ profile: "evidence" });
  return await createEnvironment({
    judges: {
      defaultProfile: judge.profile,
      profiles: () => [],
      resolve: () => judge,
      forget: () => Promise.resolve(),
    },
    store: createMemoryStore(),
    delimiterSecret: "the secret of a benchmark",
  });
}

async function fromTexts(tasks: readonly TextTask[]): Promise<readonly Line[]> {
  const names = [
    "random choice",
    "shortest run",
    "evidence pairs",
    "evidence select",
    "agreement alone",
  ];
  const lines = names.map((name) => ({ name, five: [] as Outcome[], three: [] as Outcome[] }));
  for (const task of tasks) {
    const prepared = await prepareText(task);
    const all = task.rewards.map((_, i) => i);
    (await rankers(prepared, all)).forEach((ranker, k) => lines[k]!.five.push(outcome(task.rewards, ranker)));
    const outcomes: Outcome[][] = names.map(() => []);
    for (const some of triples(all)) {
      const rewards = some.map((i) => task.rewards[i]!);
      if (new Set(rewards).size < 2) continue;
      (await rankers(prepared, some)).forEach((ranker, k) => outcomes[k]!.push(outcome(rewards, ranker)));
    }
    outcomes.forEach((ofLine, k) => lines[k]!.three.push(averaged(ofLine)));
  }
  return lines;
}

/** A task with what doesn't depend on which of its runs are compared. */
interface PreparedText {
  readonly task: TextTask;
  readonly texts: readonly string[];
  readonly characters: readonly number[];
  /** Margin of each ordered pair by `compare`. */
  readonly margins: readonly (readonly number[])[];
}

async function prepareText(task: TextTask): Promise<PreparedText> {
  const wanted = readRequirements(task.task);
  const texts = task.trajectories.map((trajectory) => normalizeTrajectory(trajectory, "/trajectory").text);
  const margins = texts.map(() => texts.map(() => 0));
  for (let i = 0; i < texts.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [task.trajectories[i]!, task.trajectories[j]!];
      const result = await compare(
        environment,
        parseRequest(compareRequestSchema, { task: task.task, a, b, criteria: CRITERIA }),
      );
      if ("plan" in result || result.margin === null) throw new Error(`${task.name}: not scored`);
      margins[i]![j] = result.margin;
      margins[j]![i] = -result.margin;
    }
  }
  const characters = texts.map((text) => features(readSteps(text), wanted).log_chars!);
  return { task, texts, characters, margins };
}

async function rankers(prepared: PreparedText, some: readonly number[]): Promise<readonly Ranker[]> {
  const { task, texts, characters, margins } = prepared;
  const request = parseRequest(selectRequestSchema, {
    task: task.task,
    candidates: some.map((i) => task.trajectories[i]!),
    criteria: CRITERIA,
  });
  const selected = await select(environment, request);
  if ("plan" in selected) throw new Error("a plan instead of a result");
  const strengths = some.map(() => NaN);
  for (const { index, strength } of selected.ranking) strengths[index] = strength ?? NaN;
  const agreed = agreement(task.task, some.map((i) => texts[i]!));
  if (agreed === null || strengths.some(Number.isNaN)) throw new Error(`${task.name}: not ranked`);
  return [
    byStrength(some.map(() => 0)),
    byStrength(some.map((i) => -characters[i]!)),
    fromMargins(some.map((i) => some.map((j) => margins[i]![j]!))),
    byStrength(strengths),
    byStrength(agreed.map(({ standardized }) => standardized)),
  ];
}

async function fromNumbers(tasks: readonly NumberTask[]): Promise<readonly Line[]> {
  const frozen = await frozenWeights();
  const ways:
    readonly (readonly [string, (runs: readonly (Features & NumberTask["features"][number])[]) => Ranker])[] =
      [
        ["random choice", (runs) => byStrength(runs.map(() => 0))],
        ["shortest run", (runs) => byStrength(runs.map((run) => -run.log_chars!))],
        ["20 features: first look", (runs) => byLogit(withoutAgreement(runs), unguarded(frozen.pair))],
        ["the same and agreement: first look", (runs) => byLogit(runs, unguarded(frozen.list))],
        ["agreement alone", (runs) => byStrength(standardizeOverlaps(runs))],
        ["evidence pairs: shipped", (runs) => fromMargins(marginsOf(runs))],
        ["evidence select: shipped", (runs) => byStrength(ratedStrengths(runs))],
      ];
  return ways.map(([name, rank]) => ({
    name,
    five: tasks.map(({ rewards, features }) => outcome(rewards, rank(features))),
    three: null,
  }));
}

/** The frozen model had no term for runs that look unfinished. */
function unguarded(model: PairModel): PairModel {
  return { ...model, unfinished: { dead: Infinity, slope: 1 } };
}

function withoutAgreement(runs: readonly Features[]): readonly Features[] {
  return runs.map(({ agree_cmd: _cmd, agree_out: _out, agree_all: _all, ...rest }) => rest);
}

function byLogit(runs: readonly Features[], model: PairModel): Ranker {
  const logits = runs.map((a) => runs.map((b) => comparePair(a, b, model).logit));
  const chances = logits.map((row) => row.map((logit) => 1 / (1 + Math.exp(-logit))));
  return { above: (i, j) => logits[i]![j]!, strengths: chances.map((row) => row.reduce((x, y) => x + y)) };
}

function marginOf(a: Features, b: Features, aspect: EvidenceAspect): number {
  const { scoreA, scoreB } = scorePair(
    a,
    b,
    comparePair(a, b, EVIDENCE_WEIGHTS.pair, aspect),
    EVIDENCE_WEIGHTS.pair,
  );
  return scoreA - scoreB;
}

function marginsOf(runs: readonly Features[]): readonly (readonly number[])[] {
  const alone = withoutAgreement(runs);
  return alone.map((a) =>
    alone.map((b) => ASPECTS.reduce((sum, aspect) => sum + marginOf(a, b, aspect), 0) / ASPECTS.length)
  );
}

function ratedStrengths(runs: NumberTask["features"]): readonly number[] {
  const alone = withoutAgreement(runs);
  const observations = roundRobinPairs(runs.length, 0).flatMap(([a, b]): Observation[] =>
    ASPECTS.map((aspect, criterion) => ({
      a,
      b,
      criterion,
      difference: marginOf(alone[a]!, alone[b]!, aspect),
    }))
  );
  const priors = standardizeOverlaps(runs).map((one) => EVIDENCE_AGREEMENT_PRIOR * one);
  return [...rate(runs.length, observations, priors).strength];
}

function fromMargins(margins: readonly (readonly number[])[]): Ranker {
  return {
    above: (i, j) => margins[i]![j]!,
    strengths: margins.map((row) => row.reduce((sum, margin) => sum + margin, 0)),
  };
}

function triples(items: readonly number[]): readonly (readonly number[])[] {
  return items.flatMap((a, i) =>
    items.slice(i + 1).flatMap((b, j) => items.slice(i + j + 2).map((c) => [a, b, c]))
  );
}

function count(tasks: readonly { readonly rewards: readonly number[] }[]): string {
  const pairs = tasks.reduce((sum, { rewards }) => {
    const passed = rewards.filter((reward) => reward > 0).length;
    return sum + passed * (rewards.length - passed);
  }, 0);
  return `${tasks.length} tasks (${pairs} pairs)`;
}

function table(lines: readonly Line[]): string {
  const hasThree = lines.some(({ three }) => three !== null);
  const head = ["ranked by", "pairs", "best of 5", ...(hasThree ? ["best of 3"] : [])];
  const body = lines.map(({ name, five, three }) => [
    name,
    percent(pairFigure(five)),
    percent(pickFigure(five)),
    ...(three === null ? [] : [percent(pickFigure(three))]),
  ]);
  const rows = [head, head.map(() => "---"), ...body];
  return rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function percent([value, low, high]: Figure): string {
  const whole = (share: number) => Math.round(100 * share);
  return low === high ? `${whole(value)}` : `${whole(value)} [${whole(low)}, ${whole(high)}]`;
}
