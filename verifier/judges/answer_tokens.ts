/**
 * The tokens of an answer: shapes that servers use for log-probabilities, made into one in place, and cut to the
 * visible answer.
 *
 * @module
 */
import type { TokenLogprob } from "../types.ts";

interface Loose {
  token: unknown;
  logprob: unknown;
  top_logprobs?: unknown;
}

/**
 * Tokens from a choice's `logprobs`: the chat shape (`content`, else `refusal`), or the completions shape
 * (`tokens`, `token_logprobs`, `top_logprobs` as objects), which is converted. Entries are repaired in place: after
 * this every `token` is a string and every `logprob` a finite number or `null`.
 *
 * @returns `null` when there are no log-probabilities
 */
export function answerTokens(value: unknown): readonly TokenLogprob[] | null {
  if (typeof value !== "object" || value === null) return null;
  const logprobs = value as Record<string, unknown>;
  if (Array.isArray(logprobs.content)) return repair(logprobs.content);
  if (Array.isArray(logprobs.refusal)) return repair(logprobs.refusal);
  if (Array.isArray(logprobs.tokens)) return repair(fromCompletions(logprobs, logprobs.tokens));
  return null;
}

function repair(entries: unknown[]): readonly TokenLogprob[] {
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as Loose | null;
    if (typeof entry !== "object" || entry === null) {
      entries[i] = { token: "", logprob: null, top_logprobs: null };
      continue;
    }
    repairEntry(entry);
    const top = entry.top_logprobs;
    if (!Array.isArray(top)) {
      if (top !== undefined && top !== null) entry.top_logprobs = null;
      continue;
    }
    for (let j = 0; j < top.length; j++) {
      const alternative = top[j] as Loose | null;
      if (typeof alternative !== "object" || alternative === null) top[j] = { token: "", logprob: null };
      else repairEntry(alternative);
    }
  }
  return entries as TokenLogprob[];
}

function repairEntry(entry: Loose): void {
  if (typeof entry.token !== "string") entry.token = "";
  const { logprob } = entry;
  if (typeof logprob === "number" ? Number.isFinite(logprob) : logprob === null) return;
  const number = typeof logprob === "string" && logprob.trim() !== "" ? Number(logprob) : Number.NaN;
  // "-Infinity" is "impossible", which a missing number says as well; NaN is no number at all.
  entry.logprob = Number.isFinite(number) ? number : null;
}

function fromCompletions(logprobs: Record<string, unknown>, tokens: readonly unknown[]): unknown[] {
  const own = Array.isArray(logprobs.token_logprobs) ? logprobs.token_logprobs : [];
  const top = Array.isArray(logprobs.top_logprobs) ? logprobs.top_logprobs : [];
  return tokens.map((token, index) => {
    const alternatives = top[index];
    return {
      token,
      logprob: own[index] ?? null,
      top_logprobs: Array.isArray(alternatives)
        ? alternatives
        : typeof alternatives === "object" && alternatives !== null
        ? Object.entries(alternatives).map(([name, logprob]) => ({ token: name, logprob }))
        : null,
    };
  });
}

/** The visible answer, apart from reasoning. */
export interface SplitAnswer {
  readonly text: string;
  readonly reasoning: string | null;
  readonly tokens: readonly TokenLogprob[] | null;
}

/**
 * Takes reasoning that stands inside the answer (`<think> … </think>`) out of text and tokens, and cuts tokens of
 * reasoning that came apart from the text (vLLM lists them together). Without reasoning nothing is touched or copied.
 */
export function splitInlineReasoning(
  content: string,
  reasoning: string | null,
  tokens: readonly TokenLogprob[] | null,
): SplitAnswer {
  let text = content;
  let thought = reasoning === "" ? null : reasoning;
  const close = content.lastIndexOf("</think>");
  if (close >= 0) {
    text = content.slice(close + "</think>".length);
    thought = (thought ?? "") + content.slice(0, close).replace(/^\s*<think>/, "");
  } else if (/^\s*<think>/.test(content)) {
    // Cut off while still thinking: there is no answer yet.
    text = "";
    thought = (thought ?? "") + content.replace(/^\s*<think>/, "");
  }
  if (thought === null || tokens === null || tokens.length === 0) return { text, reasoning: thought, tokens };
  return { text, reasoning: thought, tokens: tokensOf(text, tokens) };
}

/** The tokens that spell `text`, which ends the token list except for tokens that aren't text (end of turn). */
function tokensOf(text: string, tokens: readonly TokenLogprob[]): readonly TokenLogprob[] {
  if (text.trim() === "") return [];
  const joined = tokens.map((token) => token.token).join("");
  if (joined.length === text.length) return tokens;
  const found = joined.lastIndexOf(text);
  // Tokens of half a character don't spell the text; then count from the end, which never reaches into the reasoning.
  const start = found >= 0 ? found : joined.length - text.length;
  let offset = 0;
  let first = 0;
  while (first < tokens.length && offset < start) offset += tokens[first++]?.token.length ?? 0;
  return tokens.slice(first);
}
