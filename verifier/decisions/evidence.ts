/**
 * What of a judge's answer must be kept to decode its scores again: the tokens of its score tags with their
 * alternatives, not the pages before them.
 *
 * @module
 */
import { decodeLetter, decodeText, decodeTokens, type Direction } from "../core.ts";
import { redact } from "../redaction/redact.ts";
import type { Score, TokenLogprob } from "../types.ts";

/** A token: text, log-probability, alternatives (absent where decoding reads none). */
export type StoredToken =
  | readonly [token: string, logprob: number | null]
  | readonly [
    token: string,
    logprob: number | null,
    alternatives: readonly (readonly [token: string, logprob: number | null])[],
  ];

/** What decoding reads of one answer. */
export interface AnswerEvidence {
  /** Tokens around the tags; `null`: the judge gave no log-probabilities. */
  readonly tokens: readonly StoredToken[] | null;
  /** Per tag the constrained token after it, where it was asked for. */
  readonly continued?: readonly (StoredToken | null)[];
  /** The answer's tags as text, where sampled letters were read. */
  readonly text?: string;
}

/** An answer as the scorer saw it. */
export interface RawEvidence {
  readonly tokens: readonly TokenLogprob[] | null;
  readonly continued: readonly (TokenLogprob | null)[];
  /** `null` where no sampled letter was read. */
  readonly text: string | null;
}

/**
 * The scores of an answer, from its evidence, with the core of today: tokens first, then constrained tokens, then
 * sampled letters for the parts that have no score yet.
 */
export function decodeEvidence(
  evidence: AnswerEvidence,
  tags: readonly string[],
  direction: Direction,
): readonly Score[] {
  const scores: Score[] = evidence.tokens === null
    ? tags.map(() => ({ kind: "unscored", reason: "no_logprobs" }))
    : [...decodeTokens(evidence.tokens.map(toToken), tags, direction)];
  evidence.continued?.forEach((token, i) => {
    if (token === null || scores[i] === undefined || scores[i].kind === "scored") return;
    const read = decodeLetter(toToken(token), direction);
    if (read.kind === "scored") scores[i] = read;
  });
  if (evidence.text !== undefined) {
    decodeText(evidence.text, tags, direction).forEach((letter, i) => {
      if (scores[i]?.kind === "unscored" && letter.kind === "scored") scores[i] = letter;
    });
  }
  return scores;
}

/**
 * The least evidence that decodes to exactly these scores; `null` when none does (or when what would have to be kept
 * holds a secret), so that nobody can take it for enough.
 */
export function makeEvidence(
  raw: RawEvidence,
  tags: readonly string[],
  direction: Direction,
  scores: readonly Score[],
): AnswerEvidence | null {
  const { continued, text } = raw;
  for (const tokens of tokenChoices(raw.tokens, tags)) {
    for (const words of textChoices(text, tags)) {
      const evidence: AnswerEvidence = {
        tokens: tokens === null ? null : tokens.map(fromToken),
        ...(continued.some((token) => token !== null)
          ? { continued: continued.map((token) => token === null ? null : fromToken(token)) }
          : {}),
        ...(words === null ? {} : { text: words }),
      };
      // As it will be read back: JSON has no infinities.
      const read = survivesJson(evidence) ? evidence : readEvidence(JSON.parse(JSON.stringify(evidence)));
      if (read === null || !sameScores(decodeEvidence(read, tags, direction), scores)) continue;
      const shown = (read.tokens ?? []).map(([token]) => token).join("");
      return redact(shown) === shown && (words === null || redact(words) === words) ? read : null;
    }
  }
  return null;
}

/** Whether JSON gives back exactly this: every number finite and not -0, every text a string, nothing left out. */
function survivesJson({ tokens, continued }: AnswerEvidence): boolean {
  return (tokens === null || tokens.every(tokenSurvives)) &&
    (continued === undefined || continued.every((token) => token === null || tokenSurvives(token)));
}

function tokenSurvives(token: StoredToken): boolean {
  if (!pairSurvives(token[0], token[1])) return false;
  const alternatives = token[2];
  if (alternatives === undefined) return token.length === 2;
  for (let i = 0; i < alternatives.length; i++) {
    const alternative = alternatives[i];
    if (alternative === undefined || !pairSurvives(alternative[0], alternative[1])) return false;
  }
  return true;
}

const pairSurvives = (text: unknown, logprob: unknown): boolean =>
  typeof text === "string" &&
  (logprob === null || (Number.isFinite(logprob) && !Object.is(logprob, -0)));

/** Whether two lists of scores are the same numbers, read the same way, or the same reasons. */
export function sameScores(x: readonly Score[], y: readonly Score[]): boolean {
  return x.length === y.length && x.every((score, i) => sameScore(score, y[i]!));
}

function sameScore(x: Score, y: Score): boolean {
  if (x.kind === "unscored" || y.kind === "unscored") {
    return x.kind === "unscored" && y.kind === "unscored" && x.reason === y.reason;
  }
  return x.value === y.value && x.letterMass === y.letterMass && x.entropy === y.entropy &&
    x.channel === y.channel &&
    (x.letters === null || y.letters === null
      ? x.letters === y.letters
      : x.letters.every((share, i) => share === y.letters![i]));
}

