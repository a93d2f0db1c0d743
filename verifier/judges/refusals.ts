/**
 * Tells from an error answer whether the server refuses a parameter of the request. Only an answer that names the
 * parameter counts; a missing key, an unknown model, a rate limit or a broken server teaches nothing.
 *
 * @module
 */
import type { Capability } from "./capabilities.ts";

/** One lesson from a refusal. */
export interface Refusal {
  readonly capability: Capability;
  readonly value: boolean | number;
}

/** Statuses that can be about a parameter. */
const ABOUT_PARAMETERS = new Set([400, 404, 405, 415, 422, 501]);

const UNSUPPORTED =
  /not (?:be )?(?:supported|support|allowed|permitted|available|enabled|implemented|recognized|recognised|valid)|n['’]t (?:support|allow|permit)|does not support|unsupported|unknown|unrecognized|unrecognised|unexpected|extra (?:inputs|fields)|no such|invalid|disabled|not one of|no longer|use ['"`]?max_|remove/i;

/** The parameter, not the word: streams are closed, reset and interrupted as well. */
const STREAM_PARAMETER = /['"`]stream['"`]|(?:parameter|argument|field)\b[^.]{0,40}\bstream\b/i;

/**
 * The lesson in an error, or `null`.
 *
 * @param status HTTP status of the answer
 * @param text its body
 * @param body the request's body: only a parameter that was really sent can have been refused
 */
export function readRefusal(
  status: number | null,
  text: string,
  body: Readonly<Record<string, unknown>>,
): Refusal | null {
  if (status === null) return null;
  // Some OpenAI models answer 403 here; every other 403 is about the key.
  if (status === 403 && /not allowed to request logprobs/i.test(text) && "logprobs" in body) {
    return { capability: "logprobs", value: false };
  }
  if (!ABOUT_PARAMETERS.has(status)) return null;
  const router = "provider" in body &&
    /no endpoints found that (?:support|can handle) the requested parameters/i.test(text);
  if (router) return { capability: "logprobs", value: false };
  if (isAboutSomethingElse(text)) return null;

  // Where the server says which parameter it means, the rest of its text (often the whole request) doesn't count.
  const place = statedParameters(text) ?? text;
  const names = (parameter: string): boolean => parameter in body && mentions(place, parameter);
  if ("logprobs" in body && (mentions(place, "top_logprobs") || mentions(place, "logprobs"))) {
    const maximum = statedMaximum(text, Number(body.top_logprobs));
    if (maximum !== null) {
      return maximum === 0
        ? { capability: "logprobs", value: false }
        : { capability: "topLogprobs", value: maximum };
    }
  }
  // Whatever is said about these two (that the template drops the last message, that they exclude each other), the
  // server can't continue it.
  for (const parameter of ["continue_final_message", "add_generation_prompt"]) {
    if (names(parameter)) return { capability: "continuation", value: false };
  }
  if (!UNSUPPORTED.test(text)) return null;
  if (
    "continue_final_message" in body &&
    /last (?:message|role)|assistant (?:message|prefill|role)|prefill/i.test(text)
  ) {
    return { capability: "continuation", value: false };
  }
  for (const parameter of ["structured_outputs", "regex", "grammar"]) {
    if (names(parameter)) return { capability: "constraint", value: false };
  }
  if (names("stream_options")) return { capability: "streamOptions", value: false };
  if ("max_tokens" in body && mentions(text, "max_completion_tokens")) {
    return { capability: "completionTokens", value: true };
  }
  if (names("max_completion_tokens")) return { capability: "completionTokens", value: false };
  for (
    const parameter of [
      "reasoning_effort",
      "chat_template_kwargs",
      "enable_thinking",
      "thinking",
      "reasoning",
    ]
  ) {
    const sent = parameter === "enable_thinking" ? "chat_template_kwargs" in body : parameter in body;
    if (sent && mentions(place, parameter)) return { capability: "thinking", value: false };
  }
  if (names("top_logprobs") || names("logprobs")) return { capability: "logprobs", value: false };
  if (body.temperature === 1 && names("temperature")) return { capability: "temperature", value: false };
  if (names("stream") && (place !== text || STREAM_PARAMETER.test(text))) {
    return { capability: "stream", value: false };
  }
  return null;
}

/** Parameters that the error names in a field of its own: OpenAI's `param`, or `loc` of a list of faults. */
function statedParameters(text: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const found: string[] = [];
  const look = (node: unknown, depth: number): void => {
    if (typeof node !== "object" || node === null || depth > 4) return;
    if (Array.isArray(node)) {
      for (const entry of node.slice(0, 20)) look(entry, depth + 1);
      return;
    }
    const { param, loc } = node as { param?: unknown; loc?: unknown };
    if (typeof param === "string" && param !== "") found.push(param);
    if (Array.isArray(loc)) found.push(loc.filter((part) => typeof part === "string").join(" "));
    for (const key of ["error", "detail", "errors"]) look((node as Record<string, unknown>)[key], depth + 1);
  };
  look(value, 0);
  return found.length === 0 ? null : found.join(" ");
}

/** A model that isn't there, a prompt that is too long or a key that is wrong may mention anything. */
function isAboutSomethingElse(text: string): boolean {
  return /model[^.]{0,200}?(?:not found|does(?:n['’]t| not) exist|not exist\b)|model_not_found|no such model|unknown model|context[ _]length|maximum context|context window|too many tokens|api[ _-]?key|authenticat|insufficient|quota|billing|balance/i
    .test(text);
}

function mentions(text: string, parameter: string): boolean {
  let from = 0;
  for (;;) {
    const at = text.indexOf(parameter, from);
    if (at < 0) return false;
    if (!/[a-z0-9_]/i.test(text[at - 1] ?? " ") && !/[a-z0-9_]/i.test(text[at + parameter.length] ?? " ")) {
      return true;
    }
    from = at + 1;
  }
}

/**
 * The largest number of alternatives that the text allows, when it says one below `asked`.
 * Seen: "greater than max allowed: 5", "Cannot request more than 5 logprobs", "less than or equal to 5",
 * "5 is greater than the maximum of 1", "must be between 0 and 5", "in the range [0, 5]", "should be <= 5".
 */
function statedMaximum(text: string, asked: number): number | null {
  const patterns = [
    /max(?:imum)?(?: value)?(?: is| of| allowed| allowed is)?[ :=]{1,3}(\d{1,3})\b/i,
    /max(?:imum)? allowed[^0-9]{0,20}(\d{1,3})\b/i,
    /(?:more than|exceed|up to|at most|no more than|less than or equal to|<=|≤)[ :=]{0,2}(\d{1,3})\b/i,
    /between (?:0|1) and (\d{1,3})\b/i,
    /[[(](?:0|1), ?(\d{1,3})[\])]/,
    /["']?(?:le|max|maximum)["']?: ?(\d{1,3})\b/i,
  ];
  for (const pattern of patterns) {
    const found = Number(pattern.exec(text)?.[1] ?? Number.NaN);
    if (Number.isInteger(found) && found < asked) return found;
  }
  return null;
}
