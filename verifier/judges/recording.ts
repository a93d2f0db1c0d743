/**
 * Recorded answers: how they are keyed, written and looked up. A recording made with one judge can be replayed by
 * any profile, as the key knows only the prompt.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import { answerTokens } from "./answer_tokens.ts";
import type { Judge, JudgeAnswer, JudgeRequest } from "./judge.ts";

/** One recorded answer. In a file: one JSON object a line. */
export interface AnswerRecord {
  /** From {@link answerKey}. */
  readonly key: string;
  /** `null`: the judge said that it can't continue an assistant message. */
  readonly answer: JudgeAnswer | null;
}

/** Finds a recorded answer; `undefined` is a miss. */
export type AnswerLookup = (key: string) => Promise<JudgeAnswer | null | undefined>;

/**
 * Key of a request: SHA-256 (hex) over the prompt, its tags, images and repeat, whether its token budget was raised
 * after a truncated answer, and the assistant prefix of a continuation. Nothing about the judge is in it: neither
 * model nor settings.
 */
export async function answerKey(
  request: JudgeRequest,
  assistantPrefix: string | null = null,
): Promise<string> {
  const identity = JSON.stringify([
    "answer/1",
    request.prefix,
    request.suffix,
    request.tags,
    request.images,
    request.repeat,
    request.maxTokens !== null,
    assistantPrefix,
  ]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(identity));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The same judge, with every answer handed to `sink` before it is returned. Failures are not recorded. */
export function recordAnswers(judge: Judge, sink: (record: AnswerRecord) => void | Promise<void>): Judge {
  const { continuation } = judge;
  return {
    ...judge,
    async answer(request, context) {
      const answer = await judge.answer(request, context);
      await sink({ key: await answerKey(request), answer });
      return answer;
    },
    ...(continuation === undefined ? {} : {
      async continuation(request, assistantPrefix, context) {
        const answer = await continuation.call(judge, request, assistantPrefix, context);
        await sink({ key: await answerKey(request, assistantPrefix), answer });
        return answer;
      },
    }),
  };
}

/**
 * Reads a recording: JSON Lines, or a JSON array, of {@link AnswerRecord}. Of several records with one key the last
 * counts.
 *
 * @param path JSON pointer of where the recording stands, for errors
 * @throws {AssayError} `invalid_request` naming the record
 */
export function readRecording(
  source: string | readonly unknown[],
  path: string,
): ReadonlyMap<string, JudgeAnswer | null> {
  const answers = new Map<string, JudgeAnswer | null>();
  for (const [index, value] of entries(source, path)) {
    const record = typeof value === "object" && value !== null ? value as Partial<AnswerRecord> : {};
    if (typeof record.key !== "string" || !/^[0-9a-f]{64}$/.test(record.key)) {
      throw AssayError.field(`${path}/${index}/key`, "must be 64 hexadecimal digits", record.key);
    }
    answers.set(record.key, checkAnswer(record.answer, `${path}/${index}/answer`));
  }
  return answers;
}

function entries(source: string | readonly unknown[], path: string): Iterable<[number, unknown]> {
  if (typeof source !== "string") return source.entries();
  const text = source.replace(/^\uFEFF/, "").trim();
  if (text.startsWith("[")) {
    const list = parse(text, path);
    return (list as unknown[]).entries();
  }
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "").map((line, index) =>
    [index, parse(line, `${path}/${index}`)] as [number, unknown]
  );
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw AssayError.field(path, "must be JSON", text.slice(0, 100));
  }
}

function checkAnswer(value: unknown, path: string): JudgeAnswer | null {
  if (value === null) return null;
  if (typeof value !== "object" || Array.isArray(value)) {
    throw AssayError.field(path, "must be an answer or null", value);
  }
  const answer = value as Record<string, unknown>;
  if (typeof answer.text !== "string") {
    throw AssayError.field(`${path}/text`, "must be a string", answer.text);
  }
  if (answer.tokens !== null && !Array.isArray(answer.tokens)) {
    throw AssayError.field(`${path}/tokens`, "must be an array or null", answer.tokens);
  }
  const finish = answer.finishReason;
  if (finish !== "stop" && finish !== "length" && finish !== "content_filter" && finish !== "other") {
    throw AssayError.field(
      `${path}/finishReason`,
      "must be one of stop, length, content_filter, other",
      finish,
    );
  }
  return {
    text: answer.text,
    reasoning: typeof answer.reasoning === "string" ? answer.reasoning : null,
    tokens: answer.tokens === null ? null : answerTokens({ content: answer.tokens }),
    finishReason: finish,
    refused: answer.refused === true,
    model: typeof answer.model === "string" ? answer.model : "unknown",
  };
}
