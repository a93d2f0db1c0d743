/* tslint:disable */
/* eslint-disable */

/**
 * Panics, so that the tests of the loader can see a real trap.
 */
export function __trapForTests(): void;

export function __wbg_reset_state(): void;

/**
 * Token of a block. The text itself doesn't come back: the caller has it, and copying megabytes isn't free.
 */
export function blockToken(secret: string, text: string): string;

/**
 * Version of this crate, from Cargo.toml, and of the decoder: one of them changes whenever a score may.
 */
export function coreVersion(): string;

/**
 * Names in, and for each the pinned id; JSON array of ids out. `pinned` says which ids are there: the others are empty.
 */
export function criterionIds(joined: string, lengths: Uint32Array | number[], pinned: Uint8Array | number[]): string;

/**
 * Where each tag's score stands. `tags` are joined by line feeds, `lengths` are UTF-16 lengths of the tokens.
 * Four numbers per tag: 0 = found or the status, first token, number of tokens (+ 2^31 if the answer ends with them
 * and all are blank), UTF-16 length of the tag's part of the first token.
 */
export function decodeLocate(text: Uint8Array | number[], lengths: Uint32Array | number[], tags: string): Uint32Array;

/**
 * Reads positions. `text` and `lengths` hold, for each position, the sampled token and its alternatives, `logprobs`
 * their log-probabilities (`NaN` = missing); `shape` three numbers per position: entries (sampled token included),
 * UTF-16 length of the tag's part of the sampled token, and 0 = the next position is of the same tag,
 * 1 = last position of its tag, 2 = last one, and the answer ends here.
 * 24 numbers per tag: status, value, letter mass (also with status 4), entropy, 20 letters; `NaN` where there is none.
 */
export function decodeRead(text: Uint8Array | number[], lengths: Uint32Array | number[], logprobs: Float64Array | number[], shape: Uint32Array | number[], progress: boolean): Float64Array;

/**
 * The sampled letters of a text. Two numbers per tag: status and value (`NaN` where there is none).
 */
export function decodeTags(text: string, tags: string, progress: boolean): Float64Array;

/**
 * Version of the decoder.
 */
export function decoderVersion(): number;

/**
 * Text out.
 */
export function draftPrompt(request: string, context: string | null | undefined, draft: number, drafts: number): string;

/**
 * Size of the linear memory, which only ever grows: the tests look for leaks with it. 0 outside wasm.
 */
export function memoryBytes(): number;

/**
 * JSON of `PairwiseFrame` out. Plain arguments.
 */
export function pairwiseFrame(note: string, has_context: boolean, images: number, is_proposal: boolean): string;

/**
 * A criterion in, text out.
 */
export function pairwiseSuffix(id: string, name: string, description: string): string;

/**
 * Markdown in, JSON of a rubric out.
 */
export function parseRubric(markdown: string): string;

/**
 * See `schedule::pivot_pairs`.
 */
export function pivotPairs(count: number, pivots: Float64Array | number[], bought: Float64Array | number[]): Uint32Array;

/**
 * See `rating::probability_right`.
 */
export function probabilityRight(count: number, calls: Float64Array | number[], prior_means: Float64Array | number[], pick: number, pair_accuracy: number, pass_rate: number): number;

/**
 * Id, name and description of each criterion in, JSON of `ProgressFrame` out.
 */
export function progressFrame(note: string, criteria: string, lengths: Uint32Array | number[], has_context: boolean, images: number): string;

/**
 * Ascending 1-based steps in, text out.
 */
export function progressSuffix(checkpoints: Uint32Array | number[], step_count: number): string;

/**
 * Version of the prompt texts.
 */
export function promptVersion(): string;

/**
 * Text in, text with marker lines quoted out.
 */
export function quoteMarkers(text: string): string;

/**
 * See `rating::Rating`. Slot bias, noise scale, cycle residual (`NaN` = none); then strengths, standard errors and
 * probabilities of being best, `count` of each.
 */
export function rate(count: number, calls: Float64Array | number[], prior_means: Float64Array | number[]): Float64Array;

/**
 * Steps in, JSON array of texts out. Each step's texts are its message, commands and outputs; `counts` holds two
 * numbers per step: commands and outputs.
 */
export function renderSteps(joined: string, lengths: Uint32Array | number[], counts: Uint32Array | number[], first_number: number): string;

/**
 * See `schedule::ring_pairs`.
 */
export function ringPairs(count: number, seed: number): Uint32Array;

/**
 * See `schedule::round_robin_pairs`.
 */
export function roundRobinPairs(count: number, seed: number): Uint32Array;

/**
 * See `schedule::shuffled_indices`.
 */
export function shuffledIndices(count: number, seed: number): Uint32Array;

/**
 * See `schedule::upstream_pivot_round`.
 */
export function upstreamPivotRound(count: number, pivots: Float64Array | number[]): Uint32Array;

/**
 * See `schedule::upstream_pivots`, from wins and games as `upstreamStandings` gives them.
 */
export function upstreamPivots(wins: Float64Array | number[], games: Float64Array | number[], pivots: number): Uint32Array;

/**
 * See `schedule::upstream_rings`; the rings one behind the other.
 */
export function upstreamRings(counts: Float64Array | number[], seed: number): Uint32Array;

/**
 * See `schedule::upstream_standings`: the wins, then the games. Rewards cross like pairs.
 */
export function upstreamStandings(count: number, pairs: Float64Array | number[], rewards: Float64Array | number[]): Float64Array;
