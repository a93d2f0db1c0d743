/**
 * Decoding, schedules and aggregation against numbers that other implementations computed. Every vector is either equal
 * to 1e-12 or on a list of deliberate differences that says why and what ours is; a listed vector that has become equal
 * fails as well, so the lists can't rot.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { AssayError } from "../../verifier/errors.ts";
import type { Score, TokenLogprob } from "../../verifier/types.ts";
import {
  decodeLetter,
  decodeText,
  decodeTokens,
  type Direction,
  type Pair,
  ringPairs,
  shuffledIndices,
  upstreamPivotRound,
  upstreamPivots,
  upstreamRing,
  upstreamRings,
  upstreamStandings,
} from "../../verifier/core.ts";
import { type Differences, DSH_EXTRACT, PROGRESS, SCORE, SINGLE } from "./core_b_differences.ts";

const folder = new URL("../../../shared/golden/", import.meta.url);

function read(name: string): Record<string, unknown> | null {
  try {
    return JSON.parse(Deno.readTextFileSync(new URL(name, folder)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

const upstream = read("upstream.json");
const dsh = read("dsh_llm_verifier.json")?.groups as Record<string, { vectors: unknown[] }> | undefined;

function golden(name: string, present: unknown, run: () => void): void {
  const why = present ? "" : " (skipped: ../shared/golden is absent)";
  Deno.test(`golden: ${name}${why}`, { ignore: !present }, run);
}

/** A vector's value: a number, or `null` where the other implementation gives up. */
type Value = number | null;

const ours = (score: Score): Value | string => score.kind === "scored" ? score.value : score.reason;

/** Compares one group and prints how it went. */
function compare(
  group: string,
  results: readonly { readonly id: string; readonly theirs: Value; readonly ours: Value | string }[],
  differences: Differences,
): void {
  const near = (a: Value | string, b: Value | string) =>
    typeof a === "number" && typeof b === "number" ? Math.abs(a - b) <= 1e-12 : a === b;
  const problems: string[] = [];
  let equal = 0;
  for (const { id, theirs, ours } of results) {
    const same = theirs === null ? typeof ours === "string" : near(theirs, ours);
    const listed = differences[id];
    if (same) equal++;
    if (same && listed) problems.push(`${id}: listed as different, but equal`);
    if (!same && !listed) problems.push(`${id}: ${theirs} there, ${ours} here`);
    if (!same && listed && !near(listed.ours, ours)) {
      problems.push(`${id}: ours was ${listed.ours}, is ${ours}`);
    }
  }
  const unknown = Object.keys(differences).filter((id) => !results.some((r) => r.id === id));
  problems.push(...unknown.map((id) => `${id}: listed, but not in the group`));
  console.log(`  ${group}: ${equal} equal, ${results.length - equal} different on purpose`);
  assertEquals(problems, []);
}

type Alternatives = readonly (readonly [string, number | string])[];

function logprob(value: number | string): number {
  return typeof value === "number" ? value : Number(value);
}

/** A position as a chat API would give it. Their lists hold alternatives only, so the sampled one's share is looked up. */
function position(token: string | undefined, alternatives: Alternatives | undefined): TokenLogprob {
  const list = alternatives?.map(([token, value]) => ({ token, logprob: logprob(value) }));
  const likeliest = list?.toSorted((a, b) => b.logprob - a.logprob)[0];
  const text = token ?? likeliest?.token ?? "";
  const own = list?.find((a) => a.token === text)?.logprob ?? null;
  return { token: text, logprob: own, ...(list && list.length > 0 ? { top_logprobs: list } : {}) };
}

/** What a caller does who allows `explicit_tag`: letters of the text where there is no distribution at all. */
function scoreOf(text: string, tokens: readonly TokenLogprob[], tag: string, direction: Direction): Score {
  const name = tag.slice(1, -1);
  const score = decodeTokens(tokens, [name], direction)[0]!;
  const none = score.kind === "unscored" && (score.reason === "no_logprobs" || tokens.length === 0 ||
    tokens.every((t) => (t.top_logprobs ?? []).length === 0));
  return none ? decodeText(text, [name], direction)[0]! : score;
}

interface Extraction {
  readonly text: string | null;
  readonly tokens: readonly string[] | null;
  readonly position_logprobs: readonly Alternatives[] | null;
}

const positions = ({ tokens, position_logprobs }: Extraction) =>
  (tokens ?? []).map((token, i) => position(token, position_logprobs?.[i]));

