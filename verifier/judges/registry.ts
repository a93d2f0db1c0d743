/**
 * Binds profiles of the configuration, and what a request overrides, to judges. The server's key goes only to the
 * server's host: a request that names another one brings its own.
 *
 * @module
 */
import { type Config, familyOf, type JudgeProfile, type ReadEnvironment } from "../config/config.ts";
import {
  FAMILIES,
  type Family,
  type GeminiProfile,
  type OpenAiCompatibleProfile,
  openAiCompatibleSchema,
} from "../config/schema.ts";
import { AssayError } from "../errors.ts";
import { nearestName } from "../request_errors.ts";
import type { JudgeChoice } from "../types.ts";
import { checkRequestBackend } from "./allowed_backends.ts";
import { type CapabilityMemory, createCapabilityMemory, type Subject } from "./capabilities.ts";
import { defaultMaxTokens, isOff, thinks } from "./chat_request.ts";
import { createEvidenceJudge } from "./evidence/judge.ts";
import { createGeminiJudge } from "./gemini.ts";
import type { Judge, JudgeRegistry, ProfileInfo } from "./judge.ts";
import { type CallingProfile, checkOverrides, overridden, type Overrides } from "./overrides.ts";
import { type CallingSettings, type CallingTools, createOpenAiCompatibleJudge } from "./openai_compatible.ts";
import { type AnswerLookup, readRecording } from "./recording.ts";
import { createReplayJudge } from "./replay.ts";
import { systemTiming, type Timing } from "./retry.ts";

/** What a registry needs from outside. */
export interface RegistryOptions {
  readonly env: ReadEnvironment;
  /** Default: the runtime's `fetch`. */
  readonly fetch?: typeof fetch;
  /** Default: one that lasts as long as the process. */
  readonly capabilities?: CapabilityMemory;
  /** Reads the file of a replay profile; without it such a profile's answers must be inline. */
  readonly readText?: (path: string) => Promise<string>;
  /** Clock and chance, for tests. */
  readonly timing?: Timing;
}

/** Output tokens of a usual call with reasoning: a published run on DeepSeek averaged 128 visible and 4,666 others. */
const THINKING_TOKENS = 4800;

/** Longest answer that is read where the profile doesn't say. */
const MAXIMUM_RESPONSE_BYTES = 32 * 1024 * 1024;

