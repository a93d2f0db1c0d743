/**
 * Surroundings and results for the command line's tests.
 *
 * @module
 */
import type { CompareResult, SelectResult, TrackResult } from "../verifier/types.ts";
import type { Backend } from "./backend.ts";
import type { OpenBackend } from "./command.ts";
import type { Io } from "./io.ts";
import { run } from "./run.ts";
import { width } from "./text.ts";

/** What a command did. */
export interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** What to run it in. */
export interface Setting {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array | string;
  readonly outIsTerminal?: boolean;
  readonly errIsTerminal?: boolean;
  readonly signal?: AbortSignal;
  readonly open?: OpenBackend;
}

/** Runs a command line with captured streams; the store is in memory and the environment empty. */
export async function runCaptured(args: readonly string[], setting: Setting = {}): Promise<Outcome> {
  let out = "";
  let err = "";
  const env: Readonly<Record<string, string>> = { ASSAY_STORE: "memory", ...setting.env };
  const io: Io = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    outIsTerminal: setting.outIsTerminal ?? false,
    errIsTerminal: setting.errIsTerminal ?? false,
    columns: 80,
    env: (name) => env[name],
    readStdin: () => {
      const { stdin = "" } = setting;
      return Promise.resolve(typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin);
    },
    signal: setting.signal ?? new AbortController().signal,
  };
  const status = await run(args, io, ...(setting.open === undefined ? [] : [setting.open]));
  return { status, out, err };
}

/** Widest line in columns. */
export function widest(text: string): number {
  return Math.max(...text.split("\n").map(width));
}

/** A backend whose verbs answer with what they are given, and that keeps the requests. */
export function fakeBackend(
  results: {
    compare?: unknown;
    select?: unknown;
    track?: unknown;
    session?: unknown;
    gate?: unknown;
    bestOfN?: unknown;
    trackers?: { start?: unknown; update?: unknown; read?: unknown };
  },
): { readonly open: OpenBackend; readonly requests: Record<string, unknown>[]; closed: number } {
  const requests: Record<string, unknown>[] = [];
  const state = { requests, closed: 0, open: (() => Promise.resolve(backend)) as OpenBackend };
  const answer = (result: unknown) => (request: unknown) => {
    requests.push(request as Record<string, unknown>);
    return result instanceof Error ? Promise.reject(result) : Promise.resolve(result as never);
  };
  const no = () => Promise.reject(new Error("not part of this test"));
  const backend: Backend = {
    place: "a test",
    compare: answer(results.compare),
    select: answer(results.select),
    track: answer(results.track),
    session: answer(results.session),
    gate: answer(results.gate),
    bestOfN: answer(results.bestOfN),
    trackers: {
      start: answer(results.trackers?.start),
      update: (id, request) => answer(results.trackers?.update)({ id, ...request as object }),
      read: answer(results.trackers?.read),
      delete: (id) => answer(undefined)(id),
    },
    status: no,
    probe: no,
    decisions: no,
    decision: no,
    replay: no,
    statistics: no,
    reviews: no,
    close: () => {
      state.closed++;
      return Promise.resolve();
    },
  };
  return state;
}

const SHARED = {
  id: "dec_TEST",
  unscored: 0,
  judge: {
    profile: "stub",
    kind: "openai-compatible",
    model: "stub-1",
    promptVersion: "1",
    coreVersion: "1",
  },
  channels: { logprobs: 12 },
  usage: {
    calls: 6,
    attempts: 7,
    cacheHits: 1,
    inputTokens: 12345,
    cachedInputTokens: 1000,
    outputTokens: 678,
    reasoningTokens: 9,
    usd: 0.0123,
  },
  warnings: [],
} as const;

const scored = (value: number) => ({
  kind: "scored" as const,
  value,
  letterMass: 0.99,
  entropy: 1,
  channel: "logprobs" as const,
  letters: null,
});

/** A comparison with one missing score and hostile names. */
export const COMPARE: CompareResult = {
  ...SHARED,
  verb: "compare",
  winner: "A",
  rewardA: 0.81,
  rewardB: 0.42,
  margin: 0.39,
  standardError: 0.031,
  slotBias: -0.012,
  agreement: 1,
  identical: false,
  unscored: 1,
  criteria: [
    { id: "one", name: "Result as asked", weight: 1, rewardA: 0.8, rewardB: 0.4, scored: 2, unscored: 0 },
    {
      id: "two",
      name: "一个名字很长的标准".repeat(6) + "\u001b[31m",
      weight: 1,
      rewardA: null,
      rewardB: null,
      scored: 0,
      unscored: 1,
    },
  ],
  calls: [
    {
      criterion: "one",
      repeat: 0,
      swapped: false,
      a: scored(0.8),
      b: scored(0.4),
      cached: false,
      analysis: null,
    },
    {
      criterion: "two",
      repeat: 0,
      swapped: false,
      a: scored(0.8),
      b: { kind: "unscored", reason: "no_tag", detail: "the answer\u202e has no tag" },
      cached: false,
      analysis: null,
    },
  ],
  warnings: ["/a: replaced 1 NUL character by U+FFFD"],
};

/** A ranking of `count` candidates, the last one first. */
export function selectResult(count: number): SelectResult {
  return {
    ...SHARED,
    verb: "select",
    mode: "pivot",
    best: count - 1,
    probabilityRight: null,
    stopped: "complete",
    slotBias: 0,
    cycleResidual: null,
    ranking: Array.from({ length: count }, (_, rank) => ({
      index: count - 1 - rank,
      strength: 0.1 - rank / 20,
      standardError: 0.02,
      probabilityBest: rank === 0 ? 0.7 : 0.3 / Math.max(1, count - 1),
      winRate: 0.5,
      games: 2,
      agreement: 0.4,
    })),
    pairs: [{ a: 0, b: 1, rewardA: 0.4, rewardB: 0.6, winner: "B", round: 1 }],
    criteria: [{ id: "one", name: "One", weight: 1, scored: 2, unscored: 0 }],
    unscoredParts: [],
  };
}

/** A curve with a hole in it. */
export const TRACK: TrackResult = {
  ...SHARED,
  verb: "track",
  causal: false,
  unscored: 1,
  curve: [
    { step: 1, score: 0.05, standardError: 0.01, scored: 2, unscored: 0 },
    { step: 5, score: null, standardError: null, scored: 0, unscored: 1 },
    { step: 10, score: 1, standardError: null, scored: 1, unscored: 0 },
  ],
  final: 1,
  advice: "rising",
  unscoredParts: [{ step: 5, repeat: 0, reason: "low_letter_mass", detail: "0.01" }],
};
