/**
 * Answers and faults for the stub judge.
 *
 * @module
 */
import {
  completion,
  INSTANT,
  type StubAnswer,
  type StubCall,
  type StubHang,
  type StubRaw,
  type StubRule,
  type StubToken,
} from "./stub_replies.ts";

const encoder = new TextEncoder();
const LETTERS = "ABCDEFGHIJKLMNOPQRST";
const EMPTY: readonly StubToken[] = [];

/** A token of certain probability, as for text that could hardly be otherwise. */
export function plainToken(token: string): StubToken {
  return {
    token,
    logprob: -0.001,
    bytes: [...encoder.encode(token)],
    top_logprobs: [{ token, logprob: -0.001 }],
  };
}

/**
 * A letter token whose 20 alternatives lie around `value` (0 to 1) of the given direction, so that the expectation is
 * `value` up to what the ends of the scale cut off.
 */
export function letterToken(
  value: number,
  direction: "pairwise" | "progress" = "pairwise",
  space = " ",
): StubToken {
  const centre = direction === "pairwise" ? 19 * (1 - value) : 19 * value;
  const weights = [...LETTERS].map((_, i) => Math.exp(-((i - centre) ** 2) / 2));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const top = [...LETTERS].map((letter, i) => ({
    token: space + letter,
    logprob: Math.max(-60, Math.log((weights[i] ?? 0) / total)),
  })).sort((a, b) => b.logprob - a.logprob);
  return { token: top[0]?.token, logprob: top[0]?.logprob, top_logprobs: top };
}

/** Words of an analysis, then the tags, each with the given letter token. */
export function tagged(analysis: string, scores: Readonly<Record<string, StubToken>>): StubAnswer {
  const tokens: StubToken[] = (analysis.match(/\s*\S+/g) ?? []).map(plainToken);
  for (const [tag, letter] of Object.entries(scores)) {
    tokens.push(
      plainToken("\n<"),
      plainToken(tag),
      plainToken(">"),
      letter,
      plainToken(" </"),
      plainToken(tag),
      plainToken(">"),
    );
  }
  return { kind: "answer", text: tokens.map((token) => token.token).join(""), tokens };
}

/** An answer with these letters, each of nearly certain probability. A continuation gets the letter of its tag. */
export function letters(scores: Readonly<Record<string, string>>, analysis = "Compared."): StubRule {
  const sharp = (letter: string): StubToken => ({
    token: " " + letter,
    logprob: -1e-6,
    top_logprobs: [{ token: " " + letter, logprob: -1e-6 }],
  });
  return (call) => {
    const tag = /<([A-Za-z0-9_]+)>\s*$/.exec(call.continues ?? "")?.[1];
    if (tag !== undefined) return oneToken(sharp(scores[tag] ?? "J"));
    return tagged(
      analysis,
      Object.fromEntries(Object.entries(scores).map(([name, letter]) => [name, sharp(letter)])),
    );
  };
}

/** One token, as a continuation is answered. */
export function oneToken(token: StubToken): StubAnswer {
  return { kind: "answer", text: String(token.token), tokens: [token], finishReason: "length" };
}

/** An answer in these words; by default without log-probabilities. */
export function say(text: string | null, fields: Partial<StubAnswer> = {}): StubAnswer {
  return { kind: "answer", text, tokens: null, ...fields };
}

/**
 * Grades by a rule. A side's quality is what `rule` says of its block; default: the last `quality=<number>` in it,
 * else 0.5. A progress prompt gets the last `quality=` at or before each checkpoint's step, else 0.
 * Deterministic, without slot bias unless `slotBias` (added to A, taken from B) says otherwise.
 */
export function smart(
  options: { readonly rule?: (text: string) => number; readonly slotBias?: number } = {},
): StubRule {
  const { rule = (text: string) => lastQuality(text) ?? 0.5, slotBias = 0 } = options;
  const clamp = (value: number): number => Math.min(1, Math.max(0, value));
  return (call) => {
    const value = (tag: string): StubToken => {
      if (tag === "score_A") {
        return letterToken(clamp(rule(block(call.prompt, "## Trajectory A")) + slotBias));
      }
      if (tag === "score_B") {
        return letterToken(clamp(rule(block(call.prompt, "## Trajectory B")) - slotBias));
      }
      const step = Number(
        new RegExp(`^Checkpoint ${tag.slice(1)}: after step (\\d+)$`, "m").exec(call.prompt)?.[1],
      );
      const steps = block(call.prompt, "## Steps").split(/^(?=--- Agent Step \d+ ---)/m).filter((text) =>
        text !== ""
      );
      const seen = steps.slice(0, step).join("");
      return letterToken(clamp(options.rule?.(seen) ?? lastQuality(seen) ?? 0), "progress");
    };
    const open = /<([A-Za-z0-9_]+)>\s*$/.exec(call.continues ?? "")?.[1];
    if (open !== undefined) return oneToken(value(open));
    return tagged(
      "I compared what was observed.",
      Object.fromEntries(call.tags.map((tag) => [tag, value(tag)])),
    );
  };
}

function lastQuality(text: string): number | null {
  const found = [...text.matchAll(/quality=(\d+(?:\.\d+)?)/g)].at(-1)?.[1];
  return found === undefined ? null : Number(found);
}

/** The text of the delimited block under a heading line; empty when there is none. */
export function block(prompt: string, heading: string): string {
  const at = ("\n" + prompt).indexOf(`\n${heading}\n<<<DATA `);
  if (at < 0) return "";
  const opening = at + heading.length + 1;
  const lineEnd = prompt.indexOf("\n", opening);
  const token = prompt.slice(opening + "<<<DATA ".length, lineEnd - ">>>".length);
  const end = prompt.indexOf(`\n<<<END ${token}>>>`, lineEnd);
  return end < 0 ? "" : prompt.slice(lineEnd + 1, end);
}

