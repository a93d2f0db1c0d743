/**
 * What every verb needs from outside. Built once per process (Deno, command line) or isolate (Workers); nothing in
 * `verifier/` names a runtime.
 *
 * @module
 */
import type { Store } from "../store/store.ts";
import type { JudgeRegistry } from "./judges/judge.ts";
import type { Scheduler } from "./scheduler.ts";

/** The verifier's surroundings. */
export interface Environment {
  readonly judges: JudgeRegistry;
  /** Holds the score cache under `score/`. */
  readonly store: Store;
  /** Key of the block delimiters. */
  readonly delimiterSecret: string;
  /** Bounded concurrency per profile, prefix warm-up and joining of identical calls; shared by all requests. */
  readonly scheduler: Scheduler;
}
