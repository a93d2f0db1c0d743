/**
 * The schemas of the configuration document (names in the README's configuration section). Strict: an unknown key is
 * an error. A secret's value never stands in the document, only the name of the environment variable that holds it.
 *
 * @module
 */
import * as z from "zod";
import { DEFAULT_DECISION_SETTINGS } from "../decisions/settings.ts";

/** Families of OpenAI-compatible servers: they differ in thinking switches, token limits and continuation. */
export const FAMILIES = [
  "deepseek",
  "openai",
  "vllm",
  "sglang",
  "llama.cpp",
  "openrouter",
  "generic",
] as const;
/** One family of OpenAI-compatible servers. */
export type Family = typeof FAMILIES[number];

/** Reasoning efforts a profile or a request may name; the first three mean "don't think". */
export const EFFORTS = [
  "off",
  "none",
  "disabled",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const;
/** One reasoning effort. */
export type Effort = typeof EFFORTS[number];

/** Most output tokens a profile or a request may ask for. */
export const MAXIMUM_OUTPUT_TOKENS = 1_000_000;
/** Highest sampling temperature that any supported server takes. */
export const MAXIMUM_TEMPERATURE = 2;

const variable = z.string().regex(/^[A-Z_][A-Z0-9_]{0,127}$/, {
  error: "must be the name of an environment variable (capitals, digits, underscores), never a secret itself",
});

const positive = (maximum: number) => z.int().min(1).max(maximum);
const dollars = z.number().min(0).max(1_000_000);
const share = z.number().min(0).max(1);

const price = z.strictObject({
  inputPerMillion: dollars,
  cachedInputPerMillion: dollars,
  outputPerMillion: dollars,
});

const calibration = z.strictObject({
  pairAccuracy: share,
  passRate: share,
  source: z.string().min(1).max(500),
});

/** What every judge that calls a server shares. */
const calling = {
  model: z.string().min(1).max(200),
  /** Name of the variable with the key; without it none is sent. */
  apiKeyEnv: variable.optional(),
  effort: z.enum(EFFORTS).optional(),
  /** Whether the model reasons first; default: as `effort` says, else only DeepSeek does. */
  thinking: z.boolean().optional(),
  /** Default 4,096, or 32,768 where reasoning shares them. */
  maxTokens: positive(MAXIMUM_OUTPUT_TOKENS).optional(),
  temperature: z.number().min(0).max(MAXIMUM_TEMPERATURE).default(1),
  /** Alternatives per token; lowered when the server says its maximum. */
  topLogprobs: z.int().min(1).max(100).default(20),
  /** Calls at once; the pool adapts down on 429. */
  concurrency: positive(10_000).default(8),
  /** Of one attempt: until the answer is there, or between two pieces of a stream. */
  timeoutMs: positive(3_600_000).default(120_000),
  /** Of one call with all its attempts and waits. */
  deadlineMs: positive(24 * 3_600_000).default(600_000),
  /** Attempts after the first. */
  retries: z.int().min(0).max(20).default(4),
  /** Context window; larger prompts are refused before they are sent. */
  contextTokens: positive(100_000_000).optional(),
  /** Output tokens of a usual call, for plans. */
  expectedOutputTokens: positive(MAXIMUM_OUTPUT_TOKENS).optional(),
  /** Longest answer; default 32 MiB, 128 MiB for a stream with reasoning. */
  maxResponseBytes: positive(1024 * 1024 * 1024).optional(),
  price: price.optional(),
  calibration: calibration.optional(),
};

const baseUrl = z.string().max(2000).refine(isBaseUrl, {
  error: "must be an http: or https: URL without user name, password, query and fragment",
});

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.search === "" &&
    url.hash === "" && !text.includes("?") && !text.includes("#");
}

/** A server with `/chat/completions`. */
export const openAiCompatibleSchema = z.strictObject({
  kind: z.literal("openai-compatible"),
  family: z.enum(FAMILIES).optional(),
  baseUrl,
  stream: z.boolean().optional(),
  images: z.boolean().default(false),
  ...calling,
});

/** Google's `generateContent`, with an API key (`gemini`) or as Vertex AI with a bearer token (`vertex`). */
export const geminiSchema = z.strictObject({
  kind: z.literal("gemini"),
  family: z.enum(["gemini", "vertex"]).default("gemini"),
  baseUrl: baseUrl.default("https://generativelanguage.googleapis.com/v1beta"),
  images: z.boolean().default(true),
  ...calling,
});

/** The embedded judge; nothing to set. */
export const evidenceSchema = z.strictObject({ kind: z.literal("evidence") });

/** Answers from a recording: records inline, or the path of a JSON Lines file that the runtime reads. */
export const replaySchema = z.strictObject({
  kind: z.literal("replay"),
  answers: z.union([z.string().min(1), z.array(z.unknown())]),
});

/** Schema of a judge profile by its `kind`. */
export const JUDGE_SCHEMAS = {
  "openai-compatible": openAiCompatibleSchema,
  gemini: geminiSchema,
  evidence: evidenceSchema,
  replay: replaySchema,
} as const;

const token = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    error: "must be 1 to 64 letters, digits, dots, hyphens or underscores",
  }),
  tokenEnv: variable,
  /** What it may buy per UTC day; 0 lets it read but buy nothing. Absent: no limit. */
  dailyCalls: z.int().min(0).max(1e12).optional(),
  dailyTokens: z.int().min(0).max(1e15).optional(),
  dailyUsd: z.number().min(0).max(1e9).optional(),
});

/** The listener and who may call. */
export const serverSchema = z.strictObject({
  host: z.string().min(1).max(255).default("127.0.0.1"),
  port: z.int().min(0).max(65535).default(8787),
  bodyLimitBytes: positive(1024 * 1024 * 1024).default(64 * 1024 * 1024),
  tokens: z.array(token).max(1000).default([]),
});

/** Where records are kept. */
export const storeSchema = z.strictObject({
  kind: z.enum(["memory", "deno-kv", "cloudflare"]),
  path: z.string().min(1).optional(),
});

/** How many decisions are kept, and for how long statistics. */
export const decisionsSchema = z.strictObject({
  keep: z.int().min(0).max(10_000).default(DEFAULT_DECISION_SETTINGS.keep),
  statisticsDays: z.int().min(1).max(3660).default(DEFAULT_DECISION_SETTINGS.statisticsDays),
});

/** The document without its judges, which are checked one by one by kind. */
export const documentSchema = z.strictObject({
  defaultJudge: z.string().min(1).optional(),
  judges: z.record(z.string(), z.unknown()).default({}),
  server: serverSchema.prefault({}),
  store: storeSchema.optional(),
  decisions: decisionsSchema.prefault({}),
  allowRequestBackends: z.array(z.string().min(1).max(300)).max(1000).default([]),
});

/** A profile that calls an OpenAI-compatible server, as checked. */
export type OpenAiCompatibleProfile = z.infer<typeof openAiCompatibleSchema>;
/** A Gemini or Vertex profile, as checked. */
export type GeminiProfile = z.infer<typeof geminiSchema>;
/** The embedded judge's profile. */
export type EvidenceProfile = z.infer<typeof evidenceSchema>;
/** A replay profile. */
export type ReplayProfile = z.infer<typeof replaySchema>;
/** Any judge profile, as checked. */
export type JudgeProfile = OpenAiCompatibleProfile | GeminiProfile | EvidenceProfile | ReplayProfile;
/** Listener and tokens. */
export type ServerConfig = z.infer<typeof serverSchema>;
/** Store choice. */
export type StoreConfig = z.infer<typeof storeSchema>;
