/**
 * Bodies of `/chat/completions` requests: what the families of servers want said differently.
 *
 * @module
 */
import type { Effort, Family } from "../config/schema.ts";
import type { Capabilities } from "./capabilities.ts";
import type { JudgeRequest } from "./judge.ts";

/** Everything in a profile that shapes a request. */
export interface ChatSettings {
  readonly family: Family;
  readonly model: string;
  /** Whether the model should reason before it answers. */
  readonly thinking: boolean;
  /** As named; `null` leaves it to the server. */
  readonly effort: Effort | null;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topLogprobs: number;
  readonly stream: boolean;
}

/** A request's body before it is text. */
export type ChatBody = Record<string, unknown>;

/** The 20 letters of the scale. */
const LETTERS = [..."ABCDEFGHIJKLMNOPQRST"];

/** Families that can go on with an assistant message; DeepSeek's `prefix` lives at another endpoint. */
const CONTINUES: readonly Family[] = ["vllm", "sglang", "llama.cpp"];

/** Output tokens where the profile names none: with thinking the reasoning shares them. */
export function defaultMaxTokens(family: Family, thinking: boolean): number {
  return family === "deepseek" || thinking ? 32_768 : 4096;
}

/** Whether an effort means "don't think". */
export function isOff(effort: string | null): boolean {
  return effort === "off" || effort === "none" || effort === "disabled";
}

/** Whether a profile thinks when it doesn't say: DeepSeek does, as its published verifier setting; others don't. */
export function thinks(family: Family, effort: string | null, thinking: boolean | undefined): boolean {
  return thinking ?? (effort === null ? family === "deepseek" : !isOff(effort));
}

/** The body of a judged call, with what the server is known to refuse left out. */
export function answerBody(settings: ChatSettings, learnt: Capabilities, request: JudgeRequest): ChatBody {
  return {
    ...common(settings, learnt, [{ role: "user", content: content(request) }]),
    ...thinkingSwitch(settings, learnt),
    ...(settings.stream && learnt.stream !== false
      ? {
        stream: true,
        ...(learnt.streamOptions === false ? {} : { stream_options: { include_usage: true } }),
      }
      : {}),
    ...tokenLimit(settings, learnt, request.maxTokens ?? settings.maxTokens),
  };
}

/**
 * The body that asks for the token after `assistantPrefix`, or `null` where the family or this server can't.
 * Two tokens, as some tokenisers write the space before a letter as a token of its own.
 */
export function continuationBody(
  settings: ChatSettings,
  learnt: Capabilities,
  request: JudgeRequest,
  assistantPrefix: string,
): ChatBody | null {
  if (!CONTINUES.includes(settings.family) || learnt.continuation === false || learnt.logprobs === false) {
    return null;
  }
  return {
    ...common(settings, learnt, [
      { role: "user", content: content(request) },
      { role: "assistant", content: assistantPrefix.toWellFormed() },
    ]),
    // Reasoning would come before the letter.
    ...thinkingSwitch({ ...settings, thinking: false, effort: null }, learnt),
    ...tokenLimit(settings, learnt, 2),
    add_generation_prompt: false,
    continue_final_message: true,
    ...constraint(settings.family, learnt),
  };
}

function common(settings: ChatSettings, learnt: Capabilities, messages: readonly unknown[]): ChatBody {
  const topLogprobs = Math.min(settings.topLogprobs, learnt.topLogprobs ?? settings.topLogprobs);
  return {
    model: settings.model,
    messages,
    ...(learnt.temperature === false ? {} : { temperature: settings.temperature }),
    ...(learnt.logprobs === false ? {} : { logprobs: true, top_logprobs: topLogprobs }),
    // Without this OpenRouter may pick a provider that ignores logprobs.
    ...(settings.family === "openrouter" && learnt.logprobs !== false
      ? { provider: { require_parameters: true } }
      : {}),
  };
}

function content(request: JudgeRequest): unknown {
  const text = request.prefix + request.suffix;
  if (request.images.length === 0) return text;
  return [
    { type: "text", text },
    ...request.images.map((url) => ({ type: "image_url", image_url: { url } })),
  ];
}

function tokenLimit(settings: ChatSettings, learnt: Capabilities, limit: number): ChatBody {
  const completion = learnt.completionTokens ?? settings.family === "openai";
  return completion ? { max_completion_tokens: limit } : { max_tokens: limit };
}

/** How each family is told to think or not to; empty once a server has refused it. */
export function thinkingSwitch(
  settings: Pick<ChatSettings, "family" | "thinking" | "effort">,
  learnt: Capabilities,
): ChatBody {
  if (learnt.thinking === false) return {};
  const { family, thinking } = settings;
  const effort = settings.effort !== null && !isOff(settings.effort) ? settings.effort : null;
  switch (family) {
    case "deepseek":
      return thinking
        ? { thinking: { type: "enabled" }, reasoning_effort: effort ?? "high" }
        : { thinking: { type: "disabled" } };
    case "vllm":
    case "sglang":
    case "llama.cpp":
      return {
        chat_template_kwargs: { enable_thinking: thinking },
        ...(thinking && effort !== null && family !== "llama.cpp" ? { reasoning_effort: effort } : {}),
      };
    case "openrouter":
      return {
        reasoning: thinking ? (effort === null ? { enabled: true } : { effort }) : { enabled: false },
      };
    case "openai":
      // Models without reasoning refuse the parameter, so it is sent only on request.
      if (settings.effort === null) return {};
      return { reasoning_effort: effort ?? "none" };
    case "generic":
      return {};
  }
}

// The returned distribution is usually the one before the constraint; that's fine, as letters are renormalised and
// their mass is measured. The constraint makes servers that return the distribution after it useful too.
function constraint(family: Family, learnt: Capabilities): ChatBody {
  if (family === "sglang") return { regex: " ?[A-T]" };
  if (family === "llama.cpp") return { grammar: 'root ::= " "? [A-T]' };
  if (learnt.constraint === false) return {};
  return { structured_outputs: { choice: [...LETTERS, ...LETTERS.map((letter) => " " + letter)] } };
}