/** The registry of one server. Judges without overrides are made once. */
export function createJudgeRegistry(config: Config, options: RegistryOptions): JudgeRegistry {
  const tools: CallingTools = {
    // Called without a receiver: workerd refuses a detached fetch bound to another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    memory: options.capabilities ?? createCapabilityMemory(),
    timing: options.timing ?? systemTiming,
  };
  const bound = new Map<string, Judge>();

  function resolve(choice: JudgeChoice = {}): Judge {
    const wanted: Overrides = typeof choice === "string" ? { profile: choice } : choice;
    checkOverrides(wanted);
    if (wanted.baseUrl !== undefined) return requestBackend(wanted);
    for (const name of ["apiKey", "family"] as const) {
      if (wanted[name] !== undefined) {
        throw AssayError.field(
          `/judge/${name}`,
          "must come with a baseUrl: the server's own judges have theirs",
        );
      }
    }
    const name = wanted.profile ?? config.defaultJudge;
    const profile = Object.hasOwn(config.judges, name) ? config.judges[name] : undefined;
    if (profile === undefined) {
      const names = Object.keys(config.judges);
      const near = nearestName(name, names);
      throw AssayError.field(
        "/judge",
        `must be one of ${names.join(", ")}${near === null ? "" : `: did you mean ${near}?`}`,
        name,
      );
    }
    const plain = Object.keys(wanted).every((key) => key === "profile");
    const known = plain ? bound.get(name) : undefined;
    if (known !== undefined) return known;
    const judge = bind(name, profile, wanted);
    if (plain) bound.set(name, judge);
    return judge;
  }

  function bind(name: string, profile: JudgeProfile, wanted: Overrides): Judge {
    if (profile.kind === "evidence" || profile.kind === "replay") {
      for (const key of ["model", "effort", "maxTokens", "temperature"] as const) {
        if (wanted[key] !== undefined) {
          throw AssayError.field(
            `/judge/${key}`,
            `must not be set, as judge ${name} is of kind ${profile.kind}`,
            wanted[key],
          );
        }
      }
      return profile.kind === "evidence"
        ? createEvidenceJudge({ profile: name })
        : replayJudge(name, profile.answers);
    }
    return callingJudge(
      name,
      overridden(profile, wanted),
      () => readKey(name, profile.apiKeyEnv, options.env),
    );
  }

  function requestBackend(wanted: Overrides): Judge {
    if (wanted.profile !== undefined) {
      throw AssayError.field("/judge/profile", "must not be set together with baseUrl", wanted.profile);
    }
    const baseUrl = checkRequestBackend(wanted.baseUrl ?? "", config.allowRequestBackends, "/judge/baseUrl");
    const key = wanted.apiKey;
    if (key === undefined || key === "") {
      throw AssayError.field(
        "/judge/apiKey",
        "must be present with baseUrl: the server's key goes only to the server's host",
      );
    }
    if (!isHeaderSafe(key)) {
      throw AssayError.field("/judge/apiKey", "must hold visible ASCII characters only");
    }
    if (wanted.model === undefined) throw AssayError.field("/judge/model", "must be present with baseUrl");
    const family = wanted.family ?? familyOf(baseUrl);
    if (!(FAMILIES as readonly string[]).includes(family)) {
      throw AssayError.field("/judge/family", `must be one of ${FAMILIES.join(", ")}`, family);
    }
    const profile = openAiCompatibleSchema.parse({
      kind: "openai-compatible",
      family,
      baseUrl,
      model: wanted.model,
      images: true,
    });
    return callingJudge(`request:${new URL(baseUrl).host}`, overridden(profile, wanted), () => ({ key }));
  }

  function replayJudge(name: string, answers: string | readonly unknown[]): Judge {
    const path = `/judges/${name}/answers`;
    let recording: Promise<ReturnType<typeof readRecording>> | undefined;
    const load = async (): Promise<ReturnType<typeof readRecording>> => {
      if (typeof answers !== "string") return readRecording(answers, path);
      if (options.readText === undefined) {
        throw AssayError.field(path, "must be inline, as this runtime reads no files", answers);
      }
      return readRecording(await options.readText(answers), path);
    };
    const lookup: AnswerLookup = async (key) => (await (recording ??= load())).get(key);
    // A recording's contents may change between runs, so no run may use another's cached scores.
    return createReplayJudge({ profile: name, lookup, recording: crypto.randomUUID() });
  }

  function callingJudge(name: string, profile: CallingProfile, key: CallingSettings["readKey"]): Judge {
    return profile.kind === "gemini"
      ? createGeminiJudge(geminiSettings(name, profile, key), tools)
      : createOpenAiCompatibleJudge(chatSettings(name, profile, key), tools);
  }

  return {
    defaultProfile: config.defaultJudge,
    profiles: () =>
      Object.entries(config.judges).map(([name, profile]) =>
        describe(name, profile, name === config.defaultJudge, options.env, tools.memory)
      ),
    resolve,
    forget: (profile) => tools.memory.forget(profile),
  };
}

function readKey(
  name: string,
  variable: string | undefined,
  env: ReadEnvironment,
): ReturnType<CallingSettings["readKey"]> {
  if (variable === undefined) return { key: null };
  const key = env(variable)?.trim() ?? "";
  if (key === "") {
    return { missing: `Judge ${name} needs a key: the environment variable ${variable} is not set.` };
  }
  if (!isHeaderSafe(key)) {
    return {
      missing:
        `Judge ${name} needs a key: the value of ${variable} holds characters that no header can carry.`,
    };
  }
  return { key };
}

function isHeaderSafe(key: string): boolean {
  return /^[\x21-\x7e]{1,8192}$/.test(key);
}

