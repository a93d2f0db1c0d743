/**
 * Reads a rendered trajectory back into steps: what was run and what came out. What the agent merely said is dropped
 * here, so that no later stage can be impressed by it.
 *
 * @module
 */
import { firstCodePoints, HEREDOC, lastCodePoints, PRINTING, SELF_SPEAKING, TOOL_CALL } from "./patterns.ts";

/** One observed output. */
export interface ObservedOutput {
  /** Exit status if the output states one, else `null`. */
  readonly exit: number | null;
  /** The output without its status envelope. */
  readonly text: string;
  /**
   * False when the output must earn no credit (it may still count against the side): no command asked for it, the
   * command only prints its own words (an echo, a file that it has just written), or it lacks the status that this log's
   * outputs carry.
   */
  readonly credit: boolean;
}

/** One step: commands and outputs in order. */
export interface ObservedStep {
  /** Number in the step's heading (1 for a text without headings). */
  readonly number: number;
  readonly commands: readonly string[];
  readonly outputs: readonly ObservedOutput[];
}

/** `\r` for texts with CRLF line ends; the renderer quotes such lines in what agents and tools say, too. */
const HEADING = /^(?:---|===) Agent Step (\d+) (?:---|===)[ \t\r]*$/;
const EXIT_IN_FRONT = /^\(exit code (-?\d+)\b[^)]*\)[ \t\n\r\f\v]?/;
const EXIT_AT_END = /(?:exit(?:ed)?(?: with)?(?: code| status)|return ?code)[ :=]+(-?\d+)/i;
const RETURN_CODE = /"returncode"[ \t\n\r\f\v]*:[ \t\n\r\f\v]*(-?\d+)/;
/** Share of outputs with a status from which on a bare output in the same log is suspicious. */
const USUAL_SHARE = 0.7;

interface Part {
  readonly kind: "command" | "output";
  readonly text: string;
}

/**
 * Steps of a rendered trajectory. Linear in the text; never throws.
 *
 * The renderer writes message, then all commands, then all outputs. So when a command follows an output within one
 * step, everything before it was message text and is no evidence.
 */
export function readSteps(text: string): readonly ObservedStep[] {
  const steps: { number: number; parts: Part[] }[] = [];
  let current: { number: number; parts: Part[] } = { number: 1, parts: [] };
  let open: { kind: Part["kind"]; start: number } | null = null;
  const close = (end: number) => {
    if (open !== null) {
      current.parts.push({ kind: open.kind, text: trimNewlines(text.slice(open.start, end)) });
    }
    open = null;
  };
  let hasHeading = false;
  for (let line = 0; line <= text.length;) {
    const newline = text.indexOf("\n", line);
    const end = newline < 0 ? text.length : newline;
    const marker = readMarker(text, line, end);
    if (marker?.kind === "step") {
      close(line);
      // Text before the first heading belongs to no step.
      if (hasHeading) steps.push(current);
      hasHeading = true;
      current = { number: marker.number, parts: [] };
    } else if (marker !== null) {
      close(line);
      open = { kind: marker.kind, start: marker.start };
    }
    if (newline < 0) break;
    line = newline + 1;
  }
  close(text.length);
  steps.push(current);
  return withCredit(steps.map(({ number, parts }) => ({ number, ...observed(parts) })));
}

type Marker = { readonly kind: "step"; readonly number: number } | {
  readonly kind: Part["kind"];
  readonly start: number;
};

function readMarker(text: string, start: number, end: number): Marker | null {
  const first = text.charCodeAt(start);
  if (first === 91 /* [ */) {
    const kind = text.startsWith("[Command]", start)
      ? "command"
      : text.startsWith("[Output]", start)
      ? "output"
      : null;
    if (kind === null) return null;
    const after = start + (kind === "command" ? 9 : 8);
    const blank = text.charCodeAt(after);
    return { kind, start: blank === 32 || blank === 9 ? after + 1 : after };
  }
  if ((first !== 45 /* - */ && first !== 61 /* = */) || !text.startsWith(" Agent Step ", start + 3)) {
    return null;
  }
  const heading = HEADING.exec(text.slice(start, end));
  return heading === null ? null : { kind: "step", number: Number(heading[1]) };
}

