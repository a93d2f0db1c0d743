/**
 * Failures to lines for people and exit statuses: 2 for what the user can put right, 3 for judge and server.
 *
 * @module
 */
import { StoreError } from "../store/store.ts";
import { TranscriptError } from "../transcripts/transcript.ts";
import { AssayError, type ErrorCode } from "../verifier/errors.ts";
import { JudgeError } from "../verifier/judges/judge.ts";
import { ServerError, UsageError } from "./io.ts";
import { planLines } from "./report.ts";
import { escapeLines, escapeText } from "./text.ts";

/** What the command line exits with. */
export const EXIT = { fine: 0, negative: 1, usage: 2, failed: 3, interrupted: 130 } as const;

const USAGE: ReadonlySet<ErrorCode> = new Set([
  "invalid_json",
  "invalid_request",
  "not_found",
  "length_conflict",
  "idempotency_conflict",
  "not_replayable",
  "forbidden",
  "body_too_large",
  "over_budget",
]);

/** Request fields in the words of the command line. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^\/budget\/(\w+)$/, "--budget-$1"],
  [/^\/judge\/maxTokens$/, "--max-tokens"],
  [/^\/judge\/profile$/, "--judge"],
  [/^\/judge\/([a-z]+)$/, "--$1"],
  [/^\/groundTruthNote$/, "--note"],
  [/^\/deadlineMs$/, "--deadline"],
  [/^\/expectedLength$/, "--expected-length"],
  [/^\/promptCharacters$/, "--prompt-characters"],
  [/^\/maxCharacters$/, "--max-characters"],
  [/^\/floors\/(.+)$/, "--floor $1"],
  [/^\/redact$/, "--redact"],
  [/^\/redact(\/\d+)$/, "--redact ($1)"],
  [/^\/Idempotency-Key$/, "--key"],
  [/^\/(criteria|judge|images)(?:\/.*)?$/, "--$1"],
  [
    /^\/(task|context|repeats|channel|seed|cache|mode|pivots|prior|checkpoints|threshold|retry|step|causal|from|to|group|verb|limit)(?:\/\d+)?$/,
    "--$1",
  ],
];

/** Lines to print, and the exit status. */
export interface Failure {
  readonly lines: readonly string[];
  readonly status: number;
}

/** @param files what `/a`, `/b`, `/trajectory` and `/candidates/0` … are called on the command line */
export function describeFailure(error: unknown, files: Readonly<Record<string, string>> = {}): Failure {
  if (error instanceof UsageError) return { lines: [escapeLines(error.message)], status: EXIT.usage };
  if (error instanceof TranscriptError) return { lines: [escapeText(error.message)], status: EXIT.usage };
  if (error instanceof AssayError) {
    const status = USAGE.has(error.code) ? EXIT.usage : EXIT.failed;
    const plan = error.plan === undefined ? [] : planLines(error.plan);
    if (error.errors.length === 0) return { lines: [escapeLines(error.message), ...plan], status };
    const fields = error.errors.map(({ path, message, value }) =>
      escapeText(`${fieldName(path, files)} ${message}${value === undefined ? "" : `: ${value}`}`)
    );
    const lines = fields.length === 1
      ? fields
      : [`${fields.length} faults in the request:`, ...fields.map((field) => `  ${field}`)];
    return { lines: [...lines, ...plan], status };
  }
  if (error instanceof JudgeError || error instanceof StoreError || error instanceof ServerError) {
    return { lines: [escapeLines(error.message)], status: EXIT.failed };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    lines: [`unexpected failure: ${escapeLines(message)} (ASSAY_DEBUG=1 shows where)`],
    status: EXIT.failed,
  };
}

function fieldName(path: string, files: Readonly<Record<string, string>>): string {
  for (const [pointer, file] of Object.entries(files)) {
    if (path === pointer || path.startsWith(`${pointer}/`)) {
      const rest = path.slice(pointer.length);
      return rest === "" ? file : `${file} (${rest})`;
    }
  }
  for (const [pattern, name] of FIELDS) if (pattern.test(path)) return path.replace(pattern, name);
  return path === "" ? "the request" : path;
}
