/**
 * How much text of a decision's calls is kept: at most 32 calls, spread evenly over all, and 30,000 characters, in
 * equal shares, head and tail of each. Scores are not text and are always kept.
 *
 * @module
 */

/** Most calls of one decision whose texts are kept. */
export const MAXIMUM_CALL_TEXTS = 32;
/** Most characters of texts (labels and channels included) of one decision. */
export const MAXIMUM_DECISION_CHARACTERS = 30_000;

const LONGEST_LABEL = 200;
const LONGEST_CHANNEL = 40;
const LONGEST_PROMPT = 8000;
const LONGEST_OUTPUT = 4000;
const SHORTEST_PROMPT = 512;
const SHORTEST_OUTPUT = 256;
/** Below this a text is cut at its end, as a mark in the middle would take too much of it. */
const SHORTEST_WITH_TAIL = 256;
/** Beside what is kept, so much is redacted on each side of a cut: more than any secret with a bounded length. */
const REDACTION_MARGIN = 28_000;

/** One call's texts. */
export interface CallTexts {
  readonly label: string;
  readonly channel: string;
  /** In parts that no secret spans, the longest first: what many calls share is redacted once. */
  readonly prompt: readonly string[];
  readonly output: string;
}

/** Texts that are kept, and of which call. */
export interface BoundCallTexts {
  /** Index into the calls that were given. */
  readonly index: number;
  readonly prompt: string;
  readonly output: string;
}

/**
 * The texts of at most 32 calls within 30,000 characters: of more calls an even spread, the first and the last among
 * them; every one gets the same share, four fifths of it for the prompt.
 *
 * @param redact takes secrets out; it is called before anything is cut
 */
export function boundCallTexts(
  calls: readonly CallTexts[],
  redact: (text: string) => string = (text) => text,
): readonly BoundCallTexts[] {
  const kept = evenSpread(calls.length, MAXIMUM_CALL_TEXTS);
  const takeOut = remembering(redact);
  const fixed = (index: number): number =>
    Math.min(LONGEST_LABEL, calls[index]!.label.length) +
    Math.min(LONGEST_CHANNEL, calls[index]!.channel.length);
  const labels = kept.reduce((sum, index) => sum + fixed(index), 0);
  const share = Math.max(
    SHORTEST_PROMPT + SHORTEST_OUTPUT,
    Math.floor((MAXIMUM_DECISION_CHARACTERS - labels) / kept.length),
  );
  const longestPrompt = Math.min(
    LONGEST_PROMPT,
    Math.max(SHORTEST_PROMPT, Math.min(Math.floor(0.8 * share), share - SHORTEST_OUTPUT)),
  );
  const longestOutput = Math.min(LONGEST_OUTPUT, Math.max(SHORTEST_OUTPUT, share - longestPrompt));
  const bound: BoundCallTexts[] = [];
  let total = 0;
  for (const index of kept) {
    const prompt = captureText(calls[index]!.prompt, longestPrompt, takeOut);
    const output = captureText([calls[index]!.output], longestOutput, takeOut);
    total += fixed(index) + prompt.length + output.length;
    // Only absurdly long labels come here.
    if (total > MAXIMUM_DECISION_CHARACTERS) break;
    bound.push({ index, prompt, output });
  }
  return bound;
}

/** At most `most` of `count` indices, evenly spread, first and last among them. */
export function evenSpread(count: number, most: number): readonly number[] {
  if (count <= most) return Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: most }, (_, i) => Math.round(i * (count - 1) / (most - 1)));
}

/** The same function, which answers a text that it has seen from memory. */
function remembering(redact: (text: string) => string): (text: string) => string {
  const seen = new Map<string, string>();
  return (text) => {
    let result = seen.get(text);
    if (result === undefined) seen.set(text, result = redact(text));
    return result;
  };
}

/**
 * At most `most` characters of a text after redaction: its head and its tail, with the number of characters that were
 * left out between them. Of a very long text only what is near the ends is redacted.
 *
 * @param parts the text in parts that no secret spans
 */
export function captureText(
  parts: readonly string[],
  most: number,
  redact: (text: string) => string,
): string {
  const [first = "", ...rest] = parts;
  const window = most + REDACTION_MARGIN;
  // A block of PEM has no bounded length: where one begins, the whole text is looked at.
  if (first.length > 2 * window && !first.includes("-----BEGIN ")) {
    const head = redact(first.slice(0, window));
    const end = redact(first.slice(-window));
    // So many secrets that what is kept would reach the cut, where half a secret may stand unrecognised.
    if (Math.min(head.length, end.length) > window - REDACTION_MARGIN / 2) {
      const tail = end + rest.map((part) => redact(part)).join("");
      return joinEnds(head, tail, head.length + first.length - 2 * window + tail.length, most);
    }
  }
  return boundCaptureText(parts.map((part) => redact(part)).join(""), most);
}

/**
 * A text of at most `most` characters: itself, or its head and tail around "n characters omitted"; below 256 characters
 * the head alone. Never half a surrogate pair.
 */
export function boundCaptureText(text: string, most: number): string {
  return text.length <= most ? text : joinEnds(text, text, text.length, most);
}

function joinEnds(head: string, tail: string, length: number, most: number): string {
  if (most < SHORTEST_WITH_TAIL) return headOf(head, most);
  const first = Math.ceil(most / 2);
  // The number of digits depends on the number; the widest that can be needed fits always.
  for (let marker = "";;) {
    const last = most - first - marker.length;
    const needed = `\n[${length - first - last} characters omitted]\n`;
    if (needed.length <= marker.length) return headOf(head, first) + needed + tailOf(tail, last);
    marker = needed;
  }
}

const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

function headOf(text: string, length: number): string {
  const cut = length > 0 && isHigh(text.charCodeAt(length - 1)) && isLow(text.charCodeAt(length))
    ? length - 1
    : length;
  return text.slice(0, cut);
}

function tailOf(text: string, length: number): string {
  const from = text.length - length;
  const start = from > 0 && isLow(text.charCodeAt(from)) && isHigh(text.charCodeAt(from - 1))
    ? from + 1
    : from;
  return text.slice(start);
}