interface RawOutput {
  readonly exit: number | null;
  readonly text: string;
  readonly hasStatus: boolean;
}

function observed(parts: readonly Part[]): { commands: string[]; outputs: RawOutput[] } {
  let from = 0;
  for (let i = 1; i < parts.length; i++) {
    if (parts[i]!.kind === "command" && parts[i - 1]!.kind === "output") from = i;
  }
  const commands: string[] = [];
  const outputs: RawOutput[] = [];
  for (const part of parts.slice(from)) {
    if (part.kind === "command") commands.push(part.text);
    else outputs.push(readOutput(part.text));
  }
  return { commands, outputs };
}

/** Takes the exit status and its envelope off an output. */
function readOutput(raw: string): RawOutput {
  const start = raw.trimStart();
  if (start.startsWith("{") && firstCodePoints(start, 200).includes('"returncode"')) {
    return readEnvelope(start);
  }
  const front = EXIT_IN_FRONT.exec(raw);
  if (front !== null) return { exit: Number(front[1]), text: raw.slice(front[0].length), hasStatus: true };
  const end = EXIT_AT_END.exec(lastCodePoints(raw, 300));
  return { exit: end === null ? null : Number(end[1]), text: raw, hasStatus: false };
}

/** `{ "returncode": …, "output": …, "exception_info"? }`, perhaps cut off in the middle. */
function readEnvelope(text: string): RawOutput {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    const code = RETURN_CODE.exec(text);
    return { exit: code === null ? null : Number(code[1]), text, hasStatus: true };
  }
  const { returncode, output, exception_info: exception } = parsed as Record<string, unknown>;
  return {
    exit: typeof returncode === "number" ? returncode : null,
    text: asText(output) + (exception ? "\n" + asText(exception) : ""),
    hasStatus: true,
  };
}

function asText(value: unknown): string {
  return typeof value === "string"
    ? value
    : value === undefined || value === null
    ? ""
    : JSON.stringify(value);
}

function withCredit(
  steps: readonly { number: number; commands: readonly string[]; outputs: readonly RawOutput[] }[],
): readonly ObservedStep[] {
  let shellOutputs = 0;
  let withStatus = 0;
  for (const step of steps) {
    step.outputs.forEach((output, i) => {
      if (TOOL_CALL.test(step.commands[i] ?? "")) return;
      shellOutputs++;
      if (output.hasStatus) withStatus++;
    });
  }
  const statusIsUsual = shellOutputs > 2 && withStatus >= USUAL_SHARE * shellOutputs;
  return steps.map((step) => ({
    number: step.number,
    commands: step.commands,
    outputs: step.outputs.map(({ exit, text, hasStatus }, i) => {
      const command = step.commands[i] ?? "";
      const bare = statusIsUsual && !hasStatus && !TOOL_CALL.test(command);
      return { exit, text, credit: command !== "" && !bare && !isTold(command, text) };
    }),
  }));
}

/**
 * Whether an output is the agent's own text: an echo, or what stands in the command already where nothing in it could
 * have made it (`cat > note <<EOF … EOF`, then `cat note`). `diff a b && echo same` says its word for a reason.
 */
function isTold(command: string, output: string): boolean {
  if (SELF_SPEAKING.test(command)) return true;
  const told = output.trim();
  return told !== "" && command.includes(told) && onlyPrints(command);
}

/** Whether all that a command runs, here-documents left out, prints or stores text. */
function onlyPrints(command: string): boolean {
  let end: string | null = null;
  for (const line of command.split("\n")) {
    if (end !== null) {
      if (line.trim() === end) end = null;
      continue;
    }
    end = HEREDOC.exec(line)?.[1] ?? null;
    if (!line.split(/&&|\|\||[;|]/).every((part) => part.trim() === "" || PRINTING.test(part))) return false;
  }
  return true;
}

function trimNewlines(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) === 10) start++;
  while (end > start && text.charCodeAt(end - 1) === 10) end--;
  return text.slice(start, end);
}
