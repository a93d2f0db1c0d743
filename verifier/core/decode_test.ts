import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AssayError } from "../errors.ts";
import type { Score, Scored, TokenLogprob } from "../types.ts";
import { decodeLetter, decoderVersion, decodeText, decodeTokens } from "./decode.ts";

/** A token with its alternatives as `[text, probability]`; without any, a token as servers send it without logprobs. */
function token(text: string, ...alternatives: [string, number][]): TokenLogprob {
  const own = alternatives.find(([t]) => t === text)?.[1];
  return {
    token: text,
    logprob: own === undefined ? null : Math.log(own),
    ...(alternatives.length > 0
      ? { top_logprobs: alternatives.map(([token, p]) => ({ token, logprob: Math.log(p) })) }
      : {}),
  };
}

function scored(score: Score | undefined): Scored {
  assert(score?.kind === "scored", `not scored: ${JSON.stringify(score)}`);
  return score;
}

function reason(score: Score | undefined): string {
  assert(score?.kind === "unscored", `scored: ${JSON.stringify(score)}`);
  return score.reason;
}

const one = (tokens: readonly TokenLogprob[]) => decodeTokens(tokens, ["score_A"], "pairwise")[0];

Deno.test("decodeTokens() reads both scores of a pairwise answer as expectations", () => {
  const [a, b, c] = decodeTokens(
    [
      token("Reasoning.\n"),
      token("<score"),
      token("_A>"),
      token(" B", [" B", 0.5], [" C", 0.3], ["A", 0.1], ["the", 0.1]),
      token(" </score_A>\n<score_B>"),
      token(" T", [" T", 1]),
      token(" </score_B>"),
    ],
    ["score_A", "score_B", "score_C"],
    "pairwise",
  );
  const first = scored(a);
  assertAlmostEquals(first.value, (0.5 * 18 + 0.3 * 17 + 0.1 * 19) / 19 / 0.9, 1e-15);
  assertAlmostEquals(first.letterMass!, 0.9, 1e-15);
  assertEquals(first.channel, "logprobs");
  assertEquals(first.letters?.length, 20);
  assertAlmostEquals(first.letters![1]!, 5 / 9, 1e-15);
  const bits = [5 / 9, 3 / 9, 1 / 9].reduce((sum, p) => sum - p * Math.log2(p), 0);
  assertAlmostEquals(first.entropy!, bits, 1e-15);
  assertEquals(scored(b).value, 0);
  assertEquals(scored(b).entropy, 0);
  assertEquals(reason(c), "no_tag");
});

Deno.test("decodeTokens() reverses the scale for progress and keeps <c1> and <c10> apart", () => {
  const answer = [
    token("<c1>"),
    token("A", ["A", 1]),
    token("</c1><c10"),
    token(">T", [">T", 0.75], [">S", 0.25]),
  ];
  const [c1, c10] = decodeTokens(answer, ["c1", "c10"], "progress");
  assertEquals(scored(c1).value, 0);
  assertAlmostEquals(scored(c10).value, (0.75 * 19 + 0.25 * 18) / 19, 1e-15);
});

Deno.test("decodeTokens() counts whole-letter tokens only, whatever their spelling", () => {
  const score = scored(one([
    token("<score_A>"),
    token("The", ["The", 0.3], ["T", 0.1], [" t", 0.1], ["ĠA", 0.2], ["▁a", 0.1], ["\u00a0A\ufeff", 0.1]),
  ]));
  assertAlmostEquals(score.letterMass!, 0.6, 1e-15);
  assertAlmostEquals(score.value, 4 / 6, 1e-15);
});

Deno.test("decodeTokens() reads a letter fused with the end of the tag", () => {
  assertAlmostEquals(
    scored(one([token("<score"), token("_A> C", ["_A> C", 0.8], ["_A>D", 0.2])])).value,
    (0.8 * 17 + 0.2 * 16) / 19,
    1e-15,
  );
  assertEquals(scored(one([token("<score_A"), token("> B", ["> B", 0.9])])).value, 18 / 19);
});

Deno.test("decodeTokens() reads a blank token if letters were likely there, else the next token", () => {
  const likely = [
    token("<score_A>"),
    token("", [" A", 0.6], [" ", 0.2]),
    token("</score_A>", ["</score_A>", 1]),
  ];
  assertEquals(scored(one(likely)).value, 1);
  const unlikely = [token("<score_A>"), token("\n", ["\n", 1]), token("B", ["B", 0.7], ["C", 0.3])];
  assertAlmostEquals(scored(one(unlikely)).value, (0.7 * 18 + 0.3 * 17) / 19, 1e-15);
  const neither = [
    token("<score_A>"),
    token("", [" ", 0.9], [" A", 0.1]),
    token("</score_A>", ["</score_A>", 1]),
  ];
  assertEquals(reason(one(neither)), "low_letter_mass");
});

