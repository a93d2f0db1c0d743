import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeLetter, decodeText, decodeTokens } from "../core.ts";
import { type AnswerEvidence, decodeEvidence, makeEvidence, readEvidence, sameScores } from "./evidence.ts";
import type { Score, TokenLogprob } from "../types.ts";

const TAGS = ["score_A", "score_B"];
const LETTERS = "ABCDEFGHIJKLMNOPQRST";

/** A token with alternatives, letters among them. */
const token = (text: string, seed: number): TokenLogprob => ({
  token: text,
  logprob: -0.1 - (seed % 7) / 10,
  top_logprobs: Array.from({ length: seed % 6 }, (_, i) => ({
    token: `${i % 2 ? " " : ""}${LETTERS[(seed * 7 + i * 3) % 20]}`,
    logprob: -0.2 - ((seed + i) % 11) / 3,
  })),
});

/** Answers of every odd form: reasoning, several tags, tags left open, tokens cut anywhere. */
const answer = fc.tuple(
  fc.array(
    fc.constantFrom(
      "Looked at both. ",
      "<think>",
      "</think>",
      "<score_A>",
      "<score_B>",
      " B",
      "C",
      "\n",
      " ",
      "</score_A>",
      "</score_B>",
      "<score_A> D </score_A>",
      "<score_B>E</score_B>",
      "The",
      "😀",
      "<c1>",
    ),
    { minLength: 0, maxLength: 30 },
  ),
  fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 }),
  fc.integer({ min: 0, max: 1000 }),
).map(([pieces, cuts, seed]) => {
  const text = pieces.join("");
  const tokens: TokenLogprob[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const length = cuts[i % cuts.length]!;
    tokens.push(token(text.slice(at, at + length), seed + i));
    at += length;
  }
  return { text, tokens };
});

const stored = (evidence: AnswerEvidence | null) => readEvidence(JSON.parse(JSON.stringify(evidence)));

Deno.test("whatever a judge answers, its evidence decodes to exactly its scores, also after it was stored", () => {
  let trimmed = 0;
  let whole = 0;
  fc.assert(
    fc.property(answer, fc.constantFrom("pairwise", "progress"), ({ text, tokens }, direction) => {
      const scores = decodeTokens(tokens, TAGS, direction);
      const evidence = makeEvidence({ tokens, continued: [null, null], text: null }, TAGS, direction, scores);
      assert(evidence !== null);
      const read = stored(evidence);
      assert(read !== null);
      assert(sameScores(decodeEvidence(read, TAGS, direction), scores));
      if (evidence.tokens!.length < tokens.length) trimmed++;
      else whole++;

      const letters = decodeText(text, TAGS, direction);
      const filled = scores.map((score, i): Score =>
        score.kind === "unscored" && letters[i]?.kind === "scored" ? letters[i] : score
      );
      const both = makeEvidence({ tokens, continued: [null, null], text }, TAGS, direction, filled);
      assert(both !== null && sameScores(decodeEvidence(stored(both)!, TAGS, direction), filled));
    }),
    { numRuns: 2000 },
  );
  assert(trimmed > whole, `${trimmed} answers were trimmed, ${whole} were not`);
});

Deno.test("of a long answer only the tags and what is read behind them is kept", () => {
  const words = Array.from({ length: 5000 }, (_, i) => token(` word${i}`, i));
  const letters = LETTERS.split("").map((letter, i) => ({ token: ` ${letter}`, logprob: -1 - i / 10 }));
  const tokens: TokenLogprob[] = [
    ...words,
    token("\n<score", 1),
    token("_A>", 2),
    { token: " B", logprob: -1.1, top_logprobs: letters },
    token(" </score_A>\n", 3),
    token("<score_B> C", 4),
    token("</score_B>", 5),
    ...words,
  ];
  const scores = decodeTokens(tokens, TAGS, "pairwise");
  const evidence = makeEvidence({ tokens, continued: [null, null], text: null }, TAGS, "pairwise", scores);
  assertEquals(evidence?.tokens?.map(([text]) => text), [
    "<score",
    "_A>",
    " B",
    " </score_A>\n",
    "<score_B> C",
  ]);
  assertEquals(evidence?.tokens?.map((entry) => entry[2]?.length ?? null).slice(0, 4), [
    null,
    null,
    20,
    null,
  ]);
  assert(JSON.stringify(evidence).length < 1500);
});

