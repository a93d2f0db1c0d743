/**
 * Drafts: one prompt, written several times. Only its last line varies, so the first draft warms the provider's prompt
 * cache for the others. A draft that is there is kept in the store: the same request doesn't buy it again, not even
 * after a crash.
 *
 * @module
 */
import type { Cancellation } from "../cancellation.ts";
import { delimitBlock, draftPrompt, promptVersion } from "../core.ts";
import type { Recording } from "../decisions/decisions.ts";
import type { Environment } from "../environment.ts";
import type { GeneratedText, Generator } from "../judges/generator.ts";
import { JudgeError } from "../judges/judge.ts";
import { planCalls } from "../plan.ts";
import { sha256Hex, utf8Length } from "../prompt.ts";
import { redact } from "../redaction/redact.ts";
import type { Slot } from "../scheduler.ts";
import { shortenText, type Warnings } from "../text.ts";
import type { Draft, Plan } from "../types.ts";
import type { UsageMeter } from "../usage.ts";

/** Output tokens taken for a draft where the generator doesn't say what it may use. */
const DEFAULT_DRAFT_TOKENS = 4096;
const FORMAT = 1;

/** What is to be written. */
export interface DraftOrder {
  readonly request: string;
  readonly context: string | null;
  readonly images: readonly string[];
  /** Digest of the images in order; empty without images. */
  readonly imagesDigest: string;
  readonly n: number;
  /** Another seed asks for other drafts. */
  readonly seed: number;
}

/** The prompts of all drafts; they differ in their last line. */
export function draftPrompts(secret: string, order: DraftOrder): readonly string[] {
  const context = order.context === null ? {} : { context: delimitBlock(secret, order.context) };
  return Array.from(
    { length: order.n },
    (_, i) => draftPrompt({ request: order.request, ...context, draft: i + 1, drafts: order.n }),
  );
}

/** Most output tokens of one draft, reasoning included. */
export function draftTokens(generator: Generator): number {
  return generator.maxTokens ?? DEFAULT_DRAFT_TOKENS;
}

/** What writing will cost in the worst case: every draft as long as the generator may make it. */
export function planDrafts(generator: Generator, prompts: readonly string[], images: number): Plan {
  const last = (prompt: string): number => prompt.length - prompt.lastIndexOf("\n");
  const [first = ""] = prompts;
  return planCalls({ ...generator, expectedOutputTokens: draftTokens(generator) }, 0, [{
    prefixBytes: utf8Length(first) - last(first),
    suffixBytes: prompts.map(last),
    images,
  }]);
}

/** What drafting works with. */
export interface DraftTools {
  readonly environment: Environment;
  readonly generator: Generator;
  readonly cancellation: Cancellation;
  readonly cache: "use" | "refresh" | "off";
  readonly warnings: Warnings;
  readonly meter: UsageMeter;
  readonly recording: Recording | undefined;
  readonly onDraft: (draft: Draft) => void;
}

/** Writes all drafts. A draft that fails says why; this rejects only for a bug. */
export async function writeDrafts(order: DraftOrder, tools: DraftTools): Promise<readonly Draft[]> {
  const { environment, generator, recording, onDraft } = tools;
  const prompts = draftPrompts(environment.delimiterSecret, order);
  const [first = ""] = prompts;
  const common = await sha256Hex(first.slice(0, first.lastIndexOf("\n")));
  const request = {};
  return await Promise.all(prompts.map(async (prompt, index) => {
    const key = await sha256Hex(JSON.stringify([
      "assay-draft",
      FORMAT,
      promptVersion(),
      await sha256Hex(prompt),
      order.imagesDigest,
      order.seed,
      generator.kind,
      generator.identity,
    ]));
    const draft = await writeDraft({ index, prompt, key, common, request, order }, tools);
    recording?.add({
      label: { repeat: index },
      judge: generator.profile,
      tags: [],
      direction: "pairwise",
      cached: draft.cached,
      scores: [],
      evidence: null,
      prompt: [prompt],
      output: draft.text,
    });
    onDraft(draft);
    return draft;
  }));
}

interface One {
  readonly index: number;
  readonly prompt: string;
  readonly key: string;
  /** Digest of what all prompts share. */
  readonly common: string;
  readonly request: object;
  readonly order: DraftOrder;
}

