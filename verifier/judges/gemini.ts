/**
 * The judge for Google's `generateContent`: the Gemini API with a key, or Vertex AI with a bearer token.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import type { Effort } from "../config/schema.ts";
import type { TokenLogprob } from "../types.ts";
import { splitInlineReasoning } from "./answer_tokens.ts";
import { AttemptError, exchange, readText, shown } from "./attempt.ts";
import type { Capabilities } from "./capabilities.ts";
import { count, parseJson, type Reply } from "./chat_response.ts";
import { readDataUrl } from "./images.ts";
import type { AnswerUsage, FinishReason, Judge, JudgeContext, JudgeRequest } from "./judge.ts";
import {
  type CallingSettings,
  type CallingTools,
  createCaller,
  described,
  refuseImages,
} from "./openai_compatible.ts";
import type { Refusal } from "./refusals.ts";

/** What shapes a `generateContent` request. */
export interface GeminiSettings {
  readonly family: "gemini" | "vertex";
  readonly thinking: boolean;
  readonly effort: Effort | null;
  readonly temperature: number;
  readonly topLogprobs: number;
}

type Json = Readonly<Record<string, unknown>>;

/** Tokens of thought by effort; -1 lets the model decide. */
const THINKING_BUDGETS: Readonly<Record<Effort, number>> = {
  off: 0,
  none: 0,
  disabled: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: -1,
};

/** A judge over `${baseUrl}/models/${model}:generateContent`. It can't continue an assistant message. */
export function createGeminiJudge(
  settings: CallingSettings & { readonly gemini: GeminiSettings },
  tools: CallingTools,
): Judge {
  const subject = { profile: settings.profile, baseUrl: settings.baseUrl, model: settings.model };
  const caller = createCaller(settings, tools, subject, readGeminiRefusal);
  const url = `${settings.baseUrl}/models/${encodeURIComponent(settings.model)}:generateContent`;

  const post = (
    body: Json,
    key: string | null,
    remainingMs: number,
    context: JudgeContext,
  ): Promise<Reply> => {
    const secrets = key === null ? [] : [key];
    // The key travels in a header: a URL ends up in logs.
    const access: Record<string, string> = key === null
      ? {}
      : settings.gemini.family === "vertex"
      ? { authorization: `Bearer ${key}` }
      : { "x-goog-api-key": key };
    return exchange(
      {
        fetch: tools.fetch,
        url,
        headers: { "content-type": "application/json", accept: "application/json", ...access },
        body: JSON.stringify(body),
        timeoutMs: settings.timeoutMs,
        remainingMs,
        maxResponseBytes: settings.maxResponseBytes,
        signal: context.signal,
        secrets,
        timing: tools.timing,
      },
      async (response) =>
        readGeminiReply(await readText(response, settings.maxResponseBytes), settings.model, secrets),
    );
  };

  return {
    ...described(settings, "gemini"),
    async answer(request, context) {
      refuseImages(settings, request);
      const { reply } = await caller((learnt) => geminiBody(settings, learnt, request), post, context);
      return reply.answer;
    },
    async generate({ prompt, images }, context) {
      const request = { prefix: prompt, suffix: "", images, tags: [], repeat: 0, maxTokens: null };
      refuseImages(settings, request);
      const { reply } = await caller(
        (learnt) => geminiBody(settings, { ...learnt, logprobs: false }, request),
        post,
        context,
      );
      return reply.answer;
    },
  };
}

/** The request's body. @throws {AssayError} for an image that isn't a `data:` URL: this API fetches nothing */
export function geminiBody(
  settings: Pick<CallingSettings, "maxTokens"> & { readonly gemini: GeminiSettings },
  learnt: Capabilities,
  request: JudgeRequest,
): Record<string, unknown> {
  const { gemini } = settings;
  const images = request.images.map((url, index) => {
    const image = readDataUrl(url);
    if (image === null) {
      throw AssayError.field(`/images/${index}`, "must be a data: URL for a Gemini judge", url.slice(0, 100));
    }
    return { inlineData: { mimeType: image.mimeType, data: image.base64 } };
  });
  const budget = gemini.thinking ? THINKING_BUDGETS[gemini.effort ?? "max"] : 0;
  return {
    contents: [{ role: "user", parts: [{ text: request.prefix + request.suffix }, ...images] }],
    generationConfig: {
      maxOutputTokens: request.maxTokens ?? settings.maxTokens,
      temperature: gemini.temperature,
      ...(learnt.logprobs === false ? {} : {
        responseLogprobs: true,
        logprobs: Math.min(gemini.topLogprobs, learnt.topLogprobs ?? gemini.topLogprobs),
      }),
      ...(learnt.thinking === false ? {} : { thinkingConfig: { thinkingBudget: budget } }),
    },
  };
}