Deno.test("decodeTokens() never lets an earlier quotation stand in for the last tag", () => {
  const quote = [token("<score_A>"), token("A", ["A", 1]), token("</score_A>")];
  assertEquals(reason(one([...quote, token("<score_A>")])), "truncated");
  assertEquals(reason(one([...quote, token("<score_A>"), token("\n", ["\n", 1])])), "truncated");
  assertEquals(reason(one([...quote, token("<score_A>"), token("sure", ["sure", 1])])), "no_letter");
  assertEquals(scored(one([...quote, token("<score_A"), token(">S", [">S", 1])])).value, 1 / 19);
});

Deno.test("decodeTokens() ignores tags inside reasoning, and everything if the reasoning never ends", () => {
  const tag = [token("<score_A>"), token("A", ["A", 1])];
  assertEquals(reason(one([token("<think>"), ...tag])), "no_tag");
  assertEquals(reason(one([token("<think>"), ...tag, token("</think>")])), "no_tag");
  assertEquals(scored(one([token("<think>hm</th"), token("ink>"), ...tag])).value, 1);
});

Deno.test("decodeTokens() never makes a number of degenerate log-probabilities", () => {
  const at = (position: TokenLogprob) => reason(one([token("<score_A>"), position]));
  const alternatives = (...list: [string, number | null][]) =>
    list.map(([token, logprob]) => ({ token, logprob }));
  assertEquals(at({ token: "C", logprob: -9999, top_logprobs: [] }), "no_logprobs");
  assertEquals(at({ token: "C", logprob: 0, top_logprobs: [] }), "no_logprobs");
  assertEquals(at({ token: "C", logprob: 0, top_logprobs: null }), "no_logprobs");
  assertEquals(at({ token: "C", logprob: 0 }), "no_logprobs");
  assertEquals(at({ token: "C", logprob: null }), "no_logprobs");
  assertEquals(
    at({ token: "C", logprob: -9999, top_logprobs: alternatives(["C", -9999], ["D", -9999]) }),
    "no_logprobs",
  );
  assertEquals(
    at({ token: "C", logprob: null, top_logprobs: alternatives(["C", null], ["D", NaN]) }),
    "no_logprobs",
  );
  assertEquals(at({ token: "C", logprob: 3, top_logprobs: alternatives(["C", 3], ["D", 1]) }), "no_logprobs");
  const oneHot = { token: "C", logprob: 0, top_logprobs: alternatives(["C", 0], ["D", -9999]) };
  assertEquals(scored(one([token("<score_A>"), oneHot])).entropy, 0);
});

Deno.test("decodeTokens() says how little mass the letters hold", () => {
  const score = one([token("<score_A>"), token("x", ["x", 0.7], ["A", 0.2], ["T", 0.1])]);
  assertEquals(score, {
    kind: "unscored",
    reason: "low_letter_mass",
    detail: "the letters A to T hold 0.300 of the probability; at least 0.5 is needed",
  });
});

Deno.test("decodeTokens() takes alternatives that add up to more than one as weights", () => {
  const score = scored(one([token("<score_A>"), token("A", ["A", 0.9], ["T", 0.9], ["x", 0.2])]));
  assertAlmostEquals(score.value, 0.5, 1e-15);
  assertAlmostEquals(score.letterMass!, 0.9, 1e-15);
});

Deno.test("decodeTokens() adds a sampled token that is missing from the alternatives, once", () => {
  const sampled = {
    token: "T",
    logprob: Math.log(0.25),
    top_logprobs: [{ token: "A", logprob: Math.log(0.75) }],
  };
  assertAlmostEquals(scored(one([token("<score_A>"), sampled])).value, 0.75, 1e-15);
  const twice = token("A", ["A", 0.6], ["A", 0.6], ["T", 0.2]);
  assertAlmostEquals(scored(one([token("<score_A>"), twice])).value, 0.75, 1e-15);
});

