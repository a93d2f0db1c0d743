/**
 * The compact record that statistics are counted from: written with each decision, under the same id, and kept longer.
 *
 * @module
 */
import type { DecisionRecord } from "./decisions.ts";
import type { Channel, UnscoredReason, Usage } from "../types.ts";

/** Version of statistic records. */
export const STATISTIC_FORMAT = 1;

/** One invocation in numbers. */
export interface StatisticRecord {
  readonly format: typeof STATISTIC_FORMAT;
  /** The decision's id. */
  readonly id: string;
  readonly verb: string;
  /** Id of the session or tracker, else `null`. */
  readonly session: string | null;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** `null` for success, else the problem's code. */
  readonly problem: string | null;
  /** Profiles in the order of their first call. */
  readonly judges: readonly string[];
  readonly rubric: string | null;
  readonly usage: Usage;
  /** Parts with a score by channel. */
  readonly channels: Readonly<Partial<Record<Channel, number>>>;
  /** Parts without a score by reason. */
  readonly unscored: Readonly<Partial<Record<UnscoredReason, number>>>;
}

/** A decision in numbers. */
export function statisticOf(record: DecisionRecord): StatisticRecord {
  const channels: Partial<Record<Channel, number>> = {};
  const unscored: Partial<Record<UnscoredReason, number>> = {};
  for (const score of record.calls.flatMap(({ scores }) => scores)) {
    if (score.kind === "scored") channels[score.channel] = (channels[score.channel] ?? 0) + 1;
    else unscored[score.reason] = (unscored[score.reason] ?? 0) + 1;
  }
  return {
    format: STATISTIC_FORMAT,
    id: record.id,
    verb: record.verb,
    session: record.topic === record.verb ? null : record.topic,
    startedAt: record.startedAt,
    durationMs: record.durationMs,
    problem: record.problem?.code ?? null,
    judges: [...new Set(record.calls.map(({ judge }) => judge))],
    rubric: rubricOf(record),
    usage: record.usage,
    channels,
    unscored,
  };
}

function rubricOf({ outlines }: DecisionRecord): string | null {
  for (const outline of [outlines[""], ...Object.values(outlines)]) {
    const rubric = outline?.rubric;
    if (
      typeof rubric === "object" && rubric !== null && "name" in rubric && typeof rubric.name === "string"
    ) {
      return rubric.name;
    }
  }
  return null;
}
