/**
 * Rubrics from Markdown, and criterion ids.
 *
 * @module
 */
import type { Criterion } from "../types.ts";

const todo = (): never => {
  throw new Error("the core is not built yet");
};

/** What rubric Markdown says, or why it can't be read. @throws {AssayError} `invalid_request` naming heading and line */
export function parseRubricMarkdown(
  _markdown: string,
): {
  readonly groundTruthNote: string;
  readonly criteria: readonly Criterion[];
  readonly warnings: readonly string[];
} {
  return todo();
}

/** Unique ids for names: slug (lower case, non-alphanumerics to `_`, at most 40 characters), then `_2`, `_3`. Pinned ids are kept. */
export function criterionIds(
  _items: readonly { readonly name: string; readonly id?: string }[],
): readonly string[] {
  return todo();
}