/**
 * The same pairwise answer at once for every request, as bytes made beforehand: `count` tokens (14 of them are the
 * tags) with 20 alternatives each. For benchmarks.
 */
export function instant(count: number): StubAnswer {
  const words = Array.from({ length: Math.max(0, count - 14) }, (_, i) => {
    const token = ` word${i % 50}`;
    const top = Array.from({ length: 20 }, (_, j) => {
      const text = j === 0 ? token : ` other${j}`;
      return { token: text, logprob: j === 0 ? -0.01 : -5.125 - j / 7, bytes: [...encoder.encode(text)] };
    });
    return { ...top[0], top_logprobs: top };
  });
  const tags = tagged("", { score_A: withBytes(letterToken(0.8)), score_B: withBytes(letterToken(0.3)) });
  const tokens = [...words, ...(tags.tokens ?? EMPTY).map(padded)];
  const answer: StubAnswer = { kind: "answer", text: tokens.map((token) => token.token).join(""), tokens };
  const call = { body: { model: "stub" } } as unknown as StubCall;
  INSTANT.set(answer, encoder.encode(JSON.stringify(completion(answer, call))));
  return answer;
}

function withBytes(token: StubToken): StubToken {
  const top = token.top_logprobs as readonly { readonly token: string; readonly logprob: number }[];
  return {
    ...token,
    bytes: [...encoder.encode(String(token.token))],
    top_logprobs: top.map((entry) => ({ ...entry, bytes: [...encoder.encode(entry.token)] })),
  };
}

function padded(token: StubToken): StubToken {
  const top = [...token.top_logprobs as readonly StubToken[]];
  for (let i = top.length; i < 20; i++) {
    const text = `~${i}`;
    top.push({ token: text, logprob: -20 - i, bytes: [...encoder.encode(text)] });
  }
  return { ...token, top_logprobs: top };
}

/** Any status with a body; default an OpenAI-like error object. */
export function failure(
  status: number,
  body: unknown = { error: { message: `stub failure ${status}`, type: "stub", param: null, code: null } },
  headers: Readonly<Record<string, string>> = {},
): StubRaw {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/html" : "application/json";
  return { kind: "raw", status, headers: { "content-type": type, ...headers }, chunks: [text] };
}

/** 429 with the given headers: `retry-after` (seconds or date), `retry-after-ms`, or none. */
export function rateLimit(headers: Readonly<Record<string, string>> = {}): StubRaw {
  return failure(429, { error: { message: "slow down", type: "rate_limit_error" } }, headers);
}

/** 400 that refuses a parameter in OpenAI's words. */
export function unsupported(parameter: string): StubRaw {
  return failure(400, {
    error: {
      message: `Unsupported parameter: '${parameter}' is not supported with this model.`,
      type: "invalid_request_error",
      param: parameter,
      code: "unsupported_parameter",
    },
  });
}

/** 401 that repeats the caller's key. */
export const echoKey: StubRule = (call: StubCall): StubRaw =>
  failure(401, {
    error: {
      message: `Incorrect API key provided: ${call.headers.authorization?.slice(7)}.`,
      code: "invalid_api_key",
    },
  });

/** Never answers. */
export const hang: StubHang = { kind: "hang" };
/** Half an answer, then the connection breaks. */
export const resetMidBody: StubRaw = {
  kind: "raw",
  status: 200,
  headers: { "content-type": "application/json" },
  chunks: ['{"choices":[{"message":{"content":"half', " an ans"],
  then: "reset",
};
/** A proper end in the middle of the JSON. */
export const truncatedJson: StubRaw = {
  kind: "raw",
  status: 200,
  headers: { "content-type": "application/json" },
  chunks: ['{"choices":[{"message":{"content":"half an ans'],
};
/** A proxy's page with a good status. */
export const htmlPage: StubRaw = {
  kind: "raw",
  status: 200,
  headers: { "content-type": "text/html" },
  chunks: ["<!doctype html><title>502 Bad Gateway</title><h1>Bad Gateway</h1>"],
};

/** More than `bytes` bytes of a good beginning, in chunks without a declared length. */
export function hugeBody(bytes: number): StubRaw {
  const chunk = "x".repeat(64 * 1024);
  const chunks = Array.from({ length: Math.ceil(bytes / chunk.length) + 1 }, () => chunk);
  return {
    kind: "raw",
    status: 200,
    headers: { "content-type": "application/json" },
    chunks: ['{"choices":[{"message":{"content":"', ...chunks],
    then: "hang",
  };
}

/** A redirect. */
export function redirect(location: string, status = 302): StubRaw {
  return { kind: "raw", status, headers: { location }, chunks: [""] };
}

/** An answer with tags whose letters carry no distribution: every log-probability is -9999 (seen from DeepSeek). */
export function degenerate(scores: Readonly<Record<string, string>>): StubAnswer {
  const entries = Object.entries(scores).map(([tag, letter]): [string, StubToken] => [tag, {
    token: " " + letter,
    logprob: -9999,
    top_logprobs: [{ token: " " + letter, logprob: -9999 }, { token: " A", logprob: -9999 }],
  }]);
  return tagged("Compared.", Object.fromEntries(entries));
}

/** The same answer with every list of alternatives empty. */
export function withoutAlternatives(answer: StubAnswer): StubAnswer {
  return { ...answer, tokens: answer.tokens?.map((token) => ({ ...token, top_logprobs: [] })) ?? null };
}
