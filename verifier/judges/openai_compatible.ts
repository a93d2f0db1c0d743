/**
 * The judge for every server with `/chat/completions`: builds the request for its family, sends it with retries and
 * deadlines, and learns which parameters the server refuses.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import type { TokenLogprob } from "../types.ts";
import { AttemptError, exchange } from "./attempt.ts";
import type { Capabilities, CapabilityMemory, Subject } from "./capabilities.ts";
import { answerBody, type ChatBody, type ChatSettings, continuationBody } from "./chat_request.ts";
import { readReply, type Reply } from "./chat_response.ts";
import {
  type Calibration,
  type Judge,
  type JudgeContext,
  JudgeError,
  type JudgeRequest,
  type Price,
} from "./judge.ts";
import { readRefusal } from "./refusals.ts";
import { type Timing, withRetries } from "./retry.ts";

/** What both kinds of calling judges are made from. */
export interface CallingSettings {
  readonly profile: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
  /** The key, or why there is none; read at every call, so that a key may appear while the server runs. */
  readonly readKey: () => { readonly key: string | null } | { readonly missing: string };
  readonly identity: string;
  readonly maxTokens: number;
  readonly concurrency: number;
  readonly readsImages: boolean;
  /** Longest time of one attempt without an answer, or without anything new in a stream. */
  readonly timeoutMs: number;
  /** Longest time of a call with all its attempts and waits. */
  readonly deadlineMs: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
  readonly price: Price | null;
  readonly calibration: Calibration | null;
  readonly expectedOutputTokens: number | null;
  readonly contextTokens: number | null;
}

/** What the judges need from outside. */
export interface CallingTools {
  readonly fetch: typeof fetch;
  readonly memory: CapabilityMemory;
  readonly timing: Timing;
}

/** Lessons that one call may learn before it gives up: each costs a refused request. */
const MAXIMUM_LESSONS = 8;

