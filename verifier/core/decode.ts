/**
 * Scores from a judge's answer.
 *
 * @module
 */
import type { Score, TokenLogprob } from "../types.ts";

const todo = (): never => {
  throw new Error("the core is not built yet");
};

/** Less letter mass than this is `low_letter_mass`. */
export const MINIMUM_LETTER_MASS = 0.5;

/** Direction of the scale: pairwise A = 1 … T = 0, progress A = 0 … T = 1. */
export type Direction = "pairwise" | "progress";

/**
 * Scores at the last complete tag of each name, from tokens with alternatives (channel `logprobs`).
 * Linear in the number of tokens. Never throws for a strange answer: it is `unscored` with a reason.
 */
export function decodeTokens(
  _tokens: readonly TokenLogprob[],
  _tags: readonly string[],
  _direction: Direction,
): readonly Score[] {
  return todo();
}

/** Score of one token's distribution (channel `continuation`): the token after an open tag. */
export function decodeLetter(_token: TokenLogprob, _direction: Direction): Score {
  return todo();
}

/** The sampled letters in the last complete tag of each name (channel `explicit_tag`). */
export function decodeText(_text: string, _tags: readonly string[], _direction: Direction): readonly Score[] {
  return todo();
}
