/**
 * Judges that can also write: what drafts for best-of-N come from. A generator is a judge profile, so its key, retries,
 * deadlines, price and concurrency are configured once.
 *
 * @module
 */
import { AssayError } from "../errors.ts";
import type { JudgeChoice } from "../types.ts";
import type { FinishReason, Judge, JudgeContext, JudgeRegistry } from "./judge.ts";

/** One text to be written. */
export interface GenerateRequest {
  /** The whole prompt, sent as one user message. */
  readonly prompt: string;
  /** Images in order: `https:` or `data:` URLs. */
  readonly images: readonly string[];
}

/** What a generator wrote. */
export interface GeneratedText {
  /** The visible text, after any reasoning; may be empty. */
  readonly text: string;
  readonly finishReason: FinishReason;
  /** True when the model refused in so many words. */
  readonly refused: boolean;
  /** Model name as the provider reports it. */
  readonly model: string;
}

/** A judge that can write. */
export interface Generator extends Judge {
  /** Writes one text with the profile's settings. @throws {JudgeError} after its own retries; an abort rejects with the signal's reason */
  generate(request: GenerateRequest, context: JudgeContext): Promise<GeneratedText>;
}

/** Whether a judge can write. */
export function isGenerator(judge: Judge): judge is Generator {
  return judge.generate !== undefined;
}

/**
 * The generator that a request names, by default the server's default judge.
 * @throws {AssayError} `invalid_request` at `/generator` for an unknown profile or one that can't write
 */
export function resolveGenerator(registry: JudgeRegistry, choice: JudgeChoice | undefined): Generator {
  let judge: Judge;
  try {
    judge = registry.resolve(choice);
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    const errors = error.errors.map((field) => ({
      ...field,
      path: field.path.replace(/^\/judge(?=\/|$)/, "/generator"),
    }));
    throw new AssayError(error.code, error.message.replace(/^\/judge(?=[/:])/, "/generator"), {
      errors,
      cause: error,
    });
  }
  if (isGenerator(judge)) return judge;
  const able = registry.profiles().filter(({ kind }) => kind === "openai-compatible" || kind === "gemini")
    .map(({ name }) => name);
  throw AssayError.field(
    "/generator",
    `must be a model that can write: ${judge.profile} is of kind ${judge.kind}, which can't; ${
      able.length === 0 ? "no configured judge can" : `these can: ${able.join(", ")}`
    }`,
    choice,
  );
}
