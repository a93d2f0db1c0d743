/**
 * Measures `decodeTokens()` from JavaScript objects in the shape of a chat API's answer to finished scores: joining the
 * tokens, two calls into the wasm core, reading the result. One usual answer (138 tokens with 20 alternatives each, two
 * tags), long answers of 32,000 tokens (in ASCII and in Chinese, and with reasoning), and how the time grows with length.
 *
 * It doesn't measure receiving or parsing the JSON of the answer, which costs far more than decoding, nor the first
 * call, which also compiles the wasm module (`bench/cold_start.ts`).
 *
 * @module
 */
import type { TokenLogprob } from "../verifier/types.ts";
import { decodeTokens } from "../verifier/core.ts";
import { row, runBench, time } from "./harness.ts";

const TAGS = ["score_A", "score_B"];
const WORDS = [
  " the",
  " agent",
  " ran",
  " tests",
  ",",
  " and",
  " output",
  " shows",
  "\n",
  " passed",
  " <x>",
  "`",
  " 0",
];
const CHINESE = ["验证", "代理", "运行", "测试", "，", "输出", "结果", "通过", "\n", "失败"];

function position(text: string, alternatives: readonly string[]): TokenLogprob {
  const list = alternatives.map((token, i) => ({ token, logprob: -0.6 - 0.8 * i, bytes: null }));
  return { token: text, logprob: -0.6, top_logprobs: list };
}

/** An answer of `count` tokens that ends with two score lines, its tags split as byte-pair vocabularies split them. */
function answer(count: number, words: readonly string[], prefix: readonly string[] = []): TokenLogprob[] {
  const letters = Array.from({ length: 20 }, (_, i) => " " + String.fromCharCode(65 + (i * 7) % 20));
  const filler = Array.from(
    { length: 20 },
    (_, i) => words[i % words.length] + (i < words.length ? "" : "s"),
  );
  const end = [
    "<score",
    "_A",
    ">",
    letters[0]!,
    " </",
    "score",
    "_A",
    ">\n",
    "<score",
    "_B",
    ">",
    letters[1]!,
    " </",
  ];
  const tokens = prefix.map((text) => position(text, filler));
  for (let i = tokens.length; i < count - end.length; i++) {
    tokens.push(position(words[i % words.length]!, filler));
  }
  for (const text of end) {
    tokens.push(
      position(text, letters.includes(text) ? [text, ...letters.filter((l) => l !== text)] : filler),
    );
  }
  return tokens;
}

await runBench(async () => {
  const run = (tokens: readonly TokenLogprob[]) => () => {
    const scores = decodeTokens(tokens, TAGS, "pairwise");
    if (scores.some((s) => s.kind !== "scored")) throw new Error(`not scored: ${JSON.stringify(scores)}`);
  };
  // Short rounds, so that most of them fall between two interruptions by other work on the machine.
  const usual = await time(run(answer(138, WORDS)), { rounds: 801, warmUp: 200, runs: 10 });
  const long = await time(run(answer(32_000, WORDS)), { rounds: 25 });
  const chinese = await time(run(answer(32_000, CHINESE)), { rounds: 25 });
  const reasoning = await time(run(answer(32_000, WORDS, ["<think>", "<score_A>", "B", "</think>"])), {
    rounds: 25,
  });
  // Without alternatives that lie between the tokens in memory: they cost cache misses, not steps.
  const bare = (count: number) =>
    answer(count, WORDS).map((t, i) => i < count - 13 ? { token: t.token, logprob: t.logprob } : t);
  const [one, four] = [bare(8_000), bare(32_000)];
  const quarter = await time(run(one), { rounds: 41 });
  const whole = await time(run(four), { rounds: 41 });
  return [
    row("decode 138 tokens x 20 to two scores", usual.median * 1000, "us", { atMost: 30 }),
    row("decode 32,000 tokens x 20", long.median, "ms", { atMost: 15 }),
    row("decode 32,000 Chinese tokens x 20", chinese.median, "ms", { atMost: 15 }),
    row("decode 32,000 tokens x 20 with reasoning", reasoning.median, "ms", { atMost: 15 }),
    row(
      "growth from 8,000 to 32,000 tokens (linear: 4)",
      whole.lowest / quarter.lowest,
      "x",
      { atMost: 6 },
      "lowest times, since other work on the machine only adds",
    ),
  ];
});
