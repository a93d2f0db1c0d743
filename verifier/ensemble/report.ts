/**
 * What a result says of the judges of an ensemble.
 *
 * @module
 */
import type { Judge } from "../judges/judge.ts";
import type { Warnings } from "../text.ts";
import type { JudgeSummary, Score } from "../types.ts";
import { listReasons } from "../verb.ts";

/** As much of a judge as reports need. */
export interface JudgeNames extends Pick<Judge, "profile"> {
  /** The judges of an ensemble. */
  readonly members?: readonly Pick<Judge, "profile" | "model">[];
}

/** The ensemble's part of a result; nothing for a single judge. */
export interface EnsembleReport {
  readonly judges?: readonly JudgeSummary[];
  /** Share of the judges with a winner of their own whose winner is the final one; `null` when none has one. */
  readonly agreement?: number | null;
}

/** What one judge of an ensemble did. */
export interface JudgeWork {
  /** All parts of its calls. */
  readonly scores: readonly Score[];
  /** Its own winner, from its own calls alone; `null` where they give none, absent for a verb without winners. */
  readonly winner?: JudgeSummary["winner"] | null;
}

/** Summaries of an ensemble's judges, and how many of them come to the final verdict by themselves. */
export function reportEnsemble(
  judge: JudgeNames,
  workOf: (index: number) => JudgeWork,
  final: JudgeSummary["winner"] | null,
): EnsembleReport {
  if (judge.members === undefined) return {};
  const judges = judge.members.map(({ profile, model }, index): JudgeSummary => {
    const { scores, winner } = workOf(index);
    const scored = scores.filter(({ kind }) => kind === "scored").length;
    const problem = listReasons(scores);
    return {
      profile,
      model,
      scored,
      unscored: scores.length - scored,
      ok: scored > 0,
      ...(winner === undefined || winner === null ? {} : { winner }),
      ...(problem === "" ? {} : { problem }),
    };
  });
  const winners = judges.flatMap(({ winner }) => winner === undefined ? [] : [winner]);
  return {
    judges,
    agreement: winners.length === 0
      ? null
      : winners.filter((winner) => winner === final).length / winners.length,
  };
}

/** Warns of judges that were dropped, somewhere or everywhere. */
export function warnOfDropped(judges: readonly JudgeSummary[] | undefined, warnings: Warnings): void {
  if (judges === undefined) return;
  for (const { profile, model, scored, unscored, problem } of judges) {
    if (unscored === 0) continue;
    const where = scored === 0
      ? "scored nothing and was dropped"
      : `was dropped where it gave no score (${unscored} of ${scored + unscored} parts)`;
    warnings.add(`judge ${profile} (${model}) ${where}: ${problem}`);
  }
  const left = judges.filter(({ ok }) => ok);
  const [only] = left;
  if (left.length === 1 && only !== undefined) {
    warnings.add(
      `of ${judges.length} judges only ${only.profile} (${only.model}) scored: this is one judge's verdict`,
    );
  }
}
