/**
 * A judge that answers at once, in a process of its own: `deno run -A bench/stub_judge.ts`. It prints its port.
 *
 * Every answer is the same text with 20 alternatives per token: 25 tokens at `/25/chat/completions`, 138 at `/138/…`.
 * Bodies are made once, so that it costs next to nothing beside what is measured.
 *
 * @module
 */

/** Tokens of the two score tags. */
const TAGS = [
  ...["\n", "<", "score", "_A", ">", " C", " </", "score", "_A", ">"],
  ...["\n", "<", "score", "_B", ">", " M", " </", "score", "_B", ">"],
];
const WORDS = [" The", " tests", " passed", " after", " the", " edit", "."];

/** The body of an answer with so many tokens (at least 20), in the shape of the OpenAI chat API. */
export function stubAnswer(tokens: number): string {
  const text = [
    ...Array.from({ length: tokens - TAGS.length }, (_, i) => WORDS[i % WORDS.length]!),
    ...TAGS,
  ];
  const entry = (token: string, logprob: number) => ({
    token,
    logprob,
    bytes: [...new TextEncoder().encode(token)],
  });
  const content = text.map((token) => {
    const isLetter = /^ [A-T]$/.test(token);
    const alternatives = Array.from({ length: 20 }, (_, i) => {
      const letter = isLetter
        ? ` ${String.fromCharCode(65 + (token.charCodeAt(1) - 65 + i) % 20)}`
        : `${token}${i}`;
      return entry(i === 0 ? token : letter, Math.log(0.6 * 0.4 ** i));
    });
    return { ...entry(token, Math.log(0.6)), top_logprobs: alternatives };
  });
  return JSON.stringify({
    id: "chatcmpl-stub",
    object: "chat.completion",
    created: 1_767_225_600,
    model: "stub",
    choices: [{
      index: 0,
      message: { role: "assistant", content: text.join(""), refusal: null },
      logprobs: { content, refusal: null },
      finish_reason: "stop",
    }],
    usage: {
      prompt_tokens: 3000,
      completion_tokens: tokens,
      total_tokens: 3000 + tokens,
      prompt_tokens_details: { cached_tokens: 2500 },
    },
  });
}

if (import.meta.main) {
  const answers = new Map(["25", "138"].map((n) => [n, new TextEncoder().encode(stubAnswer(Number(n)))]));
  let last = "";
  let calls = 0;
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(port),
  }, async (request) => {
    const [, first] = new URL(request.url).pathname.split("/");
    if (first === "last") return Response.json({ calls, body: last });
    const answer = answers.get(first ?? "");
    if (answer === undefined) return new Response(null, { status: 404 });
    last = await request.text();
    calls++;
    return new Response(answer, { headers: { "content-type": "application/json" } });
  });
}