function shared(
  profile: string,
  p: CallingProfile,
  readKey: CallingSettings["readKey"],
): Omit<CallingSettings, "identity" | "maxTokens" | "maxResponseBytes"> {
  return {
    profile,
    baseUrl: trimmed(p.baseUrl),
    model: p.model,
    readKey,
    concurrency: p.concurrency,
    readsImages: p.images,
    timeoutMs: p.timeoutMs,
    deadlineMs: p.deadlineMs,
    retries: p.retries,
    price: p.price ?? null,
    calibration: p.calibration ?? null,
    expectedOutputTokens: p.expectedOutputTokens ?? null,
    contextTokens: p.contextTokens ?? null,
  };
}

function chatSettings(name: string, p: OpenAiCompatibleProfile, readKey: CallingSettings["readKey"]) {
  const family: Family = p.family ?? familyOf(p.baseUrl);
  const effort = p.effort ?? null;
  const thinking = thinks(family, effort, p.thinking);
  const maxTokens = p.maxTokens ?? defaultMaxTokens(family, thinking);
  const chat = {
    family,
    model: p.model,
    thinking,
    effort,
    maxTokens,
    temperature: p.temperature,
    topLogprobs: p.topLogprobs,
    // Idle connections are closed by these, and on Workers a stream frees its connection slot at once.
    stream: p.stream ?? (family === "deepseek" || family === "openrouter"),
  };
  const { stream: _, ...moves } = chat;
  return {
    ...shared(name, p, readKey),
    chat,
    expectedOutputTokens: p.expectedOutputTokens ?? (thinking ? Math.min(THINKING_TOKENS, maxTokens) : null),
    // A streamed train of thought comes with a kilobyte of alternatives per token, of which nothing is kept.
    maxResponseBytes: p.maxResponseBytes ?? (chat.stream && thinking ? 4 : 1) * MAXIMUM_RESPONSE_BYTES,
    maxTokens,
    identity: identityOf({ kind: p.kind, baseUrl: trimmed(p.baseUrl), ...moves }),
  };
}

function geminiSettings(name: string, p: GeminiProfile, readKey: CallingSettings["readKey"]) {
  const effort = p.effort ?? null;
  const thinking = p.thinking ?? (effort !== null && !isOff(effort));
  const maxTokens = p.maxTokens ?? (thinking ? 32_768 : 4096);
  const gemini = {
    family: p.family,
    thinking,
    effort,
    temperature: p.temperature,
    topLogprobs: p.topLogprobs,
  };
  return {
    ...shared(name, p, readKey),
    gemini,
    maxResponseBytes: p.maxResponseBytes ?? MAXIMUM_RESPONSE_BYTES,
    maxTokens,
    identity: identityOf({ kind: p.kind, baseUrl: trimmed(p.baseUrl), model: p.model, maxTokens, ...gemini }),
  };
}

function trimmed(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, "");
}

/** JSON with sorted keys. */
function identityOf(settings: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(settings).sort(([a], [b]) => a < b ? -1 : 1)));
}

function describe(
  name: string,
  profile: JudgeProfile,
  isDefault: boolean,
  env: ReadEnvironment,
  memory: CapabilityMemory,
): ProfileInfo {
  if (profile.kind === "evidence" || profile.kind === "replay") {
    return {
      name,
      kind: profile.kind,
      model: profile.kind,
      family: null,
      host: null,
      hasKey: false,
      isDefault,
      learnt: {},
    };
  }
  const subject: Subject = { profile: name, baseUrl: trimmed(profile.baseUrl), model: profile.model };
  return {
    name,
    kind: profile.kind,
    model: profile.model,
    family: profile.family ?? familyOf(profile.baseUrl),
    host: new URL(profile.baseUrl).host,
    hasKey: profile.apiKeyEnv !== undefined && (env(profile.apiKeyEnv)?.trim() ?? "") !== "",
    isDefault,
    learnt: { ...memory.peek(subject) } as Record<string, boolean | number>,
  };
}
