/**
 * The Rust core as typed functions. Calls carry numbers, typed arrays or one string; errors are values on the wasm
 * side and `AssayError`s here; a wasm trap fails this one call and the next one gets a fresh instance.
 *
 * @module
 */
export {
  coreVersion,
  delimitBlock,
  delimitHashed,
  draftPrompt,
  HEADINGS,
  type PairwiseFrame,
  pairwiseFrame,
  pairwiseSuffix,
  type ProgressFrame,
  progressFrame,
  progressSuffix,
  promptVersion,
  quoteMarkers,
  renderSteps,
} from "./core/prompts.ts";
export { criterionIds, parseRubricMarkdown } from "./core/rubric.ts";
export {
  decodeLetter,
  decoderVersion,
  decodeText,
  decodeTokens,
  type Direction,
  MINIMUM_LETTER_MASS,
} from "./core/decode.ts";
export {
  type JudgedPair,
  type Pair,
  pivotPairs,
  ringPairs,
  roundRobinPairs,
  shuffledIndices,
  type Standings,
  upstreamPivotRound,
  upstreamPivots,
  upstreamRing,
  upstreamRings,
  upstreamStandings,
} from "./core/schedule.ts";
export { type Observation, probabilityRight, rate, type Rating } from "./core/rating.ts";
