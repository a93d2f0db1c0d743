/**
 * What a decision says of its request: every setting, and of the big texts their digests and lengths.
 *
 * @module
 */
import type { Outline } from "./decisions.ts";
import type { Judge } from "../judges/judge.ts";
import { type PromptText, sha256Hex, textSha256 } from "../prompt.ts";
import type { JudgeChoice, Rubric, SharedRequest, Trajectory } from "../types.ts";

/** Fields that hold texts, or that are said better elsewhere in the outline. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "task",
  "context",
  "criteria",
  "groundTruthNote",
  "images",
  "judge",
  "a",
  "b",
  "candidates",
  "trajectory",
  // A pattern may spell out what it takes out.
  "redact",
]);

/** A text that isn't kept. */
export interface TextDigest {
  /** SHA-256 of the text's UTF-8, hexadecimal. */
  readonly sha256: string;
  /** Its UTF-16 length. */
  readonly characters: number;
}

/** Digest and length of a text. */
export async function textDigest(text: string): Promise<TextDigest> {
  return { sha256: await sha256Hex(text.toWellFormed()), characters: text.length };
}

/** A trajectory that isn't kept. @param known its text as it stands in prompts, where that is at hand: hashed already */
export async function trajectoryDigest(
  { id, text, images, steps }: Trajectory,
  known?: PromptText,
): Promise<TextDigest & { readonly id: string | null; readonly images: number; readonly steps: number }> {
  const digest = known === undefined ? await textDigest(text) : knownDigest(text, known);
  return { id, ...digest, images: images.length, steps: steps.length };
}

function knownDigest(text: string, known: PromptText): TextDigest {
  return { sha256: textSha256(known), characters: text.length };
}

/** The settings of a request: everything but texts, images and keys. */
export function requestOutline(request: SharedRequest): Outline {
  const settings = Object.entries(request).filter(([name, value]) =>
    !LEFT_OUT.has(name) && value !== undefined
  );
  return {
    settings: Object.fromEntries(settings),
    ...(request.redact === undefined ? {} : { redactPatterns: request.redact.length }),
    chosenJudge: request.judge === undefined
      ? null
      : Array.isArray(request.judge)
      ? request.judge.map(withoutKey)
      : withoutKey(request.judge as JudgeChoice),
    images: request.images.length,
  };
}

function withoutKey(choice: JudgeChoice): unknown {
  if (typeof choice === "string") return choice;
  const { apiKey: _, ...rest } = choice;
  return rest;
}

/** Task, rubric and judge. @param known the task as it stands in prompts */
export function subjectOutline(task: string, known: PromptText, rubric: Rubric, judge: Judge): Outline {
  return {
    task: knownDigest(task, known),
    rubric,
    judge: {
      profile: judge.profile,
      kind: judge.kind,
      model: judge.model,
      identity: judge.identity,
      calibration: judge.calibration,
      ...(judge.members === undefined ? {} : {
        members: judge.members.map(({ profile, kind, model, identity }) => ({
          profile,
          kind,
          model,
          identity,
        })),
      }),
    },
  };
}
