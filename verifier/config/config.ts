/**
 * The server's configuration: one JSON document, checked at start, and the environment variables that stand in for
 * it. Pure: whoever starts the app finds the text and says how to read an environment variable.
 *
 * @module
 */
import type { DecisionSettings } from "../decisions/settings.ts";
import type { DailyLimits } from "../budget/budget.ts";
import type { z } from "zod";
import {
  documentSchema,
  JUDGE_SCHEMAS,
  type JudgeProfile,
  type ServerConfig,
  type StoreConfig,
} from "./schema.ts";
import { parseDocument } from "./text.ts";
import { Faults, MAXIMUM_FAULTS } from "./faults.ts";
import { documentFromEnvironment, type ReadEnvironment, STAND_INS } from "./environment.ts";
import { AssayError } from "../errors.ts";
import { parseAllowedBackend } from "../judges/allowed_backends.ts";
import { fieldErrors, jsonPointer, nearestName } from "../request_errors.ts";

export type { JudgeProfile, ServerConfig, StoreConfig } from "./schema.ts";
export { familyOf, type ReadEnvironment } from "./environment.ts";

/** A checked configuration with every default filled in. */
export interface Config {
  /** Where it came from, for status pages. */
  readonly source: "document" | "environment" | "embedded";
  /** A key of `judges`. */
  readonly defaultJudge: string;
  /** Profiles by name; always holds `evidence`. Has no prototype: names are data. */
  readonly judges: Readonly<Record<string, JudgeProfile>>;
  /** Listener, body limit and accepted tokens (names of variables, never values). */
  readonly server: ServerConfig;
  /** Where records are kept. */
  readonly store: StoreConfig;
  /** Hosts that a request may name, as written: `host[:port]` for https, `http://host[:port]` for http. */
  readonly allowRequestBackends: readonly string[];
  /** How many decisions are kept, and for how long statistics. */
  readonly decisions: DecisionSettings;
  /** What the operator should know, one sentence each; never a reason not to start. */
  readonly warnings: readonly string[];
}

/** Where a configuration comes from. */
export interface ConfigSource {
  /** The document's text, where there is one; without it the `ASSAY_…` variables or the embedded default count. */
  readonly text?: string;
  /** How to read an environment variable. */
  readonly env: ReadEnvironment;
  /** The store used when nothing names one; default Deno KV. */
  readonly defaultStore?: StoreConfig;
}

const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Checks the document, or builds one from the environment, or gives the embedded default (judge `evidence`, loopback,
 * Deno KV, no tokens).
 *
 * @throws {AssayError} `invalid_request` that lists every fault with its JSON pointer and value; `invalid_json` when
 * the text isn't JSON. No message holds a secret.
 */
export function loadConfig(source: ConfigSource): Config {
  const env = (name: string): string | undefined => source.env(name)?.trim() || undefined;
  const faults = new Faults();
  const warnings: string[] = [];
  const document = source.text === undefined
    ? documentFromEnvironment(env, faults)
    : parseDocument(source.text);
  if (source.text !== undefined) {
    const unused = STAND_INS.filter((name) => env(name) !== undefined && !source.text?.includes(`"${name}"`));
    if (unused.length > 0) {
      warnings.push(
        `${unused.join(", ")} ${
          unused.length > 1 ? "are" : "is"
        } set but not used, as there is a configuration document.`,
      );
    }
  }
  const parsed = checkWith(documentSchema, document, [], faults);
  const judges = checkJudges(document, faults);
  const server = withListener(parsed?.server, env, faults);
  checkTokens(server, faults);
  for (const [index, entry] of (rawList(document, "allowRequestBackends")).entries()) {
    if (typeof entry === "string" && parseAllowedBackend(entry) === null) {
      faults.add(
        ["allowRequestBackends", index],
        "must be host, host:port or http://host:port in canonical spelling",
        entry,
      );
    }
  }
  const defaultJudge = chooseDefault(isRecord(document) ? document.defaultJudge : undefined, judges, faults);
  faults.throwIfAny(source.text === undefined ? "the environment" : "the configuration");
  if (parsed === null || server === null || defaultJudge === null) {
    throw new AssayError("internal", "unreachable");
  }
  return {
    source: source.text !== undefined ? "document" : isEmpty(document) ? "embedded" : "environment",
    defaultJudge,
    judges,
    server,
    store: parsed.store ?? source.defaultStore ?? { kind: "deno-kv" },
    allowRequestBackends: parsed.allowRequestBackends,
    decisions: parsed.decisions,
    warnings,
  };
}

/**
 * The bearer tokens that the server accepts, read from the variables that the configuration names.
 *
 * @throws {AssayError} `invalid_request` naming every variable that isn't set: a server that meant to ask for a token
 * must not start without it
 */
