/**
 * Rubrics from Markdown, and criterion ids.
 *
 * @module
 */
import type { Criterion } from "../types.ts";
import { callJson, joinTexts } from "./runtime.ts";

/**
 * What rubric Markdown says, or why it can't be read. `core/src/rubric.rs` has the format: `## Ground Truth Note`,
 * `## Criteria`, `### Name {#id weight=2}`; bodies are the source text, trimmed.
 * @returns 1 to 12 criteria with unique ids, the note (`""` without one), and for each stretch of text that no judge
 * will see, or that was read otherwise than it looks, one warning that starts with `line n: `
 * @throws {AssayError} `invalid_request` for `/criteria`, naming heading and line
 */
export function parseRubricMarkdown(
  markdown: string,
): {
  readonly groundTruthNote: string;
  readonly criteria: readonly Criterion[];
  readonly warnings: readonly string[];
} {
  return callJson((core) => core.parseRubric(markdown));
}

/**
 * Unique ids for names: slug (lower case, non-alphanumerics to `_`, at most 40 characters), then `_2`, `_3`. Pinned
 * ids are kept, also against the slug of an earlier name; the second of two equal pinned ids gets a number.
 * @throws {AssayError} `invalid_request` for `/{index}/id` when a pinned id isn't 1 to 40 of `A-Za-z0-9_-`
 */
export function criterionIds(
  items: readonly { readonly name: string; readonly id?: string }[],
): readonly string[] {
  const [joined, lengths] = joinTexts(items.flatMap(({ name, id }) => [name, id ?? ""]));
  const pinned = Uint8Array.from(items, ({ id }) => id === undefined ? 0 : 1);
  return callJson((core) => core.criterionIds(joined, lengths, pinned));
}
