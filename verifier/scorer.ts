/**
 * One judged call: cache, join, judge, decode. It always ends in scores or in reasons, never in a guess.
 *
 * @module
 */
import type { Bill } from "./budget/budget.ts";
import type { Cancellation } from "./cancellation.ts";
import { decodeLetter, decodeText, decodeTokens, type Direction } from "./core.ts";
import type { CallLabel, Recording } from "./decisions/decisions.ts";
import { type AnswerEvidence, makeEvidence } from "./decisions/evidence.ts";
import type { Environment } from "./environment.ts";
import {
  type Judge,
  type JudgeAnswer,
  type JudgeContext,
  JudgeError,
  type JudgeRequest,
} from "./judges/judge.ts";
import type { PromptPrefix } from "./prompt.ts";
import { redact } from "./redaction/redact.ts";
import type { Slot } from "./scheduler.ts";
import { type CachedAnswer, callKey, createScoreCache } from "./score_cache.ts";
import { shortenText, type Warnings } from "./text.ts";
import type { Channel, Score, TokenLogprob, Unscored, UnscoredReason, Usage } from "./types.ts";
import { UsageMeter } from "./usage.ts";

/** Characters of a judge's analysis that are kept. */
const MAXIMUM_ANALYSIS = 2000;
const LETTERS = "ABCDEFGHIJKLMNOPQRST";

/** One call to be scored. */
export interface ScoreJob {
  /** Shared by all calls of one (task, A, B) and slot order. */
  readonly prefix: PromptPrefix;
  /** The criterion and the output contract. */
  readonly suffix: string;
  /** URLs in the prompt's order. */
  readonly images: readonly string[];
  /** Digest of `images`, empty without images. */
  readonly imagesDigest: string;
  /** Tags in the order of the answer; one score each. */
  readonly tags: readonly string[];
  /** Direction of the scale. */
  readonly direction: Direction;
  /** 0-based; repeats of one prompt are different calls. */
  readonly repeat: number;
  /** Which call of its decision it is; default: only the repeat. */
  readonly label?: CallLabel;
}

/** What became of a call. */
export interface ScoredCall {
  /** One score per tag. */
  readonly scores: readonly Score[];
  /** What the judge wrote before its scores, shortened; `null` when nothing came. */
  readonly analysis: string | null;
  /** From the score cache, or from an identical call in flight. */
  readonly cached: boolean;
  /** With an ensemble: what each of its judges said, in their order; the scores are the medians. */
  readonly byJudge?: readonly ScoredCall[];
}

/** Scores the calls of one request. */
export interface Scorer {
  /** Never rejects for what a judge does: a failed call has a reason for each tag. */
  score(job: ScoreJob): Promise<ScoredCall>;
  /** What was bought so far. */
  usage(): Usage;
  /** The same for a daily budget, calls under way included. */
  bill(): Bill;
}

/** What a scorer works with. */
export interface ScorerOptions {
  /** Store and scheduler. */
  readonly environment: Environment;
  /** Who answers. */
  readonly judge: Judge;
  /** The least that is accepted. */
  readonly channel: "any" | "logprobs" | "continuation";
  /** How the score cache is used. */
  readonly cache: "use" | "refresh" | "off";
  /** Abort and deadline of the request. */
  readonly cancellation: Cancellation;
  /** Takes what the result must say about itself. */
  readonly warnings: Warnings;
  /** Takes every finished call, so that the decision can be looked into and replayed. */
  readonly recording?: Recording | undefined;
}

interface Answered extends Omit<ScoredCall, "cached"> {
  /** What decodes to the scores; `null` when there was nothing to decode. */
  readonly evidence: AnswerEvidence | null;
  /** The whole answer; absent when it came from the cache. */
  readonly output?: string;
  /** It stood in the cache after all. */
  readonly found?: true;
}

const unscored = (reason: UnscoredReason, detail?: string): Unscored =>
  detail === undefined ? { kind: "unscored", reason } : { kind: "unscored", reason, detail };

/** How often each channel was read. */
export function countChannels(scores: Iterable<Score>): Readonly<Partial<Record<Channel, number>>> {
  const counts: Partial<Record<Channel, number>> = {};
  for (const score of scores) {
    if (score.kind === "scored") counts[score.channel] = (counts[score.channel] ?? 0) + 1;
  }
  return counts;
}

