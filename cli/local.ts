/**
 * The backend in this process: configuration, store and judges as the server would have them, without HTTP.
 *
 * @module
 */
import { type DenoOptions, openVerifier } from "../runtime/deno.ts";
import { compare } from "../verifier/compare.ts";
import { coreVersion, promptVersion } from "../verifier/core.ts";
import { listDecisions, readDecision } from "../verifier/decisions/store.ts";
import { replayDecision } from "../verifier/decisions/replay.ts";
import {
  MAXIMUM_STATISTIC_PAGE,
  readAllStatistics,
  readStatistics,
  readTimes,
} from "../verifier/decisions/statistics.ts";
import { probeJudges } from "../verifier/probe.ts";
import {
  compareRequestSchema,
  parseRequest,
  selectRequestSchema,
  trackRequestSchema,
} from "../verifier/requests.ts";
import { select } from "../verifier/select/select.ts";
import { bestOfN } from "../verifier/best_of_n/best_of_n.ts";
import { bestOfNRequestSchema } from "../verifier/best_of_n/requests.ts";
import { gate } from "../verifier/gate/gate.ts";
import { gateRequestSchema } from "../verifier/gate/requests.ts";
import { session } from "../verifier/session/session.ts";
import { sessionRequestSchema } from "../verifier/session/requests.ts";
import { track } from "../verifier/track.ts";
import { deleteTracker, readTracker, startTracker, updateTracker } from "../verifier/tracker/tracker.ts";
import { trackerStartSchema, trackerUpdateSchema } from "../verifier/tracker/requests.ts";
import { redact } from "../verifier/redaction/redact.ts";
import { createReviewLedger } from "../verifier/reviews/ledger.ts";
import type { Backend } from "./backend.ts";
import type { Io } from "./io.ts";
import { escapeLines } from "./text.ts";

/** Where the configuration and the score cache are. */
export interface LocalOptions {
  readonly config: string | undefined;
  readonly store: string | undefined;
}

/** The options of the runtime for these options of the command line. */
export function runtimeOptions({ config, store }: LocalOptions, io: Io): DenoOptions {
  return {
    env: io.env,
    log: (line) => io.err(`${escapeLines(line)}\n`),
    ...(config === undefined ? {} : { configPath: config }),
    ...(store === undefined
      ? {}
      : { store: store === "memory" ? { kind: "memory" } : { kind: "deno-kv", path: store } }),
  };
}

/** Starts the verifier. @throws StartError, {AssayError} with a message for the user */
export async function localBackend(options: LocalOptions, io: Io): Promise<Backend> {
  const { environment, close } = await openVerifier(runtimeOptions(options, io));
  return {
    place: "this process",
    compare: async (request, call) =>
      await compare(environment, parseRequest(compareRequestSchema, request), call),
    select: async (request, call) =>
      await select(environment, parseRequest(selectRequestSchema, request), call),
    track: async (request, call) => await track(environment, parseRequest(trackRequestSchema, request), call),
    gate: async (request, call) => await gate(environment, parseRequest(gateRequestSchema, request), call),
    bestOfN: async (request, call) =>
      await bestOfN(environment, parseRequest(bestOfNRequestSchema, request), call),
    session: async (request, call) =>
      await session(environment, parseRequest(sessionRequestSchema, request), call),
    trackers: {
      start: async (request) => await startTracker(environment, parseRequest(trackerStartSchema, request)),
      update: async (id, request, call) =>
        await updateTracker(environment, id, parseRequest(trackerUpdateSchema, request), call),
      read: (id) => readTracker(environment, id),
      delete: (id) => deleteTracker(environment, id),
    },
    status: () =>
      Promise.resolve({
        coreVersion: coreVersion(),
        promptVersion: promptVersion(),
        defaultJudge: environment.judges.defaultProfile,
        judges: environment.judges.profiles(),
        store: { kind: environment.store.kind, healthy: true },
      }),
    probe: (judge, signal) =>
      probeJudges(compare, environment, judge === undefined ? { signal } : { judge, signal }),
    decisions: (options) => listDecisions(environment.store, options),
    decision: (id) => readDecision(environment.store, id),
    replay: async (id) => replayDecision(await readDecision(environment.store, id)),
    statistics: async ({ from, to, group }) => {
      const times = readTimes(from, to);
      return await readAllStatistics((cursor) =>
        readStatistics(environment.store, {
          ...times,
          group,
          limit: MAXIMUM_STATISTIC_PAGE,
          ...(cursor === undefined ? {} : { cursor }),
        })
      );
    },
    reviews: ({ session, limit }) =>
      createReviewLedger(environment.store, {
        log: (line) => io.err(`${escapeLines(line)}\n`),
        redact: environment.redact ?? redact,
      }).list(null, session, limit),
    close,
  };
}
