/**
 * Reads what `/chat/completions` answers, whole or streamed. Bodies are parsed once, and the array of tokens that the
 * parser made is the one that leaves here: an answer of 32,000 tokens with 20 alternatives is never copied.
 *
 * @module
 */
import { createParser } from "eventsource-parser";
import type { TokenLogprob } from "../types.ts";
import { AttemptError, httpFailure, limitedChunks, readText, shown } from "./attempt.ts";
import type { AnswerUsage, FinishReason, JudgeAnswer } from "./judge.ts";
import { answerTokens, splitInlineReasoning } from "./answer_tokens.ts";

/** An answer and what it cost. */
export interface Reply {
  readonly answer: JudgeAnswer;
  /** `null` when the server did not say. */
  readonly usage: AnswerUsage | null;
}

/** How to read an answer. */
export interface ReadOptions {
  readonly maxResponseBytes: number;
  /** The model asked for, where the answer names none. */
  readonly model: string;
  readonly secrets: readonly string[];
  /** Called for every event of a stream that isn't a mere keep-alive. */
  readonly progress?: () => void;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a 2xx response, by its content type as JSON or as server-sent events: some servers stream though nobody
 * asked, and some don't though they were asked.
 *
 * @throws {AttemptError}
 */
export async function readReply(response: Response, options: ReadOptions): Promise<Reply> {
  const type = response.headers.get("content-type") ?? "";
  if (/^text\/event-stream\b/i.test(type)) return await readStream(response, options);
  const text = await readText(response, options.maxResponseBytes);
  const document = parseJson(withoutTokenBytes(text), options.secrets);
  const usage = readUsage(document.usage);
  failOnError(document, options.secrets, usage);
  const choice = record(list(document.choices)?.[0]);
  if (choice === null) {
    throw new AttemptError("protocol", `The judge's answer has no choices: ${shown(text, options.secrets)}`, {
      usage,
    });
  }
  const message = record(choice.message) ?? {};
  failOnInterruption(choice.finish_reason, usage);
  return {
    answer: assemble({
      content: textOf(message.content) ?? textOf(choice.text),
      reasoning: textOf(message.reasoning_content) ?? textOf(message.reasoning),
      refusal: textOf(message.refusal),
      tokens: answerTokens(choice.logprobs),
      finish: choice.finish_reason,
      model: document.model,
    }, options),
    usage,
  };
}

/**
 * The bytes of each token and alternative, which nothing here reads, are a third of an answer and half the work of its
 * parser. In valid JSON this can only be a field: a quote inside a string has a backslash before it, not a comma, and
 * behind a string's own last quote no word can follow.
 */
const TOKEN_BYTES = /, ?"bytes": ?\[[0-9, ]*\]/g;

function withoutTokenBytes(text: string): string {
  return text.replace(TOKEN_BYTES, "");
}

interface Parts {
  readonly content: string | null;
  readonly reasoning: string | null;
  readonly refusal: string | null;
  readonly tokens: readonly TokenLogprob[] | null;
  readonly finish: unknown;
  readonly model: unknown;
}

function assemble(parts: Parts, options: ReadOptions): JudgeAnswer {
  const split = splitInlineReasoning(parts.content ?? "", parts.reasoning, parts.tokens);
  return {
    text: split.text,
    reasoning: split.reasoning,
    tokens: split.tokens,
    finishReason: finishReason(parts.finish),
    refused: parts.refusal !== null && parts.refusal !== "",
    model: typeof parts.model === "string" && parts.model !== "" ? parts.model : options.model,
  };
}

async function readStream(response: Response, options: ReadOptions): Promise<Reply> {
  const content: string[] = [];
  const reasoning: string[] = [];
  const refusal: string[] = [];
  let tokens: TokenLogprob[] | null = null;
  let usage: AnswerUsage | null = null;
  let finish: unknown = null;
  let model: unknown = null;
  let done = false;
  let failure: AttemptError | null = null;

  const read = (data: string): void => {
    if (done || failure !== null) return;
    if (data.trim() === "[DONE]") {
      done = true;
      return;
    }
    const chunk = parseJson(withoutTokenBytes(data), options.secrets);
    options.progress?.();
    // The usage chunk may come before or after the content and may be repeated; the last one counts.
    usage = readUsage(chunk.usage) ?? usage;
    failOnError(chunk, options.secrets, usage);
    if (typeof chunk.model === "string" && chunk.model !== "") model = chunk.model;
    const choice = record(list(chunk.choices)?.[0]);
    if (choice === null) return;
    if (choice.finish_reason !== undefined && choice.finish_reason !== null) finish = choice.finish_reason;
    const delta = record(choice.delta) ?? record(choice.message) ?? {};
    push(content, textOf(delta.content));
    push(reasoning, textOf(delta.reasoning_content) ?? textOf(delta.reasoning));
    push(refusal, textOf(delta.refusal));
    const more = answerTokens(choice.logprobs);
    if (more === null) return;
    if (tokens === null) tokens = more as TokenLogprob[];
    else for (const token of more) tokens.push(token);
  };

  const parser = createParser({
    onEvent: (event) => {
      try {
        read(event.data);
      } catch (error) {
        failure ??= error as AttemptError;
      }
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of limitedChunks(response, options.maxResponseBytes)) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (failure !== null) throw failure;
    if (done) break;
  }
  if (!done) {
    // A server may end without [DONE], and its last line without a line end.
    parser.feed(decoder.decode() + "\n\n");
    if (failure !== null) throw failure;
  }
  if (!done && finish === null) {
    throw new AttemptError("network", "The judge's stream ended before its answer did.", { usage });
  }
  failOnInterruption(finish, usage);
  return {
    answer: assemble({
      content: content.join(""),
      reasoning: reasoning.length === 0 ? null : reasoning.join(""),
      refusal: refusal.length === 0 ? null : refusal.join(""),
      tokens,
      finish,
      model,
    }, options),
    usage,
  };
}

function push(parts: string[], text: string | null): void {
  if (text !== null && text !== "") parts.push(text);
}

/**
 * JSON that may hold bare NaN or Infinity, as Python servers write them; those become `null`, which is no number.
 *
 * @throws {AttemptError} `network` for an object that is cut off, else `protocol`
 */
export function parseJson(text: string, secrets: readonly string[]): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = parseLoosely(text);
  }
  const object = record(value);
  if (object !== null) return object;
  const start = text.trimStart();
  if (value === undefined && (start === "" || (start.startsWith("{") && !start.trimEnd().endsWith("}")))) {
    throw new AttemptError(
      "network",
      start === "" ? "The judge's answer is empty." : "The judge's answer is cut off.",
    );
  }
  throw new AttemptError(
    "protocol",
    `The judge's answer is not a JSON object: ${shown(text.slice(0, 4096), secrets)}`,
  );
}

