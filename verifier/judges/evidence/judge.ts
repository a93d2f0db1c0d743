/**
 * The embedded judge: grades observable evidence in the trajectories, without a model, a key or a network, and answers
 * in the shape of a model's answer with a distribution over the 20 letters.
 *
 * What it is worth is measured by `bench/evidence.ts`. It can be fooled by real but meaningless closing calls; never
 * reward an agent with it, and don't tell agents about it.
 *
 * @module
 */
import type { TokenLogprob } from "../../types.ts";
import { type Judge, type JudgeAnswer, JudgeError } from "../judge.ts";
import { aspectOf } from "./aspects.ts";
import { FEATURE_LABELS, type Features, features, prefixFeatures } from "./features.ts";
import {
  comparePair,
  hasActed,
  letterDistribution,
  type PairVerdict,
  progressScore,
  scorePair,
  spreadOf,
} from "./model.ts";
import {
  type PairwisePrompt,
  type ProgressPrompt,
  type PromptBlock,
  readPrompt,
  UnreadablePrompt,
} from "./prompt_reader.ts";
import { readRequirements } from "./requirements.ts";
import { readSteps } from "./view.ts";
import { EVIDENCE_WEIGHTS, type EvidenceAspect, type EvidenceWeights, fingerprint } from "./weights.ts";

/** Name of the model; its number changes whenever the same prompt can get another answer with the same weights. */
export const EVIDENCE_MODEL = "evidence-2";

const LETTERS = "ABCDEFGHIJKLMNOPQRST";
/** Rarer letters are left out: a log-probability must stay a finite number, and they move no score by 1e-9. */
const RAREST = 1e-12;
const MOST_TERMS = 6;
const WEAKEST_TERM = 0.02;
const MOST_REMEMBERED = 256;

/** How an evidence judge is made. */
export interface EvidenceJudgeOptions {
  /** Name of its profile. */
  readonly profile: string;
  /** Default: the weights that ship. */
  readonly weights?: EvidenceWeights;
}

/**
 * Makes the evidence judge. Deterministic: a repeat gets the same answer.
 *
 * `answer()` rejects with a `JudgeError` (`backend_error`) for a text that is no prompt of this verifier.
 */
export function createEvidenceJudge({ profile, weights = EVIDENCE_WEIGHTS }: EvidenceJudgeOptions): Judge {
  const runs = new Remembered<readonly Features[]>();

  const featuresAt = (task: PromptBlock, run: PromptBlock, lengths: readonly number[] | null) =>
    runs.get(`${nameOf(task)} ${nameOf(run)} ${lengths?.join() ?? "all"}`, () => {
      const wanted = readRequirements(task.text);
      const steps = readSteps(run.text);
      return lengths === null ? [features(steps, wanted)] : prefixFeatures(steps, wanted, lengths);
    });

  const grade = (prompt: PairwisePrompt | ProgressPrompt): Graded => {
    if (prompt.kind === "progress") {
      return gradeProgress(prompt, featuresAt(prompt.task, prompt.steps, prompt.checkpoints), weights);
    }
    const [a] = featuresAt(prompt.task, prompt.a, null);
    const [b] = featuresAt(prompt.task, prompt.b, null);
    return gradePair(prompt, a!, b!, weights);
  };

  return {
    profile,
    kind: "evidence",
    model: EVIDENCE_MODEL,
    identity: JSON.stringify({ kind: "evidence", model: EVIDENCE_MODEL, weights: fingerprint(weights) }),
    concurrency: 1,
    readsImages: false,
    warmsPrefix: false,
    price: { inputPerMillion: 0, cachedInputPerMillion: 0, outputPerMillion: 0 },
    // Measured on two agents' terminal logs only: too far from any one user's runs to turn scores into chances.
    calibration: null,
    expectedOutputTokens: 0,
    contextTokens: null,
    async answer(request, { signal, onAttempt }): Promise<JudgeAnswer> {
      // Reading is plain computing: others get their turn between two calls.
      await new Promise((resolve) => setTimeout(resolve, 0));
      signal.throwIfAborted();
      onAttempt({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 });
      try {
        return answerOf(grade(readPrompt(request.prefix, request.suffix)), request.tags);
      } catch (error) {
        if (!(error instanceof UnreadablePrompt)) throw error;
        throw new JudgeError("backend_error", `the evidence judge can't read this prompt: ${error.message}`, {
          cause: error,
        });
      }
    },
  };
}

/** What is answered: words, and per tag the probabilities of the letters A to T. */
interface Graded {
  readonly analysis: string;
  readonly letters: ReadonlyMap<string, readonly number[]>;
}

function gradePair(prompt: PairwisePrompt, a: Features, b: Features, weights: EvidenceWeights): Graded {
  const aspect = aspectOf(prompt.criterion);
  const verdict = comparePair(a, b, weights.pair, aspect);
  const scores = scorePair(a, b, verdict, weights.pair);
  return {
    analysis: [
      `Criterion: ${shown(prompt.criterion.name)} (${aspectNote(aspect)}).`,
      "Only what was run and what came out counts; nothing that an agent says about its own work does.",
      ...findings(a, b, verdict),
      `Log-odds for A: ${signed(verdict.logit)}.`,
    ].join("\n"),
    letters: new Map([["score_A", scores.lettersA], ["score_B", scores.lettersB]]),
  };
}