Deno.test("decodeTokens() survives what servers shouldn't send", () => {
  const odd = [
    { token: "<score_A>", logprob: "x" },
    {
      token: "B",
      logprob: "-0.1",
      top_logprobs: [null, { token: 7, logprob: {} }, { token: "B", logprob: "0" }],
    },
    null,
    { logprob: 1 },
  ] as unknown as TokenLogprob[];
  assertEquals(reason(one(odd)), "no_logprobs");
  assertEquals(decodeTokens([], ["c1"], "progress").map((s) => reason(s)), ["no_tag"]);
  assertEquals(decodeTokens(odd, [], "progress"), []);
  assertEquals(
    scored(one([token("\ud83d"), token("\ude00\ud83d"), token("<score_A>"), token("A", ["A", 1])])).value,
    1,
  );
});

Deno.test("decodeTokens() names a bad tag", () => {
  for (const bad of ["", "<c1>", "c 1", "c\n1", "x".repeat(65)]) {
    const error = assertThrows(() => decodeTokens([], ["ok", bad], "pairwise"), AssayError);
    assertEquals(error.code, "invalid_request");
    assertEquals(error.errors[0]?.path, "/tags/1");
  }
});

Deno.test("decodeTokens() gives the same score however the answer is cut into tokens", () => {
  const letter = token("B", ["B", 0.6], ["D", 0.4]);
  const expected = one([token("see <score_B>: ü😀 <score_A>"), letter, token("</score_A>")]);
  assert(expected?.kind === "scored");
  const text = "see <score_B>: ü😀 <score_A>";
  fc.assert(fc.property(fc.uniqueArray(fc.integer({ min: 1, max: text.length - 1 })), (cuts) => {
    const bounds = [0, ...cuts.sort((a, b) => a - b), text.length];
    const tokens = bounds.slice(1).map((end, i) => token(text.slice(bounds[i], end)));
    assertEquals(one([...tokens, letter, token("</score_A>")]), expected);
  }));
});

Deno.test("decodeTokens() answers anything with a score from 0 to 1 or a reason", () => {
  const logprob = fc.oneof(
    fc.double({ min: -30, max: 1 }),
    fc.constantFrom(null, NaN, -Infinity, Infinity, -9999, 0),
  );
  const text = fc.oneof(
    fc.constantFrom("<score_A>", "<sco", "re_A", ">", " ", "A", "> B", "<think>", "</think>"),
    fc.string(),
  );
  const entry = fc.record({ token: text, logprob });
  const position = fc.record(
    { token: text, logprob, top_logprobs: fc.option(fc.array(entry, { maxLength: 6 })) },
    { requiredKeys: ["token", "logprob"] },
  );
  fc.assert(fc.property(fc.array(position, { maxLength: 12 }), (tokens) => {
    const score = one(tokens)!;
    if (score.kind === "unscored") return;
    assert(score.value >= 0 && score.value <= 1);
    assert(score.letterMass! >= 0.499 && score.letterMass! <= 1);
    assert(score.entropy! >= 0 && score.entropy! <= Math.log2(20) + 1e-9);
    assertAlmostEquals(score.letters!.reduce((a, b) => a + b, 0), 1, 1e-12);
  }));
});

Deno.test("decodeLetter() scores the token after an open tag on the continuation channel", () => {
  const score = scored(decodeLetter(token("A", ["A", 0.5], [" B", 0.5]), "progress"));
  assertAlmostEquals(score.value, 0.5 / 19, 1e-15);
  assertEquals(score.channel, "continuation");
  assertEquals(reason(decodeLetter(token(":", [":", 0.86], ["L", 0.14]), "pairwise")), "low_letter_mass");
  assertEquals(reason(decodeLetter({ token: "A", logprob: 0 }, "pairwise")), "no_logprobs");
});

Deno.test("decodeText() reads one sampled letter and claims no distribution", () => {
  const [a, b] = decodeText(
    "x <score_A> b </score_A>\n<SCORE_B>\nT\n</SCORE_B>",
    ["score_A", "score_B"],
    "pairwise",
  );
  assertEquals(a, {
    kind: "scored",
    value: 18 / 19,
    letterMass: null,
    entropy: null,
    channel: "explicit_tag",
    letters: null,
  });
  assertEquals(scored(b).value, 0);
  const why = (text: string) => reason(decodeText(text, ["c1"], "progress")[0]);
  assertEquals(why("<c1>**B**</c1>"), "no_letter");
  assertEquals(why("<c1>A</c1> later <c1>LETTER</c1>"), "no_letter");
  assertEquals(why("<c1>A</c1> later <c1>B"), "truncated");
  assertEquals(why("<c10>A</c10>"), "no_tag");
  assertEquals(why("<think><c1>A</c1>"), "no_tag");
});

Deno.test("decoderVersion() is a positive integer", () => {
  assert(Number.isInteger(decoderVersion()) && decoderVersion() > 0);
});