golden("scores of pairwise answers (reference)", upstream, () => {
  const vectors = upstream!.score_expectation as {
    id: string;
    input: Extraction & { tag: string };
    output: { value?: number; error?: string };
  }[];
  compare(
    "score_expectation",
    vectors.map(({ id, input, output }) => ({
      id,
      theirs: output.value ?? null,
      ours: ours(scoreOf(input.text ?? "", positions(input), input.tag, "pairwise")),
    })),
    SCORE,
  );
});

golden("scores of single progress distributions (reference)", upstream, () => {
  const vectors = upstream!.progress_alternatives as {
    id: string;
    input: Alternatives;
    output: { value: Value };
  }[];
  compare(
    "progress_alternatives",
    vectors.map(({ id, input, output }) => ({
      id,
      theirs: output.value,
      ours: ours(decodeLetter(position(undefined, input), "progress")),
    })),
    SINGLE,
  );
});

golden("scores of progress answers (reference)", upstream, () => {
  const vectors = upstream!.progress_extraction as {
    id: string;
    input: Extraction & { n: number };
    output: { value: Value[] };
  }[];
  compare(
    "progress_extraction",
    vectors.flatMap(({ id, input, output }) =>
      output.value.map((theirs, i) => ({
        id: `${id} c${i + 1}`,
        theirs,
        ours: ours(scoreOf(input.text ?? "", positions(input), `<c${i + 1}>`, "progress")),
      }))
    ),
    PROGRESS,
  );
});

interface DshVector {
  readonly id: string;
  readonly tag: string;
  readonly completion: {
    readonly text: string;
    readonly tokens: readonly string[];
    readonly positions: readonly (readonly { token: string; logprob: number | string }[])[];
  };
  readonly value?: number;
}

function dshTokens({ tokens, positions }: DshVector["completion"]): TokenLogprob[] {
  const count = tokens.length === 0 ? 0 : Math.max(tokens.length, positions.length);
  return Array.from(
    { length: count },
    (_, i) => position(tokens[i], positions[i]?.map(({ token, logprob }) => [token, logprob] as const)),
  );
}

golden("scores of answers (DSH plugin)", dsh, () => {
  for (
    const [group, direction] of [["extractScore", "pairwise"], ["extractProgressScore", "progress"]] as const
  ) {
    compare(
      group,
      (dsh![group]!.vectors as DshVector[]).map((v) => ({
        id: v.id,
        theirs: v.value ?? null,
        ours: ours(scoreOf(v.completion.text, dshTokens(v.completion), v.tag, direction)),
      })),
      DSH_EXTRACT[group] ?? {},
    );
  }
  compare(
    "normalizeScoreLetter",
    (dsh!.normalizeScoreLetter!.vectors as { input: string; value: string | null }[]).map((
      { input, value },
    ) => ({
      id: input,
      theirs: value === null ? null : (value.charCodeAt(0) - 65) / 19,
      ours: ours(decodeLetter(position(undefined, [[input, 0]]), "progress")),
    })),
    {},
  );
});

golden("every letter alone gives its value (reference)", upstream, () => {
  const constants = upstream!.constants as { pairwise_normalised: Record<string, number> };
  compare(
    "pairwise_normalised",
    Object.entries(constants.pairwise_normalised).map(([letter, theirs]) => ({
      id: letter,
      theirs,
      ours: ours(decodeLetter(position(undefined, [[letter, 0]]), "pairwise")),
    })),
    {},
  );
});

golden("shuffles and rings (reference)", upstream, () => {
  const { cases } = upstream!.ppt_rng as { cases: { seed: number; shuffle: Record<string, number[]> }[] };
  let shuffles = 0;
  for (const { seed, shuffle } of cases) {
    for (const [count, order] of Object.entries(shuffle)) {
      assertEquals(shuffledIndices(Number(count), seed), order, `seed ${seed}, ${count}`);
      shuffles++;
    }
  }
  console.log(`  ppt_rng: ${shuffles} permutations equal (the raw words behind them are no part of our API)`);
  const rings = upstream!.ppt_ring as { n: number; seed: number; ring: Pair[] }[];
  let own = 0;
  for (const { n, seed, ring } of rings) {
    assertEquals(upstreamRing(n, seed), ring, `seed ${seed}, ${n}`);
    // Ours buys the one pair of two candidates once, not in both directions (T1).
    assertEquals(ringPairs(n, seed), n === 2 ? ring.slice(0, 1) : ring);
    own += Number(n !== 2);
  }
  console.log(
    `  ppt_ring: ${rings.length} equal in upstream mode; our own rings: ${own} equal, the rest (n = 2) halved`,
  );
  const shared = upstream!.ppt_ring_shared_rng as { ns: number[]; rings: Pair[][] };
  assertEquals(upstreamRings(shared.ns, 0), shared.rings);
  console.log(`  ppt_ring_shared_rng: ${shared.ns.length} rings equal`);
});

