/**
 * What every runtime does once it has a configuration and a store: judges, environment, app.
 *
 * @module
 */
import type { Hono } from "hono";
import { createApp } from "../app.ts";
import type { AppTypes } from "../routes/operation.ts";
import type { Store } from "../store/store.ts";
import { type Config, type ReadEnvironment, readTokens } from "../verifier/config/config.ts";
import { createEnvironment, DELIMITER_SECRET_VARIABLE, type Environment } from "../verifier/environment.ts";
import { createCapabilityMemory } from "../verifier/judges/capabilities.ts";
import { createJudgeRegistry, type RegistryOptions } from "../verifier/judges/registry.ts";
import type { Scheduler } from "../verifier/scheduler.ts";
import { redact } from "../verifier/redaction/redact.ts";

/** What a runtime found. */
export interface Found {
  readonly config: Config;
  readonly store: Store;
  readonly env: ReadEnvironment;
  readonly runtime: { readonly name: string; readonly version: string | null };
  /** Reads the file of a replay judge; absent where there are no files. */
  readonly readText?: RegistryOptions["readText"];
  /** Default: one for the whole process. */
  readonly scheduler?: Scheduler;
  /** Takes lines for the operator, already without secrets. @default console.error */
  readonly log?: (line: string) => void;
}

/** What the command line needs: the verifier without HTTP. @throws {AssayError} {StoreError} {Error} as its parts do */
export async function startEnvironment(found: Found): Promise<Environment> {
  const { config, store, env, readText } = found;
  const log = logger(found);
  const judges = createJudgeRegistry(config, {
    env,
    capabilities: createCapabilityMemory({ store, onWarning: log }),
    ...(readText === undefined ? {} : { readText }),
  });
  return await createEnvironment({
    judges,
    store,
    ...(found.scheduler === undefined ? {} : { scheduler: found.scheduler }),
    variables: { [DELIMITER_SECRET_VARIABLE]: env(DELIMITER_SECRET_VARIABLE) },
    decisions: config.decisions,
    redact: redactor(config, env),
  });
}

/** The app over a started environment. @throws {AssayError} when a configured token's variable isn't set */
export function startApp(found: Found, environment: Environment): Hono<AppTypes> {
  const { config, env, runtime } = found;
  return createApp({
    environment,
    runtime,
    tokens: readTokens(config, env),
    bodyLimitBytes: config.server.bodyLimitBytes,
    log: logger(found),
  });
}

/** Writes lines for the operator without the secrets that this server was started with. */
export function logger(
  { config, env, log = console.error }: Pick<Found, "config" | "env" | "log">,
): (line: string) => void {
  const takeOut = redactor(config, env);
  return (line) => log(takeOut(line));
}

/** Takes secrets out of a text, those that this server was started with by their value. */
function redactor(config: Config, env: ReadEnvironment): (text: string) => string {
  const names = [
    ...config.server.tokens.map(({ tokenEnv }) => tokenEnv),
    ...Object.values(config.judges).map((profile) => "apiKeyEnv" in profile ? profile.apiKeyEnv : undefined),
    DELIMITER_SECRET_VARIABLE,
  ];
  const secrets = names.flatMap((name) => (name === undefined ? undefined : env(name)) ?? []);
  return (text) => redact(text, secrets);
}
