/**
 * How long decisions and statistics are kept.
 *
 * @module
 */

/** How long things are kept. */
export interface DecisionSettings {
  /** Newest decisions of each topic (verb, session or tracker) that are kept; 0 keeps none. */
  readonly keep: number;
  /** Days that statistics are kept, and decisions at most. */
  readonly statisticsDays: number;
}

/** Used where the configuration says nothing. */
export const DEFAULT_DECISION_SETTINGS: DecisionSettings = { keep: 200, statisticsDays: 400 };
