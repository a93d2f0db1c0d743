/**
 * Scores from a judge's answer. The rules are documented in `core/src/decode.rs`; here the tokens are handed over as
 * one string and lengths, because an object per token would cost more than the decoding.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import type { Channel, Score, TokenLogprob, Unscored, UnscoredReason } from "../types.ts";
import { call } from "./runtime.ts";

/** Less letter mass than this is `low_letter_mass`. */
export const MINIMUM_LETTER_MASS = 0.5;

/** Direction of the scale: pairwise A = 1 … T = 0, progress A = 0 … T = 1. */
export type Direction = "pairwise" | "progress";

const LETTERS = 20;

/** Numbers per tag that `decodeRead` answers with: status, value, letter mass, entropy, letters. */
const READ = 4 + LETTERS;

/** Twin of `status` in `core/src/wasm_decode.rs`; 0 is a score. */
const REASONS: readonly (readonly [reason: UnscoredReason, detail: string])[] = [
  ["no_letter", "unreachable"],
  ["no_tag", "the answer has no complete score tag"],
  ["no_letter", "nothing behind the score tag is a letter from A to T"],
  ["no_logprobs", "the judge gave no usable log-probabilities behind the score tag"],
  ["low_letter_mass", ""],
  ["truncated", "the answer ends before a letter follows the score tag"],
  ["no_tag", "the answer never leaves its reasoning"],
];

function unscored(status: number, letterMass: number): Unscored {
  const [reason, detail] = REASONS[status] ?? ["no_letter" as const, `unknown status ${status}`];
  if (reason !== "low_letter_mass") return { kind: "unscored", reason, detail };
  const mass = letterMass >= 0.001 ? letterMass.toFixed(3) : letterMass.toExponential(1);
  return {
    kind: "unscored",
    reason,
    detail: `the letters A to T hold ${mass} of the probability; at least ${MINIMUM_LETTER_MASS} is needed`,
  };
}

function scoreAt(read: Float64Array, offset: number, channel: Channel): Score {
  const status = read[offset]!;
  const letterMass = read[offset + 2]!;
  if (status !== 0) return unscored(status, letterMass);
  // Filled by hand: `Array.from` on a typed array goes through an iterator, which costs more than the decoding.
  const letters = new Array<number>(LETTERS);
  for (let i = 0; i < LETTERS; i++) letters[i] = read[offset + 4 + i]!;
  return {
    kind: "scored",
    value: read[offset + 1]!,
    letterMass,
    entropy: read[offset + 3]!,
    channel,
    letters,
  };
}

/** Tag names as the core takes them. A line feed would make two names of one. */
function joined(tags: readonly string[]): string {
  const bad = tags.findIndex((tag) => tag.includes("\n"));
  if (bad >= 0) throw AssayError.field(`/tags/${bad}`, "must not contain a line feed", tags[bad]);
  return tags.join("\n");
}

const encoder = new TextEncoder();

/** A token to read, with what `decodeRead` must know about it. */
interface Position {
  readonly token: TokenLogprob | undefined;
  /** UTF-16 length of the part of the token that still belongs to the tag. */
  readonly prefix: number;
  /** 0 = more positions of this tag follow, 1 = the last one, 2 = the last one, and the answer ends there. */
  readonly last: 0 | 1 | 2;
}

/**
 * Reads positions: their sampled tokens and alternatives cross as one text, lengths and numbers. Answers come from
 * servers, so what isn't a string or a number is a blank or missing, never a crash.
 */
function readPositions(positions: readonly Position[], direction: Direction): Float64Array {
  let entries = positions.length;
  for (let i = 0; i < positions.length; i++) {
    const alternatives = positions[i]!.token?.top_logprobs;
    if (Array.isArray(alternatives)) entries += alternatives.length;
  }
  const lengths = new Uint32Array(entries);
  const logprobs = new Float64Array(entries);
  const shape = new Uint32Array(3 * positions.length);
  let text = "";
  let entry = 0;
  // Plain loops: a closure for the repeated lines costs as much as all the decoding.
  for (let i = 0; i < positions.length; i++) {
    const { token, prefix, last } = positions[i]!;
    const before = entry;
    const sampled: unknown = token?.token;
    if (typeof sampled === "string") {
      text += sampled;
      lengths[entry] = sampled.length;
    }
    logprobs[entry++] = typeof token?.logprob === "number" ? token.logprob : NaN;
    const alternatives = token?.top_logprobs;
    if (Array.isArray(alternatives)) {
      for (let k = 0; k < alternatives.length; k++) {
        const alternative: { token?: unknown; logprob?: unknown } | null = alternatives[k];
        const spelling = alternative?.token;
        if (typeof spelling === "string") {
          text += spelling;
          lengths[entry] = spelling.length;
        }
        const logprob = alternative?.logprob;
        logprobs[entry++] = typeof logprob === "number" ? logprob : NaN;
      }
    }
    shape[3 * i] = entry - before;
    shape[3 * i + 1] = prefix;
    shape[3 * i + 2] = last;
  }
  const bytes = encoder.encode(text);
  return call((core) => core.decodeRead(bytes, lengths, logprobs, shape, direction === "progress"));
}

