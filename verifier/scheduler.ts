/**
 * Bounded adaptive concurrency per profile, warm-up per prefix, joining of identical calls.
 *
 * @module
 */

/** Shared by all requests of one process. (Being built.) */
export interface Scheduler {
  readonly kind: "scheduler";
}