/** A judge over `${baseUrl}/chat/completions`. */
export function createOpenAiCompatibleJudge(
  settings: CallingSettings & { readonly chat: ChatSettings },
  tools: CallingTools,
): Judge {
  const subject: Subject = { profile: settings.profile, baseUrl: settings.baseUrl, model: settings.model };
  const caller = createCaller(settings, tools, subject);
  let answersWithoutLogprobs = 0;

  const post = (
    body: ChatBody,
    key: string | null,
    remainingMs: number,
    context: JudgeContext,
  ): Promise<Reply> => {
    const secrets = key === null ? [] : [key];
    return exchange(
      {
        fetch: tools.fetch,
        url: `${settings.baseUrl}/chat/completions`,
        headers: {
          "content-type": "application/json",
          accept: body.stream === true ? "text/event-stream, application/json" : "application/json",
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(body),
        timeoutMs: settings.timeoutMs,
        remainingMs,
        maxResponseBytes: settings.maxResponseBytes,
        signal: context.signal,
        secrets,
        timing: tools.timing,
      },
      (response, progress) =>
        readReply(response, {
          maxResponseBytes: settings.maxResponseBytes,
          model: settings.model,
          secrets,
          progress,
        }),
    );
  };

  async function noteLogprobs(body: ChatBody, reply: Reply, learnt: Capabilities): Promise<void> {
    if (body.logprobs !== true || reply.answer.text === "" || reply.answer.finishReason !== "stop") return;
    if (reply.answer.tokens !== null) {
      answersWithoutLogprobs = 0;
      if (learnt.logprobsReturned === false) await tools.memory.unlearn(subject, "logprobsReturned");
    } else if (++answersWithoutLogprobs >= 2 && learnt.logprobsReturned !== false) {
      await tools.memory.learn(subject, "logprobsReturned", false);
    }
  }

  return {
    ...described(settings, "openai-compatible"),
    async answer(request, context) {
      refuseImages(settings, request);
      const { reply, body, learnt } = await caller(
        (known) => answerBody(settings.chat, known, request),
        post,
        context,
      );
      await noteLogprobs(body, reply, learnt);
      return reply.answer;
    },
    async generate({ prompt, images }, context) {
      const request = { prefix: prompt, suffix: "", images, tags: [], repeat: 0, maxTokens: null };
      refuseImages(settings, request);
      // Nothing is read from the tokens of a draft, and some servers refuse to give them.
      const { reply } = await caller(
        (learnt) => answerBody(settings.chat, { ...learnt, logprobs: false }, request),
        post,
        context,
      );
      return reply.answer;
    },
    async continuation(request, assistantPrefix, context) {
      refuseImages(settings, request);
      const build = (known: Capabilities): ChatBody | null =>
        continuationBody(settings.chat, known, request, assistantPrefix);
      if (build(await tools.memory.recall(subject)) === null) return null;
      try {
        const { reply } = await caller(build, post, context);
        return continued(reply);
      } catch (error) {
        if (error instanceof CannotAsk) return null;
        throw error;
      }
    },
  };
}

/** Thrown when what was learnt leaves nothing to send. */
export class CannotAsk extends Error {}

/** Fields that a calling judge takes over from its settings. */
export function described(
  settings: CallingSettings,
  kind: Judge["kind"],
): Omit<Judge, "answer" | "continuation"> {
  return {
    profile: settings.profile,
    kind,
    model: settings.model,
    identity: settings.identity,
    concurrency: settings.concurrency,
    readsImages: settings.readsImages,
    warmsPrefix: true,
    price: settings.price,
    calibration: settings.calibration,
    maxTokens: settings.maxTokens,
    expectedOutputTokens: settings.expectedOutputTokens,
    contextTokens: settings.contextTokens,
  };
}

/** @throws {AssayError} when images are asked of a judge that can't read them: they are never dropped */
export function refuseImages(settings: CallingSettings, request: JudgeRequest): void {
  if (request.images.length > 0 && !settings.readsImages) {
    throw AssayError.field("/images", `must be empty, as judge ${settings.profile} does not read images`);
  }
}

type Post = (
  body: ChatBody,
  key: string | null,
  remainingMs: number,
  context: JudgeContext,
) => Promise<Reply>;

/** One call with its retries and lessons. */
export type Caller = (
  build: (learnt: Capabilities) => ChatBody | null,
  post: Post,
  context: JudgeContext,
) => Promise<{ readonly reply: Reply; readonly body: ChatBody; readonly learnt: Capabilities }>;

/** The part that all calling judges share: key, retries, usage of every attempt, lessons from refusals. */
export function createCaller(
  settings: CallingSettings,
  tools: CallingTools,
  subject: Subject,
  read: typeof readRefusal = readRefusal,
): Caller {
  return async (build, post, context) => {
    const access = settings.readKey();
    if ("missing" in access) throw new JudgeError("unauthorized", access.missing);
    const { key } = access;
    const attempt = async (remainingMs: number) => {
      const end = tools.timing.now() + remainingMs;
      for (let lessons = 0;; lessons++) {
        const learnt = await tools.memory.recall(subject);
        const body = build(learnt);
        if (body === null) throw new CannotAsk();
        const left = Math.max(1, end - tools.timing.now());
        context.signal.throwIfAborted();
        try {
          const reply = await post(body, key, left, context);
          context.onAttempt(reply.usage);
          return { reply, body, learnt };
        } catch (error) {
          if (!(error instanceof AttemptError)) {
            // Aborted: it was sent, and nobody knows how much of it the server did.
            context.onAttempt(null);
            throw error;
          }
          context.onAttempt(error.usage);
          if (error.status === 429) context.onRateLimited?.(error.retryAfterMs);
          const refusal = read(error.status, error.body, body);
          if (refusal === null || lessons >= MAXIMUM_LESSONS) throw error;
          await tools.memory.learn(subject, refusal.capability, refusal.value);
        }
      }
    };
    try {
      return await withRetries(attempt, { ...settings, timing: tools.timing }, context.signal);
    } catch (error) {
      throw error instanceof AttemptError ? error.toJudgeError() : error;
    }
  };
}

/** With less than this on letters, a blank token is the space before the letter, not one of its rivals. */
const BLANK_LETTER_MASS = 0.5;

/**
 * The answer to a continuation, or `null` when the server plainly began a new turn: no letter is sampled and none is
 * among the alternatives. Where the sampled token is blank and hardly any letter was possible in its place, the letter
 * is the next token: some tokenisers split the space off.
 */
function continued(reply: Reply): Reply["answer"] | null {
  const { answer } = reply;
  const [first, second] = answer.tokens ?? [];
  if (first === undefined) return answer;
  if (
    first.token.trim() === "" && second !== undefined && hasLetter(second) &&
    letterMass(first) < BLANK_LETTER_MASS
  ) {
    return { ...answer, tokens: answer.tokens?.slice(1) ?? null };
  }
  return hasLetter(first) ? answer : null;
}

function isLetter(token: string): boolean {
  return /^[A-T]$/i.test(token.trim());
}

function hasLetter(token: TokenLogprob): boolean {
  return isLetter(token.token) ||
    (token.top_logprobs ?? []).some((alternative) => isLetter(alternative.token));
}

function letterMass(token: TokenLogprob): number {
  return (token.top_logprobs ?? []).reduce(
    (mass, { token: text, logprob }) => isLetter(text) && logprob !== null ? mass + Math.exp(logprob) : mass,
    0,
  );
}