golden("pivot rounds, counts, pivots and soft wins (reference)", upstream, () => {
  const rounds = upstream!.ppt_pivot_round as { n: number; pivots: number[]; pairs: Pair[] }[];
  for (const { n, pivots, pairs } of rounds) assertEquals(upstreamPivotRound(n, pivots), pairs);
  console.log(`  ppt_pivot_round: ${rounds.length} equal`);

  const counts = upstream!.ppt_counts as { n: number; k: number; actual_len: number }[];
  for (const { n, k, actual_len } of counts) {
    const pivots = shuffledIndices(n, 1).slice(0, k);
    assertEquals(upstreamRing(n, 0).length + upstreamPivotRound(n, pivots).length, actual_len, `${n} ${k}`);
  }
  console.log(`  ppt_counts: ${counts.length} equal`);

  const wins = upstream!.ppt_bradley_terry as { ra: number; rb: number; output: number }[];
  for (const { ra, rb, output } of wins) {
    assertEquals(upstreamStandings(2, [{ a: 0, b: 1, rewardA: ra, rewardB: rb }]).wins[0], output);
  }
  console.log(`  ppt_bradley_terry: ${wins.length} equal`);

  const pivots = upstream!.ppt_select_pivots as { w: number[]; c: number[]; k: number; output: number[] }[];
  for (const { w, c, k, output } of pivots) assertEquals(upstreamPivots({ wins: w, games: c }, k), output);
  console.log(`  ppt_select_pivots: ${pivots.length} equal`);
});

/** The vectors' pseudo-random number: 8 hexadecimal digits of a SHA-256. */
async function u(key: string): Promise<number> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return new DataView(digest).getUint32(0) / 2 ** 32;
}

interface Tournament {
  readonly n: number;
  readonly seed: number;
  readonly k: number;
  readonly mode: string;
  readonly ring: Pair[];
  readonly ring_w: number[];
  readonly ring_c: number[];
  readonly pivots: number[];
  readonly pivot_pairs: Pair[];
  readonly w: number[];
  readonly c: number[];
  readonly mean_preference: number[];
  readonly best: number;
  readonly n_comparisons: number;
  readonly ranking: number[];
}

async function rewards({ mode, n, seed }: Tournament, a: number, b: number): Promise<[number, number]> {
  switch (mode) {
    case "random":
      return [await u(`${seed}|${n}|${a}|${b}|A`), await u(`${seed}|${n}|${a}|${b}|B`)];
    case "transitive":
      return [(a + 1) / (n + 1), (b + 1) / (n + 1)];
    case "all_tie":
      return [0.5, 0.5];
    case "slot_bias":
      return [Math.min(1, (a + 1) / (n + 1) + 0.3), (b + 1) / (n + 1)];
    default:
      throw new Error(`unknown mode ${mode}`);
  }
}

Deno.test("golden: whole tournaments (reference)", { ignore: upstream === null }, async () => {
  const { cases } = upstream!.ppt_full as { cases: Tournament[] };
  const near = (a: ArrayLike<number>, b: readonly number[], what: string) => {
    assertEquals(a.length, b.length, what);
    b.forEach((value, i) =>
      assert(Math.abs(a[i]! - value) <= 1e-12, `${what} ${i}: ${a[i]} against ${value}`)
    );
  };
  for (const t of cases) {
    const what = `n ${t.n} seed ${t.seed} k ${t.k} ${t.mode}`;
    const judge = (pairs: readonly Pair[]) =>
      Promise.all(pairs.map(async ([a, b]) => {
        const [rewardA, rewardB] = await rewards(t, a, b);
        return { a, b, rewardA, rewardB };
      }));
    const ring = upstreamRing(t.n, t.seed);
    assertEquals(ring, t.ring, what);
    const played = await judge(ring);
    const first = upstreamStandings(t.n, played);
    near(first.wins, t.ring_w, what);
    near(first.games, t.ring_c, what);
    const pivots = upstreamPivots(first, t.k);
    assertEquals(pivots, t.pivots, what);
    const round = upstreamPivotRound(t.n, pivots);
    assertEquals(round, t.pivot_pairs, what);
    const all = [...played, ...await judge(round)];
    const final = upstreamStandings(t.n, all);
    assertEquals(all.length, t.n_comparisons, what);
    near(final.wins, t.w, what);
    near(final.games, t.c, what);
    near(final.rates, t.mean_preference, what);
    assertEquals(final.ranking, t.ranking, what);
    assertEquals(final.ranking[0], t.best, what);
  }
  console.log(`  ppt_full: ${cases.length} tournaments equal`);
});