/** The scorer of one request. */
export function createScorer(options: ScorerOptions): Scorer {
  const { environment, judge, channel, cancellation } = options;
  const meter = new UsageMeter(judge.price);
  // Who follows the scores as they come may act on them: such a one is stored before it is told.
  const lingers = options.recording?.isFollowed === false;
  const cache = createScoreCache(environment.store, options.cache, options.warnings, lingers);
  options.recording?.atEnd(cache.end);
  const request = {};
  const takeOut = environment.redact ?? redact;
  const isEvidenceKept = options.cache !== "off" || options.recording?.isKept === true;
  // Once the key is refused, every further call would be refused too.
  let refusedKey: Unscored | null = null;

  async function score(job: ScoreJob): Promise<ScoredCall> {
    const { evidence, output, ...call } = await find(job);
    options.recording?.add({
      label: job.label ?? { repeat: job.repeat },
      judge: judge.profile,
      tags: job.tags,
      direction: job.direction,
      cached: call.cached,
      scores: call.scores,
      evidence,
      prompt: [job.prefix.text, job.suffix],
      output: output ?? call.analysis,
    });
    return call;
  }

  async function find(job: ScoreJob): Promise<Answered & { readonly cached: boolean }> {
    // Nothing is looked up, joined or kept without a cache; a digest for every call would be for nothing.
    const key = options.cache === "off" ? "" : await callKey({
      prefixDigest: job.prefix.digest,
      suffix: job.suffix,
      tags: job.tags,
      direction: job.direction,
      judgeKind: judge.kind,
      judgeIdentity: judge.identity,
      repeat: job.repeat,
      imagesDigest: job.imagesDigest,
      channel,
    });
    try {
      cancellation.signal.throwIfAborted();
      const stored = await cache.read(key);
      if (fits(stored, job)) {
        meter.hit();
        return { ...stored, cached: true };
      }
      // With the cache off every call is bought on its own: whoever asks for that wants independent answers.
      const joinKey = options.cache === "off" ? null : `${options.cache}\0${key}`;
      let { value, joined } = await run(job, key, joinKey);
      if (joined && value.scores.some((part) => part.kind === "unscored" && part.reason === "unauthorized")) {
        // The other request may have come with another key.
        ({ value, joined } = await run(job, key, null));
      }
      if (joined || value.found) meter.hit();
      const { found, ...answered } = value;
      return { ...answered, cached: joined || found === true };
    } catch (error) {
      const cause = cancellation.cause();
      if (cause !== null) return { ...failed(job, unscored(cause, detailOf(error, takeOut))), cached: false };
      // A judge that throws anything else is a bug; losing the request's paid answers for it would be a second one.
      return {
        ...failed(job, unscored("backend_error", `unexpected: ${detailOf(error, takeOut)}`)),
        cached: false,
      };
    }
  }

  function run(
    job: ScoreJob,
    key: string,
    joinKey: string | null,
  ): Promise<{ readonly value: Answered; readonly joined: boolean }> {
    return environment.scheduler.run<Answered>({
      pool: judge.profile,
      concurrency: judge.concurrency,
      request,
      key: joinKey,
      prefix: judge.warmsPrefix ? `${judge.identity}\0${job.imagesDigest}\0${job.prefix.digest}` : null,
      signal: cancellation.signal,
      call: async (slot) => {
        const late = await cache.readAgain(key);
        if (fits(late, job)) {
          slot.answered(); // a moment ago, to an identical call
          return { ...late, found: true };
        }
        const answered = await send(job, slot);
        await cache.write(key, answered);
        return answered;
      },
    });
  }

  async function send(job: ScoreJob, slot: Slot): Promise<Answered> {
    if (refusedKey !== null) {
      const detail = `not sent: the judge has refused the key before (${
        refusedKey.detail ?? "no reason given"
      })`;
      return failed(job, { ...refusedKey, detail });
    }
    meter.call();
    try {
      return await buy(job, slot);
    } finally {
      meter.ended();
    }
  }

  async function buy(job: ScoreJob, slot: Slot): Promise<Answered> {
    const context: JudgeContext = {
      signal: slot.signal,
      onAttempt: (used) => meter.attempt(used),
      onRateLimited: () => slot.rateLimited(),
    };
    const base: JudgeRequest = {
      prefix: job.prefix.text,
      suffix: job.suffix,
      images: job.images,
      tags: job.tags,
      repeat: job.repeat,
      maxTokens: null,
    };
    let answer: JudgeAnswer;
    try {
      answer = await ask(base, context, slot);
      if (answer.finishReason === "length" && typeof judge.maxTokens === "number") {
        answer = await ask({ ...base, maxTokens: 2 * judge.maxTokens }, context, slot);
      }
    } catch (error) {
      if (!(error instanceof JudgeError)) throw error;
      if (error.reason === "rate_limited") slot.rateLimited();
      const reason = unscored(error.reason, error.message);
      if (error.reason === "unauthorized") refusedKey = reason;
      return failed(job, reason);
    }
    if (answer.refused || answer.finishReason === "content_filter") {
      return {
        ...failed(job, unscored("refused", shortenText(takeOut(answer.text.trim()), 200))),
        ...wordsOf(answer, job, takeOut),
      };
    }
    if (answer.finishReason === "length") {
      const limit = typeof judge.maxTokens === "number"
        ? `${2 * judge.maxTokens} tokens`
        : "an unknown token limit";
      return {
        ...failed(job, unscored("truncated", `ended at ${limit}`)),
        ...wordsOf(answer, job, takeOut),
      };
    }
    let scores = readTokens(answer, job);
    const continued: (TokenLogprob | null)[] = job.tags.map(() => null);
    if (hasUnscored(scores) && channel !== "logprobs") {
      scores = await readContinuation(answer, scores, continued, job, base, context, slot);
    }
    const letters = hasUnscored(scores) && channel === "any";
    if (letters) scores = readLetters(answer, scores, job);
    const raw = { tokens: answer.tokens, continued, text: letters ? answer.text : null };
    return {
      scores,
      evidence: isEvidenceKept ? makeEvidence(raw, job.tags, job.direction, scores) : null,
      ...wordsOf(answer, job, takeOut),
    };
  }

  async function ask(request: JudgeRequest, context: JudgeContext, slot: Slot): Promise<JudgeAnswer> {
    const answer = await judge.answer(request, context);
    slot.answered();
    return answer;
  }

  function readTokens(answer: JudgeAnswer, job: ScoreJob): readonly Score[] {
    if (answer.tokens !== null) return decodeTokens(answer.tokens, job.tags, job.direction);
    return job.tags.map(() => unscored("no_logprobs"));
  }

  /** One constrained token after an open tag for each part that has no score yet. */
  async function readContinuation(
    answer: JudgeAnswer,
    before: readonly Score[],
    continued: (TokenLogprob | null)[],
    job: ScoreJob,
    request: JudgeRequest,
    context: JudgeContext,
    slot: Slot,
  ): Promise<readonly Score[]> {
    if (judge.continuation === undefined) return before;
    const scores = [...before];
    let written = answer.text.slice(0, tagsStart(answer.text, job.tags)).trimEnd();
    for (const [i, tag] of job.tags.entries()) {
      const open = `${written}\n<${tag}>`;
      const known = scores[i];
      let letter = known?.kind === "scored" ? likeliestLetter(known, job.direction) : null;
      if (letter === null) {
        let token: JudgeAnswer | null;
        try {
          token = await judge.continuation(request, open, context);
        } catch (error) {
          if (!(error instanceof JudgeError)) throw error;
          if (error.reason === "rate_limited") slot.rateLimited();
          return scores.map((score) => explain(score, `continuation failed: ${error.message}`));
        }
        if (token === null) return scores;
        const first = token.tokens?.[0];
        continued[i] = first ?? null;
        const read = first === undefined ? unscored("no_logprobs") : decodeLetter(first, job.direction);
        if (read.kind === "unscored") {
          return scores.map((score) => explain(score, `continuation: ${read.reason}`));
        }
        scores[i] = read;
        letter = likeliestLetter(read, job.direction);
      }
      // The likeliest letter, not a sampled one: the next part must not depend on a die.
      written = `${open} ${letter} </${tag}>`;
    }
    return scores;
  }

  function readLetters(answer: JudgeAnswer, before: readonly Score[], job: ScoreJob): readonly Score[] {
    const sampled = decodeText(answer.text, job.tags, job.direction);
    return before.map((score, i) => {
      const letter = sampled[i];
      return score.kind === "unscored" && letter?.kind === "scored" ? letter : score;
    });
  }

  return { score, usage: () => meter.total(), bill: () => meter.bill() };
}

