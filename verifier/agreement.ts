/**
 * How far each of three or more candidates agrees with the others: overlap of what they did and what came out.
 *
 * Right solutions resemble each other more than wrong ones do, so with five candidates this is the strongest signal
 * that needs no model; with three it is weak, and where all err alike it is a trap. Costs no call.
 *
 * @module
 */
import { actingSteps } from "./judges/evidence/features.ts";
import { lastCodePoints, OVERLAP_TOKEN } from "./judges/evidence/patterns.ts";
import { readSteps } from "./judges/evidence/view.ts";
import { EVIDENCE_WEIGHTS } from "./judges/evidence/weights.ts";

/** One candidate's agreement with the others. */
export interface Agreement {
  /** Mean overlap (Jaccard) of closing commands and of last outputs with the other candidates, 0 to 1; shown to people. */
  readonly mean: number;
  /**
   * Mean of the three overlaps' distances from the candidates' mean, each in units of its usual spread within a task
   * and clipped to ±2: -2 to 2, typically ±0.5. A prior mean of a strength is a scale times this.
   */
  readonly standardized: number;
}

/** The three overlaps as they are, each 0 to 1. */
export interface Overlaps {
  /** Jaccard overlap of the tokens in the commands of the last five acting steps. */
  readonly agree_cmd: number;
  /** The same for the outputs of the last three. */
  readonly agree_out: number;
  /** Share of a candidate's command tokens that the others have too. */
  readonly agree_all: number;
}

/**
 * Scale, in strength (score) units, of the prior mean for a `select` with the `evidence` judge: a candidate's prior
 * mean is this times {@linkcode Agreement.standardized}.
 *
 * Chosen on the 38 mixed tasks that the judge was fitted on (five candidates, rubric `general`, every pair once), to
 * come closest to the model that was fitted to lists of five (86 % of pairs, 92 % of picks): 0 gives 80 and 82, 0.1
 * gives 83 and 89, 0.2 gives 84 and 92, 0.3 to 1 give 83 to 84 and 89. On the 18 tasks that had no part in the fit, a
 * second look: 0 gives 70 and 56, 0.2 gives 77 and 61, 0.3 gives 79 and 67, the list model 79 and 67. The
 * candidates' scores typically differ by 0.1, and so do these prior means.
 */
export const EVIDENCE_AGREEMENT_PRIOR = 0.2;

/** A candidate far from all others must not count for more than this, in units of the usual spread. */
const CLIP = 2;

/** With more candidates than this, each is compared with so many others only (the same ones for all, by content). */
const MOST_OTHERS = 64;

/**
 * Agreement of candidates, in order. Identical texts count once (a copy is no second witness) and get equal figures.
 *
 * @param task the task's text; its own words count for nothing
 * @param texts rendered trajectories
 * @returns `null` with fewer than three different texts
 */
export function agreement(task: string, texts: readonly string[]): readonly Agreement[] | null {
  const distinct = [...new Set(texts)];
  if (distinct.length < 3) return null;
  const all = overlaps(task, distinct);
  const standardized = standardizeOverlaps(all);
  const results = new Map<string, Agreement>();
  distinct.forEach((text, i) => {
    const { agree_cmd, agree_out } = all[i]!;
    results.set(text, { mean: (agree_cmd + agree_out) / 2, standardized: standardized[i]! });
  });
  return texts.map((text) => results.get(text)!);
}

const OVERLAPS = ["agree_cmd", "agree_out", "agree_all"] as const;

/** {@linkcode Agreement.standardized} of each candidate, from the overlaps of all. */
export function standardizeOverlaps(all: readonly Overlaps[]): readonly number[] {
  const spreads = EVIDENCE_WEIGHTS.list.groups.agreement?.features ?? {};
  const scores = all.map(() => 0);
  for (const name of OVERLAPS) {
    const average = all.reduce((sum, one) => sum + one[name], 0) / all.length;
    all.forEach((one, i) => {
      const distance = (one[name] - average) / (spreads[name]?.[1] ?? 1);
      scores[i]! += Math.max(-CLIP, Math.min(CLIP, distance)) / OVERLAPS.length;
    });
  }
  return scores;
}

/** The three overlaps of each text with the others, copies counted as they come. */
export function overlaps(task: string, texts: readonly string[]): readonly Overlaps[] {
  const vocabulary = new Map<string, number>();
  const known = new Set(task.match(OVERLAP_TOKEN) ?? []);
  const sides = texts.map((text) => tokensOf(text, known, vocabulary));
  const panel = sides.length <= MOST_OTHERS + 1 ? sides : panelOf(sides, texts);
  const marked = new Uint8Array(vocabulary.size);
  return sides.map((side) => {
    const others = panel.filter((other) => other !== side);
    const mean = (value: (other: Tokens) => number) =>
      others.reduce((sum, other) => sum + value(other), 0) / Math.max(1, others.length);
    const shared = (key: keyof Tokens) => {
      for (const token of side[key]) marked[token] = 1;
      const counts = new Map(others.map((other) => [other, countMarked(other[key], marked)]));
      for (const token of side[key]) marked[token] = 0;
      return (other: Tokens) => counts.get(other) ?? 0;
    };
    const jaccard = (key: keyof Tokens) => {
      const common = shared(key);
      return mean((other) =>
        common(other) / Math.max(1, side[key].length + other[key].length - common(other))
      );
    };
    const common = shared("commands");
    return {
      agree_cmd: jaccard("closingCommands"),
      agree_out: jaccard("lastOutputs"),
      agree_all: mean(common) / Math.max(1, side.commands.length),
    };
  });
}

/** Distinct tokens as numbers of the vocabulary. */
interface Tokens {
  readonly closingCommands: Int32Array;
  readonly lastOutputs: Int32Array;
  readonly commands: Int32Array;
}

const OUTPUT_TAIL = 20_000;

function tokensOf(text: string, known: ReadonlySet<string>, vocabulary: Map<string, number>): Tokens {
  const acts = actingSteps(readSteps(text));
  const distinct = (parts: readonly string[]): Int32Array => {
    const found = new Set<number>();
    for (const part of parts) {
      for (const [token] of part.matchAll(OVERLAP_TOKEN)) {
        if (known.has(token)) continue;
        let id = vocabulary.get(token);
        if (id === undefined) vocabulary.set(token, id = vocabulary.size);
        found.add(id);
      }
    }
    return Int32Array.from(found);
  };
  return {
    closingCommands: distinct(acts.slice(-5).flatMap((act) => act.commands)),
    lastOutputs: distinct(
      acts.slice(-3).flatMap((act) => act.outputs.filter((output) => output.credit))
        .map((output) => lastCodePoints(output.text, OUTPUT_TAIL)),
    ),
    commands: distinct(acts.flatMap((act) => act.commands)),
  };
}

function countMarked(tokens: Int32Array, marked: Uint8Array): number {
  let count = 0;
  for (const token of tokens) count += marked[token]!;
  return count;
}

/** The same others for every candidate and for every order of the candidates: those whose text hashes lowest. */
function panelOf(sides: readonly Tokens[], texts: readonly string[]): readonly Tokens[] {
  return sides
    .map((side, i) => ({ side, hash: hashOf(texts[i]!), text: texts[i]! }))
    .sort((a, b) => a.hash - b.hash || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .slice(0, MOST_OTHERS)
    .map(({ side }) => side);
}

/** FNV-1a over UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