async function writeDraft(one: One, tools: DraftTools): Promise<Draft> {
  const { environment, generator, cancellation, cache, warnings, meter } = tools;
  const { index, key } = one;
  const failed = (reason: NonNullable<Draft["failure"]>["reason"], detail: string): Draft => (
    {
      index,
      text: null,
      finishReason: null,
      cached: false,
      failure: { reason, detail: shortenText(detail, 400) },
    }
  );
  try {
    cancellation.signal.throwIfAborted();
    const stored = cache === "use" ? await readStored(environment, key, warnings) : null;
    if (stored !== null) {
      meter.hit();
      return { index, ...stored, cached: true };
    }
    const { value, joined } = await environment.scheduler.run<GeneratedText>({
      pool: generator.profile,
      concurrency: generator.concurrency,
      request: one.request,
      // With the cache off every draft is written for its own request.
      key: cache === "off" ? null : `draft\0${cache}\0${key}`,
      prefix: generator.warmsPrefix
        ? `draft\0${generator.identity}\0${one.order.imagesDigest}\0${one.common}`
        : null,
      signal: cancellation.signal,
      call: (slot) => buy(one, slot, tools),
    });
    if (joined) meter.hit();
    const { text, finishReason, refused } = value;
    if (refused || finishReason === "content_filter") {
      return {
        ...failed("refused", text.trim() || "the model's content filter ended the answer"),
        finishReason,
      };
    }
    if (text.trim() === "") {
      return finishReason === "length"
        ? {
          ...failed(
            "truncated",
            `the ${draftTokens(generator)} output tokens were used up before the draft began`,
          ),
          finishReason,
        }
        : { ...failed("empty", "the model answered nothing"), finishReason };
    }
    return { index, text, finishReason, cached: joined };
  } catch (error) {
    const cause = cancellation.cause();
    const detail = error instanceof Error ? error.message : String(error);
    if (cause !== null) return failed(cause, detail);
    if (error instanceof JudgeError) return failed(error.reason, detail);
    return failed("backend_error", `unexpected: ${detail}`);
  }
}

async function buy(one: One, slot: Slot, tools: DraftTools): Promise<GeneratedText> {
  const { generator, meter, cache, environment, warnings } = tools;
  meter.call();
  let written: GeneratedText;
  try {
    written = await generator.generate({ prompt: one.prompt, images: one.order.images }, {
      signal: slot.signal,
      onAttempt: (used) => meter.attempt(used),
      onRateLimited: () => slot.rateLimited(),
    });
    slot.answered();
  } catch (error) {
    if (error instanceof JudgeError && error.reason === "rate_limited") slot.rateLimited();
    throw error;
  } finally {
    meter.ended();
  }
  const { finishReason, refused } = written;
  const text = written.text.toWellFormed();
  const usable = !refused && finishReason !== "content_filter" && text.trim() !== "";
  if (usable && cache !== "off") {
    // What is kept must hold no secret, and a draft with a hole in it would be another draft.
    if ((environment.redact ?? redact)(text) !== text) {
      warnings.add(
        "a draft holds something that looks like a secret, so it is not kept for the same request",
      );
      return { ...written, text };
    }
    try {
      const record = JSON.stringify({ format: FORMAT, text, finishReason });
      await environment.store.put(`draft/${one.key}`, new TextEncoder().encode(record));
    } catch (error) {
      warnings.add(
        `a draft can't be stored, so that the same request will buy it again: ${(error as Error).message}`,
      );
    }
  }
  return { ...written, text };
}

const FINISHED: readonly unknown[] = ["stop", "length", "other"];

async function readStored(
  environment: Environment,
  key: string,
  warnings: Warnings,
): Promise<Pick<Draft, "text" | "finishReason"> | null> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = (await environment.store.get(`draft/${key}`))?.value;
  } catch (error) {
    warnings.add(`stored drafts can't be read and are written again: ${(error as Error).message}`);
    return null;
  }
  if (bytes === undefined) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    const { format, text, finishReason } = value as Record<string, unknown>;
    if (
      format === FORMAT && typeof text === "string" && text.trim() !== "" && FINISHED.includes(finishReason)
    ) {
      return { text, finishReason: finishReason as Draft["finishReason"] };
    }
  } catch {
    // Told below, with the other shapes that aren't ours.
  }
  warnings.add(`the store holds a corrupt draft, which is ignored: draft/${key}`);
  return null;
}