const fits = (stored: CachedAnswer | null, job: ScoreJob): stored is CachedAnswer =>
  stored !== null && stored.scores.length === job.tags.length;

const hasUnscored = (scores: readonly Score[]): boolean => scores.some((score) => score.kind === "unscored");

function failed(job: ScoreJob, reason: Unscored): Answered {
  return { scores: job.tags.map(() => reason), analysis: null, evidence: null };
}

function explain(score: Score, detail: string): Score {
  if (score.kind === "scored") return score;
  return unscored(score.reason, score.detail === undefined ? detail : `${score.detail}; ${detail}`);
}

function detailOf(error: unknown, takeOut: (text: string) => string): string {
  return shortenText(takeOut(error instanceof Error ? error.message : String(error)), 300);
}

/** Where the answer's own score tags begin: the earliest of each tag's last opening; the end where there is none. */
function tagsStart(text: string, tags: readonly string[]): number {
  const starts = tags.map((tag) => text.lastIndexOf(`<${tag}>`)).filter((start) => start >= 0);
  return starts.length === 0 ? text.length : Math.min(...starts);
}

/** A judge may quote a secret of the work it looks at; what is given back and kept doesn't hold it. */
function wordsOf(
  answer: JudgeAnswer,
  job: ScoreJob,
  takeOut: (text: string) => string,
): Pick<Answered, "analysis" | "output"> {
  const text = takeOut(answer.text.slice(0, tagsStart(answer.text, job.tags)).trim());
  return { analysis: text === "" ? null : shortenText(text, MAXIMUM_ANALYSIS), output: answer.text };
}

function likeliestLetter(score: Score, direction: Direction): string | null {
  if (score.kind !== "scored") return null;
  if (score.letters === null) {
    const place = Math.round(19 * (direction === "pairwise" ? 1 - score.value : score.value));
    return LETTERS[place] ?? null;
  }
  let best = 0;
  score.letters.forEach((share, i) => {
    if (share > (score.letters?.[best] ?? 0)) best = i;
  });
  return LETTERS[best] ?? null;
}