function parseLoosely(text: string): unknown {
  if (!/\b(?:NaN|Infinity)\b/.test(text)) return undefined;
  const strict = text.replace(
    /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/gs,
    (found) => found.startsWith('"') ? found : "null",
  );
  try {
    return JSON.parse(strict);
  } catch {
    return undefined;
  }
}

/** @throws {AttemptError} for an error object inside a 2xx answer or a stream */
function failOnError(document: Json, secrets: readonly string[], usage: AnswerUsage | null): void {
  if (document.error === undefined || document.error === null) return;
  const error = record(document.error);
  const text = JSON.stringify(document.error);
  throw httpFailure(statusOf(error, text), text, secrets, null, usage);
}

/** The status an error object names, or the one its type means; 502 where it says nothing, as the server failed. */
function statusOf(error: Json | null, text: string): number {
  for (const code of [error?.code, error?.status, error?.http_status]) {
    const status = typeof code === "string" && /^\d{3}$/.test(code) ? Number(code) : code;
    if (typeof status === "number" && status >= 400 && status <= 599) return status;
  }
  const type = `${error?.type ?? ""} ${error?.code ?? ""}`.toLowerCase();
  if (/rate_?limit|too_many/.test(type)) return 429;
  if (/authentic|api_?key|unauthorized/.test(type)) return 401;
  if (/insufficient_(?:quota|balance)|billing/.test(type)) return 402;
  if (/permission/.test(type)) return 403;
  if (/overloaded|unavailable/.test(type)) return 503;
  if (/server_?error|internal/.test(type)) return 500;
  if (/invalid|bad_?request|unsupported|not_?found/.test(type)) return 400;
  return /invalid_request/.test(text) ? 400 : 502;
}

/** DeepSeek ends an answer so when it ran out of machines: the same as a 503. */
function failOnInterruption(finish: unknown, usage: AnswerUsage | null): void {
  if (finish === "insufficient_system_resource" || finish === "error") {
    throw httpFailure(503, `finish_reason ${finish}`, [], null, usage);
  }
}

function finishReason(value: unknown): FinishReason {
  switch (value) {
    case "stop":
    case "eos":
    case "eos_token":
    case "end_turn":
    case "stop_sequence":
      return "stop";
    case "length":
    case "max_tokens":
    case "model_length":
      return "length";
    case "content_filter":
    case "safety":
      return "content_filter";
    default:
      return "other";
  }
}

/**
 * Usage as OpenAI, DeepSeek and their relatives count it. A field that isn't a count is unknown (`null`), not zero;
 * a details object that says nothing about cached or reasoning tokens means none.
 */
export function readUsage(value: unknown): AnswerUsage | null {
  const usage = record(value);
  if (usage === null) return null;
  const inputTokens = count(usage.prompt_tokens);
  const outputTokens = count(usage.completion_tokens);
  if (inputTokens === null && outputTokens === null) return null;
  const details = record(usage.prompt_tokens_details);
  const outputDetails = record(usage.completion_tokens_details);
  return {
    inputTokens,
    cachedInputTokens: count(details?.cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ?? 0,
    outputTokens,
    reasoningTokens: count(outputDetails?.reasoning_tokens) ?? count(usage.reasoning_tokens) ?? 0,
  };
}

/** A count of tokens, or `null`. */
export function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function record(value: unknown): Json | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : null;
}

function list(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null;
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return null;
  return value.map((part) => typeof part === "string" ? part : textOf(record(part)?.text) ?? "").join("");
}