export function readTokens(
  config: Config,
  env: ReadEnvironment,
): readonly { readonly name: string; readonly value: string; readonly budget?: DailyLimits }[] {
  const faults = new Faults();
  const tokens = config.server.tokens.map((token, index) => {
    const value = env(token.tokenEnv)?.trim() ?? "";
    if (value === "") {
      faults.add(["server", "tokens", index, "tokenEnv"], "must name a variable that is set", token.tokenEnv);
    }
    const { name, dailyCalls: calls, dailyTokens: tokens, dailyUsd: usd } = token;
    if (calls === undefined && tokens === undefined && usd === undefined) return { name, value };
    const budget = {
      ...(calls === undefined ? {} : { calls }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(usd === undefined ? {} : { usd }),
    };
    return { name, value, budget };
  });
  faults.throwIfAny("the configuration");
  return tokens;
}

function checkWith<S extends z.ZodType>(
  schema: S,
  value: unknown,
  path: readonly PropertyKey[],
  faults: Faults,
): z.infer<S> | null {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const prefix = jsonPointer(path);
  for (const error of fieldErrors(schema, value, result.error.issues, MAXIMUM_FAULTS).errors) {
    faults.push({ ...error, path: prefix + error.path });
  }
  return null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

function checkJudges(document: unknown, faults: Faults): Record<string, JudgeProfile> {
  // No prototype: a profile named "constructor" is a profile or absent, never a function.
  const judges: Record<string, JudgeProfile> = Object.create(null);
  judges.evidence = { kind: "evidence" };
  const given = isRecord(document) && isRecord(document.judges) ? document.judges : {};
  for (const [name, value] of Object.entries(given)) {
    const path = ["judges", name];
    if (!PROFILE_NAME.test(name)) {
      faults.add(
        path,
        "must be named with 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter or digit",
      );
      continue;
    }
    if (!isRecord(value)) {
      faults.add(path, "must be an object", value);
      continue;
    }
    if (name === "evidence" && value.kind !== "evidence") {
      faults.add([...path, "kind"], "must be evidence: no other judge may go by that name", value.kind);
      continue;
    }
    const kinds = Object.keys(JUDGE_SCHEMAS);
    const kind = value.kind;
    if (typeof kind !== "string" || !kinds.includes(kind)) {
      const near = typeof kind === "string" ? nearestName(kind, kinds) : null;
      faults.add(
        [...path, "kind"],
        `must be one of ${kinds.join(", ")}${near === null ? "" : `: did you mean ${near}?`}`,
        kind,
      );
      continue;
    }
    if (Object.hasOwn(value, "apiKey")) {
      faults.add(
        [...path, "apiKey"],
        "must not stand in the document: put the key into an environment variable and its name into apiKeyEnv",
      );
    }
    const { apiKey: _, ...rest } = value;
    const profile = checkWith(JUDGE_SCHEMAS[kind as JudgeProfile["kind"]], rest, path, faults);
    if (profile === null) continue;
    if ("effort" in profile && profile.thinking !== undefined && profile.effort !== undefined) {
      const thinks = !["off", "none", "disabled"].includes(profile.effort);
      if (thinks !== profile.thinking) {
        faults.add(
          [...path, "thinking"],
          `must agree with effort, which is ${profile.effort}`,
          profile.thinking,
        );
      }
    }
    judges[name] = profile;
  }
  return judges;
}

function rawList(document: unknown, name: string): readonly unknown[] {
  const list = isRecord(document) ? document[name] : undefined;
  return Array.isArray(list) ? list : [];
}

function chooseDefault(
  named: unknown,
  judges: Readonly<Record<string, JudgeProfile>>,
  faults: Faults,
): string | null {
  const names = Object.keys(judges);
  if (named !== undefined && (typeof named !== "string" || named === "")) return null;
  if (named !== undefined) {
    if (Object.hasOwn(judges, named)) return named;
    const near = nearestName(named, names);
    faults.add(
      ["defaultJudge"],
      `must be one of ${names.join(", ")}${near === null ? "" : `: did you mean ${near}?`}`,
      named,
    );
    return null;
  }
  const own = names.filter((name) => name !== "evidence");
  if (own.length === 0) return "evidence";
  if (own.length === 1) return own[0] ?? null;
  faults.add(["defaultJudge"], `must be present, as there are several judges: one of ${names.join(", ")}`);
  return null;
}

function withListener(
  server: ServerConfig | undefined,
  env: ReadEnvironment,
  faults: Faults,
): ServerConfig | null {
  if (server === undefined) return null;
  const port = env("ASSAY_PORT");
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65535)) {
    faults.add(["ASSAY_PORT"], "must be an integer from 0 to 65535", port);
    return null;
  }
  return {
    ...server,
    host: env("ASSAY_HOST") ?? server.host,
    port: port === undefined ? server.port : Number(port),
  };
}

function checkTokens(server: ServerConfig | null, faults: Faults): void {
  const seen = new Set<string>();
  for (const [index, token] of (server?.tokens ?? []).entries()) {
    if (seen.has(token.name)) faults.add(["server", "tokens", index, "name"], "must be unique", token.name);
    seen.add(token.name);
  }
}