function findings(a: Features, b: Features, verdict: PairVerdict): readonly string[] {
  if (!hasActed(a) && !hasActed(b)) return ["- neither side shows a command or an output"];
  if (verdict.onlyOneActed) {
    return [`- ${hasActed(a) ? "B" : "A"} shows no command and no output, so it can't win`];
  }
  const lines: string[] = [];
  if (verdict.unfinished !== 0) {
    const side = verdict.unfinished > 0 ? "B" : "A";
    lines.push(`- ${side} looks unfinished beside the other (${Math.abs(verdict.unfinished).toFixed(2)})`);
  }
  for (const { feature, a: ofA, b: ofB, term } of verdict.terms.slice(0, MOST_TERMS)) {
    if (Math.abs(term) < WEAKEST_TERM) continue;
    const numbers = `A ${ofA.toFixed(2)}, B ${ofB.toFixed(2)}`;
    lines.push(
      `- ${FEATURE_LABELS[feature]}: ${numbers}; for ${term > 0 ? "A" : "B"} (${Math.abs(term).toFixed(2)})`,
    );
  }
  return lines.length === 0 ? ["- no difference in the evidence"] : lines;
}

function gradeProgress(
  prompt: ProgressPrompt,
  prefixes: readonly Features[],
  weights: EvidenceWeights,
): Graded {
  const letters = new Map<string, readonly number[]>();
  const lines = prefixes.map((prefix, i) => {
    const score = progressScore(prefix, weights.pair);
    // On the progress scale T is best, so the letters run the other way.
    letters.set(`c${i + 1}`, letterDistribution(score, spreadOf(score)).toReversed());
    const acts = prefix.log_chars === 0 ? 0 : Math.round(Math.exp(prefix.log_steps ?? 0));
    return `- step ${prompt.checkpoints[i]}: ${acts} acting steps, ` +
      `${(prefix.edited ?? 0) > 0 ? "result edited" : "nothing edited"}, ` +
      `${Math.round(100 * (prefix.cov_all ?? 0))} % of the task's literals seen, last action ` +
      `${
        prefix.last_act_verify === 1
          ? "a passing check"
          : prefix.last_act_bad === 1
          ? "failed or unanswered"
          : "no check"
      }`;
  });
  return {
    analysis: ["Observable progress at each checkpoint (an order, not a chance of passing):", ...lines].join(
      "\n",
    ),
    letters,
  };
}

function aspectNote(aspect: EvidenceAspect | null): string {
  return aspect === null ? "read as: the whole record" : `read as: ${aspect}, half; the whole record, half`;
}

/** A name from the prompt, unable to look like a tag. */
function shown(name: string): string {
  return name.replace(/[<>]/g, " ").slice(0, 80).toWellFormed();
}

function signed(value: number): string {
  return `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(2)}`;
}

function answerOf({ analysis, letters }: Graded, tags: readonly string[]): JudgeAnswer {
  const tokens: TokenLogprob[] = [sure(analysis + "\n\n")];
  for (const tag of tags) {
    const probabilities = letters.get(tag);
    if (probabilities === undefined) throw new UnreadablePrompt(`nothing in it asks for <${tag}>`);
    tokens.push(sure(`<${tag}>`), letterToken(probabilities), sure(` </${tag}>\n`));
  }
  return {
    text: tokens.map(({ token }) => token).join(""),
    reasoning: null,
    tokens,
    finishReason: "stop",
    refused: false,
    model: EVIDENCE_MODEL,
  };
}

function sure(token: string): TokenLogprob {
  return { token, logprob: 0, top_logprobs: [{ token, logprob: 0 }] };
}

/** The likeliest letter, with all letters as alternatives. */
function letterToken(probabilities: readonly number[]): TokenLogprob {
  const top = probabilities
    .map((probability, i) => ({ token: ` ${LETTERS[i]}`, logprob: Math.log(probability) }))
    .filter(({ logprob }) => logprob >= Math.log(RAREST))
    .sort((x, y) => y.logprob - x.logprob);
  return { ...top[0]!, top_logprobs: top };
}

/**
 * The name of a block's text: its token is keyed and derived from the text. Put together from single characters,
 * because a slice kept as a key would keep the whole prompt in memory.
 */
function nameOf(block: PromptBlock): string {
  return [...block.token].join("") + ":" + block.text.length;
}

/** The last results by name; a compare with three criteria reads each trajectory once. Holds numbers, no texts. */
class Remembered<T> {
  readonly #values = new Map<string, T>();

  get(name: string, make: () => T): T {
    let value = this.#values.get(name);
    if (value === undefined) value = make();
    // Most recently used last.
    this.#values.delete(name);
    this.#values.set(name, value);
    if (this.#values.size > MOST_REMEMBERED) this.#values.delete(this.#values.keys().next().value!);
    return value;
  }
}