/**
 * Scores at the last complete tag of each name, from tokens with alternatives (channel `logprobs`).
 * Linear in the number of tokens. Never throws for a strange answer: it is `unscored` with a reason.
 *
 * @param tokens the answer's tokens in order; `top_logprobs` are read at the score positions only
 * @param tags names without angle brackets, e.g. `score_A` or `c1`; compared exactly, letter case included
 * @returns one score per tag, in the order of `tags`. Without alternatives anywhere the tags that are there are
 * `no_logprobs`, and the caller may fall back to {@linkcode decodeText}
 * @throws {AssayError} `invalid_request` for a tag name that isn't 1 to 64 of `A-Za-z0-9_.-`
 *
 * @example
 * ```ts
 * import { decodeTokens } from "./decode.ts";
 *
 * const [score] = decodeTokens(
 *   [
 *     { token: "<score_A>", logprob: 0 },
 *     { token: " B", logprob: Math.log(0.9), top_logprobs: [{ token: " B", logprob: Math.log(0.9) }] },
 *   ],
 *   ["score_A"],
 *   "pairwise",
 * );
 * console.log(score); // value 18/19, letterMass 0.9
 * ```
 */
export function decodeTokens(
  tokens: readonly TokenLogprob[],
  tags: readonly string[],
  direction: Direction,
): readonly Score[] {
  if (tags.length === 0) return [];
  const lengths = new Uint32Array(tokens.length);
  let text = "";
  for (let i = 0; i < tokens.length; i++) {
    const token: unknown = tokens[i]?.token;
    if (typeof token !== "string") continue;
    text += token;
    lengths[i] = token.length;
  }
  const names = joined(tags);
  const bytes = encoder.encode(text);
  const located = call((core) => core.decodeLocate(bytes, lengths, names));
  const positions: Position[] = [];
  for (let tag = 0; tag < tags.length; tag++) {
    if (located[4 * tag] !== 0) continue;
    const first = located[4 * tag + 1]!;
    const cut = located[4 * tag + 2]! >= 0x8000_0000;
    const count = located[4 * tag + 2]! & 0x7fff_ffff;
    for (let i = 0; i < count; i++) {
      positions.push({
        token: tokens[first + i],
        prefix: i === 0 ? located[4 * tag + 3]! : 0,
        last: i + 1 < count ? 0 : cut ? 2 : 1,
      });
    }
  }
  const read = positions.length === 0 ? new Float64Array(0) : readPositions(positions, direction);
  let offset = -READ;
  return tags.map((_, tag) => {
    const status = located[4 * tag]!;
    return status === 0 ? scoreAt(read, offset += READ, "logprobs") : unscored(status, NaN);
  });
}

/**
 * Score of one token's distribution (channel `continuation`): the token after an open tag.
 * @returns a score, or `no_logprobs`, `no_letter` or `low_letter_mass`; never throws for a strange token
 */
export function decodeLetter(token: TokenLogprob, direction: Direction): Score {
  return scoreAt(readPositions([{ token, prefix: 0, last: 1 }], direction), 0, "continuation");
}

/**
 * The sampled letters in the last complete tag of each name (channel `explicit_tag`): the last opening tag behind the
 * reasoning (letter case of the name ignored), exactly one letter, the closing tag.
 *
 * @returns one score per tag; letter mass, entropy and letters are `null`, because one sampled letter has none
 * @throws {AssayError} `invalid_request` for a tag name that isn't 1 to 64 of `A-Za-z0-9_.-`
 */
export function decodeText(text: string, tags: readonly string[], direction: Direction): readonly Score[] {
  if (tags.length === 0) return [];
  const names = joined(tags);
  const read = call((core) => core.decodeTags(text, names, direction === "progress"));
  return tags.map((_, tag) => {
    const status = read[2 * tag]!;
    if (status !== 0) return unscored(status, NaN);
    return {
      kind: "scored",
      value: read[2 * tag + 1]!,
      letterMass: null,
      entropy: null,
      channel: "explicit_tag",
      letters: null,
    };
  });
}

/** Version of the decoder: changes whenever one answer can decode to another score. Part of the core's version. */
export function decoderVersion(): number {
  return call((core) => core.decoderVersion());
}
