/**
 * Finds everything that a pattern matches, in time linear in the text whatever the pattern is.
 *
 * A character is found when it lies in any match. That is decided from two walks: forwards, which states a match that
 * began somewhere before can be in; backwards, from which states a match can still end. Both walks go over sets of
 * states, and each set and each step between sets is worked out once.
 *
 * @module
 */
import { type CharSet, LINE_ENDS, type Node, PatternFault, WORD } from "./syntax.ts";

/** Most states of a pattern when its repetitions are written out. */
export const MOST_STATES = 4000;
/** Most sets of states that one text may lead to. */
const MOST_SETS = 20_000;

type Condition = "lineStart" | "lineEnd" | "boundary" | "inside";

/** A pattern as a graph; state 0 is its start. */
interface Graph {
  readonly end: number;
  readonly steps: readonly { readonly from: number; readonly to: number; readonly set: CharSet }[];
  readonly jumps: readonly {
    readonly from: number;
    readonly to: number;
    readonly condition: Condition | null;
  }[];
  readonly states: number;
}

const CONDITIONS: Readonly<Record<string, Condition>> = {
  "^": "lineStart",
  "$": "lineEnd",
  "\\b": "boundary",
  "\\B": "inside",
};

function build(root: Node): Graph {
  const steps: Graph["steps"][number][] = [];
  const jumps: Graph["jumps"][number][] = [];
  let states = 1;
  const fresh = (): number => {
    if (states >= MOST_STATES) {
      throw new PatternFault(`must be smaller: written out it has more than ${MOST_STATES} states`);
    }
    return states++;
  };
  const jump = (from: number, to: number, condition: Condition | null = null): void => {
    jumps.push({ from, to, condition });
  };
  /** Adds a part that begins in a state. @returns the state it ends in */
  const add = (node: Node, from: number): number => {
    switch (node.kind) {
      case "empty": {
        const to = fresh();
        jump(from, to, CONDITIONS[node.source] ?? null);
        return to;
      }
      case "chars": {
        const to = fresh();
        steps.push({ from, to, set: node.set });
        return to;
      }
      case "sequence":
        return node.parts.reduce((at, part) => add(part, at), from);
      case "choice": {
        const to = fresh();
        for (const option of node.options) jump(add(option, from), to);
        return to;
      }
      case "repeat": {
        let at = from;
        for (let i = 0; i < node.from; i++) at = add(node.part, at);
        if (node.to === Infinity) {
          const loop = fresh();
          jump(at, loop);
          jump(add(node.part, loop), loop);
          return loop;
        }
        const to = fresh();
        jump(at, to);
        for (let i = node.from; i < node.to; i++) {
          at = add(node.part, at);
          jump(at, to);
        }
        return to;
      }
    }
  };
  const end = add(root, 0);
  return { end, steps, jumps, states };
}

/** Code points fall into classes that the pattern can't tell apart. */
interface Alphabet {
  readonly size: number;
  classOf(code: number): number;
  /** A code point of each class. */
  readonly examples: readonly number[];
}

function alphabetOf(sets: readonly CharSet[]): Alphabet {
  const cuts = new Set([0]);
  for (const [low, high] of sets.flat()) cuts.add(low).add(high + 1);
  const starts = [...cuts].filter((cut) => cut <= 0x10ffff).sort((a, b) => a - b);
  const search = (code: number): number => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= code) low = middle;
      else high = middle;
    }
    return low;
  };
  const ascii = Uint16Array.from({ length: 128 }, (_, code) => search(code));
  return {
    size: starts.length,
    examples: starts,
    classOf: (code) => code < 128 ? ascii[code]! : search(code),
  };
}

const contains = (set: CharSet, code: number): boolean =>
  set.some(([low, high]) => code >= low && code <= high);

/** Sets of states, met one after the other. */
class Walk {
  readonly sets: (readonly number[])[] = [];
  readonly #ids = new Map<string, number>();
  readonly #closed: number[] = [];
  readonly #stepped: number[] = [];
  readonly #size: number;
  readonly #steps: readonly (readonly (readonly number[])[])[];
  readonly #jumps: readonly (readonly { to: number; condition: Condition | null }[])[];
  readonly #begin: number;

  /** @param backwards walks every edge against its direction */
  constructor(graph: Graph, alphabet: Alphabet, backwards: boolean) {
    this.#size = alphabet.size;
    this.#begin = backwards ? graph.end : 0;
    const steps = Array.from(
      { length: graph.states },
      () => Array.from({ length: alphabet.size }, () => [] as number[]),
    );
    for (const { from, to, set } of graph.steps) {
      alphabet.examples.forEach((code, each) => {
        if (contains(set, code)) steps[backwards ? to : from]![each]!.push(backwards ? from : to);
      });
    }
    this.#steps = steps;
    const jumps = Array.from(
      { length: graph.states },
      () => [] as { to: number; condition: Condition | null }[],
    );
    for (const { from, to, condition } of graph.jumps) {
      jumps[backwards ? to : from]!.push({ to: backwards ? from : to, condition });
    }
    this.#jumps = jumps;
    this.#intern([]);
  }