/** What a refusal of `generateContent` teaches, or `null`. */
export function readGeminiRefusal(status: number | null, text: string, body: Json): Refusal | null {
  if (status !== 400) return null;
  const config = object(body.generationConfig) ?? {};
  if ("thinkingConfig" in config && /thinking[ _]?(?:budget|config|level|mode)|\bthinking\b/i.test(text)) {
    return { capability: "thinking", value: false };
  }
  if (!("logprobs" in config) || !/logprobs/i.test(text)) return null;
  const maximum = Number(
    /(?:range |between )?[[(]?(?:0|1)(?:,| and| to|-) ?(\d{1,2})\b|(?:at most|maximum(?: is| of)?|<=|less than or equal to) (\d{1,2})\b/i
      .exec(text)?.slice(1).find((group) => group !== undefined),
  );
  if (Number.isInteger(maximum) && maximum >= 1 && maximum < Number(config.logprobs)) {
    return { capability: "topLogprobs", value: maximum };
  }
  return /not (?:enabled|supported|available|allowed)|unsupported|unknown name/i.test(text)
    ? { capability: "logprobs", value: false }
    : null;
}

/** Reads a `generateContent` answer. @throws {AttemptError} */
export function readGeminiReply(text: string, model: string, secrets: readonly string[]): Reply {
  const document = parseJson(text, secrets);
  const usage = readGeminiUsage(document.usageMetadata);
  const blocked = object(document.promptFeedback)?.blockReason;
  if (typeof blocked === "string" && blocked !== "" && blocked !== "BLOCK_REASON_UNSPECIFIED") {
    throw new AttemptError("refused", `The judge refused the prompt: ${shown(blocked, secrets)}`, { usage });
  }
  const candidate = object(Array.isArray(document.candidates) ? document.candidates[0] : null);
  if (candidate === null) {
    throw new AttemptError("protocol", `The judge's answer has no candidates: ${shown(text, secrets)}`, {
      usage,
    });
  }
  const parts = object(candidate.content)?.parts;
  let answer = "";
  let thought: string | null = null;
  for (const value of Array.isArray(parts) ? parts : []) {
    const part = object(value);
    if (typeof part?.text !== "string") continue;
    if (part.thought === true) thought = (thought ?? "") + part.text;
    else answer += part.text;
  }
  const split = splitInlineReasoning(answer, thought, tokensOf(candidate.logprobsResult));
  return {
    answer: {
      ...split,
      finishReason: finishReason(candidate.finishReason),
      refused: false,
      model: typeof document.modelVersion === "string" ? document.modelVersion : model,
    },
    usage,
  };
}

function tokensOf(value: unknown): readonly TokenLogprob[] | null {
  const result = object(value);
  const chosen = Array.isArray(result?.chosenCandidates) ? result.chosenCandidates : null;
  if (chosen === null) return null;
  const top = Array.isArray(result?.topCandidates) ? result.topCandidates : [];
  return chosen.map((entry, index) => {
    const alternatives = object(top[index])?.candidates;
    return {
      ...tokenOf(entry),
      top_logprobs: Array.isArray(alternatives) ? alternatives.map(tokenOf) : null,
    };
  });
}

function tokenOf(value: unknown): { token: string; logprob: number | null } {
  const entry = object(value);
  const logprob = entry?.logProbability;
  return {
    token: typeof entry?.token === "string" ? entry.token : "",
    // Protocol buffers leave zero out of JSON: a token without a number has log-probability 0.
    logprob: typeof logprob === "number" && Number.isFinite(logprob)
      ? logprob
      : logprob === undefined && entry !== null
      ? 0
      : null,
  };
}

function finishReason(value: unknown): FinishReason {
  switch (value) {
    case "STOP":
      return "stop";
    case "MAX_TOKENS":
      return "length";
    case "SAFETY":
    case "RECITATION":
    case "BLOCKLIST":
    case "PROHIBITED_CONTENT":
    case "SPII":
    case "IMAGE_SAFETY":
      return "content_filter";
    default:
      return "other";
  }
}

/** Usage as Gemini counts it; thoughts are output that is counted apart. */
export function readGeminiUsage(value: unknown): AnswerUsage | null {
  const usage = object(value);
  if (usage === null) return null;
  const inputTokens = count(usage.promptTokenCount);
  const candidates = count(usage.candidatesTokenCount ?? 0);
  const thoughts = count(usage.thoughtsTokenCount ?? 0);
  if (inputTokens === null) return null;
  return {
    inputTokens,
    cachedInputTokens: count(usage.cachedContentTokenCount ?? 0),
    outputTokens: candidates === null || thoughts === null ? null : candidates + thoughts,
    reasoningTokens: thoughts,
  };
}

function object(value: unknown): Json | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : null;
}
