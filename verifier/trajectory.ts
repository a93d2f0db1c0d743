/**
 * Every shape a trajectory may come in, turned into the one text that the judge sees.
 *
 * @module
 */
import { renderSteps } from "./core.ts";
import { AssayError } from "./errors.ts";
import { MAXIMUM_IMAGES } from "./requests.ts";
import { chatSteps } from "./chat_messages.ts";
import type { Redactor } from "./redaction/redactor.ts";
import { cleanText, Warnings } from "./text.ts";
import type { Trajectory, TrajectoryInput } from "./types.ts";

/** A trajectory with the images of each step, for prompts that show only the first steps. */
export interface NormalizedTrajectory extends Trajectory {
  /** Images of each step, as long as `steps`. */
  readonly stepImages: readonly (readonly string[])[];
  /** Images that belong to no step. */
  readonly ownImages: readonly string[];
}

// A caller's own rendering keeps its command and output lines; only a line that would start a new step is quoted.
const STEP_HEADER = /^(?=[ \t]*(?:-{3,}|={3,})[ \t]*agent[ \t]+step\b)/gim;

/** The header line of step `number`, as `renderSteps` writes it. */
function stepHeader(number: number): string {
  return `--- Agent Step ${number} ---\n`;
}

function textStep(text: string, number: number): string {
  const body = text.replace(STEP_HEADER, "> ");
  return stepHeader(number) + (body === "" || body.endsWith("\n") ? body : body + "\n") + "\n";
}

/**
 * Turns a request's trajectory into what the judge sees.
 *
 * - A string or `text` stays as it is and counts as one step.
 * - `steps` get a header each; lines in them that look like a header are quoted.
 * - `messages` (OpenAI or Anthropic chat) become steps of message, commands and outputs. The system messages and the
 *   first user message (the task) are left out, with a warning.
 *
 * @param path JSON pointer of the trajectory in the request, for errors and warnings
 * @param redactor takes secrets out of every part before it is rendered; `null` changes nothing
 * @throws {AssayError} `invalid_request` naming the message of an unknown shape, or a pattern as the redactor does
 */
export function normalizeTrajectory(
  input: TrajectoryInput,
  path: string,
  warnings: Warnings = new Warnings(),
  redactor: Redactor | null = null,
): NormalizedTrajectory {
  const read = (text: string, at: string): string => {
    const clean = cleanText(text, at, warnings);
    return redactor === null ? clean : redactor.clean(clean);
  };
  if (typeof input === "string") return plain(null, read(input, path), [], path, warnings);
  const id = input.id ?? null;
  const ownImages = input.images ?? [];
  if (input.text !== undefined) {
    return plain(id, read(input.text, `${path}/text`), ownImages, path, warnings);
  }
  if (input.steps !== undefined) {
    const stepImages = input.steps.map((step) => typeof step === "string" ? [] : step.images ?? []);
    const steps = input.steps.map((step, i) =>
      textStep(read(typeof step === "string" ? step : step.text, `${path}/steps/${i}`), i + 1)
    );
    if (input.steps.every((step) => (typeof step === "string" ? step : step.text).trim() === "")) {
      warnings.add(`${path}: the trajectory is empty`);
    }
    return finish(id, steps, stepImages, ownImages, path);
  }
  if (input.messages !== undefined) {
    const structured = chatSteps(input.messages, `${path}/messages`, warnings);
    if (structured.length === 0) {
      warnings.add(`${path}: the trajectory is empty`);
      return plain(id, "", ownImages, path, new Warnings());
    }
    const shown = redactor === null ? structured : structured.map(redactor.step);
    return finish(id, renderSteps(shown), structured.map((step) => step.images ?? []), ownImages, path);
  }
  throw AssayError.field(path, "must have exactly one of text, steps and messages");
}

function plain(
  id: string | null,
  text: string,
  images: readonly string[],
  path: string,
  warnings: Warnings,
): NormalizedTrajectory {
  if (text.trim() === "") warnings.add(`${path}: the trajectory is empty`);
  return { ...finish(id, [text], [[]], images, path), text };
}

function finish(
  id: string | null,
  steps: readonly string[],
  stepImages: readonly (readonly string[])[],
  ownImages: readonly string[],
  path: string,
): NormalizedTrajectory {
  const images = [...ownImages, ...stepImages.flat()];
  if (images.length > MAXIMUM_IMAGES) {
    throw AssayError.field(path, `must have at most ${MAXIMUM_IMAGES} images`, images.length);
  }
  return { id, text: steps.join(""), steps, stepImages, ownImages, images };
}