golden("rankings and aggregation (DSH plugin)", dsh, () => {
  const vectors = <T>(group: string) => dsh![group]!.vectors as T[];
  const ranks = vectors<{ wins: number[]; counts: number[]; value: { index: number }[] }>("rankScores");
  for (const { wins, counts, value } of ranks) {
    const games = wins.map((_, i) => counts[i] ?? 0);
    assertEquals(upstreamPivots({ wins, games }, wins.length), value.map((v) => v.index));
  }
  const tops = vectors<{ args: [number[], number[], number]; value: number[] }>("topPivots");
  for (const { args: [wins, games, k], value } of tops) {
    assertEquals(upstreamPivots({ wins, games }, k), value);
  }
  const terry = vectors<{ args: [number, number]; value: number }>("bradleyTerry");
  for (const { args: [rewardA, rewardB], value } of terry) {
    assert(Math.abs(upstreamStandings(2, [{ a: 0, b: 1, rewardA, rewardB }]).wins[0]! - value) <= 1e-12);
  }
  console.log(
    `  rankScores: ${ranks.length}, topPivots: ${tops.length}, bradleyTerry: ${terry.length} equal`,
  );

  const rounds = vectors<{ args: [number, number[]]; value: Pair[] }>("pivotRoundPairs");
  for (const { args: [n, pivots], value } of rounds) {
    const unordered = (pairs: readonly Pair[]) => pairs.map((p) => p.toSorted((a, b) => a - b)).toSorted();
    assertEquals(unordered(upstreamPivotRound(n, pivots)), unordered(value));
  }
  console.log(`  pivotRoundPairs: ${rounds.length} equal as sets of pairs`);

  const sums = vectors<{
    id: string;
    rewards: Record<string, [number, number]>;
    pairs: Pair[];
    wins: number[];
    counts: number[];
    ranked: { index: number }[];
  }>("aggregation");
  let missing = 0;
  for (const { id, rewards, pairs, wins, counts, ranked } of sums) {
    // Theirs takes a missing reward for a tie of 0.5; ours takes no number that isn't there (B4).
    if (id === "missing_reward_is_half") {
      missing++;
      const unknown = pairs.map(([a, b]) => ({ a, b, rewardA: NaN, rewardB: NaN }));
      assertThrows(() => upstreamStandings(wins.length, unknown), AssayError, "must be from 0 to 1");
      continue;
    }
    const judged = pairs.map(([a, b]) => {
      const stored = rewards[`${Math.min(a, b)},${Math.max(a, b)}`]!;
      const [rewardA, rewardB] = a < b ? stored : [stored[1], stored[0]];
      return { a, b, rewardA, rewardB };
    });
    const standings = upstreamStandings(wins.length, judged);
    wins.forEach((w, i) => assert(Math.abs(standings.wins[i]! - w) <= 1e-12, `${id} ${i}`));
    assertEquals([...standings.games], counts, id);
    assertEquals(standings.ranking, ranked.map((r) => r.index), id);
  }
  console.log(
    `  aggregation: ${sums.length - missing} equal, ${missing} different on purpose (a missing reward)`,
  );

  // Their generator is their own; ours is CPython's, so that seeds mean what they mean in the reference.
  const rings = vectors<{ args: [number, number]; value: Pair[] }>("ringCycle");
  let equal = 0;
  for (const { args: [n, seed], value } of rings) {
    const ring = ringPairs(n, seed);
    assertEquals(ring, upstreamRing(n, seed));
    assertEquals(ring.length, value.length);
    equal += Number(JSON.stringify(ring) === JSON.stringify(value));
  }
  assertEquals(equal, rings.filter((r) => r.args[0] === 0).length);
  console.log(
    `  ringCycle: ${equal} equal, ${rings.length - equal} different on purpose (another generator)`,
  );
});
