/**
 * What every verb needs from outside. Built once per process (Deno, command line) or isolate (Workers); nothing in
 * `verifier/` names a runtime.
 *
 * @module
 */
import type { Store } from "../store/store.ts";
import type { DecisionSettings } from "./decisions/settings.ts";
import type { JudgeRegistry } from "./judges/judge.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";

/** The verifier's surroundings. */
export interface Environment {
  /** Profiles of the configuration, bound on demand. */
  readonly judges: JudgeRegistry;
  /** Holds the score cache under `score/`. */
  readonly store: Store;
  /** Key of the block delimiters. */
  readonly delimiterSecret: string;
  /** Bounded concurrency per profile, prefix warm-up and joining of identical calls; shared by all requests. */
  readonly scheduler: Scheduler;
  /** How many decisions are kept, and for how long statistics. Default: 200 per topic, 400 days. */
  readonly decisions?: DecisionSettings;
  /** Takes secrets out of what is stored. Default: `redact`, which knows no secret of this server by value. */
  readonly redact?: (text: string) => string;
}

/** Name of the variable that overrides the stored delimiter secret. */
export const DELIMITER_SECRET_VARIABLE = "ASSAY_DELIMITER_SECRET";
const SECRET_KEY = "secret/delimiter";
const MINIMUM_SECRET_LENGTH = 16;

/**
 * The key of the block delimiters: `ASSAY_DELIMITER_SECRET`, else the one in the store, else a new one (32 random
 * bytes, hex) that is stored unless another process was first. All processes of one store end up with the same key,
 * so prompts, and with them score cache keys, are the same everywhere.
 *
 * @param variables environment variables
 * @throws {Error} when the variable is shorter than 16 characters, or the store holds no text
 * @throws {StoreError} when the store can't be reached
 */
export async function ensureDelimiterSecret(
  store: Store,
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<string> {
  const given = variables[DELIMITER_SECRET_VARIABLE];
  if (given !== undefined && given !== "") {
    if (given.length < MINIMUM_SECRET_LENGTH) {
      throw new Error(`${DELIMITER_SECRET_VARIABLE} must have at least ${MINIMUM_SECRET_LENGTH} characters`);
    }
    return given;
  }
  for (let attempt = 0; attempt < 2; attempt++) {
    const stored = await store.get(SECRET_KEY);
    if (stored !== null) return new TextDecoder("utf-8", { fatal: true }).decode(stored.value);
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const secret = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const version = await store.put(SECRET_KEY, new TextEncoder().encode(secret), { ifVersion: null });
    if (version !== null) return secret;
  }
  throw new Error("the delimiter secret can't be stored: another process writes and removes it");
}

/** What an environment is made of. */
export interface EnvironmentOptions {
  /** Profiles of the configuration, bound on demand. */
  readonly judges: JudgeRegistry;
  /** Where the score cache and the delimiter secret are kept. */
  readonly store: Store;
  /** Default: `ensureDelimiterSecret(store, variables)`. */
  readonly delimiterSecret?: string;
  /** Environment variables, for `ASSAY_DELIMITER_SECRET`. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Default: a new one. One per process, or calls of two requests can't be bounded together. */
  readonly scheduler?: Scheduler;
  /** How many decisions are kept, and for how long statistics. Default: 200 per topic, 400 days. */
  readonly decisions?: DecisionSettings;
  /** Takes secrets out of what is stored, those of this server's configuration by value. Default: `redact`. */
  readonly redact?: (text: string) => string;
}

/** Builds the verifier's surroundings. @throws as `ensureDelimiterSecret` does */
export async function createEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { judges, store, variables, scheduler = createScheduler() } = options;
  const delimiterSecret = options.delimiterSecret ?? await ensureDelimiterSecret(store, variables);
  return {
    judges,
    store,
    delimiterSecret,
    scheduler,
    ...(options.decisions === undefined ? {} : { decisions: options.decisions }),
    ...(options.redact === undefined ? {} : { redact: options.redact }),
  };
}