/** Evidence from a record; `null` for anything that isn't. */
export function readEvidence(value: unknown): AnswerEvidence | null {
  if (typeof value !== "object" || value === null) return null;
  const { tokens, continued, text } = value as Record<string, unknown>;
  if (tokens !== null && !(Array.isArray(tokens) && tokens.every(isToken))) return null;
  if (
    continued !== undefined &&
    !(Array.isArray(continued) && continued.every((token) => token === null || isToken(token)))
  ) return null;
  if (text !== undefined && typeof text !== "string") return null;
  return {
    tokens,
    ...(continued === undefined ? {} : { continued }),
    ...(text === undefined ? {} : { text }),
  };
}

function isToken(value: unknown): value is StoredToken {
  return isPair(value) &&
    (value.length === 2 || (value.length === 3 && Array.isArray(value[2]) && value[2].every(isPair)));
}

function isPair(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && typeof value[0] === "string" &&
    (value[1] === null || typeof value[1] === "number");
}

function fromToken({ token, logprob, top_logprobs }: TokenLogprob): StoredToken {
  return Array.isArray(top_logprobs)
    ? [token, logprob, (top_logprobs as TokenLogprob[]).map((entry) => [entry.token, entry.logprob] as const)]
    : [token, logprob];
}

function toToken([token, logprob, alternatives]: StoredToken): TokenLogprob {
  return alternatives === undefined
    ? { token, logprob }
    : { token, logprob, top_logprobs: alternatives.map(([token, logprob]) => ({ token, logprob })) };
}

/** Blank tokens behind a tag that decoding may read. */
const MOST_BLANKS = 8;

/** Ever more tokens: the tags alone, with fewer and with all alternatives; all from the first tag on; everything. */
function* tokenChoices(
  tokens: readonly TokenLogprob[] | null,
  tags: readonly string[],
): Generator<readonly TokenLogprob[] | null> {
  if (tokens === null) return yield null;
  yield tagTokens(tokens, tags, false);
  yield tagTokens(tokens, tags, true);
  const joined = tokens.map(({ token }) => token).join("");
  const first = Math.min(...tags.map((tag) => joined.lastIndexOf(`<${tag}>`)).filter((at) => at >= 0));
  if (Number.isFinite(first)) {
    let offset = 0;
    yield tokens.filter(({ token }) => (offset += token.length) > first);
  }
  yield tokens;
}

function tagTokens(
  tokens: readonly TokenLogprob[],
  tags: readonly string[],
  allAlternatives: boolean,
): readonly TokenLogprob[] {
  const starts: number[] = [];
  let joined = "";
  for (const { token } of tokens) {
    starts.push(joined.length);
    joined += token;
  }
  const kept = new Map<number, TokenLogprob>();
  const keep = (index: number, token: TokenLogprob, read: boolean): void => {
    if (!read && kept.has(index)) return;
    const { top_logprobs: _, ...bare } = token;
    kept.set(index, read || allAlternatives ? token : bare);
  };
  for (const tag of tags) {
    const open = joined.lastIndexOf(`<${tag}>`);
    if (open < 0) continue;
    const end = open + tag.length + 2;
    let index = starts.findLastIndex((start) => start <= open);
    for (; index < tokens.length && starts[index]! < end; index++) {
      const token = tokens[index]!;
      const stop = starts[index]! + token.token.length;
      const fused = stop > end && joined.slice(end, stop).trim() !== "";
      // What stands before the tag in its own first token is no evidence.
      const before = Math.max(0, open - starts[index]!);
      keep(index, fused || before === 0 ? token : { ...token, token: token.token.slice(before) }, fused);
      if (fused) index = tokens.length;
    }
    for (let blanks = 0; index < tokens.length && blanks <= MOST_BLANKS; index++, blanks++) {
      keep(index, tokens[index]!, true);
      if (tokens[index]!.token.trim() !== "") {
        // Whether the answer goes on after the letter may matter; what it says doesn't.
        const next = tokens[index + 1];
        if (next !== undefined) {
          keep(index + 1, next.token.length > 60 ? { ...next, token: "\n" } : next, false);
        }
        break;
      }
    }
  }
  return [...kept].sort(([x], [y]) => x - y).map(([, token]) => token);
}

function* textChoices(text: string | null, tags: readonly string[]): Generator<string | null> {
  if (text === null) return yield null;
  // Pieces in their order; a tag's name may be written in any letter case.
  const lower = text.toLowerCase();
  const pieces = tags.flatMap((tag) => {
    const open = lower.lastIndexOf(`<${tag.toLowerCase()}>`);
    const close = open < 0 ? -1 : lower.indexOf(`</${tag.toLowerCase()}>`, open);
    return close < 0 || close - open > 200 ? [] : [[open, text.slice(open, close + tag.length + 3)] as const];
  }).sort(([x], [y]) => x - y);
  yield pieces.map(([, piece]) => piece).join("\n");
  yield text.slice(Math.max(0, pieces[0]?.[0] ?? text.length - 4000));
  yield text;
}
