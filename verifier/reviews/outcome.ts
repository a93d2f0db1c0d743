/**
 * An outcome as it may be stored.
 *
 * @module
 */
import { REDACTED } from "../redaction/redact.ts";
import type { ReviewOutcome } from "./requests.ts";

/** A text that is a secret only by its field's name. */
const HARMLESS = "harmless";

/** The outcome without secrets: in its strings, and whatever strings stand in fields named like secrets. */
export function withoutOutcomeSecrets(
  outcome: ReviewOutcome,
  takeOut: (text: string) => string,
): ReviewOutcome {
  const namesSecret = (name: string): boolean => {
    const line = JSON.stringify({ [name]: HARMLESS });
    return takeOut(line) !== line && !takeOut(line).includes(HARMLESS);
  };
  const copy = (part: unknown, name: string | null): unknown => {
    if (typeof part === "string") return name !== null && namesSecret(name) ? REDACTED : takeOut(part);
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.map((each) => copy(each, name));
    return Object.fromEntries(
      Object.entries(part).map(([field, value]) => [takeOut(field), copy(value, field)]),
    );
  };
  return copy(outcome, null) as ReviewOutcome;
}
