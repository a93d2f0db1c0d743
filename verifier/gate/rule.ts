/**
 * The rule that decides whether finished work is accepted: the gate, a session's acceptance and best-of-N share it.
 *
 * @module
 */
import { TIE_TOLERANCE, weightedMean } from "../math.ts";

/**
 * The other side of every acceptance: an attempt in which nothing was done and nothing was checked. Finished work must
 * beat it, and its text is part of the prompt, so a change of it moves cache keys.
 */
export const EMPTY_WORK_BASELINE =
  "The attempt ended without any work: nothing was read, changed, produced or answered, no command was run, and no " +
  "result was checked.";

/** Default of the mean score that accepted work needs: letter G (0.684) passes, H (0.632) doesn't. */
export const DEFAULT_THRESHOLD = 0.65;

/** One criterion of work measured against the empty baseline. */
export interface MeasuredCriterion {
  /** Id of the criterion in its rubric. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Positive. */
  readonly weight: number;
  /** Mean score of the work, 0 to 1; `null` where no call was scored. */
  readonly score: number | null;
  /** The same of the baseline. */
  readonly baseline: number | null;
  /** Calls in which a side has no score. */
  readonly unscored: number;
}

/** What the rule asks for. */
export interface AcceptanceLimits {
  /** Least mean score, 0 to 1. */
  readonly threshold: number;
  /** Least score of single criteria by id; default the threshold. */
  readonly floors?: Readonly<Record<string, number>>;
}

/** A criterion that is below its floor. */
export interface FailedCriterion {
  /** Id of the criterion in its rubric. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Its score, 0 to 1. */
  readonly score: number;
  /** What it would have needed. */
  readonly floor: number;
}

/** What the rule says of a measurement. */
export interface RuleVerdict {
  /**
   * `accept`: beats the baseline, mean and every criterion high enough. `steer`: a complete measurement says
   * otherwise. `open`: a part has no score, so there is nothing that a steer could rest on.
   */
  readonly decision: "accept" | "steer" | "open";
  /** Weighted mean score of the work; `null` when a criterion has none. */
  readonly score: number | null;
  /** The same of the baseline. */
  readonly baselineScore: number | null;
  /** Whether the work's mean is above the baseline's by more than 1e-9; `null` without both. */
  readonly beatsBaseline: boolean | null;
  /** Criteria with a score below their floor, in the rubric's order. */
  readonly failing: readonly FailedCriterion[];
}

/** The floor of a criterion. */
export function floorOf(id: string, { threshold, floors }: AcceptanceLimits): number {
  return floors !== undefined && Object.hasOwn(floors, id) ? floors[id] ?? threshold : threshold;
}

/**
 * Applies the rule: accept iff the work beats the baseline, its weighted mean is at least `threshold` and every
 * criterion at least its floor. Scores count as equal within 1e-9, so that a mean of equal scores never fails by
 * rounding.
 *
 * A missing score never decides against the work. With a criterion that has no score at all, or no criteria, the
 * verdict is `open`; with some calls unscored the rest may accept, but never steer. A score that is no number from 0
 * to 1 counts as missing.
 */
export function applyRule(criteria: readonly MeasuredCriterion[], limits: AcceptanceLimits): RuleVerdict {
  const scoresOf = (side: "score" | "baseline"): number | null => {
    const parts = criteria.map((criterion) => ({ value: criterion[side], weight: criterion.weight }));
    return parts.every(isReadable) ? weightedMean(parts) : null;
  };
  const score = scoresOf("score");
  const baselineScore = scoresOf("baseline");
  const failing = criteria.flatMap(({ id, name, score }): FailedCriterion[] => {
    const floor = floorOf(id, limits);
    return isUnit(score) && score < floor - TIE_TOLERANCE ? [{ id, name, score, floor }] : [];
  });
  const beatsBaseline = score === null || baselineScore === null
    ? null
    : score - baselineScore > TIE_TOLERANCE;
  const passes = beatsBaseline === true && failing.length === 0 && score !== null &&
    score >= limits.threshold - TIE_TOLERANCE;
  const complete = beatsBaseline !== null && criteria.every(({ unscored }) => unscored === 0);
  return {
    decision: passes ? "accept" : complete ? "steer" : "open",
    score,
    baselineScore,
    beatsBaseline,
    failing,
  };
}

const isUnit = (value: number | null): value is number => value !== null && value >= 0 && value <= 1;

function isReadable(part: { readonly value: number | null; readonly weight: number }): part is {
  readonly value: number;
  readonly weight: number;
} {
  return isUnit(part.value);
}
