/**
 * Where the judging happens: in this process, or on a server. Commands know only this.
 *
 * @module
 */
import type { BudgetStatus } from "../verifier/budget/budget.ts";
import type { DecisionRecord } from "../verifier/decisions/decisions.ts";
import type { DecisionPage } from "../verifier/decisions/store.ts";
import type { Replay } from "../verifier/decisions/replay.ts";
import type { StatisticGrouping, Statistics } from "../verifier/decisions/statistics.ts";
import type { BestOfNResult } from "../verifier/best_of_n/requests.ts";
import type { GateResult } from "../verifier/gate/requests.ts";
import type { SessionResult } from "../verifier/session/requests.ts";
import type { TrackerResult, TrackerUpdateResult } from "../verifier/tracker/requests.ts";
import type { ReviewList } from "../verifier/reviews/requests.ts";
import type { JudgeProbe } from "../verifier/probe.ts";
import type { ProfileInfo } from "../verifier/judges/judge.ts";
import type {
  CallOptions,
  CompareResult,
  PlanResult,
  SelectResult,
  TrackResult,
  Usage,
} from "../verifier/types.ts";

/** What `status` shows. */
export interface StatusInfo {
  readonly coreVersion: string;
  readonly promptVersion: string;
  readonly defaultJudge: string;
  readonly judges: readonly ProfileInfo[];
  readonly store: { readonly kind: string; readonly healthy: boolean; readonly detail?: string };
  /** Only a server has them. */
  readonly uptimeSeconds?: number;
  readonly usage?: Usage;
  /** The caller's own daily budget; `null` without one. */
  readonly budget?: BudgetStatus | null;
}

/** Runs that are followed step by step. */
export interface TrackerBackend {
  start(
    request: unknown,
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly warnings: readonly string[] }>;
  update(
    id: string,
    request: unknown,
    options: CallOptions & { readonly idempotencyKey?: string },
  ): Promise<TrackerUpdateResult | PlanResult>;
  read(id: string, signal: AbortSignal): Promise<TrackerResult>;
  delete(id: string, signal: AbortSignal): Promise<void>;
}

/** Requests are plain objects as on the wire; they are checked on the other side of this interface, once. */
export interface Backend {
  /** For messages: `this process` or the server's URL. */
  readonly place: string;
  compare(request: unknown, options: CallOptions): Promise<CompareResult | PlanResult>;
  select(request: unknown, options: CallOptions): Promise<SelectResult | PlanResult>;
  track(request: unknown, options: CallOptions): Promise<TrackResult | PlanResult>;
  session(request: unknown, options: CallOptions): Promise<SessionResult | PlanResult>;
  gate(request: unknown, options: CallOptions): Promise<GateResult | PlanResult>;
  bestOfN(request: unknown, options: CallOptions): Promise<BestOfNResult | PlanResult>;
  readonly trackers: TrackerBackend;
  status(signal: AbortSignal): Promise<StatusInfo>;
  probe(judge: string | undefined, signal: AbortSignal): Promise<readonly JudgeProbe[]>;
  /** One page of decisions, newest first. */
  decisions(
    options: { readonly verb?: string; readonly limit: number; readonly cursor?: string },
    signal: AbortSignal,
  ): Promise<DecisionPage>;
  decision(id: string, signal: AbortSignal): Promise<DecisionRecord>;
  replay(id: string, signal: AbortSignal): Promise<Replay>;
  /** All records of the time, added up. */
  statistics(
    query: { readonly from?: string; readonly to?: string; readonly group: StatisticGrouping },
    signal: AbortSignal,
  ): Promise<Statistics>;
  /** The newest reviews of a session. */
  reviews(
    query: { readonly session: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<ReviewList>;
  close(): Promise<void>;
}