Deno.test("constrained tokens and sampled letters are evidence of the parts that were read from them", () => {
  const read = token(" B", 5);
  const scores: Score[] = [
    decodeLetter(read, "pairwise"),
    ...decodeText("<score_B> C </score_B>", ["score_B"], "pairwise"),
  ];
  const text = `pages of analysis\n<SCORE_a> T </SCORE_a>\n<score_B> C </score_B>`;
  const evidence = makeEvidence({ tokens: null, continued: [read, null], text }, TAGS, "pairwise", scores);
  assert(evidence !== null && sameScores(decodeEvidence(stored(evidence)!, TAGS, "pairwise"), scores));
  assert(!evidence.text!.includes("pages"));
});

Deno.test("evidence that does not decode to the scores, or that holds a secret, is none", () => {
  const tokens = [token("<score_A>", 1), token(" B", 4), token("</score_A>", 1)];
  const scores = decodeTokens(tokens, ["score_A"], "pairwise");
  const other: Score[] = [{ kind: "unscored", reason: "timeout" }];
  assertEquals(makeEvidence({ tokens, continued: [null], text: null }, ["score_A"], "pairwise", other), null);
  // Reasoning that never ends can't be trimmed, as it is what hides the tag.
  const hidden = [token("<think>", 1), token("key sk-abcdefghijklmnop ", 1), ...tokens];
  const unread = decodeTokens(hidden, ["score_A"], "pairwise");
  assertEquals(unread.map(({ kind }) => kind), ["unscored"]);
  assertEquals(
    makeEvidence({ tokens: hidden, continued: [null], text: null }, ["score_A"], "pairwise", unread),
    null,
  );
  assert(makeEvidence({ tokens, continued: [null], text: null }, ["score_A"], "pairwise", scores) !== null);
});

Deno.test("readEvidence() takes evidence and nothing else", () => {
  const good: unknown[] = [
    { tokens: null },
    { tokens: [] },
    { tokens: [["a", null], ["b", -1, [["c", -2], ["d", null]]]], continued: [null, ["e", 0]], text: "x" },
  ];
  for (const value of good) assertEquals(readEvidence(value), value);
  const bad: unknown[] = [
    null,
    1,
    [],
    {},
    { tokens: "x" },
    { tokens: [["a"]] },
    { tokens: [["a", "b"]] },
    { tokens: [["a", 0, ["b"]]] },
    { tokens: [["a", 0, [], 1]] },
    { tokens: null, continued: [0] },
    { tokens: null, text: 1 },
  ];
  for (const value of bad) assertEquals(readEvidence(value), null, JSON.stringify(value));
});

Deno.test("evidence with numbers that JSON can't hold is made as it will be read back, or not at all", () => {
  const odd = fc.constantFrom(-0, NaN, Infinity, -Infinity, null, -0.5, -3, 1e-320);
  fc.assert(
    fc.property(fc.array(odd, { minLength: 6, maxLength: 6 }), fc.boolean(), (numbers, isContinued) => {
      const [own, first, ...rest] = numbers as number[];
      const letter: TokenLogprob = {
        token: " B",
        logprob: own!,
        top_logprobs: [first!, ...rest].map((logprob, i) => ({ token: ` ${LETTERS[i + 1]}`, logprob })),
      };
      const tokens = [token("<score_A>", 6), letter, token("</score_A>", 6)];
      const scores = isContinued
        ? [decodeLetter(letter, "pairwise")]
        : decodeTokens(tokens, ["score_A"], "pairwise");
      const raw = isContinued
        ? { tokens: null, continued: [letter], text: null }
        : { tokens, continued: [null], text: null };
      const evidence = makeEvidence(raw, ["score_A"], "pairwise", scores);
      if (evidence === null) return;
      assertEquals(stored(evidence), evidence);
      assert(sameScores(decodeEvidence(stored(evidence)!, ["score_A"], "pairwise"), scores));
    }),
    { numRuns: 500 },
  );
});