  #intern(states: readonly number[]): number {
    const sorted = [...new Set(states)].sort((a, b) => a - b);
    const key = sorted.join();
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    if (this.sets.length >= MOST_SETS) {
      throw new PatternFault(
        `must be simpler: on this text it leads to more than ${MOST_SETS} sets of states`,
      );
    }
    this.#ids.set(key, this.sets.length);
    return this.sets.push(sorted) - 1;
  }

  /** All states that can be reached without reading, where a match may also begin; `place` says what stands around. */
  close(set: number, place: number): number {
    const at = set * 8 + place;
    const known = this.#closed[at];
    if (known !== undefined) return known;
    const reached = new Set<number>();
    const waiting = [this.#begin, ...this.sets[set]!];
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      if (reached.has(state)) continue;
      reached.add(state);
      for (const { to, condition } of this.#jumps[state]!) if (holds(condition, place)) waiting.push(to);
    }
    return this.#closed[at] = this.#intern([...reached]);
  }

  /** After reading a character of this class. */
  step(set: number, character: number): number {
    const at = set * this.#size + character;
    const known = this.#stepped[at];
    if (known !== undefined) return known;
    return this.#stepped[at] = this.#intern(
      this.sets[set]!.flatMap((state) => this.#steps[state]![character]!),
    );
  }
}

/** Bits of a place between two characters. */
const LINE_START = 1;
const LINE_END = 2;
const BOUNDARY = 4;

function holds(condition: Condition | null, place: number): boolean {
  switch (condition) {
    case null:
      return true;
    case "lineStart":
      return (place & LINE_START) !== 0;
    case "lineEnd":
      return (place & LINE_END) !== 0;
    case "boundary":
      return (place & BOUNDARY) !== 0;
    case "inside":
      return (place & BOUNDARY) === 0;
  }
}

/** A pattern, ready to look for. */
export interface Matcher {
  /**
   * Ranges of the text (UTF-16 units, end excluded) in which every character lies in some match, in order.
   * @throws {PatternFault} when the text leads to too many sets of states
   */
  find(text: string): readonly (readonly [number, number])[];
}

/** Prepares a parsed pattern. @throws {PatternFault} when it is too large */
export function createMatcher(root: Node): Matcher {
  const graph = build(root);
  const needsPlaces = graph.jumps.some(({ condition }) => condition !== null);
  const sets = graph.steps.map(({ set }) => set);
  const alphabet = alphabetOf(needsPlaces ? [...sets, WORD, LINE_ENDS] : sets);
  const isWord = alphabet.examples.map((code) => contains(WORD, code));
  const isEnd = alphabet.examples.map((code) => contains(LINE_ENDS, code));
  /** `before` and `after` are classes, -1 at the ends of the text. */
  const placeOf = (before: number, after: number): number =>
    !needsPlaces
      ? 0
      : (before < 0 || isEnd[before] ? LINE_START : 0) | (after < 0 || isEnd[after] ? LINE_END : 0) |
        ((isWord[before] ?? false) !== (isWord[after] ?? false) ? BOUNDARY : 0);

  return {
    find(text) {
      const classes = new Uint16Array(text.length);
      for (let i = 0; i < text.length; i++) {
        const code = text.codePointAt(i)!;
        const found = alphabet.classOf(code);
        classes[i] = found;
        // Both halves of a pair carry its class, so that the walk backwards finds it from either end.
        if (code > 0xffff) classes[++i] = found;
      }
      const backwards = new Walk(graph, alphabet, true);
      const forwards = new Walk(graph, alphabet, false);
      const before = (i: number): number => i === 0 ? -1 : classes[i - 1]!;
      const after = (i: number): number => i === text.length ? -1 : classes[i]!;
      // From which states a match can end, at each place.
      const open = new Uint32Array(text.length + 1);
      let set = 0;
      for (let i = text.length; i >= 0; i -= isPair(text, i - 2) ? 2 : 1) {
        const closed = backwards.close(set, placeOf(before(i), after(i)));
        open[i] = closed;
        if (i > 0) set = backwards.step(closed, classes[i - 1]!);
      }
      const covered = new Map<number, boolean>();
      const ranges: [number, number][] = [];
      set = 0;
      for (let i = 0; i < text.length;) {
        const width = isPair(text, i) ? 2 : 1;
        const closed = forwards.close(set, placeOf(before(i), after(i)));
        const next = forwards.step(closed, classes[i]!);
        const ending = open[i + width]!;
        const key = next * MOST_SETS + ending;
        let isCovered = covered.get(key);
        if (isCovered === undefined) {
          const ends = new Set(backwards.sets[ending]);
          isCovered = forwards.sets[next]!.some((state) => ends.has(state));
          covered.set(key, isCovered);
        }
        if (isCovered) {
          const last = ranges.at(-1);
          if (last !== undefined && last[1] === i) last[1] = i + width;
          else ranges.push([i, i + width]);
        }
        set = next;
        i += width;
      }
      return ranges;
    },
  };
}

/** Whether a surrogate pair begins here. */
function isPair(text: string, at: number): boolean {
  return at >= 0 && at + 1 < text.length && (text.charCodeAt(at) & 0xfc00) === 0xd800 &&
    (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}
