/**
 * The judge that answers from a recording. A prompt that was not recorded is a failure, never a call.
 *
 * @module
 */
import { NO_USAGE } from "./attempt.ts";
import { type Judge, type JudgeAnswer, JudgeError } from "./judge.ts";
import { answerKey, type AnswerLookup } from "./recording.ts";

/** Options of {@link createReplayJudge}. */
export interface ReplayOptions {
  readonly profile: string;
  readonly lookup: AnswerLookup;
  /** Part of the cache key: two recordings must not share it. */
  readonly recording: string;
}

/** A judge over recorded answers. It costs nothing and is as fast as its lookup. */
export function createReplayJudge(options: ReplayOptions): Judge {
  const find = async (key: string): Promise<JudgeAnswer | null> => {
    const answer = await options.lookup(key);
    if (answer === undefined) {
      throw new JudgeError(
        "replay_miss",
        `The recording of judge ${options.profile} has no answer to this prompt (${key.slice(0, 12)}…).`,
      );
    }
    return answer;
  };
  return {
    profile: options.profile,
    kind: "replay",
    model: "replay",
    identity: JSON.stringify({ kind: "replay", recording: options.recording }),
    concurrency: 64,
    readsImages: true,
    warmsPrefix: false,
    price: { inputPerMillion: 0, cachedInputPerMillion: 0, outputPerMillion: 0 },
    calibration: null,
    // Any number does: it makes the scorer ask for the recorded answer to the raised budget after a truncated one.
    maxTokens: 1,
    expectedOutputTokens: null,
    contextTokens: null,
    async answer(request, context) {
      context.signal.throwIfAborted();
      const answer = await find(await answerKey(request));
      if (answer === null) throw new JudgeError("replay_miss", "The recorded answer is empty.");
      context.onAttempt(NO_USAGE);
      return answer;
    },
    async continuation(request, assistantPrefix, context) {
      context.signal.throwIfAborted();
      const answer = await find(await answerKey(request, assistantPrefix));
      if (answer !== null) context.onAttempt(NO_USAGE);
      return answer;
    },
  };
}
